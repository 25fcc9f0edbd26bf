use std::{
    cmp::Reverse,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ::tests::outside::{Failed, Imported, Usage, megabytes};

use crate::files::Folder;

/// So many files are named for each reason, unless all are asked for.
const EXAMPLES: usize = 3;

struct Row {
    folder: Folder,
    imported: Imported,
    /// Files that could be read in part only, each with what is wrong with it.
    damaged: Vec<(String, String)>,
}

/// What became of each sub-folder.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn add(&mut self, folder: Folder, imported: Imported, damaged: Vec<(String, String)>) {
        self.rows.push(Row { folder, imported, damaged });
    }

    /// Every file that was refused.
    pub(crate) fn refused(&self) -> Vec<PathBuf> {
        self.failed().map(|file| file.path.clone()).collect()
    }

    /// Every file.
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

        let refused = self.failed().map(|file| (file.reason.as_str(), relative(root, &file.path)));
        print_reasons("why files were refused", refused.collect(), verbose);
        let damaged = self.rows.iter().flat_map(|row| {
            row.damaged.iter().map(|(name, note)| (note.as_str(), format!("{}/{name}", row.folder.name)))
        });
        print_reasons("what is wrong with damaged files", damaged.collect(), verbose);
    }

    /// Folders in which some file has no outcome, or more than one, or a decoder panicked.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for Row { folder, imported, .. } in &self.rows {
            let (files, settled) = (folder.files.len() as u64, imported.settled());
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

    fn failed(&self) -> impl Iterator<Item = &Failed> {
        self.rows.iter().flat_map(|row| &row.imported.failed)
    }
}

/// Reasons with the files that they hold for, the commonest reason first.
fn print_reasons(title: &str, files: Vec<(&str, String)>, verbose: bool) {
    let count = files.len();
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (reason, file) in files {
        reasons.entry(reason).or_default().push(file);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, files)| Reverse(files.len()));
    println!("\n{title}: {count} files, {} reasons", reasons.len());
    for (reason, files) in reasons {
        println!("{:>5}  {reason}", files.len());
        let shown = if verbose { files.len() } else { EXAMPLES.min(files.len()) };
        for file in files.iter().take(shown) {
            println!("         {file}");
        }
    }
}

pub(crate) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn print_row(name: &str, [files, imported, damaged, duplicates, refused]: [u64; 5], seconds: f64, usage: Usage) {
    println!(
        "{name:<44} {files:>6} {imported:>9} {damaged:>8} {duplicates:>11} {refused:>8} {seconds:>8.1} {:>7.1} {:>8.0}",
        usage.cpu.as_secs_f64(),
        megabytes(usage.peak_bytes)
    );
}
