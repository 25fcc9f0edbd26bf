//! Reads PNG headers: chunk layout of the W3C specification, third edition, section 5, and `cHRM`, `cICP`, `eXIf`, `gAMA`,
//! `iCCP`, `iTXt`, `sRGB`, `tEXt` and `zTXt` of its section 11; XMP part 3, 1.1.5.

use std::borrow::Cow;
use std::io::Read as _;

use domain::PixelSize;
use flate2::bufread::ZlibDecoder;

use super::{
    Blocks, Coded, Colour, Container, Header, MAX_BLOCK_BYTES, MeasuredColours, Picture, PngTexts, photoshop,
    take,
};
use crate::MediaError;

/// Maximum length of a text, in bytes. Far less is kept.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// Iterates over the chunks up to `IEND`.
#[derive(Debug, Clone)]
pub(crate) struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.get(8..).unwrap_or_default() }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = (&'a [u8], &'a [u8]);

    /// The next chunk's type and data, up to the end of the file.
    fn next(&mut self) -> Option<Self::Item> {
        let length = take(&mut self.rest, 4)?.try_into().ok().map(u32::from_be_bytes)?;
        let kind = take(&mut self.rest, 4)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(self.rest.len());
        let data = take(&mut self.rest, length)?;
        // The last chunk may lack its checksum.
        let _checksum = take(&mut self.rest, 4);
        (kind != b"IEND").then_some((kind, data))
    }
}

/// The header of a file whose first chunk is this one.
fn header(first: Option<(&[u8], &[u8])>) -> Result<Header, MediaError> {
    let (kind, data) = first.ok_or(MediaError::Truncated)?;
    let (b"IHDR", [w3, w2, w1, w0, h3, h2, h1, h0, ..]) = (kind, data) else {
        return Err(match kind {
            b"IHDR" => MediaError::Truncated,
            _ => MediaError::Corrupt("the PNG header is missing".into()),
        });
    };
    let size = PixelSize {
        width: u32::from_be_bytes([*w3, *w2, *w1, *w0]),
        height: u32::from_be_bytes([*h3, *h2, *h1, *h0]),
    };
    // At most four channels of eight bits.
    Ok(Header::plain(size, 4))
}

/// A pass over the picture. Its pixels are a grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    /// The place of its first pixel.
    pub(crate) left: u32,
    pub(crate) top: u32,
    /// The distances to the next column and row.
    pub(crate) across: u32,
    pub(crate) down: u32,
    /// Number of rows in the picture data.
    pub(crate) rows: u32,
    /// Length of such a row in bytes, with the filter type.
    pub(crate) row_bytes: usize,
    pub(crate) bits_per_pixel: usize,
}

