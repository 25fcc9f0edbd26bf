use library::{Settings, WorkerCommand};

/// The defaults, with the decoder that was built with the tests.
///
/// # Panics
/// When it was not built: it is a program of this package.
pub fn settings() -> Settings {
    let test = std::env::current_exe().unwrap();
    // Tests stand in a folder below that of the programs.
    let mut places = test.ancestors().skip(1).take(2).map(|folder| folder.join("decoder"));
    let program = places.find(|path| path.is_file()).unwrap();
    Settings::new(WorkerCommand { program, args: Vec::new(), environment: Vec::new() })
}
