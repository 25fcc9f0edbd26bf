use std::path::{Path, PathBuf};

use ::tests::black_box::{FailedFile, ImportOutcome, Reasons, Usage, megabytes};

use crate::files::Folder;

/// Files listed per reason without `--verbose`.
const EXAMPLES: usize = 3;

struct Row {
    folder: Folder,
    imported: ImportOutcome,
    /// Partly readable files, each with the reason.
    damaged: Vec<(String, String)>,
}

/// The outcome of each sub-folder.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn add(&mut self, folder: Folder, imported: ImportOutcome, damaged: Vec<(String, String)>) {
        self.rows.push(Row { folder, imported, damaged });
    }

    /// Every file that was refused.
    pub(crate) fn refused(&self) -> Vec<PathBuf> {
        self.failed().map(|file| file.path.clone()).collect()
    }

    pub(crate) fn every_file(&self) -> Vec<PathBuf> {
        self.rows.iter().flat_map(|row| row.folder.files.clone()).collect()
    }

    pub(crate) fn print(&self, root: &Path, verbose: bool) {
        println!(
            "{:<44} {:>6} {:>9} {:>8} {:>11} {:>8} {:>8} {:>7} {:>8}",
            "folder", "files", "imported", "damaged", "duplicates", "refused", "seconds", "CPU s", "peak MB"
        );
        for row in &self.rows {
            let counts = [
                row.folder.files.len() as u64,
                row.imported.imported,
                row.damaged.len() as u64,
                row.imported.duplicates,
                row.imported.failed.len() as u64,
            ];
            print_row(&row.folder.name, counts, row.imported.took.as_secs_f64(), row.imported.usage);
        }
        let sum = |of: fn(&Row) -> u64| self.rows.iter().map(of).sum::<u64>();
        let counts = [
            sum(|row| row.folder.files.len() as u64),
            sum(|row| row.imported.imported),
            sum(|row| row.damaged.len() as u64),
            sum(|row| row.imported.duplicates),
            self.failed().count() as u64,
        ];
        let seconds = self.rows.iter().map(|row| row.imported.took.as_secs_f64()).sum();
        let usage = self.rows.iter().fold(Usage::default(), |sum, row| sum + row.imported.usage);
        print_row("all", counts, seconds, usage);

        let (mut refused, mut damaged) = (Reasons::default(), Reasons::default());
        for file in self.failed() {
            refused.add(&file.reason, relative(root, &file.path));
        }
        for row in &self.rows {
            for (name, note) in &row.damaged {
                damaged.add(note, format!("{}/{name}", row.folder.name));
            }
        }
        let examples = if verbose { usize::MAX } else { EXAMPLES };
        refused.print("why files were refused", usize::MAX, examples);
        damaged.print("what is wrong with damaged files", usize::MAX, examples);
    }

    /// Folders where a file has no outcome or several, a reason is empty, or a decoder panicked.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for Row { folder, imported, .. } in &self.rows {
            let (files, settled) = (folder.files.len() as u64, imported.file_count());
            if settled > files || settled + (folder.sidecars() as u64) < files {
                faults.push(format!("{}: {files} files but {settled} outcomes", folder.name));
            }
            let without_reason = imported.failed.iter().filter(|file| file.reason.trim().is_empty());
            faults.extend(without_reason.map(|file| format!("{}: no reason", file.path.display())));
            let panics = imported.stderr.lines().filter(|line| line.contains("panicked at"));
            faults.extend(panics.map(|line| format!("{}: {line}", folder.name)));
        }
        faults
    }

    fn failed(&self) -> impl Iterator<Item = &FailedFile> {
        self.rows.iter().flat_map(|row| &row.imported.failed)
    }
}

pub(crate) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn print_row(
    name: &str,
    [files, imported, damaged, duplicates, refused]: [u64; 5],
    seconds: f64,
    usage: Usage,
) {
    println!(
        "{name:<44} {files:>6} {imported:>9} {damaged:>8} {duplicates:>11} {refused:>8} {seconds:>8.1} {:>7.1} {:>8.0}",
        usage.cpu.as_secs_f64(),
        megabytes(usage.peak_bytes)
    );
}
