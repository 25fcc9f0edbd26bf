//! The measuring programs of the `tests` package, in a release build.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::process::{ProcessError, Runner};
use crate::system::{self, SystemError, Tools};
use crate::workspace;

/// Why a measuring program did not run to its end.
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
    /// Name every refused and every damaged file
    #[arg(long)]
    verbose: bool,
    /// How many of the files to show that take longest when they are imported alone; 0 imports none alone
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    slowest: u32,
    /// Import each file alone, not only each that was refused
    #[arg(long)]
    each_alone: bool,
    /// Show all thumbs in pictures of this name (.png, .webp or .jpg), with a list of the files beside them
    #[arg(long, value_name = "FILE")]
    contact_sheet: Option<PathBuf>,
    /// Use the debug build that the tests use, too: nothing more is compiled, but times say less
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

/// Which program a benchmark is, and what is left for it to read.
fn program_of(arguments: &[String]) -> (&'static str, &[String]) {
    match arguments.split_first() {
        Some((first, rest)) if first == "mutations" => ("mutations", rest),
        _ => ("bench", arguments),
    }
}

/// Builds a program, and the server, which it runs as a process of its own and finds beside itself. The program runs
/// where the user is, whose paths it is given.
fn built(runner: &Runner, name: &str) -> Result<Command, ReleaseRunError> {
    system::ensure(runner, Tools::Build)?;
    workspace::build_release(runner, &[name])?;
    Ok(Command::new(workspace::target("release").join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_are_a_program_of_their_own() {
        let arguments = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let given = arguments(&["mutations", "--count", "5"]);
        assert_eq!(program_of(&given), ("mutations", arguments(&["--count", "5"]).as_slice()));
        let given = arguments(&["import", "mutations"]);
        assert_eq!(program_of(&given), ("bench", given.as_slice()));
        assert_eq!(program_of(&[]), ("bench", [].as_slice()));
    }
}
