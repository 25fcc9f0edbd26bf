//! The decoder process for this crate's tests. A server starts its own program as the decoder, but in a test that program
//! is the test.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::run_worker()
}
