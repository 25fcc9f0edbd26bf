use domain::PixelSize;

use super::Chunks;
use crate::MediaError;
use crate::pixels::Layout;
use crate::tiff::{ByteOrder, Entry, Ifd, Structure};

/// Tag numbers of a picture.
pub(crate) mod tag {
    pub(crate) const NEW_SUBFILE_TYPE: u16 = 254;
    pub(crate) const SUBFILE_TYPE: u16 = 255;
    pub(crate) const IMAGE_WIDTH: u16 = 256;
    pub(crate) const IMAGE_LENGTH: u16 = 257;
    pub(crate) const BITS_PER_SAMPLE: u16 = 258;
    pub(crate) const COMPRESSION: u16 = 259;
    pub(crate) const PHOTOMETRIC: u16 = 262;
    pub(crate) const FILL_ORDER: u16 = 266;
    pub(crate) const STRIP_OFFSETS: u16 = 273;
    pub(crate) const SAMPLES_PER_PIXEL: u16 = 277;
    pub(crate) const ROWS_PER_STRIP: u16 = 278;
    pub(crate) const STRIP_BYTE_COUNTS: u16 = 279;
    pub(crate) const PLANAR_CONFIGURATION: u16 = 284;
    pub(crate) const T4_OPTIONS: u16 = 292;
    pub(crate) const PREDICTOR: u16 = 317;
    pub(crate) const COLOR_MAP: u16 = 320;
    pub(crate) const TILE_WIDTH: u16 = 322;
    pub(crate) const TILE_LENGTH: u16 = 323;
    pub(crate) const TILE_OFFSETS: u16 = 324;
    pub(crate) const TILE_BYTE_COUNTS: u16 = 325;
    pub(crate) const INK_SET: u16 = 332;
    pub(crate) const EXTRA_SAMPLES: u16 = 338;
    pub(crate) const SAMPLE_FORMAT: u16 = 339;
    pub(crate) const JPEG_TABLES: u16 = 347;
    pub(crate) const JPEG_INTERCHANGE: u16 = 513;
    pub(crate) const JPEG_INTERCHANGE_LENGTH: u16 = 514;
    pub(crate) const JPEG_RESTART_INTERVAL: u16 = 515;
    pub(crate) const JPEG_Q_TABLES: u16 = 519;
    pub(crate) const JPEG_DC_TABLES: u16 = 520;
    pub(crate) const JPEG_AC_TABLES: u16 = 521;
    pub(crate) const YCBCR_SUBSAMPLING: u16 = 530;
}

/// Maximum number of samples in a pixel. Only pictures of telescopes and satellites have more.
const MAX_SAMPLES: usize = 8;

/// Maximum size of JPEG tables, in bytes.
const MAX_JPEG_TABLES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColourSpace {
    Gray {
        white_is_zero: bool,
    },
    Rgb,
    Palette,
    Cmyk,
    /// ITU-R BT.601, with one pair of chroma samples for this many columns and rows.
    YCbCr {
        across: u32,
        down: u32,
    },
    /// CIE L*a*b*; a* and b* are signed, or unsigned around 128.
    Lab {
        signed: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    PackBits,
    Lzw,
    Deflate,
    /// Group 3.
    Fax3(Fax3),
    Fax4,
    Jpeg,
}

/// The variant of Group 3 fax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fax3 {
    /// One dimension, with or without end-of-line codes.
    Plain,
    /// One dimension, rows start at bytes, without end-of-line codes.
    ByteAligned,
    /// One or two dimensions, with end-of-line codes.
    TwoDimensional,
}

/// The prediction that is undone after a row is decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Predictor {
    None,
    /// Each sample is stored as the difference to the previous one.
    Horizontal,
    /// Each byte is stored as the difference to the previous one; bytes of equal significance are grouped.
    FloatingPoint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Samples {
    /// Number of samples in each pixel, including those that are no colours.
    pub(crate) count: usize,
    pub(crate) bits: usize,
    /// Whether they are floating-point numbers.
    pub(crate) float: bool,
}

/// Whether the colours are multiplied by alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alpha {
    Straight,
    /// The colours are multiplied by alpha.
    Premultiplied,
}

