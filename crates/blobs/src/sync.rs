use std::{fs::File, io, path::Path};

/// Syncs the entries of a folder, without which a new file can be lost. Blocks.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems than Unix cannot open a folder.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
