//! The command that runs this program as a decoder process.

use std::io;

use library::{Languages, WorkerCommand};

/// The name of the command.
pub(crate) const DECODER: &str = "decode-photos";
/// The flag of [`DECODER`] that turns on OCR.
pub(crate) const READ_TEXT: &str = "read-text";

/// Variables that add search paths for shared libraries and libheif plug-ins.
const LIBRARY_PATHS: [&str; 2] = ["LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH"];

/// Variable that names the folder of Tesseract's trained data.
const TRAINED_DATA: &str = "TESSDATA_PREFIX";

/// The command of a decoder process. Its environment has only what it needs to load libraries.
pub(crate) fn decoder() -> io::Result<WorkerCommand> {
    worker(&[DECODER.to_owned()], &LIBRARY_PATHS)
}

/// The command of a decoder process that runs OCR.
pub(crate) fn ocr_worker(languages: &Languages) -> io::Result<WorkerCommand> {
    let [libraries, plugins] = LIBRARY_PATHS;
    let args = [DECODER.to_owned(), format!("--{READ_TEXT}={languages}")];
    worker(&args, &[libraries, plugins, TRAINED_DATA])
}

fn worker(args: &[String], variables: &[&str]) -> io::Result<WorkerCommand> {
    let variable = |name: &&str| std::env::var_os(name).map(|value| (name.into(), value));
    let environment = variables.iter().filter_map(variable).collect();
    Ok(WorkerCommand { environment, ..WorkerCommand::this_program(args)? })
}