/// The tables of old-style JPEG (TIFF 6.0, section 22), whose strips contain only entropy-coded data.
#[derive(Debug, Clone)]
pub(crate) struct JpegFields<'a> {
    /// For each component 64 values.
    pub(crate) quantisation: Vec<&'a [u8]>,
    /// For each component the numbers of codes with 1 to 16 bits, and the values.
    pub(crate) dc: Vec<&'a [u8]>,
    pub(crate) ac: Vec<&'a [u8]>,
    pub(crate) restart_interval: Option<u16>,
    /// How many luma samples share a pair of chroma samples, across and down.
    pub(crate) sampling: (u32, u32),
}

/// The parameters for decoding a picture.
#[derive(Debug, Clone)]
pub(crate) struct TiffImage<'a> {
    pub(crate) size: PixelSize,
    pub(crate) order: ByteOrder,
    pub(crate) colours: ColourSpace,
    pub(crate) samples: Samples,
    /// The kind of alpha in the sample after the colours.
    pub(crate) alpha: Option<Alpha>,
    pub(crate) compression: Compression,
    pub(crate) predictor: Predictor,
    /// Whether each sample has separate chunks.
    pub(crate) planar: bool,
    /// Whether the first bit of a byte is the least significant.
    pub(crate) lowest_bit_first: bool,
    /// Red values, then green ones, then blue ones.
    pub(crate) palette: Option<Entry<'a>>,
    /// The tables that all JPEG chunks share.
    pub(crate) jpeg_tables: Option<&'a [u8]>,
    pub(crate) jpeg_fields: Option<JpegFields<'a>>,
    /// Whether the JPEG chunks store luma and chroma. `None` if the chunks declare their colour space themselves.
    pub(crate) jpeg_ycc: Option<bool>,
    pub(crate) chunks: Chunks<'a>,
}

impl ColourSpace {
    /// Number of colour samples.
    pub(crate) const fn samples(self) -> usize {
        match self {
            Self::Gray { .. } | Self::Palette => 1,
            Self::Rgb | Self::YCbCr { .. } | Self::Lab { .. } => 3,
            Self::Cmyk => 4,
        }
    }
}

/// Whether the directory describes a picture.
pub(super) fn is_picture(ifd: &Ifd<'_>) -> bool {
    ifd.number(tag::IMAGE_WIDTH).is_some() && ifd.number(tag::IMAGE_LENGTH).is_some()
}

/// Whether the directory describes a picture that is neither a thumbnail nor a mask.
pub(super) fn is_full(ifd: &Ifd<'_>) -> bool {
    let reduced_or_mask = ifd.number(tag::NEW_SUBFILE_TYPE).is_some_and(|kind| kind & 0b101 != 0)
        || ifd.number(tag::SUBFILE_TYPE) == Some(2);
    is_picture(ifd) && !reduced_or_mask
}

/// Whether the colours are CIE L*a*b*, which is independent of a device.
pub(super) fn is_lab(ifd: &Ifd<'_>) -> bool {
    matches!(ifd.number(tag::PHOTOMETRIC), Some(8..=10))
}

fn unsupported(what: &str) -> MediaError {
    MediaError::Corrupt(format!("{what} not supported"))
}

impl<'a> TiffImage<'a> {
    /// The picture that a directory describes. Refuses pictures that cannot be decoded.
    pub(crate) fn describe(structure: &Structure<'a>, ifd: &Ifd<'a>) -> Result<Self, MediaError> {
        let side = |tag| ifd.number(tag).and_then(|side| u32::try_from(side).ok());
        let size = side(tag::IMAGE_WIDTH).zip(side(tag::IMAGE_LENGTH));
        let (width, height) =
            size.ok_or_else(|| MediaError::Corrupt("the TIFF header has no size".into()))?;
        let size = PixelSize { width, height };
        if width == 0 || height == 0 {
            return Err(MediaError::NoPixels);
        }

        let samples = samples(ifd)?;
        let compression = compression(ifd)?;
        let stored = colours(ifd, samples, compression)?;
        let is_jpeg = compression == Compression::Jpeg;
        // The JPEG decoder converts YCbCr to RGB.
        let is_ycc = is_jpeg && matches!(stored, ColourSpace::YCbCr { .. });
        let whole_jpeg = whole_jpeg(ifd, structure);
        let picture = Self {
            size,
            order: structure.order(),
            colours: if is_ycc { ColourSpace::Rgb } else { stored },
            samples,
            alpha: alpha(ifd, stored, samples),
            compression,
            predictor: predictor(ifd, compression)?,
            planar: samples.count > 1 && ifd.number(tag::PLANAR_CONFIGURATION) == Some(2),
            lowest_bit_first: !is_jpeg && ifd.number(tag::FILL_ORDER) == Some(2),
            palette: ifd.entry(tag::COLOR_MAP),
            jpeg_tables: jpeg_tables(ifd, structure).filter(|tables| tables.len() <= MAX_JPEG_TABLES),
            jpeg_fields: jpeg_fields(ifd, structure, stored),
            jpeg_ycc: whole_jpeg.is_none().then_some(is_ycc),
            chunks: match whole_jpeg {
                Some(jpeg) => Chunks::one(jpeg, size),
                None => Chunks::read(ifd, size)?,
            },
        };
        picture.check()?;
        Ok(picture)
    }