/// The passes that have pixels. A picture without interlacing has one pass. `None` if the header has unknown values. See section 8.
pub(crate) fn passes(header: &[u8]) -> Option<Vec<Pass>> {
    const PLAIN: &[[u32; 4]] = &[[0, 0, 1, 1]];
    /// Left, top, and the distances to the next column and row.
    const ADAM7: &[[u32; 4]] =
        &[[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];
    let [w3, w2, w1, w0, h3, h2, h1, h0, depth, colour, _, _, interlaced] = header else { return None };
    let (width, height) =
        (u32::from_be_bytes([*w3, *w2, *w1, *w0]), u32::from_be_bytes([*h3, *h2, *h1, *h0]));
    let channels: u8 = match colour {
        0 | 3 => 1,
        2 => 3,
        4 => 2,
        6 => 4,
        _ => return None,
    };
    let passes = match interlaced {
        0 => PLAIN,
        1 => ADAM7,
        _ => return None,
    };
    let bits_per_pixel = u16::from(channels) * u16::from(*depth);
    let passes = passes.iter().map(|&[left, top, across, down]| {
        let columns = width.saturating_sub(left).div_ceil(across);
        let rows = if columns == 0 { 0 } else { height.saturating_sub(top).div_ceil(down) };
        let bytes = (u64::from(columns) * u64::from(bits_per_pixel)).div_ceil(8) + 1;
        let (row_bytes, bits_per_pixel) = (usize::try_from(bytes).ok()?, bits_per_pixel.into());
        Some(Pass { left, top, across, down, rows, row_bytes, bits_per_pixel })
    });
    let passes: Option<Vec<_>> = passes.collect();
    passes.map(|passes| passes.into_iter().filter(|pass| pass.rows > 0).collect())
}

/// The first chunk of each kind of metadata block. Only these chunks are decompressed.
#[derive(Default)]
struct RawBlocks<'a> {
    exif: Option<&'a [u8]>,
    code_points: Option<&'a [u8]>,
    profile: Option<&'a [u8]>,
    srgb: Option<&'a [u8]>,
    gamma: Option<&'a [u8]>,
    chromaticities: Option<&'a [u8]>,
    xmp: Option<TextChunk<'a>>,
    raw_exif: Option<TextChunk<'a>>,
    raw_iptc: Option<TextChunk<'a>>,
    raw_xmp: Option<TextChunk<'a>>,
    title: Option<TextChunk<'a>>,
    description: Option<TextChunk<'a>>,
    comment: Option<TextChunk<'a>>,
    creation_time: Option<TextChunk<'a>>,
}

/// Reads the header and the metadata blocks, standard ones and others: ImageMagick and ExifTool write EXIF, IPTC and XMP as text in
/// hexadecimal digits.
pub(super) fn read(bytes: &[u8]) -> Container<'_> {
    let mut found = RawBlocks::default();
    let mut first = None;
    for (kind, data) in Chunks::new(bytes) {
        first.get_or_insert((kind, data));
        match kind {
            b"eXIf" => found.exif = found.exif.or(Some(data)),
            b"cICP" => found.code_points = found.code_points.or(Some(data)),
            b"iCCP" => found.profile = found.profile.or(Some(data)),
            b"sRGB" => found.srgb = found.srgb.or(Some(data)),
            b"gAMA" => found.gamma = found.gamma.or(Some(data)),
            b"cHRM" => found.chromaticities = found.chromaticities.or(Some(data)),
            b"tEXt" => found.keep_text(data, TextChunk::Plain),
            b"zTXt" => found.keep_text(data, TextChunk::Compressed),
            b"iTXt" => found.keep_text(data, TextChunk::International),
            _ => {}
        }
    }
    let picture = header(first).map(|header| Picture { header, coded: Coded::Png(bytes) });
    Container { picture, blocks: found.into_blocks() }
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

    /// The colour space in the order of precedence of section 4.3.
    fn colour(&self) -> Option<Colour<'a>> {
        let code_points = self.code_points.and_then(code_points);
        let profile = || self.profile.and_then(profile).map(|profile| Colour::Icc(profile.into()));
        code_points.or_else(profile).or_else(|| match self.srgb {
            Some(_) => None,
            None => measured_colours(self.gamma, self.chromaticities).map(Colour::Measured),
        })
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
            colour: self.colour(),
            texts: PngTexts {
                title: words(self.title),
                description: words(self.description),
                comment: words(self.comment),
                creation_time: words(self.creation_time),
            },
            ..Blocks::default()
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

