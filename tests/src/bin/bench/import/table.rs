use std::{path::Path, time::Duration};

use ::tests::black_box::{Usage, megabytes};
use serde_json::{Value, json};

use super::copies::Photos;

/// The figures of one run.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImportFigures {
    pub(super) name: &'static str,
    /// Number of photos processed.
    pub(super) photos: u64,
    pub(super) failed: u64,
    pub(super) took: Duration,
    pub(super) used: Usage,
    /// Total size of the renditions.
    pub(super) bytes: u64,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    photos_per_s: f64,
    cpu_s_per_photo: f64,
    peak_mb: f64,
    renditions_mb: f64,
    photos: u64,
    failed: u64,
}

impl Row {
    fn of(figures: &ImportFigures) -> Self {
        // A round has fewer than 2^32 photos.
        let photos = f64::from(u32::try_from(figures.photos.max(1)).unwrap_or(u32::MAX));
        Self {
            photos_per_s: photos / figures.took.as_secs_f64(),
            cpu_s_per_photo: figures.used.cpu.as_secs_f64() / photos,
            peak_mb: megabytes(figures.used.peak_bytes),
            renditions_mb: megabytes(figures.bytes),
            photos: figures.photos,
            failed: figures.failed,
        }
    }

    fn print(&self, round: &str, name: &str) {
        let failed = if self.failed > 0 { format!("  {} failed", self.failed) } else { String::new() };
        println!(
            "{round:>6}  {name:<24} {:>7} {:>9.2} {:>13.3} {:>8.0} {:>14.1}{failed}",
            self.photos, self.photos_per_s, self.cpu_s_per_photo, self.peak_mb, self.renditions_mb
        );
    }

    fn to_json(self, name: &str) -> Value {
        json!({
            "what": name,
            "photos": self.photos,
            "failed": self.failed,
            "photosPerSecond": self.photos_per_s,
            "cpuSecondsPerPhoto": self.cpu_s_per_photo,
            "peakMegabytes": self.peak_mb,
            "renditionMegabytes": self.renditions_mb,
        })
    }
}

/// The figures of all rounds. Each row is printed when it is added.
pub(super) struct ImportTable {
    rows: Vec<(u32, &'static str, Row)>,
}

impl ImportTable {
    pub(super) fn new() -> Self {
        println!(
            "{:>6}  {:<24} {:>7} {:>9} {:>13} {:>8} {:>14}",
            "round", "", "photos", "photos/s", "CPU s/photo", "peak MB", "renditions MB"
        );
        Self { rows: Vec::new() }
    }

    pub(super) fn add(&mut self, round: u32, figures: ImportFigures) {
        let row = Row::of(&figures);
        row.print(&round.to_string(), figures.name);
        self.rows.push((round, figures.name, row));
    }

    pub(super) fn print_medians(&self) {
        for (name, row) in self.medians() {
            row.print("median", name);
        }
    }

    /// Prints the ratios of throughput, processor time and memory.
    pub(super) fn print_comparison(&self, ours: &str, other: &str) {
        let medians = self.medians();
        let find = |searched: &str| medians.iter().find(|(name, _)| *name == searched).map(|(_, row)| row);
        if let (Some(one), Some(two)) = (find(ours), find(other)) {
            println!(
                "{ours}: {:.1} times the photos/s, {:.2} of the CPU time, {:.2} of the memory of {other}",
                one.photos_per_s / two.photos_per_s,
                one.cpu_s_per_photo / two.cpu_s_per_photo,
                one.peak_mb / two.peak_mb
            );
        }
    }

    pub(super) fn to_json(&self, dir: &Path, photos: &Photos) -> Value {
        let rounds = self.rows.iter().map(|(round, name, row)| {
            let mut row = row.to_json(name);
            row["round"] = json!(round);
            row
        });
        json!({
            "dir": dir,
            "files": photos.files().len(),
            "copies": photos.copies(),
            "processors": std::thread::available_parallelism().map_or(0, usize::from),
            "rounds": rounds.collect::<Vec<_>>(),
            "medians": self.medians().iter().map(|(name, row)| row.to_json(name)).collect::<Vec<_>>(),
        })
    }

    /// The median of each figure, in the order of the first round.
    fn medians(&self) -> Vec<(&'static str, Row)> {
        let mut names: Vec<&'static str> = Vec::new();
        for (_, name, _) in &self.rows {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let of = |name: &'static str| {
            let rows: Vec<Row> = self.rows.iter().filter(|row| row.1 == name).map(|row| row.2).collect();
            let figure = |of: fn(&Row) -> f64| crate::median(rows.iter().map(of).collect());
            let row = Row {
                photos_per_s: figure(|row| row.photos_per_s),
                cpu_s_per_photo: figure(|row| row.cpu_s_per_photo),
                peak_mb: figure(|row| row.peak_mb),
                renditions_mb: figure(|row| row.renditions_mb),
                photos: rows.iter().map(|row| row.photos).min().unwrap_or_default(),
                failed: rows.iter().map(|row| row.failed).max().unwrap_or_default(),
            };
            (name, row)
        };
        names.into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_per_name() {
        let mut table = ImportTable::new();
        for (round, seconds) in [(1, 10), (2, 30), (3, 20)] {
            let figures = ImportFigures {
                name: "it",
                photos: 60,
                failed: 0,
                took: Duration::from_secs(seconds),
                used: Usage { cpu: Duration::from_secs(6), peak_bytes: 5_000_000 },
                bytes: 7,
            };
            table.add(round, figures);
        }
        let medians = table.medians();
        let [("it", row)] = medians.as_slice() else { panic!("{medians:?}") };
        assert!((row.photos_per_s - 3.0).abs() < 1e-9 && (row.cpu_s_per_photo - 0.1).abs() < 1e-9);
    }
}