    /// Refuses combinations that no program writes.
    fn check(&self) -> Result<(), MediaError> {
        let Samples { count, bits, float } = self.samples;
        if count < self.colours.samples() {
            return Err(MediaError::Corrupt("it has too few samples for its colours".into()));
        }
        let whole_bytes = matches!(bits, 8 | 16 | 32 | 64);
        let sensible = match self.compression {
            Compression::Fax3(_) | Compression::Fax4 => bits == 1 && count == 1,
            Compression::Jpeg => bits == 8 && !float,
            _ => true,
        } && match self.predictor {
            Predictor::None => true,
            Predictor::Horizontal => whole_bytes,
            Predictor::FloatingPoint => float,
        } && match self.colours {
            ColourSpace::Palette => bits <= 16 && !float && !self.planar && self.palette.is_some(),
            ColourSpace::YCbCr { .. } => {
                bits == 8 && !self.planar && count == 3 && self.predictor == Predictor::None
            }
            ColourSpace::Lab { .. } => matches!(bits, 8 | 16) && !float && !self.planar,
            ColourSpace::Gray { .. } | ColourSpace::Rgb | ColourSpace::Cmyk => true,
        } && if float { matches!(bits, 16 | 32 | 64) } else { whole_bytes || bits < 16 };
        if sensible { Ok(()) } else { Err(unsupported("this pixel format is")) }
    }

    /// The layout of the decoded pixels.
    pub(crate) fn layout(&self) -> Layout {
        match (self.colours, self.alpha) {
            (ColourSpace::Gray { .. }, None) => Layout::Gray,
            (ColourSpace::Gray { .. }, Some(_)) => Layout::GrayAlpha,
            (ColourSpace::Palette, _)
            | (ColourSpace::Rgb | ColourSpace::YCbCr { .. } | ColourSpace::Lab { .. }, None) => Layout::Rgb,
            (ColourSpace::Rgb | ColourSpace::YCbCr { .. } | ColourSpace::Lab { .. }, Some(_)) => Layout::Rgba,
            (ColourSpace::Cmyk, _) => Layout::Cmyk { inverted: false },
        }
    }

    /// Upper bound of the memory for decoding besides the decoded pixels, in bytes.
    pub(super) fn working_bytes(&self) -> u64 {
        const BASE_BYTES: u64 = 1 << 20;
        // 4 bytes for the pixels, and up to 8 for coefficients if there are several scans.
        const JPEG_BYTES_PER_PIXEL: u64 = 12;
        // Each of up to 8 samples takes up to 8 bytes as stored, and twice one byte as 8 bits.
        const ROW_BYTES_PER_PIXEL: u64 = 10 * 8;

        let area = self.chunks.size.area();
        let chunk = match self.compression {
            Compression::Jpeg => area.saturating_mul(JPEG_BYTES_PER_PIXEL),
            Compression::Fax3(_) | Compression::Fax4 => area,
            _ => u64::from(self.chunks.size.width).saturating_mul(ROW_BYTES_PER_PIXEL),
        };
        chunk.saturating_add(BASE_BYTES)
    }
}

