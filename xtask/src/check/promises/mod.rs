//! Checks that commands, flags, variables, service paths, links and anchors in the documents, in the demo's output and in the
//! files for installations exist.

mod commands;
mod markdown;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory as _;

use crate::http::{self, HttpError};
use crate::instance::{Instance, ServeError, free_port};
use crate::process::{ProcessError, Runner};
use crate::{Arguments, demo, password, workspace};
use commands::Programs;
use markdown::Document;

/// Folders without documents of this project, and the changelog, which names things that no longer exist.
const SKIPPED: [&str; 5] = ["target", "node_modules", ".git", "demo-data", "CHANGELOG.md"];
/// Prefixes of service paths. Other paths in documents are file paths.
const PATH_PREFIXES: [&str; 8] =
    ["/api/ext/", "/api/mcp/", "/api/oauth/", "/.well-known/", "/account", "/sign-in", "/healthz", "/readyz"];
const EMAIL: &str = "promises@example.org";
const PORT: u16 = 18_380;

/// Why the check of documents failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromisesError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Password(#[from] password::PasswordError),
    #[error("cannot read or write {}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{} problems in documents:\n{}", .0.len(), .0.join("\n"))]
    Broken(Vec<String>),
}

/// Checks every document and the demo's output against the programs.
pub(super) fn run(runner: &Runner) -> Result<(), PromisesError> {
    workspace::build_programs(runner, &["server"])?;
    let program = workspace::target("debug/server");
    let manual = runner.output(Command::new(&program).arg("help-markdown"), "")?;
    let programs = Programs::new(&manual, &Arguments::command());
    let mut documents =
        vec![Document::of_code("cargo xtask demo", &demo::welcome("http://127.0.0.1:8080", "x", "x"))];
    for file in files(workspace::root(), &is_markdown)? {
        documents.push(Document::new(&name(&file), &read(&file)?));
    }
    for file in files(&workspace::path("deploy"), &|_| true)? {
        documents.push(Document::of_code(&name(&file), &read(&file)?));
    }

    let (mut broken, mut paths) = (Vec::new(), BTreeSet::new());
    for document in &documents {
        let mut report = |problem: String| broken.push(format!("  {}: {problem}", document.name));
        document.code.iter().filter_map(|code| programs.problem(code)).for_each(&mut report);
        document.links.iter().filter_map(|link| broken_link(&document.name, link)).for_each(&mut report);
        for path in document.code.iter().flat_map(|code| service_paths(code)) {
            paths.insert((path, document.name.clone()));
        }
    }
    broken.extend(unrouted(runner, program, paths)?);
    println!("{} documents", documents.len());
    if broken.is_empty() { Ok(()) } else { Err(PromisesError::Broken(broken)) }
}

/// The path in the work tree.
fn name(file: &Path) -> String {
    file.strip_prefix(workspace::root()).unwrap_or(file).display().to_string()
}

fn read(file: &Path) -> Result<String, PromisesError> {
    std::fs::read_to_string(file).map_err(|source| PromisesError::File { path: file.to_owned(), source })
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The files in a folder and the folders below it that are chosen, sorted.
fn files(folder: &Path, is_chosen: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>, PromisesError> {
    let failed = |source| PromisesError::File { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        if SKIPPED.iter().any(|skipped| name == *skipped) {
            continue;
        }
        if entry.file_type().map_err(failed)?.is_dir() {
            files.extend(self::files(&path, is_chosen)?);
        } else if is_chosen(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Reports a link to a missing file or heading.
fn broken_link(document: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let from = workspace::path(document);
    let target = if file.is_empty() { from } else { from.parent()?.join(file) };
    if !target.exists() {
        return Some(format!("the target of the link {link} is missing"));
    }
    if anchor.is_empty() {
        return None;
    }
    let text = std::fs::read_to_string(&target).unwrap_or_default();
    let has_anchor = Document::new("", &text).anchors.contains(anchor);
    (!has_anchor).then(|| format!("{} has no heading for the link {link}", target.display()))
}

/// The service paths in a piece of code. Paths with placeholders are left out.
fn service_paths(code: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || "'\"`?#,;)]<>\\|".contains(c);
    let words = code.split(ends).map(|word| match word.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default(),
        // `{base URL}` or `$BASE` before the path.
        None => word.rsplit('}').next().unwrap_or_default().trim_start_matches("$BASE"),
    });
    let is_fixed = |path: &&str| !path.contains(['{', '…', '*']) && !path.ends_with(['-', '/']);
    let paths =
        words.filter(|word| PATH_PREFIXES.iter().any(|prefix| word.starts_with(prefix))).filter(is_fixed);
    paths.map(|path| path.trim_end_matches(['.', ':']).to_owned()).collect()
}

/// Requests every path from a server, and reports those that it does not have.
fn unrouted(
    runner: &Runner,
    program: PathBuf,
    paths: BTreeSet<(String, String)>,
) -> Result<Vec<String>, PromisesError> {
    let data_dir = workspace::target("promises");
    let failed = |source| PromisesError::File { path: data_dir.clone(), source };
    if data_dir.exists() {
        std::fs::remove_dir_all(&data_dir).map_err(failed)?;
    }
    std::fs::create_dir_all(&data_dir).map_err(failed)?;
    let instance = Instance { runner, program, data_dir: data_dir.clone(), uses_ocr: false };
    instance.create_account(EMAIL, &password::make()?)?;
    let key = instance.create_key(EMAIL, "promises")?;
    let port = free_port(PORT);
    let mut server = instance.serve(port)?;
    let mut broken = Vec::new();
    for (path, document) in paths {
        if http::get(port, &path, Some(&key))?.status == 404 {
            broken.push(format!("  {document}: the service has no path {path}"));
        }
    }
    server.stop()?;
    Ok(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_service_are_found_in_code() {
        for (code, expect) in [
            ("/account", &["/account"][..]),
            ("curl 'http://127.0.0.1:8080/api/ext/v2/images?limit=5' | less", &["/api/ext/v2/images"]),
            ("{base URL}/api/mcp/v1", &["/api/mcp/v1"]),
            ("curl $BASE/.well-known/oauth-protected-resource", &["/.well-known/oauth-protected-resource"]),
            ("GET /healthz", &["/healthz"]),
            ("/api/ext/v2/images/{id}", &[]),
            ("/srv/photos /usr/lib https://huggingface.co/api/models", &[]),
        ] {
            assert_eq!(service_paths(code), expect, "{code}");
        }
    }
}
