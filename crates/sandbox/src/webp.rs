//! Validates that a WebP file contains one picture of a known size and nothing else.

use domain::PixelSize;

/// The alpha flag of a `VP8X` chunk, the only one that a still picture without metadata needs.
const ALPHA_FLAG: u8 = 0x10;

/// Checks a file from a worker: a single still picture of this size, without EXIF, XMP, colour profile, animation, unknown
/// chunks or trailing bytes (WebP container specification, RFC 9649). The pixels are not decoded.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(file: &[u8], size: PixelSize) -> Result<(), &'static str> {
    let [b'R', b'I', b'F', b'F', l0, l1, l2, l3, b'W', b'E', b'B', b'P', body @ ..] = file else {
        return Err("it is not a WebP file");
    };
    let announced = u64::from(u32::from_le_bytes([*l0, *l1, *l2, *l3])) + 8;
    if u64::try_from(file.len()) != Ok(announced) {
        return Err("its length differs from the announced one");
    }
    let (kind, content, rest) = chunk(body)?;
    let (picture_size, rest) = match kind {
        b"VP8X" => {
            let (alpha, canvas) = extended(content)?;
            if canvas != size {
                return Err("its canvas has another size");
            }
            let (kind, content, rest) = chunk(rest)?;
            match kind {
                b"ALPH" if alpha => {
                    let (kind, content, rest) = chunk(rest)?;
                    if kind != b"VP8 " {
                        return Err("its transparency belongs to no picture");
                    }
                    (lossy(content)?, rest)
                }
                _ => (still(kind, content)?, rest),
            }
        }
        _ => (still(kind, content)?, rest),
    };
    if picture_size != size {
        return Err("its picture has another size");
    }
    if !rest.is_empty() {
        return Err("it contains more than a picture");
    }
    Ok(())
}

/// A chunk's name and content, and the bytes after its padding.
type Chunk<'a> = (&'a [u8; 4], &'a [u8], &'a [u8]);

/// Splits off the first chunk.
fn chunk(bytes: &[u8]) -> Result<Chunk<'_>, &'static str> {
    const CUT: &str = "it is cut off";
    let (name, rest) = bytes.split_first_chunk::<4>().ok_or(CUT)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or(CUT)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| CUT)?;
    let (content, rest) = rest.split_at_checked(length).ok_or(CUT)?;
    if length % 2 == 0 {
        return Ok((name, content, rest));
    }
    match rest {
        [0, rest @ ..] => Ok((name, content, rest)),
        _ => Err("its padding is not empty"),
    }
}

/// Whether the picture has alpha, and the size of the canvas.
fn extended(content: &[u8]) -> Result<(bool, PixelSize), &'static str> {
    let [flags, 0, 0, 0, w0, w1, w2, h0, h1, h2] = content else {
        return Err("its extended header is malformed");
    };
    if flags & !ALPHA_FLAG != 0 {
        return Err("its header announces more than a picture");
    }
    let side = |low: u8, middle: u8, high: u8| u32::from_le_bytes([low, middle, high, 0]) + 1;
    Ok((flags & ALPHA_FLAG != 0, PixelSize { width: side(*w0, *w1, *w2), height: side(*h0, *h1, *h2) }))
}

fn still(kind: &[u8; 4], content: &[u8]) -> Result<PixelSize, &'static str> {
    match kind {
        b"VP8 " => lossy(content),
        b"VP8L" => lossless(content),
        _ => Err("it contains something else than a picture"),
    }
}

/// RFC 6386, section 9.1: a key frame whose sides have 14 bits each and are not scaled.
fn lossy(content: &[u8]) -> Result<PixelSize, &'static str> {
    let [tag, _, _, 0x9D, 0x01, 0x2A, w0, w1, h0, h1, ..] = content else {
        return Err("its lossy picture is malformed");
    };
    let (width, height) = (u16::from_le_bytes([*w0, *w1]), u16::from_le_bytes([*h0, *h1]));
    if tag & 1 != 0 || width >> 14 != 0 || height >> 14 != 0 {
        return Err("its lossy picture is malformed");
    }
    Ok(PixelSize { width: u32::from(width), height: u32::from(height) })
}

