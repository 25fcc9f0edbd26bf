use std::{
    fs::{self, DirBuilder},
    io,
    path::Path,
};

/// Creates a folder that only its owner can open, with its parents.
///
/// # Errors
/// The folder cannot be created.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    restrict_permissions(folder, 0o700).map(|_| ())
}

/// Removes the access of other users to a file or folder, and logs it. Returns whether they had access. If the mode cannot
/// be changed (no modes on this file system, another owner), this is only logged.
///
/// # Errors
/// The file or folder does not exist, or its metadata cannot be read.
#[cfg(unix)]
pub fn restrict_permissions(path: &Path, mode: u32) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let before = path.metadata()?.permissions().mode() & 0o777;
    if before & 0o077 == 0 {
        return Ok(false);
    }
    let shown = path.display();
    match fs::set_permissions(path, fs::Permissions::from_mode(mode)) {
        Ok(()) => tracing::warn!("changed the mode of {shown} from {before:04o} to {mode:04o}"),
        Err(error) => {
            tracing::warn!(%error, "other users can open {shown}: its mode is {before:04o} and cannot be changed");
        }
    }
    Ok(true)
}

/// Other systems than Unix have no file modes.
#[cfg(not(unix))]
pub fn restrict_permissions(_: &Path, _: u32) -> io::Result<bool> {
    Ok(false)
}
