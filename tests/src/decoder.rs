use library::{Settings, WorkerCommand};

/// The default settings, with the decoder program of this package.
///
/// # Panics
/// If the program was not built.
pub fn settings() -> Settings {
    let test = std::env::current_exe().unwrap();
    // Tests are in a subfolder of the folder of the programs.
    let mut candidates = test.ancestors().skip(1).take(2).map(|folder| folder.join("decoder"));
    let program = candidates.find(|path| path.is_file()).unwrap();
    Settings::new(WorkerCommand { program, args: Vec::new(), environment: Vec::new() })
}
