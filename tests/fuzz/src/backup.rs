//! The files of backups.

use library_backup::{Manifest, sum_tables};

/// Reads the bytes as a manifest, and as a file with rows.
pub(crate) fn backup(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::parse(bytes) {
        assert!(!manifest.rows_file().contains(['/', '\\', '.']) && !manifest.secret_file().contains('/'));
        let written = manifest.to_json().unwrap_or_default();
        assert_eq!(Manifest::parse(&written).ok(), Some(manifest), "it is read as it was written");
    }
    let (tables, read) = sum_tables(bytes);
    if read.is_ok() {
        let cut = bytes.split_last().map_or(bytes, |(_, rest)| rest);
        assert!(sum_tables(cut).1.is_err(), "a part of the file is not the file");
    }
    for (header, sum) in tables {
        assert!(header.name == sum.name && header.key <= header.columns.len());
    }
}
