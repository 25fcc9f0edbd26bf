use std::path::PathBuf;

use library::{Settings, WorkerCommand};

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
