//! The nearest neighbours are those that comparing everything in single precision finds.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests stop at the first failure")]

mod cache;
mod scan;

use vectors::{PositionE7, Row, RowId};

/// Numbers that look random and are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// About normally distributed.
    fn number(&mut self) -> f32 {
        let sum: u64 = (0..4).map(|_| self.next() >> 40).sum();
        sum as f32 / (1 << 24) as f32 - 2.0
    }

    /// A vector of length 1 near another, or anywhere.
    fn vector(&mut self, dimensions: usize, near: Option<(&[f32], f32)>) -> Vec<f32> {
        let mut vector: Vec<f32> = (0..dimensions).map(|_| self.number()).collect();
        if let Some((centre, spread)) = near {
            normalise(&mut vector);
            vector.iter_mut().zip(centre).for_each(|(number, centre)| *number = *number * spread + centre);
        }
        normalise(&mut vector);
        vector
    }
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= length);
}

fn row(number: usize) -> Row {
    let number = i64::try_from(number).unwrap();
    Row { vector: RowId(number + 1), image: number * 3, captured_at_ms: number * 1000, position: None }
}

fn somewhere(latitude: f64, longitude: f64) -> Option<PositionE7> {
    Some(PositionE7::from_degrees(latitude, longitude))
}
