//! The worker program of libraries in tests. With languages as its argument, it is an OCR worker.

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
