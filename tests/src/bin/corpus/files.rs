use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A sub-folder of the corpus, or the files at its top level.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) name: String,
    pub(crate) paths: Vec<PathBuf>,
    /// The files that should have an outcome.
    pub(crate) files: Vec<PathBuf>,
}

impl Folder {
    /// The number of sidecars. A sidecar has no outcome of its own.
    pub(crate) fn sidecars(&self) -> usize {
        let is_sidecar = |path: &&PathBuf| {
            path.extension().is_some_and(|extension| {
                ["xmp", "json"].iter().any(|sidecar| extension.eq_ignore_ascii_case(sidecar))
            })
        };
        self.files.iter().filter(is_sidecar).count()
    }
}

/// The sub-folders of a folder by name, then the files at its top level.
pub(crate) fn folders(root: &Path) -> io::Result<Vec<Folder>> {
    let (inner, loose): (Vec<PathBuf>, Vec<PathBuf>) =
        entries(root)?.into_iter().partition(|path| path.is_dir());
    let mut folders = Vec::new();
    for path in inner {
        let mut files = Vec::new();
        walk(&path, &mut files)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folders.push(Folder { name, paths: vec![path], files });
    }
    if !loose.is_empty() {
        let files = loose.iter().filter(|path| !is_junk(path)).cloned().collect();
        folders.push(Folder { name: ".".into(), paths: loose, files });
    }
    Ok(folders)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            walk(&path, files)?;
        } else if !is_junk(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}

fn is_junk(path: &Path) -> bool {
    path.file_name().is_some_and(|name| media::is_junk_file_name(&name.to_string_lossy()))
}
