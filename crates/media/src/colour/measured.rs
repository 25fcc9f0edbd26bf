//! Converts colours declared by a gamma and chromaticities, as PNG has them.

use moxcms::{Chromaticity, ColorPrimaries, ColorProfile, ToneReprCurve};

use super::{Conversion, ProfileError, encode, icc};
use crate::container::MeasuredColours;

/// The unit of the chromaticities and of the exponent.
const ONE: f32 = 100_000.0;

pub(super) fn conversion(colours: &MeasuredColours) -> Result<Conversion, ProfileError> {
    let unit = |value: u32| value as f32 / ONE;
    // The file has the exponent for encoding, and decoding has the inverse.
    let exponent = colours.exponent.map(|exponent| 1.0 / unit(exponent));
    let mut profile = ColorProfile::new_srgb();
    match (colours.chromaticities, exponent) {
        (None, None) => {}
        (None, Some(exponent)) => {
            let value = |sample: u8| encode((f32::from(sample) / 255.0).powf(exponent));
            return Ok(Conversion::Curve(Box::new(std::array::from_fn(|sample| {
                value(u8::try_from(sample).unwrap_or(u8::MAX))
            }))));
        }
        (Some(chromaticities), _) => {
            let [white, red, green, blue] = chromaticities.map(|[x, y]| Chromaticity::new(unit(x), unit(y)));
            profile.update_rgb_colorimetry(white.to_xyyb(), ColorPrimaries { red, green, blue });
        }
    }
    if let Some(exponent) = exponent {
        let curve = Some(ToneReprCurve::Parametric(vec![exponent]));
        profile.red_trc.clone_from(&curve);
        profile.green_trc.clone_from(&curve);
        profile.blue_trc = curve;
    }
    icc::rgb(&profile).map(Conversion::Rgb)
}
