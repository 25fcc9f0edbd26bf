use std::{ops::Range, process::ExitCode, time::Duration};

use ::tests::black_box::{AnyError, ImageCounts, ImportOutcome, Reasons, Usage};

/// Maximum number of reasons, and of faults, that are printed.
const SHOWN: usize = 25;

/// The outcomes of all files.
#[derive(Debug, Default)]
pub(super) struct Tally {
    files: u64,
    imported: u64,
    duplicates: u64,
    rejected: Reasons,
    /// The resources that all imports used, one after the other.
    pub(super) importer: Usage,
    /// The images in the library at the end.
    pub(super) states: ImageCounts,
    /// Photos without a full rendition.
    pub(super) without_full: u64,
    panics: u64,
    /// Failed checks.
    pub(super) faults: Vec<String>,
}

impl Tally {
    /// Counts the files with these numbers.
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
        self.note_panics(&batch, &imported.stderr);
        for file in imported.failed {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.reason.trim().is_empty() {
                self.faults.push(format!("{name} was rejected without a reason"));
            }
            self.rejected.add(&file.reason, name);
        }
    }

    /// Counts panics. A caught panic is a valid outcome, but a defect.
    pub(super) fn note_panics(&mut self, process: &str, log: &str) {
        for line in log.lines().filter(|line| line.contains("panicked at")) {
            self.panics += 1;
            if self.panics <= 5 {
                println!("{process}: {line}");
            }
        }
    }

    pub(super) fn print(&self, took: Duration) {
        println!(
            "{} imported (the library has {} damaged), {} duplicates, {} rejected in {:.0} s; {:.3} CPU s per \
             file in imports; {} caught panics; {} full renditions missing",
            self.imported,
            self.states.damaged,
            self.duplicates,
            self.rejected.count(),
            took.as_secs_f64(),
            self.importer.cpu.as_secs_f64() / f64::from(u32::try_from(self.files.max(1)).unwrap_or(u32::MAX)),
            self.panics,
            self.without_full
        );
        self.rejected.print("why files were rejected", SHOWN, 1);
    }

    /// Prints the failed checks.
    pub(super) fn finish(&self) -> ExitCode {
        for fault in self.faults.iter().take(SHOWN) {
            println!("FAULT {fault}");
        }
        println!("\n{} files, {} faults", self.files, self.faults.len());
        if self.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
