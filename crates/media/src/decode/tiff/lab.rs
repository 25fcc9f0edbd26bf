//! CIE L*a*b* to sRGB.

/// Steps of the table from light to sRGB; the steepest step is less than one of 255.
const STEPS: u16 = 4095;

/// Converts pixels.
pub(super) struct Lab {
    /// The transfer function of sRGB (IEC 61966-2-1).
    encoded: Vec<u8>,
    signed: bool,
}

impl Lab {
    /// For a* and b* that are signed, or unsigned around 128.
    pub(super) fn new(signed: bool) -> Self {
        let encode = |step: u16| {
            let light = f32::from(step) / f32::from(STEPS);
            let value =
                if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
            super::samples::unit_to_byte(value)
        };
        Self { encoded: (0..=STEPS).map(encode).collect(), signed }
    }

    /// A pixel in sRGB. Its white is that of printers, D50, and is turned into sRGB's.
    pub(super) fn to_rgb(&self, [lightness, a, b]: [u8; 3]) -> [u8; 3] {
        let difference = |stored: u8| {
            if self.signed { f32::from(stored.cast_signed()) } else { f32::from(stored) - 128.0 }
        };
        let fy = (f32::from(lightness) * (100.0 / 255.0) + 16.0) / 116.0;
        let fx = fy + difference(a) / 500.0;
        let fz = fy - difference(b) / 200.0;
        let (x, y, z) = (0.964_22 * linear(fx), linear(fy), 0.825_21 * linear(fz));
        // From XYZ of D50 to the light of sRGB's primaries, adapted by Bradford's method.
        [
            3.133_856 * x - 1.616_867 * y - 0.490_615 * z,
            -0.978_768 * x + 1.916_142 * y + 0.033_454 * z,
            0.071_945 * x - 0.228_991 * y + 1.405_243 * z,
        ]
        .map(|light| self.encode(light))
    }

    fn encode(&self, light: f32) -> u8 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the table's length, and NaN becomes 0"
        )]
        let step = (light.clamp(0.0, 1.0) * f32::from(STEPS) + 0.5) as usize;
        self.encoded.get(step).copied().unwrap_or(u8::MAX)
    }
}

/// The inverse of the cube root with its straight end (CIE 15).
fn linear(root: f32) -> f32 {
    if root > 6.0 / 29.0 { root * root * root } else { (root - 4.0 / 29.0) * (108.0 / 841.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours() {
        let check = |lab: [i16; 3], expect: [u8; 3]| {
            let [l, a, b] = lab;
            let l = u8::try_from(l * 255 / 100).unwrap();
            let signed =
                [l, i8::try_from(a).unwrap().cast_unsigned(), i8::try_from(b).unwrap().cast_unsigned()];
            let unsigned = [l, u8::try_from(a + 128).unwrap(), u8::try_from(b + 128).unwrap()];
            for (rgb, stored) in
                [(Lab::new(true).to_rgb(signed), signed), (Lab::new(false).to_rgb(unsigned), unsigned)]
            {
                let near = rgb.iter().zip(expect).all(|(found, expect)| found.abs_diff(expect) <= 10);
                assert!(near, "{stored:?}: {rgb:?} is not {expect:?}");
            }
        };
        check([0, 0, 0], [0, 0, 0]);
        check([100, 0, 0], [255, 255, 255]);
        check([54, 0, 0], [129, 129, 129]);
        // sRGB's red, green and blue, seen from D50.
        check([54, 81, 70], [255, 0, 0]);
        check([88, -79, 81], [0, 255, 0]);
        check([30, 68, -112], [0, 0, 255]);
    }
}
