//! Makes the WebP renditions of a file.

mod encode;
mod rgb;
mod thumbhash;

use domain::{PixelSize, Rendition, Thumbhash};

use self::encode::Encoding;
pub use self::rgb::{RgbPicture, RgbPictures, decode_rgb};
use crate::colour::{self, ProfileError};
use crate::container::Colour;
use crate::decode::{Decoded, decode, decode_planes};
use crate::photo::{CheckedPicture, Photo, Probe};
use crate::pixels::{Pixels, Planes, Raster, orient};
use crate::{Limits, MediaError, Orientation};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The size of the upright full rendition, even if it was not requested.
    pub full_size: PixelSize,
    /// The damage, if a part of the picture or its colour profile could not be read.
    pub damaged: Option<String>,
    /// The requested renditions in that order, each once.
    pub renditions: Vec<EncodedRendition>,
    /// A preview of a few bytes, if the rendition [`Preview`](Rendition::Preview) was requested.
    pub thumbhash: Option<Thumbhash>,
}

/// One rendition as a WebP file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRendition {
    pub rendition: Rendition,
    pub size: PixelSize,
    /// The file, without EXIF, XMP or colour profile.
    pub webp: Vec<u8>,
}

impl Photo<'_> {
    /// Makes the renditions: upright, never larger than the original, in sRGB, with deterministic encoding. Renditions of
    /// the same size have the same bytes and are encoded once.
    ///
    /// The headers are checked as in [`probe`](Self::probe) before any pixel is decoded.
    ///
    /// # Errors
    /// Any [`MediaError`]. A file that can be read in part is no error; see [`Rendered::damaged`].
    pub fn render(&self, wanted: &[Rendition], limits: &Limits) -> Result<Rendered, MediaError> {
        render_checked(&self.checked(limits)?, wanted)
    }
}

/// As [`Photo::render`].
pub fn render(bytes: &[u8], wanted: &[Rendition], limits: &Limits) -> Result<Rendered, MediaError> {
    Photo::open(bytes)?.render(wanted, limits)
}

fn render_checked(checked: &CheckedPicture<'_>, wanted: &[Rendition]) -> Result<Rendered, MediaError> {
    let CheckedPicture { probe, picture, colour } = *checked;
    let full_size = probe.upright_size.fit_within(Rendition::Full.longest_side_px());
    let hash_side = wanted.contains(&Rendition::Preview).then_some(thumbhash::LONGEST_SIDE_PX);
    let sides = wanted.iter().map(|rendition| rendition.longest_side_px());
    let steps = steps(&probe, sides.chain(hash_side));
    let Some(largest) = steps.first() else {
        return Ok(Rendered { full_size, damaged: None, renditions: Vec::new(), thumbhash: None });
    };
    let hash_size = hash_side.map(|side| probe.upright_size.fit_within(side));
    let is_wanted = |size| wanted.iter().any(|rendition| rendition_size(&probe, *rendition) == size);
    let encoding_at = |size| {
        // If the picture is as small as its preview, all renditions have the same file, which is encoded for display.
        let is_preview = rendition_size(&probe, Rendition::Preview) == size
            && rendition_size(&probe, Rendition::Thumb) != size;
        if is_preview { encode::PREVIEW } else { encode::DISPLAY }
    };
    let step = |size,
                webp: &dyn Fn(Encoding) -> Result<Vec<u8>, MediaError>,
                hash: &dyn Fn() -> Option<Thumbhash>| {
        let webp = is_wanted(size).then(|| webp(encoding_at(size))).transpose()?;
        Ok(Step { webp, thumbhash: if hash_size == Some(size) { hash() } else { None } })
    };
    let at_least = probe.orientation.apply(*largest);
    let planes = if probe.uses_planes { decode_planes(picture, at_least) } else { None };
    let (made, damaged) = match planes {
        Some(decoded) => {
            let Decoded { pixels, damaged } = decoded?;
            let prepare = |planes: Planes| planes.into_upright_video_range(probe.orientation);
            let made = resize_steps(pixels, probe.orientation, &steps, prepare, |planes, size| {
                step(size, &|encoding| encode::planes(planes, encoding), &|| thumbhash::of(&planes.to_rgb()))
            })?;
            (made, damaged)
        }
        None => {
            let Decoded { pixels, damaged } = decode(picture, at_least)?;
            let mut unconverted = None;
            let prepare = |pixels| convert(pixels, &probe, colour, &mut unconverted);
            let made = resize_steps(pixels, probe.orientation, &steps, prepare, |pixels, size| {
                let webp = |encoding| encode::pixels(pixels, encoding, probe.may_be_graphic());
                step(size, &webp, &|| thumbhash::of(pixels))
            })?;
            (made, join_damage(damaged, unconverted))
        }
    };
    let renditions = wanted
        .iter()
        .enumerate()
        .filter(|(index, rendition)| !wanted.iter().take(*index).any(|before| before == *rendition))
        .filter_map(|(_, rendition)| {
            let size = rendition_size(&probe, *rendition);
            let (_, step) = made.iter().find(|(step, _)| *step == size)?;
            Some(EncodedRendition { rendition: *rendition, size, webp: step.webp.clone()? })
        })
        .collect();
    let thumbhash = made.into_iter().find_map(|(_, step)| step.thumbhash);
    Ok(Rendered { full_size, damaged, renditions, thumbhash })
}

/// What is made of the picture at one size.
struct Step {
    webp: Option<Vec<u8>>,
    thumbhash: Option<Thumbhash>,
}

fn rendition_size(probe: &Probe, rendition: Rendition) -> PixelSize {
    probe.upright_size.fit_within(rendition.longest_side_px())
}

/// The upright sizes to make, largest first, each once.
fn steps(probe: &Probe, longest_sides_px: impl IntoIterator<Item = u32>) -> Vec<PixelSize> {
    let size = |side| probe.upright_size.fit_within(side);
    let mut sizes: Vec<_> = longest_sides_px.into_iter().map(size).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.longest()));
    sizes.dedup();
    sizes
}

/// All damage to a file in one text.
fn join_damage(damaged: Option<String>, unconverted: Option<ProfileError>) -> Option<String> {
    let reasons: Vec<String> =
        damaged.into_iter().chain(unconverted.map(|error| error.message().to_owned())).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Resizes to each size in turn and calls `make` with the picture. `prepare` turns the picture upright. It is called once, after
/// the first resize, when there are fewer pixels.
fn resize_steps<P: Raster, T>(
    picture: P,
    orientation: Orientation,
    steps: &[PixelSize],
    prepare: impl FnOnce(P) -> P,
    make: impl Fn(&P, PixelSize) -> Result<T, MediaError>,
) -> Result<Vec<(PixelSize, T)>, MediaError> {
    let Some((first, others)) = steps.split_first() else { return Ok(Vec::new()) };
    let mut picture = prepare(picture.resize(orientation.apply(*first))?);
    let mut made = vec![(*first, make(&picture, *first)?)];
    for size in others {
        picture = picture.resize(*size)?;
        made.push((*size, make(&picture, *size)?));
    }
    Ok(made)
}

/// Converts the colours and turns the picture upright.
fn convert(
    pixels: Pixels,
    probe: &Probe,
    colour: Option<&Colour<'_>>,
    unconverted: &mut Option<ProfileError>,
) -> Pixels {
    let (pixels, error) = colour::to_srgb(pixels, colour);
    *unconverted = error;
    orient(pixels, probe.orientation)
}

#[cfg(test)]
mod tests;
