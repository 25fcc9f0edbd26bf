//! The stored form of vectors: IEEE 754 binary16, little-endian. Its 11 significant bits are enough for the numbers of an
//! encoder, and it takes half the space of single precision.

use fearless_simd::{Level, Simd, dispatch};

/// The largest finite binary16 number.
pub(crate) const MAX: f32 = 65_504.0;
/// The number of partial sums. A fixed number makes the result the same on every processor.
const LANES: usize = 16;

/// Encodes a vector for the store. Numbers are rounded to the nearest; those out of range become infinite.
pub fn encode_f16(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| encode(*number).to_le_bytes()).collect()
}

/// The largest magnitude of stored numbers; `None` if one is not finite.
pub(crate) fn largest(pairs: &[[u8; 2]]) -> Option<f32> {
    let bits = dispatch!(Level::new(), simd => largest_bits(simd, pairs));
    let largest = decode(&bits.to_le_bytes());
    largest.is_finite().then_some(largest)
}

/// The largest of the bits without signs. Their order is that of the magnitudes; infinity and NaN come last.
#[inline(always)]
fn largest_bits<S: Simd>(simd: S, pairs: &[[u8; 2]]) -> u16 {
    simd.vectorize(
        #[inline(always)]
        || pairs.iter().map(|pair| u16::from_le_bytes(*pair) & 0x7fff).fold(0, u16::max),
    )
}

/// The dot product of a query and a stored vector, the same on every processor. `None` if they differ in length, or if the
/// result is not finite.
pub fn dot_f16(query: &[f32], bytes: &[u8]) -> Option<f32> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    if pairs.len() != query.len() {
        return None;
    }
    let dot = dispatch!(Level::new(), simd => dot(simd, query, pairs));
    dot.is_finite().then_some(dot)
}

#[inline(always)]
fn dot<S: Simd>(simd: S, query: &[f32], pairs: &[[u8; 2]]) -> f32 {
    simd.vectorize(
        #[inline(always)]
        || {
            let (numbers, rest) = query.as_chunks::<LANES>();
            let (stored, stored_rest) = pairs.as_chunks::<LANES>();
            let mut lanes = [0.0; LANES];
            for (numbers, stored) in numbers.iter().zip(stored) {
                for ((lane, number), pair) in lanes.iter_mut().zip(numbers).zip(stored) {
                    *lane += number * decode(pair);
                }
            }
            for ((lane, number), pair) in lanes.iter_mut().zip(rest).zip(stored_rest) {
                *lane += number * decode(pair);
            }
            lanes.iter().sum()
        },
    )
}

/// Decodes a number without a branch, so that the loop over it can be vectorized.
#[inline(always)]
pub(crate) fn decode(pair: &[u8; 2]) -> f32 {
    let half = u16::from_le_bytes(*pair);
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff) << 13;
    // The exponent biases differ by 112. Multiplying also converts subnormal numbers.
    let finite = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let not_finite = magnitude | 0x7f80_0000;
    f32::from_bits(sign | if magnitude >= 0x0f80_0000 { not_finite } else { finite })
}

/// Rounds to the nearest, ties to even.
fn encode(number: f32) -> u16 {
    let bits = number.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let rounded = if magnitude > 0x7f80_0000 {
        0x7e00
    } else if f32::from_bits(magnitude) >= MAX + 16.0 {
        0x7c00
    } else if magnitude < 0x3880_0000 {
        // Subnormal, below 2⁻¹⁴: the last bit is 2⁻²⁴, like the last bit of a single precision number from ½ to 1.
        (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5_f32.to_bits()
    } else {
        (magnitude - (112 << 23) + 0x0fff + ((magnitude >> 13) & 1)) >> 13
    };
    let [low, high, _, _] = rounded.to_le_bytes();
    let [.., sign] = (bits & 0x8000_0000).to_le_bytes();
    u16::from_le_bytes([low, high | sign])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode_bits(bits: u16) -> f32 {
        decode(&bits.to_le_bytes())
    }

    #[test]
    fn encoding_follows_ieee_754() {
        let check = |number: f32, bits: u16| {
            assert_eq!(encode(number), bits, "{number}");
        };
        check(0.0, 0x0000);
        check(-0.0, 0x8000);
        check(1.0, 0x3c00);
        check(-2.0, 0xc000);
        check(65_504.0, 0x7bff);
        check(65_519.9, 0x7bff);
        check(65_520.0, 0x7c00);
        check(f32::INFINITY, 0x7c00);
        check(f32::NEG_INFINITY, 0xfc00);
        check(f32::MAX, 0x7c00);
        check(1.0 / 3.0, 0x3555);
        check(6.103_515_6e-5, 0x0400);
        check(6.097_555e-5, 0x03ff);
        check(5.960_464_5e-8, 0x0001);
        check(2.980_232_2e-8, 0x0000);
        check(2.980_232_6e-8, 0x0001);
        check(f32::MIN_POSITIVE, 0x0000);
        // Ties go to even.
        check(1.0 + 1.0 / 2048.0, 0x3c00);
        check(1.0 + 3.0 / 2048.0, 0x3c02);
        assert!(decode_bits(encode(f32::NAN)).is_nan());
    }

    #[test]
    fn every_number_round_trips() {
        for bits in 0..=u16::MAX {
            let number = decode_bits(bits);
            if number.is_nan() {
                assert!(bits & 0x7fff > 0x7c00, "{bits:#06x}");
            } else {
                assert_eq!(encode(number), bits, "{number}");
            }
        }
    }

    #[test]
    fn dot_product_requires_equal_lengths_and_finite_numbers() {
        let query = [1.0, 2.0, 3.0];
        let stored = encode_f16(&[4.0, 5.0, 6.0]);
        assert_eq!(dot_f16(&query, &stored), Some(32.0));
        assert_eq!(dot_f16(&query, &stored[..5]), None);
        assert_eq!(dot_f16(&query, &stored[..4]), None);
        assert_eq!(dot_f16(&query[..2], &stored), None);
        assert_eq!(dot_f16(&[], &[]), Some(0.0));
        assert_eq!(dot_f16(&query, &encode_f16(&[f32::INFINITY, 0.0, 0.0])), None);
        assert_eq!(dot_f16(&[f32::NAN, 0.0, 0.0], &stored), None);
        let (pairs, rest) = stored.as_chunks();
        assert_eq!((pairs.iter().map(decode).collect::<Vec<_>>(), rest), (vec![4.0, 5.0, 6.0], &[][..]));
    }

    proptest! {
        #[test]
        fn encoding_rounds_to_the_nearest(number in -MAX..MAX) {
            let near = decode_bits(encode(number));
            let error = (near - number).abs();
            for bits in [encode(number).wrapping_sub(1), encode(number).wrapping_add(1)] {
                let other = decode_bits(bits);
                prop_assert!(!(other.is_finite() && (other - number).abs() < error), "{near} or {other}");
            }
        }

        #[test]
        fn dot_product_is_close_to_single_precision(
            pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..200),
        ) {
            let (query, vector): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let exact: f32 = query.iter().zip(&vector).map(|(a, b)| a * b).sum();
            let dot = dot_f16(&query, &encode_f16(&vector)).unwrap();
            prop_assert!((dot - exact).abs() < 0.05, "{dot} {exact}");
        }
    }
}
