//! Files that declare too much, refer to themselves, or are arbitrary.

use proptest::prelude::*;

use super::*;

#[test]
fn circular_references_terminate() {
    let mut file = File::default();
    let ids: Vec<_> = (0..4).map(|_| file.item(b"iden", &[])).collect();
    for id in &ids {
        file.property(*id, b"ispe", &ispe(64, 64)).refer(b"dimg", *id, &ids.repeat(50));
    }
    assert_eq!(probed(&file.build(1)).unwrap().size, size(64, 64));
    assert_eq!(coding(&file.build(1)), Coding::Other);
}

#[test]
fn padding_is_limited() {
    let mut file = File::default();
    let picture = file.hopper();
    let exif = file.item(b"Exif", &[1; 64]);
    let mut bytes = file.build(picture);
    // Moves the second item 4 GB away.
    let is_it =
        |window: &[u8]| window.starts_with(&[0, 2, 0, 0, 0, 0, 0, 1]) && window.ends_with(&[0, 0, 0, 64]);
    let at = bytes.windows(16).position(is_it).unwrap() + 8;
    bytes[at..at + 4].copy_from_slice(&[0xFF; 4]);
    assert_eq!(meta_of(&bytes).head(u32::from(exif)), b"");
    assert!(decoded(&bytes).is_err());
    assert!(probed(&bytes).unwrap().decode_bytes < 10 << 20);
}

#[test]
fn reused_tiles_are_bounded() {
    let mut file = File::default();
    let picture = file.hopper();
    let exif = file.item(b"Exif", &vec![1; 1 << 20]);
    let big = file.entry(exif).parts[0].clone();
    file.entry(exif).parts = vec![big; 8];
    assert_eq!(read(&file.build(picture)).blocks.exif, None);
}

#[test]
fn declared_counts_do_not_allocate() {
    let huge = u32::MAX.to_be_bytes();
    let boxes = [
        full_box(b"pitm", 1, 0, &huge),
        // Extents of zero bytes.
        full_box(
            b"iloc",
            2,
            0,
            &[&[0, 0][..], &huge, &[0, 0, 0, 1, 0, 0, 0, 0, 0xFF, 0xFF].repeat(1000)].concat(),
        ),
        full_box(b"iinf", 1, 0, &huge),
        full_box(b"iref", 1, 0, &plain_box(b"dimg", &[&huge[..], &[0xFF; 2]].concat())),
        plain_box(b"iprp", &full_box(b"ipma", 1, 1, &[&huge[..], &huge, &[255]].concat())),
    ];
    let file = [plain_box(b"ftyp", b"heic\0\0\0\0"), full_box(b"meta", 0, 0, &boxes.concat())].concat();
    assert_eq!(probed(&file), corrupt("it does not name its primary picture"));

    // The maximum number of items, properties and references in 4 MB.
    let entries: Vec<u8> =
        (0..400_000_u32).flat_map(|id| [&id.to_be_bytes()[..], &[1, 1]].concat()).collect();
    let boxes = [
        full_box(b"pitm", 0, 0, &[0, 9]),
        full_box(b"iref", 0, 0, &plain_box(b"dimg", &[0, 9, 0xFF, 0xFF].repeat(40_000)).repeat(10)),
        plain_box(
            b"iprp",
            &[
                plain_box(b"ipco", &plain_box(b"free", &[]).repeat(100_000)),
                full_box(b"ipma", 1, 0, &[&huge[..], &entries].concat()),
            ]
            .concat(),
        ),
    ];
    let file = [plain_box(b"ftyp", b"heic\0\0\0\0"), full_box(b"meta", 0, 0, &boxes.concat())].concat();
    assert_eq!(probed(&file), corrupt("it does not name its primary picture"));
}

/// Calls every function that needs no decoder.
fn call_everything(file: &[u8]) {
    if let Some(simplified) = with_needed_references(file) {
        assert_eq!(simplified.len(), file.len());
    }
    let _ = read(file).blocks.exif.as_deref().map(Tags::read);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn arbitrary_boxes_never_panic(
        version in 0..3_u8,
        kind in prop::sample::select(vec![b"pitm", b"iloc", b"iinf", b"iref", b"iprp", b"idat"]),
        body in prop::collection::vec(any::<u8>(), 0..200),
        rest in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let meta = full_box(b"meta", 0, 0, &[full_box(kind, version, 0, &body), rest.clone()].concat());
        call_everything(&[plain_box(b"ftyp", b"heic\0\0\0\0"), meta].concat());
        call_everything(&rest);
    }

    #[test]
    fn mutated_files_never_panic(
        which in 0..4_usize,
        changes in prop::collection::vec((0..700_usize, any::<u8>()), 1..12),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut grid = File::default();
        let id = grid.grid(2, 3, (290, 131));
        let exif = grid.item(b"Exif", b"\0\0\0\0II*\0\0\0\0\0");
        grid.refer(b"cdsc", exif, &[id]).property(id, b"irot", &[1]).property(id, b"clap", &clap([1; 8]));
        let (phone, primary, _) = tone_mapped();
        let files = [HOPPER_HEIC.to_vec(), HOPPER_AVIF.to_vec(), grid.build(id), phone.build(primary)];
        let mut file = files[which].clone();
        for (at, value) in changes {
            let at = at % file.len();
            file[at] = value;
        }
        if cut {
            file.truncate(keep.index(file.len()));
        }
        call_everything(&file);
    }
}
