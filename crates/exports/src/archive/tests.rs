use std::{collections::BTreeMap, fs, path::PathBuf};

use super::*;
use crate::{limits::MAX_ENTRIES, plan, plan_with_progress, samples};

/// The contents that can be read from an archive, and the reasons for everything else.
fn read(path: &Path) -> (BTreeMap<String, Vec<u8>>, Vec<String>) {
    let plan = plan(&[path.to_owned()]);
    let shown = |path: &PathBuf| path.display().to_string();
    let mut reasons: Vec<String> =
        plan.failed.iter().map(|problem| format!("{}: {}", shown(&problem.path), problem.reason)).collect();
    let mut contents = BTreeMap::new();
    plan.read_archived(|position, content| {
        let photo = &plan.photos[position];
        let mut bytes = Vec::new();
        match content {
            Ok(content) => match content.read_to_end(&mut bytes) {
                Ok(_) => drop(contents.insert(shown(&photo.path), bytes)),
                Err(error) => reasons.push(format!("{}: {error}", shown(&photo.path))),
            },
            Err(error) => reasons.push(format!("{}: {error}", shown(&photo.path))),
        }
        ControlFlow::Continue(())
    });
    let root = path.parent().unwrap().display().to_string() + "/";
    let short = |text: String| text.replace(&root, "");
    (
        contents.into_iter().map(|(path, bytes)| (short(path), bytes)).collect(),
        reasons.into_iter().map(short).collect(),
    )
}

/// Incompressible content.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn entries_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let long = noise(300_000, 7);
    let name = format!("{}/x.jpg", "n".repeat(150));
    for archive in ["x.zip", "x.tar", "x.tgz"] {
        let path = dir.path().join(archive);
        samples::write(
            &path,
            &[("a/1.jpg", b"one".as_slice()), ("2.jpg", &long), ("0.jpg", b""), (&name, b"n")],
        );
        let (contents, reasons) = read(&path);
        assert_eq!(reasons, [""; 0], "{archive}");
        assert_eq!(contents[&format!("{archive}/a/1.jpg")], b"one");
        assert!(contents[&format!("{archive}/2.jpg")] == long);
        assert_eq!(contents[&format!("{archive}/0.jpg")], b"");
        assert_eq!(contents[&format!("{archive}/{name}")], b"n");
    }
}

#[test]
fn entries_before_the_end_of_a_truncated_archive_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (noise(50_000, 1), noise(50_000, 2));
    for archive in ["x.zip", "x.tar", "x.tgz"] {
        let path = dir.path().join(archive);
        samples::write(&path, &[("1.jpg", one.as_slice()), ("2.jpg", &two)]);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..80_000]).unwrap();
        let (contents, reasons) = read(&path);
        let names: Vec<&str> = contents.keys().map(String::as_str).collect();
        assert_eq!(names, [format!("{archive}/1.jpg")], "{reasons:?}");
        assert!(contents.values().all(|content| *content == one), "{archive}");
        assert_eq!(reasons.len(), 1, "{archive}: {reasons:?}");
        fs::write(&path, b"").unwrap();
        assert!(read(&path).0.is_empty(), "an empty file does no harm");
    }
}

/// Changes the bytes at an offset from each signature.
fn patch(path: &Path, signature: &[u8], offset: usize, bytes: &[u8]) {
    let mut file = fs::read(path).unwrap();
    let found: Vec<usize> = file
        .windows(signature.len())
        .enumerate()
        .filter(|(_, window)| *window == signature)
        .map(|(position, _)| position)
        .collect();
    assert!(!found.is_empty());
    for position in found {
        file[position + offset..position + offset + bytes.len()].copy_from_slice(bytes);
    }
    fs::write(path, file).unwrap();
}

const LISTED: &[u8] = b"PK\x01\x02";

#[test]
fn names_that_are_not_utf_8_stay_different() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let (one, other) =
        (br#"{"photoTakenTime": {"timestamp": "1"}}"#, br#"{"photoTakenTime": {"timestamp": "2"}}"#);
    samples::write(
        &path,
        &[("1x.jpg", b"1".as_slice()), ("1x.jpg.json", one), ("2x.jpg", b"2"), ("2x.jpg.json", other)],
    );
    // In code page 437.
    patch(&path, b"1x.jpg", 0, &[0x84]);
    patch(&path, b"2x.jpg", 0, &[0x94]);
    let plan = plan(&[path]);
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let pairs: Vec<(&str, String)> =
        plan.photos.iter().map(|photo| (photo.name.as_str(), name(&photo.sidecars[0].path))).collect();
    assert_eq!(pairs, [("äx.jpg", "äx.jpg.json".to_owned()), ("öx.jpg", "öx.jpg.json".to_owned())]);
}

#[test]
fn names_in_code_page_437_have_a_character_for_each_byte() {
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    let name = zip::name(&bytes);
    assert_eq!(name.chars().collect::<std::collections::BTreeSet<_>>().len(), bytes.len());
    assert!(name.starts_with('\0') && name.contains("ÇüéâäàåçêëèïîìÄÅ") && name.ends_with("²■\u{A0}"));
}