fn samples(ifd: &Ifd<'_>) -> Result<Samples, MediaError> {
    let count = ifd.number(tag::SAMPLES_PER_PIXEL).unwrap_or(1);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if !(1..=MAX_SAMPLES).contains(&count) {
        return Err(MediaError::Corrupt(format!("it has {count} samples in each pixel")));
    }
    // One value may apply to all samples.
    let same = |tag, default| {
        let Some(entry) = ifd.entry(tag) else { return Some(default) };
        let first = entry.number(0)?;
        entry.numbers().take(count).all(|number| number == first).then_some(first)
    };
    let bits = same(tag::BITS_PER_SAMPLE, 1).and_then(|bits| usize::try_from(bits).ok());
    let bits = bits.filter(|bits| (1..=64).contains(bits));
    let bits = bits.ok_or_else(|| unsupported("samples of different lengths are"))?;
    match same(tag::SAMPLE_FORMAT, 1) {
        // 4 means undefined.
        Some(1 | 4) => Ok(Samples { count, bits, float: false }),
        Some(3) => Ok(Samples { count, bits, float: true }),
        Some(2) => Err(unsupported("signed samples are")),
        _ => Err(unsupported("this sample format is")),
    }
}

fn compression(ifd: &Ifd<'_>) -> Result<Compression, MediaError> {
    let number = ifd.number(tag::COMPRESSION).unwrap_or(1);
    let name = match number {
        1 => return Ok(Compression::None),
        2 => return Ok(Compression::Fax3(Fax3::ByteAligned)),
        3 if ifd.number(tag::T4_OPTIONS).unwrap_or(0) & 1 == 0 => return Ok(Compression::Fax3(Fax3::Plain)),
        3 => return Ok(Compression::Fax3(Fax3::TwoDimensional)),
        4 => return Ok(Compression::Fax4),
        5 => return Ok(Compression::Lzw),
        6 | 7 => return Ok(Compression::Jpeg),
        8 | 32_946 => return Ok(Compression::Deflate),
        32_773 => return Ok(Compression::PackBits),
        9 | 10 | 34_661 => "JBIG",
        32_809 => "ThunderScan",
        33_003 | 33_005 | 34_712 => "JPEG 2000",
        34_676 | 34_677 => "SGI LogLuv",
        34_887 => "LERC",
        34_892 => "lossy DNG",
        34_925 => "LZMA",
        34_933 => "PNG",
        34_934 => "JPEG XR",
        50_000 => "Zstandard",
        50_001 => "WebP",
        50_002 | 52_546 => "JPEG XL",
        _ => return Err(unsupported(&format!("compression {number} is"))),
    };
    Err(unsupported(&format!("{name} compression is")))
}

fn colours(ifd: &Ifd<'_>, samples: Samples, compression: Compression) -> Result<ColourSpace, MediaError> {
    let is_fax = matches!(compression, Compression::Fax3(_) | Compression::Fax4);
    let number = ifd.number(tag::PHOTOMETRIC).unwrap_or(match samples.count {
        1 | 2 if is_fax => 0,
        1 | 2 => 1,
        _ => 2,
    });
    match number {
        0 => Ok(ColourSpace::Gray { white_is_zero: true }),
        // 4 is a mask.
        1 | 4 => Ok(ColourSpace::Gray { white_is_zero: false }),
        2 => Ok(ColourSpace::Rgb),
        3 => Ok(ColourSpace::Palette),
        5 if ifd.number(tag::INK_SET).unwrap_or(1) == 1 => Ok(ColourSpace::Cmyk),
        5 => Err(unsupported("this set of inks is")),
        6 => {
            let factors = ifd.entry(tag::YCBCR_SUBSAMPLING);
            let factor = |place| {
                let factor = factors.map_or(Some(2), |factors| factors.number(place));
                factor
                    .filter(|factor| matches!(factor, 1 | 2 | 4))
                    .and_then(|factor| u32::try_from(factor).ok())
            };
            match factor(0).zip(factor(1)) {
                Some((across, down)) => Ok(ColourSpace::YCbCr { across, down }),
                // The JPEG declares the subsampling.
                None if compression == Compression::Jpeg => Ok(ColourSpace::YCbCr { across: 1, down: 1 }),
                None => Err(unsupported("this chroma subsampling is")),
            }
        }
        8 => Ok(ColourSpace::Lab { signed: true }),
        9 => Ok(ColourSpace::Lab { signed: false }),
        32_803 | 34_892 => Err(unsupported("sensor data are")),
        number => Err(unsupported(&format!("colour space {number} is"))),
    }
}

