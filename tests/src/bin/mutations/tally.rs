use std::{ops::Range, process::ExitCode, time::Duration};

use ::tests::black_box::{AnyError, ImageCounts, ImportOutcome, Reasons, Usage};

/// Maximum number of reasons and of faults to print.
const SHOWN: usize = 25;

/// The outcomes of the files.
#[derive(Debug, Default)]
pub(super) struct Tally {
    files: u64,
    imported: u64,
    duplicates: u64,
    refused: Reasons,
    /// Resources of all imports, which run one after another.
    pub(super) importer: Usage,
    /// The images of the library at the end.
    pub(super) states: ImageCounts,
    /// Photos whose full rendition was not made.
    pub(super) without_full: u64,
    panics: u64,
    /// Failed checks.
    pub(super) faults: Vec<String>,
}

impl Tally {
    /// Counts the files of these numbers.
    pub(super) fn add(&mut self, numbers: Range<u64>, imported: Result<ImportOutcome, AnyError>) {
        let files = numbers.end - numbers.start;
        let batch = format!("files {} to {}", numbers.start, numbers.end - 1);
        self.files += files;
        let imported = match imported {
            Ok(imported) => imported,
            Err(error) => return self.faults.push(format!("{batch}: {error}")),
        };
        if imported.file_count() != files {
            self.faults.push(format!("{batch}: {files} files but {} outcomes", imported.file_count()));
        }
        self.imported += imported.imported;
        self.duplicates += imported.duplicates;
        self.importer = self.importer + imported.usage;
        self.count_panics(&batch, &imported.stderr);
        for file in imported.failed {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.reason.trim().is_empty() {
                self.faults.push(format!("{name} was refused without a reason"));
            }
            self.refused.add(&file.reason, name);
        }
    }

    /// Counts caught panics in a log. The file still has an outcome, but each panic is a bug.
    pub(super) fn count_panics(&mut self, process: &str, log: &str) {
        for line in log.lines().filter(|line| line.contains("panicked at")) {
            self.panics += 1;
            if self.panics <= 5 {
                println!("{process}: {line}");
            }
        }
    }

    pub(super) fn print(&self, took: Duration) {
        println!(
            "{} imported (the library has {} damaged), {} duplicates, {} refused in {:.0} s; {:.3} CPU s per \
             file in imports; {} contained panics; {} full renditions not made",
            self.imported,
            self.states.damaged,
            self.duplicates,
            self.refused.count(),
            took.as_secs_f64(),
            self.importer.cpu.as_secs_f64() / f64::from(u32::try_from(self.files.max(1)).unwrap_or(u32::MAX)),
            self.panics,
            self.without_full
        );
        self.refused.print("why files were refused", SHOWN, 1);
    }

    /// Prints the failed checks.
    pub(super) fn judge(&self) -> ExitCode {
        for fault in self.faults.iter().take(SHOWN) {
            println!("FAULT {fault}");
        }
        println!("\n{} files, {} faults", self.files, self.faults.len());
        if self.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