/// RFC 9649, section 3.4: 14 bits of width − 1, 14 of height − 1, a hint about alpha, 3 bits of version.
fn lossless(content: &[u8]) -> Result<PixelSize, &'static str> {
    let [0x2F, b0, b1, b2, b3, ..] = content else {
        return Err("its lossless picture is malformed");
    };
    let bits = u32::from_le_bytes([*b0, *b1, *b2, *b3]);
    if bits >> 29 != 0 {
        return Err("its lossless picture is malformed");
    }
    Ok(PixelSize { width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: PixelSize = PixelSize { width: 300, height: 200 };
    const LOSSY: &[u8] = &[0x30, 0, 0, 0x9D, 0x01, 0x2A, 0x2C, 0x01, 0xC8, 0x00, 1, 2, 3];
    const LOSSLESS: &[u8] = &[0x2F, 0x2B, 0xC1, 0x31, 0x10, 9];
    const CANVAS: [u8; 10] = [0x10, 0, 0, 0, 0x2B, 0x01, 0, 0xC7, 0, 0];

    fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        let padding = &[0][..content.len() % 2];
        [name, &length[..], content, padding].concat()
    }

    fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
        let body = chunks.concat();
        let length = u32::try_from(body.len() + 4).unwrap().to_le_bytes();
        [b"RIFF", &length[..], b"WEBP", &body].concat()
    }

    #[test]
    fn pictures_are_accepted() {
        let canvas = chunk(b"VP8X", &CANVAS);
        let accepted = |chunks: &[Vec<u8>]| assert_eq!(check(&file(chunks), SIZE), Ok(()), "{chunks:?}");
        accepted(&[chunk(b"VP8 ", LOSSY)]);
        accepted(&[chunk(b"VP8L", LOSSLESS)]);
        accepted(&[canvas.clone(), chunk(b"ALPH", &[1, 2, 3]), chunk(b"VP8 ", LOSSY)]);
        accepted(&[canvas.clone(), chunk(b"VP8L", LOSSLESS)]);
        accepted(&[canvas, chunk(b"VP8 ", LOSSY)]);
    }

    #[test]
    fn files_with_anything_but_one_picture_are_refused() {
        let canvas = |at: usize, value: u8| {
            let mut canvas = CANVAS;
            canvas[at] = value;
            chunk(b"VP8X", &canvas)
        };
        let picture = chunk(b"VP8 ", LOSSY);
        let refused = |chunks: &[Vec<u8>], why: &str| {
            assert_eq!(check(&file(chunks), SIZE), Err(why), "{chunks:?}");
        };
        refused(&[], "it is cut off");
        refused(&[picture.clone(), chunk(b"EXIF", b"II*\0")], "it contains more than a picture");
        refused(&[picture.clone(), chunk(b"XMP ", b"<x/>")], "it contains more than a picture");
        refused(&[canvas(0, 0x08), picture.clone()], "its header announces more than a picture");
        refused(&[canvas(0, 0x20), picture.clone()], "its header announces more than a picture");
        refused(&[canvas(0, 0x02), picture.clone()], "its header announces more than a picture");
        refused(&[canvas(4, 0x2C), picture.clone()], "its canvas has another size");
        refused(
            &[canvas(0, 0x10), chunk(b"ICCP", b"x"), picture.clone()],
            "it contains something else than a picture",
        );
        refused(&[chunk(b"ANMF", LOSSY)], "it contains something else than a picture");
        refused(
            &[canvas(0, 0), chunk(b"ALPH", b"x"), picture.clone()],
            "it contains something else than a picture",
        );
        refused(
            &[canvas(0, 0x10), chunk(b"ALPH", b"x"), chunk(b"EXIF", b"x")],
            "its transparency belongs to no picture",
        );
        refused(&[chunk(b"VP8X", b"short")], "its extended header is malformed");
        refused(&[chunk(b"VP8 ", &LOSSY[..8])], "its lossy picture is malformed");
        refused(&[chunk(b"VP8L", b"\x2E1234")], "its lossless picture is malformed");
        let other = PixelSize { width: 301, height: 200 };
        assert_eq!(check(&file(std::slice::from_ref(&picture)), other), Err("its picture has another size"));

        let good = file(&[picture]);
        assert_eq!(check(b"GIF89a", SIZE), Err("it is not a WebP file"));
        assert_eq!(
            check(&[&good[..], b"x"].concat(), SIZE),
            Err("its length differs from the announced one")
        );
        let mut padded = good;
        *padded.last_mut().unwrap() = 7;
        assert_eq!(check(&padded, SIZE), Err("its padding is not empty"));
    }

    #[test]
    fn encoder_output_is_accepted() {
        let photo = include_bytes!("../../../fixtures/samples/orange-lossless.webp");
        let limits = media::Limits::default();
        let rendered = media::render(photo, &domain::Rendition::ALL, &limits).unwrap();
        for rendition in rendered.renditions {
            assert_eq!(check(&rendition.webp, rendition.size), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            start in prop::sample::select(vec![&b"RIFF"[..], b"RIFF\x20\0\0\0WEBP", b""]),
            rest in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let _ = check(&[start, &rest].concat(), SIZE);
        }

        #[test]
        fn mutated_files_never_panic(at in any::<prop::sample::Index>(), value in any::<u8>()) {
            let mut bytes = file(&[chunk(b"VP8X", &CANVAS), chunk(b"ALPH", b"xy"), chunk(b"VP8 ", LOSSY)]);
            let at = at.index(bytes.len());
            bytes[at] = value;
            let _ = check(&bytes, SIZE);
        }
    }
}
