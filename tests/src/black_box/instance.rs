use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde::Deserialize;

use super::{AnyError, ProcessOutcome, Server, Usage, run};

/// The email address of the account of a library that [`Instance::create`] made.
pub const EMAIL: &str = "ann@example.org";

/// A library in a data folder, and the program that uses it.
#[derive(Debug, Clone)]
pub struct Instance {
    program: PathBuf,
    data_dir: PathBuf,
    settings: Vec<String>,
    processor: Option<u32>,
}

/// A file that was not imported.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FailedFile {
    pub path: PathBuf,
    /// The reason, as shown to the user.
    #[serde(rename = "error")]
    pub reason: String,
}

/// The result of an import, with its cost.
#[derive(Debug)]
pub struct ImportOutcome {
    /// Number of imported files.
    pub imported: u64,
    /// Number of files that were in the library already.
    pub duplicates: u64,
    pub failed: Vec<FailedFile>,
    /// The program's stderr.
    pub stderr: String,
    /// The running time of the program.
    pub took: Duration,
    /// The usage of the process tree.
    pub usage: Usage,
}

/// The output of `import --json`.
#[derive(Deserialize)]
struct JsonReport {
    imported: u64,
    duplicates: u64,
    failed: Vec<FailedFile>,
}

/// The output of `fsck --json`.
#[derive(Deserialize)]
struct CheckReport {
    files: u64,
    findings: Vec<CheckFindings>,
}

#[derive(Deserialize)]
struct CheckFindings {
    kind: String,
    examples: Vec<CheckExample>,
}

#[derive(Deserialize)]
struct CheckExample {
    text: String,
}

impl ImportOutcome {
    /// Number of files with a result.
    pub fn file_count(&self) -> u64 {
        self.imported + self.duplicates + self.failed.len() as u64
    }
}

impl Instance {
    /// Creates an empty library with one account. `settings` are options for every command.
    ///
    /// # Errors
    /// The program is missing, or cannot create the account.
    pub fn create(data_dir: &Path, settings: &[&str]) -> Result<Self, AnyError> {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        std::fs::create_dir_all(data_dir)?;
        let instance = Self { settings, ..Self::open(data_dir)? };
        instance.output(["account", "create", EMAIL])?;
        Ok(instance)
    }

    /// Opens the library in a data folder.
    ///
    /// # Errors
    /// The program is missing.
    pub fn open(data_dir: &Path) -> Result<Self, AnyError> {
        Ok(Self { program: program()?, data_dir: data_dir.to_owned(), settings: Vec::new(), processor: None })
    }

    /// Runs all commands on one processor only, by `taskset`, which is part of util-linux.
    #[must_use]
    pub fn on_processor(mut self, processor: u32) -> Self {
        self.processor = Some(processor);
        self
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Creates an API key.
    ///
    /// # Errors
    /// The program cannot create the key.
    pub fn create_key(&self) -> Result<String, AnyError> {
        let output = self.output(["key", "create", EMAIL, "--name", "measuring"])?;
        let stdout = String::from_utf8(output.stdout)?;
        Ok(stdout.lines().last().ok_or("no key was printed")?.to_owned())
    }

    /// Imports files and folders with `server import`.
    ///
    /// # Errors
    /// The program failed; the error has the end of its stderr.
    pub fn import<P: AsRef<Path>>(&self, paths: &[P]) -> Result<ImportOutcome, AnyError> {
        self.import_with(&[], paths)
    }

    /// Imports files and folders, with further options of `server import`.
    ///
    /// # Errors
    /// The program failed; the error has the end of its stderr.
    pub fn import_with<P: AsRef<Path>>(
        &self,
        options: &[&str],
        paths: &[P],
    ) -> Result<ImportOutcome, AnyError> {
        let mut command = self.command(["import", EMAIL, "--json"]);
        command.args(options);
        command.args(paths.iter().map(AsRef::as_ref));
        let ProcessOutcome { status, stdout, stderr, took, usage } = run(&mut command)?;
        if !matches!(status.code(), Some(0 | 1)) || stdout.is_empty() {
            return Err(format!("the import exited with {status}: {}", last_lines(&stderr)).into());
        }
        let JsonReport { imported, duplicates, failed } = serde_json::from_slice(&stdout)?;
        Ok(ImportOutcome { imported, duplicates, failed, stderr, took, usage })
    }

    /// Checks every file and every rule of the library with `server fsck`. Returns the number of files and the findings.
    ///
    /// # Errors
    /// The program failed; the error has the end of its stderr.
    pub fn check(&self) -> Result<(u64, Vec<String>), AnyError> {
        let output = self.command(["fsck", "--checksums", "--json", "--examples", "1000"]).output()?;
        if !matches!(output.status.code(), Some(0 | 1)) || output.stdout.is_empty() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the check exited with {}: {}", output.status, last_lines(&stderr)).into());
        }
        let report: CheckReport = serde_json::from_slice(&output.stdout)?;
        let text = |kind: &str, example: &CheckExample| format!("{kind}: {}", example.text);
        let findings = report.findings.iter();
        let texts =
            findings.flat_map(|of_kind| of_kind.examples.iter().map(|found| text(&of_kind.kind, found)));
        Ok((report.files, texts.collect()))
    }

