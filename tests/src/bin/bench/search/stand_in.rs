//! A vision model that takes no time: it sees one of many themes in each image, and words name a theme.

use std::sync::{Arc, LazyLock};

use library::{ModelSource, SharedEncoder};
use vision::{Calibration, EncodeError, EncodedQuery, Picture, VisualEncoder};

use super::dice::Dice;

pub(super) const NAME: &str = "a stand-in, 512 numbers";
pub(super) const DIMENSIONS: usize = 512;
const THEMES: usize = 2000;

static CENTRES: LazyLock<Vec<Vec<f32>>> =
    LazyLock::new(|| (0..THEMES).map(|theme| direction(&mut Dice::new(theme as u64))).collect());

/// What an image looks like: near the centre of its theme, as far from it as others of the theme are.
pub(super) fn vector(number: u64) -> Vec<f32> {
    let mut dice = Dice::new(number ^ 0x5eed_0000_0000_0000);
    let centre = CENTRES.get(dice.place(THEMES));
    let apart = [0.6, 0.9, 1.3].get(dice.place(3)).copied().unwrap_or(1.0);
    let mut vector = direction(&mut dice);
    for (number, centre) in vector.iter_mut().zip(centre.into_iter().flatten()) {
        *number = *number * apart + centre;
    }
    normalise(&mut vector);
    vector
}

/// A vector of length 1.
fn direction(dice: &mut Dice) -> Vec<f32> {
    // Sums of four are about normally distributed.
    let number = |bits: u64| {
        let sum: u64 = (0..4).map(|place| (bits >> (16 * place)) & 0xffff).sum();
        sum as f32 / 65_536.0 - 2.0
    };
    let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| number(dice.next())).collect();
    normalise(&mut vector);
    vector
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= length.max(f32::MIN_POSITIVE));
}

#[derive(Debug)]
struct StandIn;

impl VisualEncoder for StandIn {
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
        Err(EncodeError("nothing is looked at while search is measured".into()))
    }

    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError> {
        let seed = words.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut dice = Dice::new(seed);
        let mut vector = direction(&mut dice);
        for (number, centre) in vector.iter_mut().zip(CENTRES.get(dice.place(THEMES)).into_iter().flatten()) {
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

/// Gives the stand-in for any model.
#[derive(Debug)]
pub(super) struct OnlyStandIn;

impl ModelSource for OnlyStandIn {
    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        Ok(Some(Arc::new(StandIn)))
    }

    fn encoder_by_name(&self, _: &str) -> Option<SharedEncoder> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_nearer_to_some_images_than_to_others() {
        let query = StandIn.encode_query("boat").unwrap().unwrap();
        let similarity = |number| -> f32 {
            vector(number).iter().zip(&query.vector).map(|(one, other)| one * other).sum()
        };
        let similarities: Vec<f32> = (0..20_000).map(similarity).collect();
        let best = similarities.iter().copied().fold(f32::MIN, f32::max);
        let near = similarities.iter().filter(|similarity| **similarity > 0.3).count();
        assert!(best > 0.5 && (2..100).contains(&near), "{best}, {near}");
    }
}