/// The kind of alpha in the first sample after the colours. The values 1 and 2 of `ExtraSamples` declare alpha.
fn alpha(ifd: &Ifd<'_>, colours: ColourSpace, samples: Samples) -> Option<Alpha> {
    if samples.count <= colours.samples() {
        return None;
    }
    match ifd.number(tag::EXTRA_SAMPLES) {
        Some(1) => Some(Alpha::Premultiplied),
        Some(2) => Some(Alpha::Straight),
        // Old programs write alpha as the fourth sample without declaring it.
        None if colours == ColourSpace::Rgb && samples.count == 4 => Some(Alpha::Straight),
        _ => None,
    }
}

/// The predictor of a picture. Only LZW and Deflate have one.
fn predictor(ifd: &Ifd<'_>, compression: Compression) -> Result<Predictor, MediaError> {
    if !matches!(compression, Compression::Lzw | Compression::Deflate) {
        return Ok(Predictor::None);
    }
    match ifd.number(tag::PREDICTOR) {
        None | Some(1) => Ok(Predictor::None),
        Some(2) => Ok(Predictor::Horizontal),
        Some(3) => Ok(Predictor::FloatingPoint),
        Some(number) => Err(unsupported(&format!("predictor {number} is"))),
    }
}

/// The tables that all JPEG chunks share. In old-style JPEG, a JPEG file may contain them.
fn jpeg_tables<'a>(ifd: &Ifd<'a>, structure: &Structure<'a>) -> Option<&'a [u8]> {
    if ifd.number(tag::COMPRESSION) != Some(6) {
        return ifd.bytes(tag::JPEG_TABLES);
    }
    let number = |tag| ifd.number(tag).and_then(|number| usize::try_from(number).ok());
    let (start, length) = (number(tag::JPEG_INTERCHANGE)?, number(tag::JPEG_INTERCHANGE_LENGTH)?);
    structure.data().get(start..start.checked_add(length)?)
}

/// The fields of old-style JPEG, if there are any.
fn jpeg_fields<'a>(ifd: &Ifd<'a>, structure: &Structure<'a>, colours: ColourSpace) -> Option<JpegFields<'a>> {
    /// The numbers of codes in a Huffman table.
    const CODE_LENGTHS: usize = 16;

    if ifd.number(tag::COMPRESSION) != Some(6) {
        return None;
    }
    let tables = |tag, length: fn(&[u8]) -> Option<usize>| -> Option<Vec<&'a [u8]>> {
        let offsets = ifd.entry(tag)?.numbers().take(MAX_SAMPLES);
        let table = |offset: u64| {
            let from = structure.data().get(usize::try_from(offset).ok()?..)?;
            from.get(..length(from)?)
        };
        offsets.map(table).collect::<Option<Vec<_>>>().filter(|tables| !tables.is_empty())
    };
    let code_length = |from: &[u8]| {
        let numbers = from.get(..CODE_LENGTHS)?.iter().map(|count| usize::from(*count));
        Some(CODE_LENGTHS + numbers.sum::<usize>()).filter(|length| *length <= CODE_LENGTHS + 256)
    };
    let interval = ifd.number(tag::JPEG_RESTART_INTERVAL).and_then(|interval| u16::try_from(interval).ok());
    Some(JpegFields {
        quantisation: tables(tag::JPEG_Q_TABLES, |_| Some(64))?,
        dc: tables(tag::JPEG_DC_TABLES, code_length)?,
        ac: tables(tag::JPEG_AC_TABLES, code_length)?,
        restart_interval: interval.filter(|interval| *interval > 0),
        sampling: match colours {
            ColourSpace::YCbCr { across, down } => (across, down),
            _ => (1, 1),
        },
    })
}

/// The JPEG file with the whole picture, in old-style JPEG compression. `None` if the strips are outside of that file,
/// which then contains only their tables.
fn whole_jpeg<'a>(ifd: &Ifd<'a>, structure: &Structure<'a>) -> Option<&'a [u8]> {
    if ifd.number(tag::COMPRESSION) != Some(6) {
        return None;
    }
    let start = ifd.number(tag::JPEG_INTERCHANGE)?;
    let end =
        ifd.number(tag::JPEG_INTERCHANGE_LENGTH).map_or(u64::MAX, |length| start.saturating_add(length));
    let strip = ifd.number(tag::STRIP_OFFSETS);
    if strip.is_some_and(|strip| !(start..end).contains(&strip)) {
        return None;
    }
    structure.data().get(usize::try_from(start).ok()?..)
}
