//! Dot products of a query with many rows, in integers: 16-bit products are summed in 32 bits.

use fearless_simd::{Level, Simd, dispatch};

/// The number of codes in a block. The last block of a vector is padded with zeros.
pub(crate) const LANES: usize = 32;

/// A block of a query's codes.
pub(crate) type Numbers = [i16; LANES];
pub(crate) type Codes = [i8; LANES];

/// The dot products of a query with some rows of a segment, in the order of `rows`.
pub(crate) fn dot_products(
    level: Level,
    query: &[Numbers],
    segment: &[Codes],
    rows: &[u16],
    products: &mut [i32],
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = level.as_avx2() {
        return dot_products_avx2(avx2, query, segment, rows, products);
    }
    dispatch!(level, simd => dot_products_portable(simd, query, segment, rows, products));
}

/// The codes of a row; empty if the segment has no such row.
#[inline(always)]
fn codes(segment: &[Codes], row: u16, blocks: usize) -> &[Codes] {
    let begin = usize::from(row) * blocks;
    segment.get(begin..begin + blocks).unwrap_or_default()
}

/// Computes four distant rows at once. The processor prefetches several memory streams in parallel, but would wait for the
/// memory of a single one.
#[inline(always)]
fn by_fours(rows: &[u16], products: &mut [i32], four: impl Fn([u16; 4]) -> [i32; 4]) {
    let quarter = rows.len() / 4;
    let (first_rows, others) = rows.split_at(quarter);
    let (second_rows, others) = others.split_at(quarter);
    let (third_rows, others) = others.split_at(quarter);
    let (fourth_rows, last_rows) = others.split_at(quarter);
    let (first, others) = products.split_at_mut(quarter);
    let (second, others) = others.split_at_mut(quarter);
    let (third, others) = others.split_at_mut(quarter);
    let (fourth, last) = others.split_at_mut(quarter);
    let rows = first_rows.iter().zip(second_rows).zip(third_rows.iter().zip(fourth_rows));
    let products = first.iter_mut().zip(second).zip(third.iter_mut().zip(fourth));
    for (((a, b), (c, d)), ((product_a, product_b), (product_c, product_d))) in rows.zip(products) {
        [*product_a, *product_b, *product_c, *product_d] = four([*a, *b, *c, *d]);
    }
    for (row, product) in last_rows.iter().zip(last) {
        [*product, ..] = four([*row; 4]);
    }
}

/// The portable version, vectorized by the compiler.
#[inline(always)]
fn dot_products_portable<S: Simd>(
    simd: S,
    query: &[Numbers],
    segment: &[Codes],
    rows: &[u16],
    products: &mut [i32],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            by_fours(
                rows,
                products,
                #[inline(always)]
                |rows| {
                    let [a, b, c, d] = rows.map(|row| codes(segment, row, query.len()).as_flattened());
                    let [mut product_a, mut product_b, mut product_c, mut product_d] = [0; 4];
                    let rows = a.iter().zip(b).zip(c.iter().zip(d));
                    for (number, ((a, b), (c, d))) in query.as_flattened().iter().zip(rows) {
                        let number = i32::from(*number);
                        product_a += number * i32::from(*a);
                        product_b += number * i32::from(*b);
                        product_c += number * i32::from(*c);
                        product_d += number * i32::from(*d);
                    }
                    [product_a, product_b, product_c, product_d]
                },
            );
        },
    );
}

// Twice as fast as the portable version: the compiler does not use the instruction that multiplies and adds pairs.
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    fn dot_products_avx2(
        avx2: Avx2,
        query: &[Numbers],
        segment: &[Codes],
        rows: &[u16],
        products: &mut [i32],
    ) {
        use core::arch::x86_64::{
            __m128i, __m256i, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16, _mm256_setzero_si256,
        };

        use fearless_simd::{i8x16, i16x16, i32x8, prelude::*};

        by_fours(
            rows,
            products,
            #[inline(always)]
            |rows| {
                let [a, b, c, d] = rows.map(|row| codes(segment, row, query.len()));
                let mut sums = [_mm256_setzero_si256(); 4];
                for (numbers, ((a, b), (c, d))) in query.iter().zip(a.iter().zip(b).zip(c.iter().zip(d))) {
                    let (low, high) = numbers.split_at(16);
                    let numbers_low: __m256i = i16x16::from_slice(avx2, low).into();
                    let numbers_high: __m256i = i16x16::from_slice(avx2, high).into();
                    for (sum, codes) in sums.iter_mut().zip([a, b, c, d]) {
                        let (low, high) = codes.split_at(16);
                        let low: __m128i = i8x16::from_slice(avx2, low).into();
                        let high: __m128i = i8x16::from_slice(avx2, high).into();
                        let low = _mm256_madd_epi16(_mm256_cvtepi8_epi16(low), numbers_low);
                        let high = _mm256_madd_epi16(_mm256_cvtepi8_epi16(high), numbers_high);
                        *sum = _mm256_add_epi32(*sum, _mm256_add_epi32(low, high));
                    }
                }
                sums.map(|sum| {
                    let sum: i32x8<_> = sum.simd_into(avx2);
                    <[i32; 8]>::from(sum).iter().sum()
                })
            },
        );
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn result_is_the_same_on_every_processor(
            (query, segment) in (1_usize..4).prop_flat_map(|blocks| {
                let number = prop_oneof![-32_767_i16..=32_767, Just(-32_767), Just(32_767)];
                let code = prop_oneof![-127_i8..=127, Just(-127), Just(127)];
                let query = prop::collection::vec(prop::array::uniform32(number), blocks);
                let rows = prop::collection::vec(prop::array::uniform32(code), 12 * blocks);
                (query, rows)
            }),
            rows in prop::collection::vec(0_u16..12, 0..20),
        ) {
            let expect: Vec<i32> = rows.iter().map(|row| {
                let codes = codes(&segment, *row, query.len()).as_flattened();
                query.as_flattened().iter().zip(codes).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
            }).collect();
            for level in [Level::new(), Level::baseline()] {
                let mut products = vec![1; rows.len()];
                dot_products(level, &query, &segment, &rows, &mut products);
                prop_assert_eq!(&products, &expect, "{:?}", level);
                dispatch!(level, simd => dot_products_portable(simd, &query, &segment, &rows, &mut products));
                prop_assert_eq!(&products, &expect, "{:?}", level);
            }
        }
    }
}
