use std::{collections::BTreeMap, path::Path};

use library::{FailedFile, ImportReport};

use crate::files::Folder;

struct Row {
    name: String,
    files: u64,
    report: ImportReport,
}

/// What became of each sub-folder.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn add(&mut self, name: &str, folder: &Folder, report: ImportReport) {
        self.rows.push(Row { name: name.to_owned(), files: folder.files, report });
    }

    pub(crate) fn print(&self, root: &Path) {
        println!("{:<44} {:>6} {:>9} {:>10} {:>7}", "folder", "files", "imported", "duplicates", "failed");
        for row in &self.rows {
            print_row(
                &row.name,
                row.files,
                row.report.imported,
                row.report.duplicates,
                row.report.failed.len(),
            );
        }
        let sum = |of: fn(&Row) -> u64| self.rows.iter().map(of).sum::<u64>();
        let failed: Vec<&FailedFile> = self.rows.iter().flat_map(|row| &row.report.failed).collect();
        print_row(
            "all",
            sum(|row| row.files),
            sum(|row| row.report.imported),
            sum(|row| row.report.duplicates),
            failed.len(),
        );
        println!("\nwhy files failed:");
        let mut reasons: BTreeMap<&str, Vec<&FailedFile>> = BTreeMap::new();
        for file in failed {
            reasons.entry(&file.error).or_default().push(file);
        }
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
        for (reason, files) in reasons {
            let shown: Vec<String> = files.iter().take(3).map(|file| relative(root, &file.path)).collect();
            println!("{:>5}  {reason}\n       such as {}", files.len(), shown.join(", "));
        }
    }

    /// Folders in which some file has no outcome, or more than one.
    pub(crate) fn faults(&self) -> Vec<String> {
        let settled =
            |row: &Row| row.report.imported + row.report.duplicates + row.report.failed.len() as u64;
        self.rows
            .iter()
            .filter(|row| settled(row) != row.files)
            .map(|row| format!("{}: {} files but {} outcomes", row.name, row.files, settled(row)))
            .chain(self.rows.iter().filter_map(|row| row.report.stopped.clone()))
            .collect()
    }
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn print_row(name: &str, files: u64, imported: u64, duplicates: u64, failed: usize) {
    println!("{name:<44} {files:>6} {imported:>9} {duplicates:>10} {failed:>7}");
}
