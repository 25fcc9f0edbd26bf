use domain::{PixelSize, Rendition};

use crate::container::{self, Blocks, Colour, Container, Header, MAX_SCANS, Picture};
use crate::format::is_movie;
use crate::tiff::{Directory, Tags, tag};
use crate::{Format, MediaError, Orientation, check_decoder, colour};

/// The largest picture whose memory is estimated by its planes, in pixels.
const MAX_PLANES_AREA: u64 = 32_000_000;

/// The largest picture that is encoded without loss, in pixels. Screenshots of phones have three million.
pub(crate) const MAX_GRAPHIC_AREA: u64 = 4 << 20;

/// RGBA (4) and what the lossless encoder needs.
const GRAPHIC_BYTES_PER_PIXEL: u64 = 32;

/// Maximum work of all scans together, in passes over a picture of the largest allowed size.
const MAX_FULL_PASSES: u64 = 20;

/// Limits on what is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of stored pixels.
    pub max_pixels: u64,
}

impl Default for Limits {
    /// 200 megapixels.
    fn default() -> Self {
        Self { max_pixels: 200_000_000 }
    }
}

/// The result of reading a file's headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// The format, detected from the content.
    pub format: Format,
    /// The size of the picture as stored.
    pub stored_size: PixelSize,
    pub upright_size: PixelSize,
    /// How to turn the stored pixels upright.
    pub orientation: Orientation,
    decode_bytes: u64,
    /// Whether renditions are made of the planes of YCbCr in the file. Small pictures are not worth it.
    pub(crate) uses_planes: bool,
}

impl Probe {
    /// Upper estimate of the memory that rendering takes besides the file itself, in bytes. A memory budget uses it to
    /// decide how many files are rendered at once.
    ///
    /// Decoding counts at full size, although most JPEGs are decoded at a fraction of it: lossless ones cannot be scaled,
    /// and the room is needed for the copy of a file that is repaired.
    pub fn decode_memory_bytes(&self, wanted: &[Rendition]) -> u64 {
        // Besides the pixels: decoder tables.
        const BASE_BYTES: u64 = 8 << 20;
        // A smaller rendition and its encoder.
        const SMALL_BYTES: u64 = 16 << 20;

        let is_large =
            |rendition: Rendition| rendition.longest_side_px() > Rendition::Medium.longest_side_px();
        let encode_bytes = |rendition: Rendition| {
            self.upright_size.fit_within(rendition.longest_side_px()).area() * self.encode_bytes_per_pixel()
        };
        let large = wanted.iter().copied().filter(|rendition| is_large(*rendition));
        let encode = large.map(encode_bytes).max().unwrap_or(0);
        let small = match wanted {
            [only] if is_large(*only) => 0,
            _ if self.may_be_graphic() => SMALL_BYTES.max(
                self.upright_size.fit_within(Rendition::Medium.longest_side_px()).area()
                    * GRAPHIC_BYTES_PER_PIXEL,
            ),
            _ => SMALL_BYTES,
        };
        BASE_BYTES + small + self.decode_bytes.max(encode)
    }

    /// The source, its upright copy or the encoder's planes, and the encoder's output (2).
    fn encode_bytes_per_pixel(&self) -> u64 {
        match self.format {
            // Planes (1.5) that are turned or made of others one after another. Above this size, workers have no room to spare
            // for damaged files, which are decoded to RGB.
            _ if self.uses_planes && self.upright_size.area() <= MAX_PLANES_AREA => 4,
            // RGB (3), and planes (1.5) or turned RGB (3).
            Format::Jpeg | Format::Raw => 7,
            _ if self.may_be_graphic() && self.upright_size.area() <= MAX_GRAPHIC_AREA => {
                GRAPHIC_BYTES_PER_PIXEL
            }
            // RGBA (4), planes (2.5), and what the encoder of alpha needs.
            Format::Png | Format::WebP | Format::Gif | Format::Tiff | Format::Heif | Format::Avif => 11,
        }
    }

    /// Whether the format keeps every pixel, so that the file may be a screenshot or a drawing.
    pub(crate) fn may_be_graphic(&self) -> bool {
        matches!(self.format, Format::Png | Format::Gif | Format::WebP | Format::Tiff)
    }

    /// The same for [`decode_rgb`](Photo::decode_rgb).
    pub fn rgb_memory_bytes(&self, longest_sides_px: &[u32]) -> u64 {
        // The pixels before (4) and after (4) colour conversion, and without transparency (3).
        const BYTES_PER_PIXEL: u64 = 11;

        let areas = longest_sides_px.iter().map(|side| self.upright_size.fit_within(*side).area());
        self.decode_memory_bytes(&[]) + areas.sum::<u64>() * BYTES_PER_PIXEL
    }
}

