//! Converts colours declared by code points: ITU-T H.273, tables 2 (primaries) and 3 (transfer).

use moxcms::{CicpColorPrimaries, CicpProfile, ColorProfile, MatrixCoefficients, TransferCharacteristics};

use super::hdr::{Signal, ToneMap};
use super::{Conversion, ProfileError, RgbConversion, icc};

/// Perceptual quantisation, SMPTE ST 2084.
pub(super) const PQ: u8 = 16;
/// Hybrid log-gamma, ARIB STD-B67.
pub(super) const HLG: u8 = 18;

const BT_709: u8 = 1;
const UNSPECIFIED: u8 = 2;
const BT_2020: u8 = 9;

/// The conversion for these code points.
pub(super) fn conversion(primaries: u8, transfer: u8) -> Result<Conversion, ProfileError> {
    let change = match transfer {
        PQ => tone_map(primaries, Signal::Pq)?,
        HLG => tone_map(primaries, Signal::Hlg)?,
        _ => {
            let profile = profile(known(primaries, BT_709)?, curve(transfer)?);
            icc::rgb(&profile)?
        }
    };
    Ok(Conversion::Rgb(change))
}

fn tone_map(primaries: u8, signal: Signal) -> Result<RgbConversion, ProfileError> {
    let profile = profile(known(primaries, BT_2020)?, TransferCharacteristics::Linear);
    Ok(RgbConversion::ToneMap(Box::new(ToneMap::new(&profile, signal))))
}

/// Checks primaries. If the file does not specify them, they are `unspecified`.
fn known(primaries: u8, unspecified: u8) -> Result<CicpColorPrimaries, ProfileError> {
    let primaries = if primaries == UNSPECIFIED { unspecified } else { primaries };
    match CicpColorPrimaries::try_from(primaries) {
        Ok(CicpColorPrimaries::Reserved | CicpColorPrimaries::Xyz) | Err(_) => Err(ProfileError::Unreadable),
        Ok(known) => Ok(known),
    }
}

/// The transfer curve of the display. The curves of cameras (BT.709 and others) are not the inverse of a display's curve. Viewers
/// show the output of cameras with the curve of sRGB, which is about the curve of the intended display.
fn curve(transfer: u8) -> Result<TransferCharacteristics, ProfileError> {
    match transfer {
        1 | 2 | 6 | 7 | 11..=15 => Ok(TransferCharacteristics::Srgb),
        4 => Ok(TransferCharacteristics::Bt470M),
        5 => Ok(TransferCharacteristics::Bt470Bg),
        8 => Ok(TransferCharacteristics::Linear),
        _ => Err(ProfileError::Unreadable),
    }
}

fn profile(
    color_primaries: CicpColorPrimaries,
    transfer_characteristics: TransferCharacteristics,
) -> ColorProfile {
    ColorProfile::new_from_cicp(CicpProfile {
        color_primaries,
        transfer_characteristics,
        matrix_coefficients: MatrixCoefficients::Identity,
        full_range: true,
    })
}
