//! Converts CIE L*a*b* to sRGB.

use crate::colour::{Encoder, light_of_root};

/// The converter of one picture.
pub(super) struct Lab {
    encoder: Encoder,
    signed: bool,
}

impl Lab {
    /// `signed`: a* and b* are signed; otherwise they are unsigned around 128.
    pub(super) fn new(signed: bool) -> Self {
        Self { encoder: Encoder::new(), signed }
    }

    /// A pixel in sRGB. The white point D50 becomes that of sRGB.
    pub(super) fn to_rgb(&self, [lightness, a, b]: [u8; 3]) -> [u8; 3] {
        let difference = |stored: u8| {
            if self.signed { f32::from(stored.cast_signed()) } else { f32::from(stored) - 128.0 }
        };
        let fy = (f32::from(lightness) * (100.0 / 255.0) + 16.0) / 116.0;
        let fx = fy + difference(a) / 500.0;
        let fz = fy - difference(b) / 200.0;
        let (x, y, z) = (0.964_22 * light_of_root(fx), light_of_root(fy), 0.825_21 * light_of_root(fz));
        // From XYZ with D50 to linear sRGB, adapted with Bradford's method.
        [
            3.133_856 * x - 1.616_867 * y - 0.490_615 * z,
            -0.978_768 * x + 1.916_142 * y + 0.033_454 * z,
            0.071_945 * x - 0.228_991 * y + 1.405_243 * z,
        ]
        .map(|light| self.encoder.of(light))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_lab_colours_are_converted() {
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
        // sRGB's red, green and blue, adapted to D50.
        check([54, 81, 70], [255, 0, 0]);
        check([88, -79, 81], [0, 255, 0]);
        check([30, 68, -112], [0, 0, 255]);
    }
}
