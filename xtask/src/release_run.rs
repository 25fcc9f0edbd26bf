//! `corpus` and `bench`: run programs of the package `tests`.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::process::{ProcessError, Runner};
use crate::system::{self, SystemError, Tools};
use crate::workspace;

/// Why a program failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReleaseRunError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Process(#[from] ProcessError),
}

#[derive(Args, Debug)]
pub(crate) struct CorpusOptions {
    /// Folder of photos
    dir: PathBuf,
    /// List every refused and every damaged file
    #[arg(long)]
    verbose: bool,
    /// Number of slowest files to list, measured by importing each alone; 0 skips this
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    slowest: u32,
    /// Import each file alone, not only refused ones
    #[arg(long)]
    each_alone: bool,
    /// Write contact sheets of all thumbnails to this file (.png, .webp or .jpg), and a list of the photos beside it
    #[arg(long, value_name = "FILE")]
    contact_sheet: Option<PathBuf>,
    /// Use the debug build of the tests instead of a release build; measured times are less meaningful
    #[arg(long)]
    debug: bool,
}

/// Runs every photo under a folder through the importer.
pub(crate) fn corpus(runner: &Runner, options: &CorpusOptions) -> Result<(), ReleaseRunError> {
    let mut program = if options.debug {
        system::ensure(runner, Tools::Build)?;
        workspace::build_programs(runner, &["server", "corpus"])?;
        Command::new(workspace::target("debug/corpus"))
    } else {
        built(runner, "corpus")?
    };
    program.arg(&options.dir).args(["--slowest", &options.slowest.to_string()]);
    for (flag, given) in [("--verbose", options.verbose), ("--each-alone", options.each_alone)] {
        program.args(given.then_some(flag));
    }
    if let Some(path) = &options.contact_sheet {
        program.arg("--contact-sheet").arg(path);
    }
    Ok(runner.run(&mut program)?)
}

/// Runs the benchmarks, or the program behind `bench mutations`.
pub(crate) fn bench(runner: &Runner, arguments: &[String]) -> Result<(), ReleaseRunError> {
    let (name, arguments) = program_of(arguments);
    Ok(runner.run(built(runner, name)?.args(arguments))?)
}

/// The program of a benchmark, and its arguments.
fn program_of(arguments: &[String]) -> (&'static str, &[String]) {
    match arguments.split_first() {
        Some((first, rest)) if first == "mutations" => ("mutations", rest),
        _ => ("bench", arguments),
    }
}

/// Builds a program, and beside it the server, which the program starts. The program runs in the current folder, so
/// relative paths of the user are valid.
fn built(runner: &Runner, name: &str) -> Result<Command, ReleaseRunError> {
    system::ensure(runner, Tools::Build)?;
    workspace::build_release(runner, &[name])?;
    Ok(Command::new(workspace::target("release").join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_have_their_own_program() {
        let arguments = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let given = arguments(&["mutations", "--count", "5"]);
        assert_eq!(program_of(&given), ("mutations", arguments(&["--count", "5"]).as_slice()));
        let given = arguments(&["import", "mutations"]);
        assert_eq!(program_of(&given), ("bench", given.as_slice()));
        assert_eq!(program_of(&[]), ("bench", [].as_slice()));
    }
}
