//! Opens files for locks.

use std::{fs::File, io, path::Path};

use crate::{open_regular, permissions::restrict_permissions};

pub(crate) fn lock_file(root: &Path, name: &str) -> io::Result<File> {
    let path = root.join(name);
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
    let file = open_regular(&path, &mut options).map_err(named)?;
    restrict_permissions(&path, 0o600)?;
    Ok(file)
}
