//! Opens files in folders in which others may have put links, pipes or devices.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Opens a regular file. A link at the path is not followed, and a pipe or device is refused at once instead of waited for.
///
/// # Errors
/// The path names anything but a regular file, or the file cannot be opened.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
    }
    match options.open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(not_regular()),
        // The errors of links and of pipes without a reader differ between systems.
        Err(_) if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) => Err(not_regular()),
        Err(error) => Err(error),
    }
}

/// Opens a regular file for reading, as [`open_regular`] does.
///
/// # Errors
/// As [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

/// Creates a file that only its owner can open. A file or link of that name is replaced. The target of the link is not
/// changed.
///
/// # Errors
/// A folder has that name, or the file cannot be created.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a link, a pipe or another special file; remove it")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), "content").unwrap();
        fs::create_dir(path("folder")).unwrap();
        symlink(path("file"), path("link")).unwrap();
        symlink(path("nothing"), path("broken")).unwrap();
        symlink("/dev/zero", path("device")).unwrap();
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for name in ["folder", "link", "broken", "device", "pipe", "socket"] {
            for writes in [false, true] {
                let mut options = OpenOptions::new();
                let error =
                    open_regular(&path(name), options.read(true).write(writes).create(writes)).unwrap_err();
                assert!(error.to_string().contains("special file"), "{name}: {error}");
            }
        }
        assert!(!path("nothing").exists());
        assert_eq!(io::read_to_string(read_regular(&path("file")).unwrap()).unwrap(), "content");
        assert_eq!(read_regular(&path("nothing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_new_file_replaces_a_link_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, path) = (dir.path().join("outside"), dir.path().join("path"));
        let links: [fn(&Path, &Path) -> io::Result<()>; 2] =
            [|to, at| symlink(to, at), |to, at| fs::hard_link(to, at)];
        for link in links {
            fs::write(&outside, "outside").unwrap();
            let _ = fs::remove_file(&path);
            link(&outside, &path).unwrap();
            let file = create_private_file(&path).unwrap();
            io::Write::write_all(&mut &file, b"inside").unwrap();
            assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
            assert_eq!(fs::read_to_string(&path).unwrap(), "inside");
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
