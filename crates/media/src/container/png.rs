//! Reads PNG headers: chunk layout of the W3C specification, third edition, section 5, and `cICP`, `iCCP`, `tEXt`,
//! `zTXt`, `iTXt` and `eXIf` of its section 11; XMP part 3, 1.1.5.

use std::borrow::Cow;
use std::io::Read as _;

use domain::PixelSize;
use flate2::bufread::ZlibDecoder;

use super::{Blocks, Colour, Header, MAX_BLOCK_BYTES, PngTexts, photoshop, take};
use crate::MediaError;

/// Maximum length of a text, in bytes. Far less is kept.
const MAX_TEXT_BYTES: usize = 256 << 10;

struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.get(8..).unwrap_or_default() }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = (&'a [u8], &'a [u8]);

    /// The next chunk's type and data.
    fn next(&mut self) -> Option<Self::Item> {
        let length = take(&mut self.rest, 4)?.try_into().ok().map(u32::from_be_bytes)?;
        let kind = take(&mut self.rest, 4)?;
        let data = take(&mut self.rest, usize::try_from(length).ok()?)?;
        // The last chunk may lack its checksum.
        let _checksum = take(&mut self.rest, 4);
        (kind != b"IEND").then_some((kind, data))
    }
}

pub(super) fn header(bytes: &[u8]) -> Result<Header, MediaError> {
    let Some((kind, data)) = Chunks::new(bytes).next() else { return Err(MediaError::Truncated) };
    let (b"IHDR", [w3, w2, w1, w0, h3, h2, h1, h0, ..]) = (kind, data) else {
        return Err(MediaError::Corrupt("the PNG header is missing".into()));
    };
    let size = PixelSize {
        width: u32::from_be_bytes([*w3, *w2, *w1, *w0]),
        height: u32::from_be_bytes([*h3, *h2, *h1, *h0]),
    };
    // At most four channels of eight bits.
    Ok(Header::plain(size, 4))
}

/// The chunks with metadata blocks, the first of each kind. Only these are uncompressed.
#[derive(Default)]
struct RawBlocks<'a> {
    exif: Option<&'a [u8]>,
    code_points: Option<&'a [u8]>,
    profile: Option<&'a [u8]>,
    xmp: Option<TextChunk<'a>>,
    raw_exif: Option<TextChunk<'a>>,
    raw_iptc: Option<TextChunk<'a>>,
    raw_xmp: Option<TextChunk<'a>>,
    title: Option<TextChunk<'a>>,
    description: Option<TextChunk<'a>>,
    comment: Option<TextChunk<'a>>,
    creation_time: Option<TextChunk<'a>>,
}

/// Reads the standard blocks and others: ImageMagick and ExifTool write EXIF, IPTC and XMP as text in hexadecimal digits.
///
/// `gAMA` and `cHRM` are ignored, as in most programs: only test pictures have these alone and differ from sRGB. An
/// `sRGB` chunk declares the default.
pub(super) fn blocks(bytes: &[u8]) -> Blocks<'_> {
    let mut found = RawBlocks::default();
    for (kind, data) in Chunks::new(bytes) {
        match kind {
            b"eXIf" => found.exif = found.exif.or(Some(data)),
            b"cICP" => found.code_points = found.code_points.or(Some(data)),
            b"iCCP" => found.profile = found.profile.or(Some(data)),
            b"tEXt" => found.keep_text(data, TextChunk::Plain),
            b"zTXt" => found.keep_text(data, TextChunk::Compressed),
            b"iTXt" => found.keep_text(data, TextChunk::International),
            _ => {}
        }
    }
    found.into_blocks()
}

impl<'a> RawBlocks<'a> {
    fn keep_text(&mut self, data: &'a [u8], text: fn(&'a [u8]) -> TextChunk<'a>) {
        let Some((keyword, rest)) = split_at_nul(data) else { return };
        let slot = match keyword {
            b"XML:com.adobe.xmp" => &mut self.xmp,
            b"Raw profile type exif" | b"Raw profile type APP1" | b"Raw profile type EXIF" => {
                &mut self.raw_exif
            }
            b"Raw profile type iptc" | b"Raw profile type 8bim" => &mut self.raw_iptc,
            b"Raw profile type xmp" => &mut self.raw_xmp,
            b"Title" => &mut self.title,
            b"Description" => &mut self.description,
            b"Comment" => &mut self.comment,
            b"Creation Time" => &mut self.creation_time,
            _ => return,
        };
        slot.get_or_insert(text(rest));
    }

    fn into_blocks(self) -> Blocks<'a> {
        let block = |text: Option<TextChunk<'a>>| text?.bytes(MAX_BLOCK_BYTES);
        let raw = |text: Option<TextChunk<'a>>| hexadecimal(&block(text)?);
        let words = |text: Option<TextChunk<'a>>| {
            text?.bytes(MAX_TEXT_BYTES).filter(|text| text.len() <= MAX_TEXT_BYTES)
        };
        Blocks {
            exif: self.exif.map(Cow::Borrowed).or_else(|| raw(self.raw_exif).map(Cow::Owned)),
            xmp: block(self.xmp).or_else(|| raw(self.raw_xmp).map(Cow::Owned)),
            iptc: raw(self.raw_iptc).and_then(iptc_datasets).map(Cow::Owned),
            colour: self
                .code_points
                .and_then(code_points)
                .or_else(|| self.profile.and_then(profile).map(|profile| Colour::Icc(profile.into()))),
            texts: PngTexts {
                title: words(self.title),
                description: words(self.description),
                comment: words(self.comment),
                creation_time: words(self.creation_time),
            },
        }
    }
}

