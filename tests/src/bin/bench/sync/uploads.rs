//! Uploads of a folder of photos by rclone: to this server, and to `rclone serve webdav`.

use std::{fs, path::Path, time::Duration};

use ::tests::black_box::{AnyError, EMAIL, Instance, megabytes};
use tempfile::TempDir;

use super::rclone::{Rclone, Remote, stored_files};
use crate::import::distinct;

/// Photos as cameras and phones make them, among the bundled samples.
const SAMPLES: [&str; 4] = ["autumn-leaf.jpg", "japanese-shop.jpg", "sleeping-cat.jpg", "wisteria.jpg"];
pub(super) const OURS: &str = "ours";
pub(super) const PEER: &str = "rclone serve webdav";

/// A temporary folder of distinct photos.
pub(super) struct UploadPhotos {
    folder: TempDir,
    count: u32,
    bytes: u64,
}

impl UploadPhotos {
    pub(super) fn make(count: u32) -> Result<Self, AnyError> {
        let folder = tempfile::tempdir()?;
        let mut bytes = 0;
        for number in 0..count {
            let content = photo(number)?;
            bytes += u64::try_from(content.len())?;
            fs::write(folder.path().join(format!("IMG_{number:05}.jpg")), content)?;
        }
        Ok(Self { folder, count, bytes })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn megabytes(&self) -> f64 {
        megabytes(self.bytes)
    }
}

/// A real photo. Its bytes differ for each number.
pub(crate) fn photo(number: u32) -> Result<Vec<u8>, AnyError> {
    let count = u32::try_from(SAMPLES.len())?;
    let sample = SAMPLES.get(usize::try_from(number % count)?).ok_or("no samples")?;
    let original = fs::read(::tests::fixtures().join("samples").join(sample))?;
    Ok(distinct(&original, 1 + number / count))
}

#[derive(Debug, Clone, Copy)]
struct UploadFigures {
    mb_per_s: f64,
    /// Processor time of the server that receives the files, in milliseconds per file.
    server_cpu_ms: f64,
    /// The same with the child processes of the server, which index photos meanwhile.
    tree_cpu_ms: f64,
    peak_mb: f64,
}

impl UploadFigures {
    fn of(
        photos: &UploadPhotos,
        took: Duration,
        server_cpu: Duration,
        tree_cpu: Duration,
        peak_bytes: u64,
    ) -> Self {
        let per_file_ms = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(photos.count().max(1));
        Self {
            mb_per_s: photos.megabytes() / took.as_secs_f64(),
            server_cpu_ms: per_file_ms(server_cpu),
            tree_cpu_ms: per_file_ms(tree_cpu),
            peak_mb: megabytes(peak_bytes),
        }
    }
}

/// The figures of all rounds. Each row is printed when it is added.
pub(super) struct UploadTable {
    rows: Vec<(&'static str, UploadFigures)>,
}

impl UploadTable {
    pub(super) fn new() -> Self {
        println!(
            "{:>6}  {:<22} {:>8} {:>15} {:>20} {:>8}",
            "round", "upload to", "MB/s", "server ms/file", "with indexing ms", "peak MB"
        );
        Self { rows: Vec::new() }
    }

    fn add(&mut self, round: u32, name: &'static str, figures: UploadFigures) {
        print(&round.to_string(), name, &figures);
        self.rows.push((name, figures));
    }

    pub(super) fn print_medians(&self) {
        println!();
        for name in [OURS, PEER] {
            if let Some(median) = self.median(name) {
                print("median", name, &median);
            }
        }
        if let (Some(ours), Some(peer)) = (self.median(OURS), self.median(PEER)) {
            println!(
                "{OURS}: {:.2} times the MB/s, {:.2} of the server's CPU time of {PEER}",
                ours.mb_per_s / peer.mb_per_s,
                ours.server_cpu_ms / peer.server_cpu_ms
            );
        }
    }

    fn median(&self, name: &str) -> Option<UploadFigures> {
        let rows: Vec<&UploadFigures> =
            self.rows.iter().filter(|(of, _)| *of == name).map(|(_, figures)| figures).collect();
        rows.first()?;
        let figure = |of: fn(&UploadFigures) -> f64| crate::median(rows.iter().map(|row| of(row)).collect());
        Some(UploadFigures {
            mb_per_s: figure(|row| row.mb_per_s),
            server_cpu_ms: figure(|row| row.server_cpu_ms),
            tree_cpu_ms: figure(|row| row.tree_cpu_ms),
            peak_mb: figure(|row| row.peak_mb),
        })
    }
}

fn print(round: &str, name: &str, figures: &UploadFigures) {
    println!(
        "{round:>6}  {name:<22} {:>8.1} {:>15.2} {:>20.2} {:>8.0}",
        figures.mb_per_s, figures.server_cpu_ms, figures.tree_cpu_ms, figures.peak_mb
    );
}

/// Uploads the photos to an empty library.
pub(super) fn to_ours(
    rclone: &Rclone,
    photos: &UploadPhotos,
    round: u32,
    table: &mut UploadTable,
) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(folder.path(), &["--ocr-languages", "off"])?;
    let remote = Remote { url: String::new(), user: EMAIL.to_owned(), password: instance.create_key()? };
    let server = instance.serve()?;
    let (own, tree) = (server.own_cpu(), server.usage().cpu);
    let remote = Remote { url: format!("{}/dav/", server.base_url()), ..remote };
    let copied = rclone.copy(photos.path(), &remote)?;
    let (own, usage) = (server.own_cpu().saturating_sub(own), server.usage());
    table.add(
        round,
        OURS,
        UploadFigures::of(photos, copied.took, own, usage.cpu.saturating_sub(tree), usage.peak_bytes),
    );
    server.stop()
}

/// Uploads the photos to an empty folder, served by rclone.
pub(super) fn to_peer(
    rclone: &Rclone,
    photos: &UploadPhotos,
    round: u32,
    table: &mut UploadTable,
) -> Result<(), AnyError> {
    let parent = tempfile::tempdir()?;
    let folder = parent.path().join("files");
    fs::create_dir(&folder)?;
    let peer = rclone.serve(&folder)?;
    let before = peer.usage().cpu;
    let copied = rclone.copy(photos.path(), &peer.remote())?;
    let usage = peer.usage();
    let cpu = usage.cpu.saturating_sub(before);
    if stored_files(&folder)? != usize::try_from(photos.count())? {
        return Err("rclone serve webdav has lost files".into());
    }
    table.add(round, PEER, UploadFigures::of(photos, copied.took, cpu, cpu, usage.peak_bytes));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photos_are_distinct() {
        let photos: std::collections::HashSet<_> = (0..9).map(|number| photo(number).unwrap()).collect();
        assert_eq!(photos.len(), 9);
    }

    #[test]
    fn medians_are_per_server() {
        let mut table = UploadTable::new();
        let figures =
            |mb_per_s| UploadFigures { mb_per_s, server_cpu_ms: 1.0, tree_cpu_ms: 2.0, peak_mb: 3.0 };
        for (name, mb_per_s) in [(OURS, 10.0), (PEER, 99.0), (OURS, 30.0)] {
            table.add(1, name, figures(mb_per_s));
        }
        assert!((table.median(OURS).unwrap().mb_per_s - 20.0).abs() < f64::EPSILON);
        assert!(table.median("other").is_none());
    }
}