/// `gAMA` and `cHRM`. `None` if the values are missing or impossible. Also `None` for the values of sRGB, because an exponent only
/// approximates the curve of sRGB.
fn measured_colours(gamma: Option<&[u8]>, chromaticities: Option<&[u8]>) -> Option<MeasuredColours> {
    const SRGB: [[u32; 2]; 4] = [[31_270, 32_900], [64_000, 33_000], [30_000, 60_000], [15_000, 6_000]];
    const SRGB_EXPONENT: u32 = 45_455;
    /// Difference of exponents that is not visible; libpng uses the same value.
    const EXPONENT_TOLERANCE: u32 = 2_273;
    const CHROMATICITY_TOLERANCE: u32 = 1_000;

    let exponent = gamma.and_then(|gamma| gamma.try_into().ok()).map(u32::from_be_bytes);
    let exponent = exponent.filter(|exponent| (10_000..=1_000_000).contains(exponent));
    let declared = chromaticities.and_then(read_chromaticities);
    let distinct = declared.filter(|declared| {
        let pairs = declared.as_flattened().iter().zip(SRGB.as_flattened());
        pairs.into_iter().any(|(one, other)| one.abs_diff(*other) > CHROMATICITY_TOLERANCE)
    });
    let is_srgb = |exponent: u32| exponent.abs_diff(SRGB_EXPONENT) <= EXPONENT_TOLERANCE;
    if distinct.is_none() && exponent.is_none_or(is_srgb) {
        return None;
    }
    Some(MeasuredColours { exponent, chromaticities: distinct })
}