/// A photo whose container is parsed. The pixels are decoded on request.
#[derive(Debug, Clone)]
pub struct Photo<'a> {
    format: Format,
    container: Container<'a>,
    /// The orientation in a sidecar, else in EXIF.
    tagged: Option<Orientation>,
}

#[derive(Debug)]
pub(crate) struct CheckedPicture<'a> {
    pub(crate) probe: Probe,
    pub(crate) picture: &'a Picture<'a>,
    pub(crate) colour: Option<&'a Colour<'a>>,
}

impl<'a> Photo<'a> {
    /// Detects the format and parses the container, for [`probe`](Self::probe), [`metadata`](Self::metadata),
    /// [`render`](Self::render) and [`decode_rgb`](Self::decode_rgb).
    ///
    /// # Errors
    /// [`MediaError::Empty`], [`MediaError::UnknownFormat`] or [`MediaError::Movie`]. Damage behind the signature is
    /// reported when the picture is needed.
    pub fn open(bytes: &'a [u8]) -> Result<Self, MediaError> {
        let (format, container) = container::read(bytes).ok_or_else(|| unknown(bytes))?;
        let in_block = |block| {
            Tags::read(block)?.short(Directory::Primary, tag::ORIENTATION).and_then(Orientation::from_exif)
        };
        let tagged = container.blocks.exif_blocks().find_map(in_block);
        Ok(Self { format, container, tagged })
    }

    /// Uses the orientation in a sidecar, if there is one. It overrides EXIF.
    #[must_use]
    pub fn turned(self, in_sidecar: Option<Orientation>) -> Self {
        Self { tagged: in_sidecar.or(self.tagged), ..self }
    }

    /// Checks the headers. Refuses pictures without pixels, with more pixels than `limits` allow (also in a frame that is
    /// larger than its canvas), or with too many scans.
    ///
    /// # Errors
    /// Every [`MediaError`] but [`MediaError::Conversion`].
    pub fn probe(&self, limits: &Limits) -> Result<Probe, MediaError> {
        self.checked(limits).map(|checked| checked.probe)
    }

    /// As [`probe`](Self::probe), with the picture.
    pub(crate) fn checked(&self, limits: &Limits) -> Result<CheckedPicture<'_>, MediaError> {
        let picture = self.container.picture.as_ref().map_err(Clone::clone)?;
        let header = &picture.header;
        check_size(header.size, limits)?;
        check_size(header.decoded_size, limits)?;
        check_scans(header, limits)?;
        let orientation = header.orientation.or(self.tagged).unwrap_or_default();
        let colour = self.container.blocks.colour.as_ref();
        let probe = Probe {
            format: self.format,
            stored_size: header.size,
            upright_size: orientation.apply(header.size),
            orientation,
            decode_bytes: header.decode_bytes,
            uses_planes: header.has_planes
                && header.size.longest() > Rendition::Medium.longest_side_px()
                && colour::is_srgb(colour),
        };
        Ok(CheckedPicture { probe, picture, colour })
    }

    pub(crate) fn blocks(&self) -> &Blocks<'a> {
        &self.container.blocks
    }
}

/// As [`Photo::probe`].
pub fn probe(bytes: &[u8], limits: &Limits) -> Result<Probe, MediaError> {
    Photo::open(bytes)?.probe(limits)
}

/// Detects the format from the first bytes (64 are enough) and checks that its decoder is available.
pub fn supported_format(head: &[u8]) -> Result<Format, MediaError> {
    let format = container::format(head).ok_or_else(|| unknown(head))?;
    check_decoder(format)?;
    Ok(format)
}

/// Why a file has no known format.
fn unknown(bytes: &[u8]) -> MediaError {
    if bytes.is_empty() {
        MediaError::Empty
    } else if is_movie(bytes) {
        MediaError::Movie
    } else {
        MediaError::UnknownFormat
    }
}

fn check_size(size: PixelSize, limits: &Limits) -> Result<(), MediaError> {
    if size.width == 0 || size.height == 0 {
        return Err(MediaError::NoPixels);
    }
    if size.area() > limits.max_pixels {
        return Err(MediaError::TooManyPixels { pixels: size.area(), limit: limits.max_pixels });
    }
    Ok(())
}

fn check_scans(header: &Header, limits: &Limits) -> Result<(), MediaError> {
    let passes_over = header.size.area().saturating_mul(u64::from(header.scans));
    if header.scans > MAX_SCANS || passes_over > limits.max_pixels.saturating_mul(MAX_FULL_PASSES) {
        return Err(MediaError::TooManyScans { scans: header.scans });
    }
    Ok(())
}
