//! The decoder that the tests' libraries run: in a test, the program itself is the test.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::run_worker()
}