/// x and y of white, red, green and blue. `None` for impossible values.
fn read_chromaticities(data: &[u8]) -> Option<[[u32; 2]; 4]> {
    /// Twice the area of the smallest triangle of primaries, in square units.
    const MIN_AREA: i64 = 100_000_000;

    let (numbers, []) = data.as_chunks::<4>() else { return None };
    let numbers: [[u8; 4]; 8] = numbers.try_into().ok()?;
    let (pairs, _) = numbers.as_chunks::<2>();
    let pairs: [[[u8; 4]; 2]; 4] = pairs.try_into().ok()?;
    let chromaticities = pairs.map(|pair| pair.map(u32::from_be_bytes));
    let is_possible = |[x, y]: &[u32; 2]| *y > 0 && x.saturating_add(*y) <= 100_000;
    let [_, red, green, blue] = chromaticities.map(|pair| pair.map(i64::from));
    let ([rx, ry], [gx, gy], [bx, by]) = (red, green, blue);
    let area = (rx - bx) * (gy - by) - (gx - bx) * (ry - by);
    (chromaticities.iter().all(is_possible) && area.abs() >= MIN_AREA).then_some(chromaticities)
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
    if bytes.starts_with(&[0x1C]) {
        Some(bytes)
    } else {
        photoshop::resource(&bytes, photoshop::IPTC).map(<[u8]>::to_vec)
    }
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
        let check = |chunks: &[Vec<u8>], expect| assert_eq!(read(&file(chunks)).blocks.colour, expect);
        let profile = || Some(Colour::Icc(b"profile"[..].into()));
        let codes = |codes: [u8; 4]| png_chunk(b"cICP", &codes);
        check(&[iccp(b"profile")], profile());
        check(&[iccp(b"profile"), codes([12, 13, 0, 1])], Some(Colour::Cicp { primaries: 12, transfer: 13 }));
        // A matrix means that the pixels are not RGB.
        check(&[iccp(b"profile"), codes([9, 16, 9, 1])], profile());
        check(&[png_chunk(b"sRGB", &[0])], None);
        check(&[png_chunk(b"iCCP", b"name\0\0not zlib")], None);
        check(&[png_chunk(b"iCCP", b"name")], None);
    }

    #[test]
    fn gamma_and_chromaticities_come_last() {
        const SRGB: [[u32; 2]; 4] = [[31_270, 32_900], [64_000, 33_000], [30_000, 60_000], [15_000, 6_000]];
        const ADOBE: [[u32; 2]; 4] = [[31_270, 32_900], [64_000, 33_000], [21_000, 71_000], [15_000, 6_000]];
        let check = |chunks: &[Vec<u8>], expect| assert_eq!(read(&file(chunks)).blocks.colour, expect);
        let gamma = |exponent: u32| png_chunk(b"gAMA", &exponent.to_be_bytes());
        let chromaticities = |pairs: [[u32; 2]; 4]| {
            png_chunk(b"cHRM", &pairs.as_flattened().iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<_>>())
        };
        let measured =
            |exponent, chromaticities| Some(Colour::Measured(MeasuredColours { exponent, chromaticities }));
        check(&[gamma(100_000)], measured(Some(100_000), None));
        check(&[gamma(55_556), chromaticities(SRGB)], measured(Some(55_556), None));
        check(&[gamma(45_455), chromaticities(ADOBE)], measured(Some(45_455), Some(ADOBE)));
        check(&[chromaticities(ADOBE)], measured(None, Some(ADOBE)));
        // Values of sRGB, exactly and nearly.
        check(&[gamma(45_455), chromaticities(SRGB)], None);
        check(&[gamma(45_000)], None);
        check(&[chromaticities(SRGB.map(|pair| pair.map(|value| value + 9)))], None);
        // Better declarations.
        check(&[gamma(100_000), png_chunk(b"sRGB", &[0])], None);
        check(&[gamma(100_000), iccp(b"profile")], Some(Colour::Icc(b"profile"[..].into())));
        let codes = png_chunk(b"cICP", &[12, 13, 0, 1]);
        check(&[gamma(100_000), codes], Some(Colour::Cicp { primaries: 12, transfer: 13 }));
        // Impossible values.
        check(&[gamma(0), chromaticities([[0, 0]; 4])], None);
        check(&[gamma(u32::MAX), chromaticities([[u32::MAX; 2]; 4])], None);
        check(
            &[chromaticities([[31_270, 32_900], [64_000, 33_000], [50_000, 40_000], [40_000, 45_000]])],
            None,
        );
        check(&[png_chunk(b"gAMA", &[1, 2]), png_chunk(b"cHRM", &[0; 31])], None);
    }

    #[test]
    fn too_large_profile_is_ignored() {
        assert!(read(&file(&[iccp(&vec![0; MAX_BLOCK_BYTES])])).blocks.colour.is_some());
        assert_eq!(read(&file(&[iccp(&vec![0; MAX_BLOCK_BYTES + 1])])).blocks.colour, None);
    }

    #[test]
    fn xmp_is_found_compressed_and_plain() {
        let check = |rest: &[u8]| {
            let chunk = png_chunk(b"iTXt", &[b"XML:com.adobe.xmp\0", rest].concat());
            let comment = png_chunk(b"iTXt", b"Comment\0\0\0\0\0<other/>");
            assert_eq!(read(&file(&[comment, chunk])).blocks.xmp.as_deref(), Some(&b"<x/>"[..]));
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
            let found = read(&found).blocks;
            assert_eq!(found.exif.as_deref(), Some(exif.as_slice()));
            assert_eq!(found.iptc.as_deref(), Some(&iptc[..]));
            assert_eq!(found.xmp.as_deref(), Some(&b"<x/>"[..]));
        }
        let both = file(&[raw(b"tEXt", "exif", &exif), png_chunk(b"eXIf", b"MM\0*")]);
        assert_eq!(read(&both).blocks.exif.as_deref(), Some(&b"MM\0*"[..]));
        assert_eq!(read(&file(&[raw(b"tEXt", "iptc", iptc)])).blocks.iptc.as_deref(), Some(&iptc[..]));
        for broken in ["\nexif\n 3\n0102", "\nexif\n many\n0102", "\nexif\n 2\n01zz", "\nexif", ""] {
            let chunk = png_chunk(b"tEXt", format!("Raw profile type exif\0{broken}").as_bytes());
            assert_eq!(read(&file(&[chunk])).blocks.exif, None, "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_chunks_never_panic(
            chunks in prop::collection::vec(
                (
                    prop::sample::select(vec![
                        b"iCCP", b"cICP", b"iTXt", b"tEXt", b"zTXt", b"eXIf", b"gAMA", b"cHRM",
                    ]),
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
            let _ = read(&file).blocks;
        }
    }
}
