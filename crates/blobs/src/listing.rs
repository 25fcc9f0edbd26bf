//! Lists files of a folder by their names.

use std::{fs, io, path::Path};

pub(crate) fn files_named(folder: &Path, matches: impl Fn(&str) -> bool) -> io::Result<Vec<fs::DirEntry>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name().to_str().is_some_and(&matches) {
            files.push(entry);
        }
    }
    Ok(files)
}
