//! Quantizes vectors to signed bytes, and queries to 16-bit integers.
//!
//! The compiler vectorizes the loops, once for each instruction set that is detected at run time.

use fearless_simd::{Level, Simd, dispatch};

use crate::{
    Error, half,
    products::{self, Codes, LANES, Numbers},
};

/// Codes range from -127 to 127, so that a number and its negative are rounded alike.
const MAX_CODE: f32 = 127.0;
/// A vector whose numbers are all smaller than this counts as zero.
const MIN_MAGNITUDE: f32 = 1e-30;
/// Maximum number of dimensions. With more, sums would overflow or the query would have too few bits.
pub(crate) const MAX_DIMENSIONS: usize = 65_536;

/// The number of blocks of a vector; at least one.
pub(crate) fn blocks(dimensions: usize) -> usize {
    dimensions.div_ceil(LANES).max(1)
}

#[derive(Clone, Copy)]
pub(crate) enum Vector<'a> {
    Single(&'a [f32]),
    /// The [stored form](crate::encode_f16).
    Half(&'a [[u8; 2]]),
}

impl Vector<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Single(numbers) => numbers.len(),
            Self::Half(numbers) => numbers.len(),
        }
    }

    fn largest(self) -> Result<f32, Error> {
        match self {
            Self::Single(numbers) => largest(numbers),
            Self::Half(numbers) => half::largest(numbers).ok_or(Error::Number),
        }
    }
}

/// Appends a row's codes and returns the value of code 1.
pub(crate) fn append(vector: Vector<'_>, codes: &mut Vec<Codes>) -> Result<f32, Error> {
    let largest = vector.largest()?;
    let unit = largest / MAX_CODE;
    let per_unit = if largest > 0.0 { MAX_CODE / largest } else { 0.0 };
    let begin = codes.len();
    codes.resize(begin + blocks(vector.len()), [0; LANES]);
    let row = codes.get_mut(begin..).unwrap_or_default().as_flattened_mut();
    match vector {
        Vector::Single(numbers) => {
            dispatch!(Level::new(), simd => round(simd, numbers.iter().copied(), per_unit, row));
        }
        Vector::Half(numbers) => {
            dispatch!(Level::new(), simd => round(simd, numbers.iter().map(half::decode), per_unit, row));
        }
    }
    Ok(unit)
}

/// The largest magnitude; 0 if it is below [`MIN_MAGNITUDE`].
fn largest(vector: &[f32]) -> Result<f32, Error> {
    let bits = dispatch!(Level::new(), simd => largest_bits(simd, vector));
    if bits > half::MAX.to_bits() {
        return Err(Error::Number);
    }
    let largest = f32::from_bits(bits);
    Ok(if largest < MIN_MAGNITUDE { 0.0 } else { largest })
}

/// The bits of the largest magnitude. Without the sign bit, floats sort by their bits; infinity and NaN come last.
#[inline(always)]
fn largest_bits<S: Simd>(simd: S, vector: &[f32]) -> u32 {
    simd.vectorize(
        #[inline(always)]
        || vector.iter().map(|number| number.to_bits() & 0x7fff_ffff).fold(0, u32::max),
    )
}

#[inline(always)]
fn round<S: Simd>(simd: S, vector: impl Iterator<Item = f32>, per_unit: f32, codes: &mut [i8]) {
    simd.vectorize(
        #[inline(always)]
        || {
            for (place, number) in codes.iter_mut().zip(vector) {
                *place = code(number * per_unit);
            }
        },
    );
}

/// Rounds a number of at most 127 units, ties to even. The sum is so large that it has no bits for fractions, so its
/// lowest byte is the result. The compiler vectorizes this better than a conversion, which would also have to saturate.
#[inline(always)]
fn code(units: f32) -> i8 {
    const WITHOUT_FRACTIONS: f32 = 12_582_912.0;
    let [code, ..] = (units + WITHOUT_FRACTIONS).to_bits().to_le_bytes();
    code.cast_signed()
}

pub(crate) struct Query {
    codes: Vec<Numbers>,
    /// The value of code 1.
    pub(crate) unit: f32,
    level: Level,
}