    /// Starts a server on a free port, stopped when dropped.
    ///
    /// # Errors
    /// The program exited before it was ready.
    pub fn serve(&self) -> Result<Server, AnyError> {
        self.serve_with(&[], &self.data_dir)
    }

    /// Starts the server with more options. Its log is in the folder `log_dir`.
    ///
    /// # Errors
    /// The server does not start.
    pub fn serve_with(&self, options: &[&OsStr], log_dir: &Path) -> Result<Server, AnyError> {
        Server::start(self.command(["serve", "--listen", "127.0.0.1:0"]).args(options), log_dir)
    }

    fn output<const N: usize>(&self, arguments: [&str; N]) -> Result<Output, AnyError> {
        let output = self.command(arguments).stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(output);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("`server {}` failed: {}", arguments.join(" "), last_lines(&stderr)).into())
    }

    /// The program with these arguments, without the settings in the caller's environment.
    fn command<S: AsRef<OsStr>, const N: usize>(&self, arguments: [S; N]) -> Command {
        let mut command = match self.processor {
            Some(processor) => {
                let mut taskset = Command::new("taskset");
                taskset.args(["--cpu-list", &processor.to_string()]).arg(&self.program);
                taskset
            }
            None => Command::new(&self.program),
        };
        command.args(arguments).args(&self.settings).arg("--data-dir").arg(&self.data_dir);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PHOTOS_") {
                command.env_remove(name);
            }
        }
        command
    }
}

/// The path of the server program: beside this program or, for a test, one folder above.
///
/// # Errors
/// The program is not built.
pub fn program() -> Result<PathBuf, AnyError> {
    let own = std::env::current_exe()?;
    let beside = own.with_file_name("server");
    let above = own.parent().and_then(Path::parent).map(|folder| folder.join("server"));
    [Some(beside.clone()), above].into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| {
        format!("{} is missing: build it with `cargo build -p server`", beside.display()).into()
    })
}

/// The last lines of an output, which have the reason of a failure.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(10)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_reports_are_parsed() {
        let printed = r#"{"imported":2,"duplicates":1,"failed":[{"path":"a/b.txt","error":"no"}],"new":[]}"#;
        let report: JsonReport = serde_json::from_str(printed).unwrap();
        assert_eq!((report.imported, report.duplicates), (2, 1));
        assert_eq!(report.failed, [FailedFile { path: "a/b.txt".into(), reason: "no".into() }]);
    }

    #[test]
    fn the_last_ten_lines_are_kept() {
        assert_eq!(last_lines(""), "");
        let text: Vec<String> = (0..30).map(|number| number.to_string()).collect();
        assert!(last_lines(&text.join("\n")).starts_with("20\n"));
    }
}
