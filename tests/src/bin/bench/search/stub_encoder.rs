//! A stub vision model that takes no time: each image and each query has a vector near one of many themes.

use std::sync::{Arc, LazyLock};

use fastrand::Rng;
use library::{ModelSource, SharedEncoder};
use vision::{Calibration, EncodeError, EncodedQuery, Picture, VisualEncoder};

pub(super) const NAME: &str = "stub, 512 dimensions";
pub(super) const DIMENSIONS: usize = 512;
const THEMES: usize = 2000;

static CENTRES: LazyLock<Vec<Vec<f32>>> =
    LazyLock::new(|| (0..THEMES).map(|theme| unit_vector(&mut Rng::with_seed(theme as u64))).collect());

/// The vector of an image: near the centre of a random theme, at a random distance.
pub(super) fn vector(number: u64) -> Vec<f32> {
    let mut rng = Rng::with_seed(number ^ 0x5eed_0000_0000_0000);
    let centre = CENTRES.get(rng.usize(..THEMES));
    let distance = rng.choice([0.6, 0.9, 1.3]).unwrap_or(1.0);
    let mut vector = unit_vector(&mut rng);
    for (number, centre) in vector.iter_mut().zip(centre.into_iter().flatten()) {
        *number = *number * distance + centre;
    }
    normalise(&mut vector);
    vector
}

/// A random vector of length 1.
fn unit_vector(rng: &mut Rng) -> Vec<f32> {
    // The sum of four uniform numbers is about normally distributed.
    let number = |bits: u64| {
        let sum: u64 = (0..4).map(|place| (bits >> (16 * place)) & 0xffff).sum();
        sum as f32 / 65_536.0 - 2.0
    };
    let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| number(rng.u64(..))).collect();
    normalise(&mut vector);
    vector
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= length.max(f32::MIN_POSITIVE));
}

#[derive(Debug)]
struct StubEncoder;

impl VisualEncoder for StubEncoder {
    fn name(&self) -> &str {
        NAME
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn longest_side_px(&self) -> u32 {
        224
    }

    fn encode_picture(&self, _: &Picture) -> Result<Vec<f32>, EncodeError> {
        Err(EncodeError("the stub encodes no pictures".into()))
    }

    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError> {
        let seed = words.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut rng = Rng::with_seed(seed);
        let mut vector = unit_vector(&mut rng);
        for (number, centre) in vector.iter_mut().zip(CENTRES.get(rng.usize(..THEMES)).into_iter().flatten())
        {
            *number = *number * 0.5 + centre;
        }
        normalise(&mut vector);
        let calibration = Calibration { midpoint: 0.5, steepness: 10.0, max_score: 0.9, min_similarity: 0.1 };
        Ok(Some(EncodedQuery { vector, calibration }))
    }

    fn encodes_queries_quickly(&self) -> bool {
        true
    }
}

/// A model source that has only the stub.
#[derive(Debug)]
pub(super) struct StubModelSource;

impl ModelSource for StubModelSource {
    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        Ok(Some(Arc::new(StubEncoder)))
    }

    fn encoder_by_name(&self, _: &str) -> Option<SharedEncoder> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_near_to_a_few_images() {
        let query = StubEncoder.encode_query("boat").unwrap().unwrap();
        let similarity = |number| -> f32 {
            vector(number).iter().zip(&query.vector).map(|(one, other)| one * other).sum()
        };
        let similarities: Vec<f32> = (0..20_000).map(similarity).collect();
        let best = similarities.iter().copied().fold(f32::MIN, f32::max);
        let near = similarities.iter().filter(|similarity| **similarity > 0.3).count();
        assert!(best > 0.5 && (2..100).contains(&near), "{best}, {near}");
    }
}
