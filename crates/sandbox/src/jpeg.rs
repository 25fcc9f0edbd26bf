//! Validates that a JPEG contains one baseline picture and nothing else.

/// Checks a file from a worker: a single baseline picture (ITU-T T.81) in three components, with a JFIF header and no other
/// application data, no comment, and no side longer than this. The pixels are not decoded.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(file: &[u8], longest_side_px: u32) -> Result<(), &'static str> {
    let mut rest = file.strip_prefix(&[0xFF, 0xD8]).ok_or("it is not a JPEG")?;
    let mut has_size = false;
    loop {
        let (marker, content, after) = segment(rest)?;
        rest = after;
        match marker {
            // JFIF header without a thumbnail.
            0xE0 if matches!(content, [b'J', b'F', b'I', b'F', 0, _, _, _, _, _, _, _, 0, 0]) => {}
            // Quantisation and Huffman tables.
            0xDB | 0xC4 => {}
            0xC0 if !has_size => {
                has_size = true;
                check_size(content, longest_side_px)?;
            }
            0xDA if has_size => return check_scan(rest),
            _ => return Err("it contains something else than a baseline picture"),
        }
    }
}

/// A segment's marker and content, and the bytes after it.
type Segment<'a> = (u8, &'a [u8], &'a [u8]);

fn segment(bytes: &[u8]) -> Result<Segment<'_>, &'static str> {
    const CUT: &str = "it is cut off";
    let [0xFF, marker, l0, l1, rest @ ..] = bytes else {
        return Err(CUT);
    };
    let length = usize::from(u16::from_be_bytes([*l0, *l1])).checked_sub(2).ok_or(CUT)?;
    let (content, after) = rest.split_at_checked(length).ok_or(CUT)?;
    Ok((*marker, content, after))
}

fn check_size(frame: &[u8], longest_side_px: u32) -> Result<(), &'static str> {
    let [8, h0, h1, w0, w1, 3, ..] = frame else {
        return Err("its frame is malformed");
    };
    let sides = [u16::from_be_bytes([*h0, *h1]), u16::from_be_bytes([*w0, *w1])];
    if sides.into_iter().all(|side| (1..=longest_side_px).contains(&u32::from(side))) {
        Ok(())
    } else {
        Err("its picture has another size")
    }
}

/// The scan must last until the end of the file: its only markers are restarts.
fn check_scan(scan: &[u8]) -> Result<(), &'static str> {
    let Some(data) = scan.strip_suffix(&[0xFF, 0xD9]) else {
        return Err("it has no end");
    };
    let is_data = |pair: &[u8]| !matches!(pair, [0xFF, next] if !matches!(next, 0 | 0xD0..=0xD7));
    if data.last() != Some(&0xFF) && data.windows(2).all(is_data) {
        Ok(())
    } else {
        Err("it contains more than a picture")
    }
}

#[cfg(test)]
mod tests {
    use domain::Rendition;
    use media::{Limits, Photo, ViewOptions};
    use proptest::prelude::*;

    use super::*;

    fn view() -> Vec<u8> {
        let photo = include_bytes!("../../../fixtures/samples/orange-lossless.webp");
        let options = ViewOptions { rendition: Rendition::Thumb, sheet: false, max_bytes: 100_000 };
        media::views(&[Photo::open(photo).unwrap()], &options, &Limits::default()).unwrap().remove(0)
    }

    /// The file with a segment after the start.
    fn with_segment(marker: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len() + 2).unwrap().to_be_bytes();
        let view = view();
        [&view[..2], &[0xFF, marker], &length, content, &view[2..]].concat()
    }

    #[test]
    fn encoder_output_is_accepted() {
        assert_eq!(check(&view(), 512), Ok(()));
    }

    #[test]
    fn files_with_anything_but_one_picture_are_refused() {
        let view = view();
        assert_eq!(check(b"RIFF", 512), Err("it is not a JPEG"));
        assert_eq!(check(&view, 30), Err("its picture has another size"));
        assert_eq!(check(&view[..100], 512), Err("it is cut off"));
        assert_eq!(check(&view[..view.len() - 1], 512), Err("it has no end"));
        let appended = [&view[..], &view].concat();
        assert_eq!(check(&appended, 512), Err("it contains more than a picture"));
        let other = Err("it contains something else than a baseline picture");
        for (marker, content) in [
            (0xE1, &b"Exif\0\0"[..]),
            (0xE2, b"ICC_PROFILE\0"),
            (0xFE, b"a comment"),
            (0xE0, b"JFXX\0"),
            (0xC2, &[8, 0, 1, 0, 1, 3]),
            (0xDA, b"x"),
        ] {
            assert_eq!(check(&with_segment(marker, content), 512), other, "{marker:x}");
        }
        assert_eq!(check(&with_segment(0xC0, &[8, 0, 1, 0, 1, 1]), 512), Err("its frame is malformed"));
        assert_eq!(check(&with_segment(0xC0, &[8, 0, 1, 0, 0, 3]), 512), Err("its picture has another size"));
        assert_eq!(check(&with_segment(0xC0, &[8, 0, 1, 0, 1, 3]), 512), other);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = check(&[&[0xFF, 0xD8, 0xFF], &bytes[..]].concat(), 512);
        }

        #[test]
        fn mutated_files_never_panic(at in any::<prop::sample::Index>(), value in any::<u8>()) {
            let mut view = view();
            let at = at.index(view.len());
            view[at] = value;
            let _ = check(&view, 512);
        }
    }
}
