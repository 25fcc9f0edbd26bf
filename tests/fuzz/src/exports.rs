//! Archives, and the lists in exports of other services.

use std::{fs, io, ops::ControlFlow, path::Path};

/// The longest content that is read from an archive, in bytes.
const MAX_CONTENT_BYTES: u64 = 1 << 20;

/// Reads the bytes as an archive of each kind: makes a plan, and reads the photos.
pub(crate) fn archives(bytes: &[u8]) {
    let Ok(dir) = tempfile::tempdir() else { return };
    for name in ["x.zip", "x.tar", "x.tgz"] {
        let path = dir.path().join(name);
        if fs::write(&path, bytes).is_ok() {
            archive(&path);
        }
    }
}

fn archive(path: &Path) {
    let mut entries = 0;
    let plan = ::exports::plan_with_progress(&[path.to_owned()], &mut |listed| {
        assert!(listed.path == path && listed.entries >= entries, "entries are counted up");
        entries = listed.entries;
    });
    assert!(plan.photos.iter().all(|photo| !photo.is_on_disk() && photo.path.starts_with(path)));
    let mut read = 0;
    plan.read_archived(|position, content| {
        assert_eq!(position, read, "photos come in the order of the plan");
        read += 1;
        if let Ok(content) = content {
            let _ = io::copy(&mut io::Read::take(content, MAX_CONTENT_BYTES), &mut io::sink());
        }
        ControlFlow::Continue(())
    });
    assert_eq!(read, plan.photos.len(), "every photo is read or refused");
    for sidecar in plan.photos.iter().flat_map(|photo| &photo.sidecars) {
        let _ = plan.read_sidecar(sidecar);
    }
    assert!(plan.albums.iter().flat_map(|album| &album.photos).all(|photo| *photo < plan.photos.len()));
}

/// Reads the bytes as a CSV file of an Apple export, as a JSON file of a Google export, and as the album list of an export
/// of this library.
pub(crate) fn albums_and_lists(bytes: &[u8]) {
    for photo in media::apple_photos_csv(bytes).unwrap_or_default() {
        assert!(!photo.name.is_empty());
        if let Some(xmp) = photo.xmp() {
            assert!(media::is_sidecar_content(domain::SidecarKind::Xmp, &xmp));
        }
    }
    let names = media::apple_album_csv(bytes).unwrap_or_default();
    assert!(names.iter().all(|name| !name.is_empty()));
    if let Some(albums) = ::exports::read_albums_file(bytes) {
        let written = ::exports::albums_file(&albums).unwrap_or_default();
        assert_eq!(::exports::read_albums_file(&written), Some(albums));
    }
    if let media::TakeoutFile::Album(album) = media::takeout_file(bytes) {
        assert!(!album.title.trim().is_empty());
    }
}
