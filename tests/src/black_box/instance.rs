use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde::Deserialize;

use super::{AnyError, ProcessOutcome, Server, Usage, run};

/// Whose library it is.
const EMAIL: &str = "ann@example.org";

/// A library in a data folder, with the program that works on it.
#[derive(Debug, Clone)]
pub struct Instance {
    program: PathBuf,
    data_dir: PathBuf,
    settings: Vec<String>,
}

/// A file that did not come in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FailedFile {
    /// Where it stands.
    pub path: PathBuf,
    /// Why, in words for its owner.
    #[serde(rename = "error")]
    pub reason: String,
}

/// What became of an import.
#[derive(Debug)]
pub struct ImportOutcome {
    /// How many files are new in the library.
    pub imported: u64,
    /// How many were there already.
    pub duplicates: u64,
    /// Those that failed.
    pub failed: Vec<FailedFile>,
    /// What the program wrote to standard error.
    pub stderr: String,
    /// From the start of the program to its end.
    pub took: Duration,
    /// What it and its descendants used.
    pub usage: Usage,
}

/// What `import --json` prints, but for what is of no use here.
#[derive(Deserialize)]
struct Printed {
    imported: u64,
    duplicates: u64,
    failed: Vec<FailedFile>,
}

impl ImportOutcome {
    /// How many files have an outcome.
    pub fn file_count(&self) -> u64 {
        self.imported + self.duplicates + self.failed.len() as u64
    }
}

impl Instance {
    /// An empty library with one account. `settings` are options for every command.
    ///
    /// # Errors
    /// The program is missing, or makes no account.
    pub fn create(data_dir: &Path, settings: &[&str]) -> Result<Self, AnyError> {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        std::fs::create_dir_all(data_dir)?;
        let instance = Self { settings, ..Self::open(data_dir)? };
        instance.output(["account", "create", EMAIL])?;
        Ok(instance)
    }

    /// The library that stands in a data folder.
    ///
    /// # Errors
    /// The program is missing.
    pub fn open(data_dir: &Path) -> Result<Self, AnyError> {
        Ok(Self { program: program()?, data_dir: data_dir.to_owned(), settings: Vec::new() })
    }

    /// The folder that holds everything.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// A new API key.
    ///
    /// # Errors
    /// The program makes none.
    pub fn create_key(&self) -> Result<String, AnyError> {
        let output = self.output(["key", "create", EMAIL, "--name", "measuring"])?;
        let stdout = String::from_utf8(output.stdout)?;
        Ok(stdout.lines().last().ok_or("no key was printed")?.to_owned())
    }

    /// Imports files and folders by a process of its own.
    ///
    /// # Errors
    /// It did not end in order; the error says what it wrote last.
    pub fn import<P: AsRef<Path>>(&self, paths: &[P]) -> Result<ImportOutcome, AnyError> {
        let mut command = self.command(["import", EMAIL, "--json"]);
        command.args(paths.iter().map(AsRef::as_ref));
        let ProcessOutcome { status, stdout, stderr, took, usage } = run(&mut command)?;
        if !matches!(status.code(), Some(0 | 1)) || stdout.is_empty() {
            return Err(format!("the import ended with {status}: {}", end_of(&stderr)).into());
        }
        let Printed { imported, duplicates, failed } = serde_json::from_slice(&stdout)?;
        Ok(ImportOutcome { imported, duplicates, failed, stderr, took, usage })
    }

    /// Serves on a free port until the value is dropped.
    ///
    /// # Errors
    /// The program ended before it was ready.
    pub fn serve(&self) -> Result<Server, AnyError> {
        Server::start(&mut self.command(["serve", "--listen", "127.0.0.1:0"]), &self.data_dir)
    }

    fn output<const N: usize>(&self, arguments: [&str; N]) -> Result<Output, AnyError> {
        let output = self.command(arguments).stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(output);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("`server {}` failed: {}", arguments.join(" "), end_of(&stderr)).into())
    }

    /// The program with these arguments, and nothing of the caller's settings.
    fn command<S: AsRef<OsStr>, const N: usize>(&self, arguments: [S; N]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).args(&self.settings).arg("--data-dir").arg(&self.data_dir);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PHOTOS_") {
                command.env_remove(name);
            }
        }
        command
    }
}

/// The server's executable, which stands beside this one or, for a test, one folder above.
///
/// # Errors
/// It was not built.
pub fn program() -> Result<PathBuf, AnyError> {
    let own = std::env::current_exe()?;
    let beside = own.with_file_name("server");
    let above = own.parent().and_then(Path::parent).map(|folder| folder.join("server"));
    [Some(beside.clone()), above].into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| {
        format!("{} is missing: build it with `cargo build -p server`", beside.display()).into()
    })
}

/// The last lines, where the reason stands.
pub(super) fn end_of(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(10)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_an_import_is_read() {
        let printed = r#"{"imported":2,"duplicates":1,"failed":[{"path":"a/b.txt","error":"no"}],"new":[]}"#;
        let printed: Printed = serde_json::from_str(printed).unwrap();
        assert_eq!((printed.imported, printed.duplicates), (2, 1));
        assert_eq!(printed.failed, [FailedFile { path: "a/b.txt".into(), reason: "no".into() }]);
    }

    #[test]
    fn of_much_text_the_end_is_shown() {
        assert_eq!(end_of(""), "");
        let text: Vec<String> = (0..30).map(|number| number.to_string()).collect();
        assert!(end_of(&text.join("\n")).starts_with("20\n"));
    }
}
