//! The smallest program that is a worker. The tests run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::run_worker()
}
