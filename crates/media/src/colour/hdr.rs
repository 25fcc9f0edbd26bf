//! Tone-maps HDR pictures (PQ and HLG of ITU-R BT.2100) to sRGB.
//!
//! Reference white is 203 cd/m² (ITU-R BT.2408). Colours darker than three quarters of it do not change. Above that, a
//! shoulder maps light of up to 1000 cd/m² to the remaining range, so that white becomes 240 and highlights are brighter.
//! The shoulder is applied to a pixel's brightest channel, so that the hue does not change.

use moxcms::ColorProfile;

use super::Encoder;

/// Reference white in cd/m².
const WHITE: f32 = 203.0;
/// The light that becomes the brightest value, in cd/m²: the peak of HLG, and of most PQ pictures.
const PEAK: f32 = 1000.0;
/// Start of the shoulder, relative to white.
const KNEE: f32 = 0.75;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// Values encode display light.
    Pq,
    /// Values encode scene light.
    Hlg,
}

/// A tone-mapping conversion to sRGB.
pub(super) struct ToneMap {
    signal: Signal,
    /// The light of each value: for PQ relative to white, for HLG from 0 to 1.
    light: [f32; 256],
    /// The contribution of each channel to luminance.
    brightness: [f32; 3],
    /// Converts light from the picture's primaries to those of sRGB.
    matrix: [[f32; 3]; 3],
    values: Encoder,
}

impl ToneMap {
    /// A conversion from the primaries of a profile.
    pub(super) fn new(primaries: &ColorProfile, signal: Signal) -> Self {
        let of_value = |value: u8| {
            let value = f32::from(value) / 255.0;
            match signal {
                Signal::Pq => pq(value) / WHITE,
                Signal::Hlg => hlg(value),
            }
        };
        let mut light = [0.0; 256];
        for (value, light) in (0..=u8::MAX).zip(&mut light) {
            *light = of_value(value);
        }
        let [_, brightness, _] = primaries.colorant_matrix().to_f32().v;
        let matrix = primaries.transform_matrix(&ColorProfile::new_srgb()).to_f32().v;
        Self { signal, light, brightness, matrix, values: Encoder::new() }
    }

    /// Converts RGB pixels; both slices have the same length.
    pub(super) fn convert(&self, source: &[u8], target: &mut [u8]) {
        for (source, target) in source.as_chunks::<3>().0.iter().zip(target.as_chunks_mut::<3>().0) {
            *target = self.pixel(*source);
        }
    }

    fn pixel(&self, values: [u8; 3]) -> [u8; 3] {
        let light = values.map(|value| self.light.get(usize::from(value)).copied().unwrap_or_default());
        let screen = match self.signal {
            Signal::Pq => 1.0,
            // The system gamma of a display with 1000 cd/m².
            Signal::Hlg => PEAK / WHITE * dot(self.brightness, light).max(0.0).powf(0.2),
        };
        let light = self.matrix.map(|row| screen * dot(row, light));
        let brightest = light.into_iter().fold(0.0, f32::max);
        let scale = if brightest > KNEE { shoulder(brightest) / brightest } else { 1.0 };
        light.map(|light| self.values.of(light * scale))
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    let ([a0, a1, a2], [b0, b1, b2]) = (a, b);
    a0 * b0 + a1 * b1 + a2 * b2
}

/// Maps light from the knee to the peak, relative to white, to light from the knee to 1: Reinhard's curve with a white
/// point, which has slope 1 at the knee.
fn shoulder(light: f32) -> f32 {
    const REACH: f32 = (PEAK / WHITE - KNEE) / (1.0 - KNEE);
    let over = (light - KNEE) / (1.0 - KNEE);
    let bent = over * (1.0 + over / (REACH * REACH)) / (1.0 + over);
    KNEE + (1.0 - KNEE) * bent.min(1.0)
}

/// The light of a PQ value between 0 and 1, in cd/m² (BT.2100, table 4).
fn pq(value: f32) -> f32 {
    const M1: f32 = 2610.0 / 16384.0;
    const M2: f32 = 2523.0 / 4096.0 * 128.0;
    const C1: f32 = 3424.0 / 4096.0;
    const C2: f32 = 2413.0 / 4096.0 * 32.0;
    const C3: f32 = 2392.0 / 4096.0 * 32.0;
    let root = value.powf(1.0 / M2);
    10_000.0 * ((root - C1).max(0.0) / (C2 - C3 * root)).powf(1.0 / M1)
}

/// The scene light, 0 to 1, of an HLG value between 0 and 1 (BT.2100, table 5).
fn hlg(value: f32) -> f32 {
    const A: f32 = 0.178_832_77;
    const B: f32 = 1.0 - 4.0 * A;
    const C: f32 = 0.559_910_7;
    if value <= 0.5 { value * value / 3.0 } else { (((value - C) / A).exp() + B) / 12.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f32, expect: f32) {
        assert!((found - expect).abs() <= expect * 0.002, "{found} is not {expect}");
    }

    #[test]
    fn transfer_functions_give_known_light() {
        // BT.2408, table 1: white is 58 % of PQ and 75 % of HLG.
        near(pq(0.580_69), 203.0);
        near(pq(1.0), 10_000.0);
        near(1000.0 * hlg(0.75).powf(1.2), 203.0);
        near(hlg(1.0), 1.0);
        assert_eq!((pq(0.0), hlg(0.0)), (0.0, 0.0));
    }

    #[test]
    fn shoulder_is_smooth_and_ends_at_the_peak() {
        near(shoulder(KNEE), KNEE);
        near(shoulder(KNEE + 0.0001) - KNEE, 0.0001);
        near(shoulder(PEAK / WHITE), 1.0);
        near(shoulder(50.0), 1.0);
        let steps: Vec<f32> = (0..400_u16).map(|step| shoulder(KNEE + f32::from(step) / 100.0)).collect();
        assert!(steps.is_sorted());
    }
}