impl Query {
    /// Quantizes a vector with as many bits as possible without overflow in a sum of products.
    #[expect(clippy::cast_possible_truncation, reason = "it is scaled to at most 32767")]
    pub(crate) fn new(vector: &[f32]) -> Result<Self, Error> {
        let largest = largest(vector)?;
        let terms = u32::try_from(blocks(vector.len()) * LANES).unwrap_or(u32::MAX);
        // The largest code is one less than the limit, because rounding may increase a code.
        let most = (f64::from(i32::MAX) / 127.0 / f64::from(terms)).min(32_767.0).floor() as f32 - 1.0;
        let per_unit = if largest > 0.0 { most / largest } else { 0.0 };
        let mut codes = vec![[0; LANES]; blocks(vector.len())];
        for (code, number) in codes.as_flattened_mut().iter_mut().zip(vector) {
            *code = (number * per_unit).round_ties_even() as i16;
        }
        Ok(Self { codes, unit: largest / most, level: Level::new() })
    }

    /// The dot products with the given rows of a segment.
    pub(crate) fn dots(&self, segment: &[Codes], rows: &[u16], dots: &mut Vec<i32>) {
        dots.clear();
        dots.resize(rows.len(), 0);
        products::dot_products(self.level, &self.codes, segment, rows, dots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn products(query: &[f32], vectors: &[Vec<f32>]) -> Vec<f32> {
        let mut segment = Vec::new();
        let units: Vec<f32> =
            vectors.iter().map(|vector| append(Vector::Single(vector), &mut segment).unwrap()).collect();
        let query = Query::new(query).unwrap();
        let rows: Vec<u16> = (0..u16::try_from(vectors.len()).unwrap()).collect();
        let mut dots = Vec::new();
        query.dots(&segment, &rows, &mut dots);
        dots.iter().zip(units).map(|(dot, unit)| *dot as f32 * unit * query.unit).collect()
    }

    #[test]
    fn extremes_do_not_overflow() {
        for dimensions in [1, 31, 32, 33, 512, 768, 4096, MAX_DIMENSIONS] {
            for sign in [1.0, -1.0] {
                let vector = vec![half::MAX; dimensions];
                let other = vec![sign * half::MAX; dimensions];
                let exact = sign * half::MAX * half::MAX * dimensions as f32;
                let given = products(&vector, &[other]);
                assert!((given[0] / exact - 1.0).abs() < 1e-3, "{dimensions}: {} is not {exact}", given[0]);
            }
        }
    }

    #[test]
    fn codes_are_rounded_to_the_nearest() {
        for sixteenths in -127 * 16..=127 * 16 {
            let units = sixteenths as f32 / 16.0;
            assert_eq!(f32::from(code(units)), units.round_ties_even(), "{units}");
        }
    }

    #[test]
    fn invalid_numbers_are_refused() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 65_505.0, -65_505.0] {
            assert_eq!(append(Vector::Single(&[0.0, bad]), &mut Vec::new()), Err(Error::Number));
            assert_eq!(Query::new(&[bad]).err(), Some(Error::Number));
        }
    }

    #[test]
    fn zero_vectors_have_similarity_zero() {
        assert_eq!(products(&[0.0; 5], &[vec![1.0; 5], vec![0.0; 5]]), [0.0, 0.0]);
        assert_eq!(products(&[1.0; 5], &[vec![0.0; 5], vec![f32::MIN_POSITIVE / 2.0; 5]]), [0.0, 0.0]);
        assert_eq!(products(&[], &[vec![]]), [0.0]);
    }

    proptest! {
        #[test]
        fn codes_of_a_stored_vector_are_those_of_its_numbers(
            halves in prop::collection::vec(any::<u16>().prop_map(u16::to_le_bytes), 0..200),
        ) {
            let numbers: Vec<f32> = halves.iter().map(half::decode).collect();
            let (mut codes, mut expect) = (Vec::new(), Vec::new());
            let unit = append(Vector::Half(&halves), &mut codes);
            prop_assert_eq!(unit, append(Vector::Single(&numbers), &mut expect));
            prop_assert_eq!(codes, expect);
        }

        #[test]
        fn quantized_products_are_close_to_exact_ones(
            (query, vectors) in (1_usize..100).prop_flat_map(|dimensions| {
                let vector = move || prop::collection::vec(-1.0_f32..1.0, dimensions);
                (vector(), prop::collection::vec(vector(), 0..20))
            }),
        ) {
            for (vector, given) in vectors.iter().zip(products(&query, &vectors)) {
                let exact: f32 = query.iter().zip(vector).map(|(a, b)| a * b).sum();
                // The error of each of a row's numbers is at most half a unit.
                let max_error = query.iter().map(|number| number.abs()).sum::<f32>() / 254.0 + 0.01;
                prop_assert!((given - exact).abs() <= max_error, "{given} {exact}");
            }
        }
    }
}
