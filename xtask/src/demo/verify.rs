//! Runs every curl line in a shell and checks its output.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::curl::{Expect, Line};
use crate::process::{ProcessError, Runner};
use crate::workspace;

/// Why a line failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("the line \"{title}\" failed ({status})")]
    Status { title: &'static str, status: std::process::ExitStatus },
    #[error("the line \"{title}\" printed an unexpected output: {output}")]
    Output { title: &'static str, output: String },
}

/// Runs all lines in their own folder.
pub(super) fn run(runner: &Runner, lines: &[Line]) -> Result<(), VerifyError> {
    let dir = workspace::target("demo-lines");
    std::fs::create_dir_all(&dir).map_err(|source| VerifyError::Folder { path: dir.clone(), source })?;
    for line in lines {
        check(runner, line, &dir)?;
        println!("ok: {}", line.title);
    }
    Ok(())
}

fn check(runner: &Runner, line: &Line, dir: &Path) -> Result<(), VerifyError> {
    if let Expect::WebpFile(name) = line.expect {
        // Remove the file of an earlier run.
        let _ = std::fs::remove_file(dir.join(name));
    }
    let captured = runner.capture(Command::new("sh").args(["-c", &line.command]).current_dir(dir), "")?;
    if !captured.status.success() {
        return Err(VerifyError::Status { title: line.title, status: captured.status });
    }
    if is_expected(line.expect, &captured.stdout, dir) {
        return Ok(());
    }
    let output = captured.stdout.chars().take(500).collect();
    Err(VerifyError::Output { title: line.title, output })
}

fn is_expected(expect: Expect, output: &str, dir: &Path) -> bool {
    let json = || serde_json::from_str::<Value>(output).unwrap_or_default();
    match expect {
        Expect::Results => json()["results"].as_array().is_some_and(|results| !results.is_empty()),
        Expect::Object => json()["result"].is_object(),
        Expect::ToolResult => {
            let result = &json()["result"];
            result["content"].is_array() && result["isError"] != true
        }
        Expect::WebpFile(name) => std::fs::read(dir.join(name)).is_ok_and(|bytes| bytes.starts_with(b"RIFF")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_checked() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("good.webp"), b"RIFF....WEBP").unwrap();
        std::fs::write(dir.path().join("bad.webp"), b"{\"error\":\"\"}").unwrap();
        let cases = [
            (Expect::Results, r#"{"results":[{}]}"#, true),
            (Expect::Results, r#"{"results":[]}"#, false),
            (Expect::Results, "<html>", false),
            (Expect::Object, r#"{"result":{}}"#, true),
            (Expect::Object, r#"{"error":"no"}"#, false),
            (Expect::ToolResult, r#"{"result":{"content":[]}}"#, true),
            (Expect::ToolResult, r#"{"result":{"content":[],"isError":false}}"#, true),
            (Expect::ToolResult, r#"{"result":{"content":[],"isError":true}}"#, false),
            (Expect::ToolResult, r#"{"error":{"code":-32602}}"#, false),
            (Expect::WebpFile("good.webp"), "", true),
            (Expect::WebpFile("bad.webp"), "", false),
            (Expect::WebpFile("absent.webp"), "", false),
        ];
        for (expect, output, good) in cases {
            assert_eq!(is_expected(expect, output, dir.path()), good, "{expect:?} {output}");
        }
    }
}
