//! A minimal worker, used by the tests. With an argument, the worker also reads text, in the languages that the
//! argument names.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).map(|languages| languages.parse()) {
        None => sandbox::run_worker(),
        Some(Ok(languages)) => sandbox::run_ocr_worker(&languages),
        Some(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