/// A text chunk without its keyword.
#[derive(Clone, Copy)]
enum TextChunk<'a> {
    /// `tEXt`: the text.
    Plain(&'a [u8]),
    /// `zTXt`: compression method, compressed text.
    Compressed(&'a [u8]),
    /// `iTXt`: compression flag, method, language, translated keyword, text.
    International(&'a [u8]),
}

impl<'a> TextChunk<'a> {
    /// The text; `None` if it inflates to more than `max` bytes.
    fn bytes(self, max: usize) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Plain(text) => Some(Cow::Borrowed(text)),
            Self::Compressed(compressed) => inflate(compressed.strip_prefix(&[0])?, max).map(Cow::Owned),
            Self::International([is_compressed, method, rest @ ..]) => {
                let (_language, rest) = split_at_nul(rest)?;
                let (_keyword, text) = split_at_nul(rest)?;
                match (is_compressed, method) {
                    (0, _) => Some(Cow::Borrowed(text)),
                    (_, 0) => inflate(text, max).map(Cow::Owned),
                    _ => None,
                }
            }
            Self::International(_) => None,
        }
    }
}

fn split_at_nul(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((bytes.get(..at)?, bytes.get(at + 1..)?))
}

/// `cICP`. The matrix must be 0, because PNG stores RGB.
fn code_points(data: &[u8]) -> Option<Colour<'static>> {
    let [primaries, transfer, 0, _full_range] = data else { return None };
    Some(Colour::Cicp { primaries: *primaries, transfer: *transfer })
}

/// `iCCP`: name, compression method, compressed profile.
fn profile(data: &[u8]) -> Option<Vec<u8>> {
    let (_name, rest) = split_at_nul(data)?;
    inflate(rest.strip_prefix(&[0])?, MAX_BLOCK_BYTES)
}

/// The content of a `Raw profile type …`: name, length and hexadecimal digits, on separate lines.
fn hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let mut lines = text.trim_ascii_start().splitn(3, |byte| *byte == b'\n');
    let (_name, length, digits) = (lines.next()?, lines.next()?, lines.next()?);
    let length: usize = std::str::from_utf8(length.trim_ascii()).ok()?.parse().ok()?;
    let mut digits = digits
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map_while(|digit| u8::try_from(char::from(*digit).to_digit(16)?).ok());
    let bytes = std::iter::from_fn(|| Some(digits.next()? << 4 | digits.next()?));
    let bytes: Vec<u8> = bytes.take(length).collect();
    (bytes.len() == length).then_some(bytes)
}

/// Finds the datasets, alone or in Photoshop resources.
fn iptc_datasets(bytes: Vec<u8>) -> Option<Vec<u8>> {
    if bytes.starts_with(&[0x1C]) { Some(bytes) } else { photoshop::iptc(&bytes).map(<[u8]>::to_vec) }
}