#[test]
fn progress_is_reported_while_archives_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    for archive in ["x.zip", "x.tar", "x.tgz"] {
        let path = dir.path().join(archive);
        samples::write(&path, &[("1.jpg", b"one".as_slice()), ("2.jpg", b"three")]);
        let mut listed = Vec::new();
        plan_with_progress(std::slice::from_ref(&path), &mut |progress| {
            assert_eq!(progress.path, path);
            listed.push((progress.entries, progress.bytes));
        });
        assert_eq!(listed, [(0, 0), (1, 3), (2, 8)], "{archive}");
    }
}

#[test]
fn encrypted_and_unknown_entries_are_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    samples::write(&path, &[("1.jpg", b"one".as_slice())]);
    patch(&path, LISTED, 8, &[1, 0]);
    let (contents, reasons) = read(&path);
    assert!(contents.is_empty());
    assert!(reasons[0].starts_with("x.zip/1.jpg: is encrypted"), "{reasons:?}");
    samples::write(&path, &[("1.jpg", b"one".as_slice())]);
    patch(&path, LISTED, 10, &[14, 0]);
    assert!(read(&path).1[0].contains("the method 14"));
}

#[test]
fn content_that_does_not_match_the_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let check = |offset: usize, bytes: &[u8], reason: &str| {
        samples::write(&path, &[("1.jpg", vec![b'x'; 1_000_000].as_slice())]);
        patch(&path, LISTED, offset, bytes);
        let (contents, reasons) = read(&path);
        assert!(contents.is_empty());
        assert_eq!(reasons, [format!("x.zip/1.jpg: {reason}")]);
    };
    check(16, &[1, 2, 3, 4], "its checksum is wrong");
    check(24, &1000_u32.to_le_bytes(), "it is longer than the archive says");
    check(24, &2_000_000_u32.to_le_bytes(), "it is cut off");
}

#[test]
fn entries_that_share_their_data_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let content = noise(10_000, 3);
    samples::write(
        &path,
        &[("1.jpg", content.as_slice()), ("2.jpg", b"2"), ("3.jpg", b"3"), ("4.jpg", b"4")],
    );
    // The length of the compressed data, and where the local header is.
    patch(&path, LISTED, 20, &10_005_u32.to_le_bytes());
    patch(&path, LISTED, 42, &0_u32.to_le_bytes());
    let (contents, reasons) = read(&path);
    assert!(contents.len() <= 1, "{:?}", contents.keys());
    assert!(reasons.iter().any(|reason| reason.contains("its entries overlap")), "{reasons:?}");
}

#[test]
fn too_many_entries_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let names: Vec<String> = (0..1_000_000).map(|number| number.to_string()).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    samples::write(&path, &files);
    let found = plan(&[path]);
    assert_eq!(found.photos.len(), MAX_ENTRIES);
    let [problem] = found.failed.as_slice() else { panic!("{:?}", found.failed) };
    assert!(problem.reason.contains("too many entries"), "{problem:?}");
}

#[test]
fn absurd_and_repeated_names_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let long = "n".repeat(60_000);
    samples::write(
        &path,
        &[
            ("../../etc/1.jpg", b"1".as_slice()),
            ("/absolute/2.jpg", b"2"),
            ("nul\0\u{1b}[2J/3.jpg", b"3"),
            ("", b"4"),
            ("..", b"5"),
            ("same.jpg", b"6"),
            ("same.jpg", b"7"),
            ("C:\\x\\8.jpg", b"8"),
            (&long, b"9"),
            ("inner.zip", b"PK"),
        ],
    );
    let (contents, reasons) = read(&path);
    let names: Vec<&str> = contents.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "x.zip/..",
            "x.zip/../../etc/1.jpg",
            "x.zip/C:/x/8.jpg",
            "x.zip/absolute/2.jpg",
            "x.zip/nul\u{fffd}\u{fffd}[2J/3.jpg",
            "x.zip/same.jpg",
        ]
    );
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].contains("has a name of more than"), "{}", reasons[0].len());
    assert!(reasons[1].contains("inner.zip: is an archive inside an archive"), "{}", reasons[1]);
}

#[test]
fn a_long_name_or_an_endless_stream_in_a_compressed_archive_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.tgz");
    // A name of 64 MB, which the tar reader would keep in memory.
    let mut archive = ::tar::Builder::new(Vec::new());
    let mut header = ::tar::Header::new_gnu();
    header.set_entry_type(::tar::EntryType::GNULongName);
    header.set_size(64 << 20);
    header.set_cksum();
    archive.append(&header, vec![b'n'; 64 << 20].as_slice()).unwrap();
    let whole =
        [samples::tar(&[("1.jpg", b"one".as_slice())])[..1024].to_vec(), archive.into_inner().unwrap()];
    fs::write(&path, samples::gzip(&whole.concat())).unwrap();
    let (contents, reasons) = read(&path);
    assert_eq!(contents["x.tgz/1.jpg"], b"one");
    assert!(reasons[0].contains("is damaged") && reasons[0].contains("too long"), "{reasons:?}");
    fs::write(dir.path().join("x.tar"), whole.concat()).unwrap();
    assert!(read(&dir.path().join("x.tar")).1[0].contains("too long"));
}

