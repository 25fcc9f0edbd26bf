use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A sub-folder of the corpus, or the files that stand in none.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) name: String,
    pub(crate) paths: Vec<PathBuf>,
    /// How many files of it ought to have an outcome.
    pub(crate) files: u64,
}

/// The sub-folders of a folder by name, then the files that stand in it.
pub(crate) fn folders(root: &Path) -> io::Result<Vec<Folder>> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(root)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    let (inner, loose): (Vec<PathBuf>, Vec<PathBuf>) = entries.into_iter().partition(|path| path.is_dir());
    let mut folders = Vec::new();
    for path in inner {
        let files = count(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folders.push(Folder { name, paths: vec![path], files });
    }
    if !loose.is_empty() {
        let files = loose.iter().filter(|path| !is_junk(path)).count() as u64;
        folders.push(Folder { name: ".".into(), paths: loose, files });
    }
    Ok(folders)
}

fn count(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |files, entry| {
        let path = entry?.path();
        Ok(files + if path.is_dir() { count(&path)? } else { u64::from(!is_junk(&path)) })
    })
}

fn is_junk(path: &Path) -> bool {
    path.file_name().is_some_and(|name| media::is_junk_file_name(&name.to_string_lossy()))
}