/// Inflates zlib data; `None` if the result has more than `max` bytes.
fn inflate(compressed: &[u8], max: usize) -> Option<Vec<u8>> {
    let mut uncompressed = Vec::new();
    let limit = u64::try_from(max).ok()?.saturating_add(1);
    ZlibDecoder::new(compressed).take(limit).read_to_end(&mut uncompressed).ok()?;
    (uncompressed.len() <= max).then_some(uncompressed)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::samples::{photoshop_resource, png_chunk};
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
        [b"\x89PNG\r\n\x1A\n", chunks.concat().as_slice()].concat()
    }

    fn iccp(profile: &[u8]) -> Vec<u8> {
        png_chunk(b"iCCP", &[b"name\0\0", zlib(profile).as_slice()].concat())
    }

    /// In the format of ImageMagick.
    fn raw(kind: &[u8; 4], name: &str, bytes: &[u8]) -> Vec<u8> {
        let digits: Vec<String> = bytes
            .chunks(36)
            .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            .collect();
        let text = format!("\n{name}\n{:8}\n{}\n", bytes.len(), digits.join("\n"));
        let head = format!("Raw profile type {name}\0");
        if kind == b"zTXt" {
            png_chunk(kind, &[head.as_bytes(), &[0], &zlib(text.as_bytes())].concat())
        } else {
            png_chunk(kind, &[head.as_bytes(), text.as_bytes()].concat())
        }
    }

    #[test]
    fn code_points_override_a_profile() {
        let check = |chunks: &[Vec<u8>], expect| assert_eq!(blocks(&file(chunks)).colour, expect);
        let profile = || Some(Colour::Icc(b"profile"[..].into()));
        let codes = |codes: [u8; 4]| png_chunk(b"cICP", &codes);
        check(&[iccp(b"profile")], profile());
        check(&[iccp(b"profile"), codes([12, 13, 0, 1])], Some(Colour::Cicp { primaries: 12, transfer: 13 }));
        // A matrix means that it is not RGB.
        check(&[iccp(b"profile"), codes([9, 16, 9, 1])], profile());
        check(&[png_chunk(b"sRGB", &[0])], None);
        check(&[png_chunk(b"iCCP", b"name\0\0not zlib")], None);
        check(&[png_chunk(b"iCCP", b"name")], None);
    }

    #[test]
    fn too_large_profile_is_ignored() {
        assert!(blocks(&file(&[iccp(&vec![0; MAX_BLOCK_BYTES])])).colour.is_some());
        assert_eq!(blocks(&file(&[iccp(&vec![0; MAX_BLOCK_BYTES + 1])])).colour, None);
    }

    #[test]
    fn xmp_is_found_compressed_and_plain() {
        let check = |rest: &[u8]| {
            let chunk = png_chunk(b"iTXt", &[b"XML:com.adobe.xmp\0", rest].concat());
            let comment = png_chunk(b"iTXt", b"Comment\0\0\0\0\0<other/>");
            assert_eq!(blocks(&file(&[comment, chunk])).xmp.as_deref(), Some(&b"<x/>"[..]));
        };
        check(b"\0\0\0\0<x/>");
        check(b"\0\0en\0keyword\0<x/>");
        check(&[b"\x01\0\0\0", zlib(b"<x/>").as_slice()].concat());
    }

    #[test]
    fn raw_profiles_are_used_without_standard_blocks() {
        let iptc = b"\x1C\x02\x05\0\x01x";
        let exif = [b"Exif\0\0II*\0", [7; 50].as_slice()].concat();
        for kind in [b"tEXt", b"zTXt"] {
            let resources = photoshop_resource(0x0404, "", iptc);
            let chunks = [raw(kind, "exif", &exif), raw(kind, "iptc", &resources), raw(kind, "xmp", b"<x/>")];
            let found = file(&chunks);
            let found = blocks(&found);
            assert_eq!(found.exif.as_deref(), Some(exif.as_slice()));
            assert_eq!(found.iptc.as_deref(), Some(&iptc[..]));
            assert_eq!(found.xmp.as_deref(), Some(&b"<x/>"[..]));
        }
        let both = file(&[raw(b"tEXt", "exif", &exif), png_chunk(b"eXIf", b"MM\0*")]);
        assert_eq!(blocks(&both).exif.as_deref(), Some(&b"MM\0*"[..]));
        assert_eq!(blocks(&file(&[raw(b"tEXt", "iptc", iptc)])).iptc.as_deref(), Some(&iptc[..]));
        for broken in ["\nexif\n 3\n0102", "\nexif\n many\n0102", "\nexif\n 2\n01zz", "\nexif", ""] {
            let chunk = png_chunk(b"tEXt", format!("Raw profile type exif\0{broken}").as_bytes());
            assert_eq!(blocks(&file(&[chunk])).exif, None, "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_chunks_never_panic(
            chunks in prop::collection::vec(
                (
                    prop::sample::select(vec![b"iCCP", b"cICP", b"iTXt", b"tEXt", b"zTXt", b"eXIf"]),
                    prop::sample::select(vec![
                        &b"name\0\0"[..], b"XML:com.adobe.xmp\0\x01\0\0\0", b"Raw profile type exif\0\nexif\n 9\n",
                        b"Raw profile type iptc\0\0", b"",
                    ]),
                    any::<bool>(),
                    prop::collection::vec(any::<u8>(), 0..60),
                ),
                0..8,
            ),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let chunks: Vec<_> = chunks
                .iter()
                .map(|(kind, head, compressed, rest)| {
                    let rest = if *compressed { zlib(rest) } else { rest.clone() };
                    png_chunk(kind, &[*head, rest.as_slice()].concat())
                })
                .collect();
            let mut file = file(&chunks);
            for (at, value) in changes {
                let at = at.index(file.len());
                file[at] = value;
            }
            let _ = blocks(&file);
        }
    }
}