#[test]
fn links_in_archives_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let mut archive = ::tar::Builder::new(Vec::new());
    let mut header = ::tar::Header::new_gnu();
    header.set_entry_type(::tar::EntryType::Symlink);
    header.set_size(0);
    archive.append_link(&mut header, "1.jpg", "/etc/passwd").unwrap();
    let bytes = archive.into_inner().unwrap();
    for (name, bytes) in [("x.tar", bytes.clone()), ("x.tgz", samples::gzip(&bytes))] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(read(&path).1, [format!("{name}/1.jpg: is not an ordinary file in its archive")]);
    }
}

/// Writes a tar archive with the content `one` under a name, and these entries behind it: type, name, target.
fn write_links(path: &Path, first: &str, entries: &[(::tar::EntryType, &str, &str)]) {
    let mut archive = ::tar::Builder::new(Vec::new());
    let mut header = ::tar::Header::new_gnu();
    header.set_size(3);
    archive.append_data(&mut header, first, b"one".as_slice()).unwrap();
    for (kind, name, target) in entries {
        let mut header = ::tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(0);
        archive.append_link(&mut header, name, target).unwrap();
    }
    let mut header = ::tar::Header::new_gnu();
    header.set_size(3);
    archive.append_data(&mut header, "last.jpg", b"two".as_slice()).unwrap();
    let bytes = archive.into_inner().unwrap();
    let is_tar = path.extension().is_some_and(|extension| extension == "tar");
    fs::write(path, if is_tar { bytes } else { samples::gzip(&bytes) }).unwrap();
}

#[test]
fn a_hard_link_has_the_content_of_the_earlier_entry() {
    use ::tar::EntryType::{Link, Symlink};
    let dir = tempfile::tempdir().unwrap();
    let long = format!("{}/x.jpg", "n".repeat(150));
    let long = long.as_str();
    for archive in ["x.tar", "x.tgz"] {
        let path = dir.path().join(archive);
        let links = [
            (Link, "b/2.jpg", "./a/1.jpg"),
            (Link, "3.jpg", "b/2.jpg"),
            (Link, long, "/a/1.jpg"),
            (Link, "4.jpg", long),
            (Link, "later.jpg", "last.jpg"),
            (Link, "outside.jpg", "../../etc/passwd"),
            (Link, "itself.jpg", "itself.jpg"),
            (Symlink, "symbolic.jpg", "a/1.jpg"),
            (Link, "to symbolic.jpg", "symbolic.jpg"),
        ];
        write_links(&path, "./a/1.jpg", &links);
        let (contents, mut reasons) = read(&path);
        let at = |name: &str| format!("{archive}/{name}");
        let mut expect: BTreeMap<String, Vec<u8>> =
            ["a/1.jpg", "b/2.jpg", "3.jpg", long, "4.jpg"].map(|name| (at(name), b"one".to_vec())).into();
        expect.insert(at("last.jpg"), b"two".to_vec());
        assert_eq!(contents, expect, "{archive}");
        reasons.sort();
        let dangling = EntryError::DanglingLink.to_string();
        let mut expect = ["later.jpg", "outside.jpg", "itself.jpg", "to symbolic.jpg"]
            .map(|name| format!("{}: {dangling}", at(name)))
            .to_vec();
        expect.push(format!("{}: {}", at("symbolic.jpg"), EntryError::NotAFile));
        expect.sort();
        assert_eq!(reasons, expect, "{archive}");
    }
}

#[test]
fn a_sidecar_that_is_a_hard_link_is_used() {
    let dir = tempfile::tempdir().unwrap();
    for archive in ["x.tar", "x.tgz"] {
        let path = dir.path().join(archive);
        let links = [(::tar::EntryType::Link, "last.jpg.xmp", "first.xmp")];
        write_links(&path, "first.xmp", &links);
        let plan = plan(&[path]);
        let sidecars = &plan.photos.iter().find(|photo| photo.name == "last.jpg").unwrap().sidecars;
        assert_eq!(plan.read_sidecar(&sidecars[0]).unwrap(), b"one", "{archive}");
    }
}

#[test]
fn a_sparse_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.tar");
    let mut archive = ::tar::Builder::new(Vec::new());
    archive.append_pax_extensions([("GNU.sparse.major", b"1".as_slice())]).unwrap();
    let mut header = ::tar::Header::new_ustar();
    header.set_size(3);
    archive.append_data(&mut header, "sparse.jpg", b"one".as_slice()).unwrap();
    archive.append_pax_extensions([("comment", b"whole".as_slice())]).unwrap();
    archive.append_data(&mut header, "whole.jpg", b"one".as_slice()).unwrap();
    fs::write(&path, archive.into_inner().unwrap()).unwrap();
    let (contents, reasons) = read(&path);
    assert_eq!(contents.keys().collect::<Vec<_>>(), ["x.tar/whole.jpg"]);
    assert_eq!(reasons, [format!("x.tar/sparse.jpg: {}", EntryError::NotAFile)]);
}
