//! Reads ICC profiles: ICC.1, versions 2 and 4.

use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};

use super::table::Table;
use super::{Conversion, ProfileError, RgbConversion, cicp, encode, light_of_lightness};

pub(super) use crate::container::MAX_BLOCK_BYTES as MAX_PROFILE_BYTES;

/// Maximum number of tags, as in other programs. Real profiles have a few dozen.
const MAX_TAGS: usize = 100;

/// The header. The number of tags and the tag table follow.
const HEADER_BYTES: usize = 128;

/// Name, offset and length of a tag.
type Tag = [u8; 12];

/// The tags for the conversion from the profile to the connection space. Other tags, above all the reverse tables, are not parsed:
/// parsing takes time, and errors in these tags do not matter.
const NEEDED: [&[u8; 4]; 8] = [b"rXYZ", b"gXYZ", b"bXYZ", b"rTRC", b"gTRC", b"bTRC", b"kTRC", b"A2B0"];

pub(super) fn conversion(profile: &[u8]) -> Result<Conversion, ProfileError> {
    let read = || {
        let needed = without_unused_tags(profile)?;
        ColorProfile::new_from_slice(&needed).ok()
    };
    let source = read().ok_or(ProfileError::Unreadable)?;
    match source.color_space {
        DataColorSpace::Gray => gray(&source),
        DataColorSpace::Rgb => match hdr_code_points(profile) {
            Some((primaries, transfer)) => cicp::conversion(primaries, transfer),
            None => rgb(&source).map(Conversion::Rgb),
        },
        DataColorSpace::Cmyk => Table::of(&source, 4)
            .map(|table| Conversion::Cmyk(Box::new(table)))
            .ok_or(ProfileError::Unreadable),
        _ => Err(ProfileError::Unfit),
    }
}

/// The conversion of an RGB profile, by its table if it has one.
pub(super) fn rgb(source: &ColorProfile) -> Result<RgbConversion, ProfileError> {
    let change = if source.lut_a_to_b_perceptual.is_some() {
        Table::of(source, 3).map(|table| RgbConversion::Table(Box::new(table)))
    } else {
        let (srgb, options) = (ColorProfile::new_srgb(), TransformOptions::default());
        let transform = source.create_transform_8bit(Layout::Rgb, &srgb, Layout::Rgb, options);
        transform.ok().filter(|_| source.is_matrix_shaper()).map(RgbConversion::Transform)
    };
    let change = change.ok_or(ProfileError::Unreadable)?;
    Ok(if change.is_identity() { RgbConversion::Identity } else { change })
}

/// Grey has one curve, to linear light or to lightness (F.2).
fn gray(source: &ColorProfile) -> Result<Conversion, ProfileError> {
    let curve = source.build_gray_linearize_table::<u8, 256, 8>().map_err(|_| ProfileError::Unreadable)?;
    let table = match source.pcs {
        DataColorSpace::Xyz => curve.map(encode),
        DataColorSpace::Lab => curve.map(|lightness| encode(light_of_lightness(lightness))),
        _ => return Err(ProfileError::Unreadable),
    };
    Ok(Conversion::Gray(Box::new(table)))
}

fn tags(profile: &[u8]) -> Option<&[Tag]> {
    let count = profile.get(HEADER_BYTES..HEADER_BYTES + 4)?.try_into().ok().map(u32::from_be_bytes)?;
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_TAGS)?;
    let (tags, _) = profile.get(HEADER_BYTES + 4..)?.as_chunks();
    tags.get(..count)
}

/// The profile with only the needed tags in its table.
fn without_unused_tags(profile: &[u8]) -> Option<Vec<u8>> {
    let tags = tags(profile)?;
    let find = |name: &[u8; 4]| tags.iter().find(|tag| tag.starts_with(name));
    let mut needed: Vec<Tag> = NEEDED.into_iter().filter_map(find).copied().collect();
    if let Some([_, _, _, _, location @ ..]) = find(b"A2B1")
        && needed.is_empty()
    {
        // A profile with only one intent, which is used for every intent.
        let mut tag: Tag = *b"A2B0\0\0\0\0\0\0\0\0";
        tag.get_mut(4..)?.copy_from_slice(location);
        needed.push(tag);
    }
    let mut part = profile.to_vec();
    let table = [&u32::try_from(needed.len()).ok()?.to_be_bytes(), needed.as_flattened()].concat();
    part.get_mut(HEADER_BYTES..HEADER_BYTES + table.len())?.copy_from_slice(&table);
    Some(part)
}

/// Primaries and transfer of a PQ or HLG profile (9.2.17). The tables of such a profile are not used, because they are meant for
/// HDR displays.
fn hdr_code_points(profile: &[u8]) -> Option<(u8, u8)> {
    let [_, _, _, _, o0, o1, o2, o3, ..] = tags(profile)?.iter().find(|tag| tag.starts_with(b"cicp"))?;
    let start = usize::try_from(u32::from_be_bytes([*o0, *o1, *o2, *o3])).ok()?;
    match profile.get(start..start.checked_add(12)?)? {
        [b'c', b'i', b'c', b'p', _, _, _, _, primaries, transfer @ (cicp::PQ | cicp::HLG), 0, _] => {
            Some((*primaries, *transfer))
        }
        _ => None,
    }
}
