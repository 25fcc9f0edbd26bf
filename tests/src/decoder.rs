use std::path::PathBuf;

use library::{Settings, WorkerCommand};

/// The argument that makes one of this package's programs a decoder.
pub const DECODER: &str = "decode-photos";

/// The defaults, with the decoder that was built with the tests.
///
/// # Panics
/// When it was not built.
pub fn settings() -> Settings {
    let test = std::env::current_exe().unwrap();
    // Tests stand in a folder below that of the programs.
    let found =
        test.ancestors().skip(1).take(2).map(|folder| folder.join("decoder")).find(|path| path.is_file());
    let program: PathBuf = found.expect("the program `decoder` is built with the tests of this package");
    Settings::new(WorkerCommand { program, args: Vec::new(), environment: Vec::new() })
}

/// The defaults, with this very program as the decoder: for one that calls [`sandbox::run_worker`] when its first
/// argument is [`DECODER`].
///
/// # Panics
/// When the system does not say which program it is.
pub fn own_settings() -> Settings {
    Settings::new(WorkerCommand::this_program([DECODER]).unwrap())
}

/// Whether this program was started as a decoder.
pub fn is_decoder() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == DECODER)
}
