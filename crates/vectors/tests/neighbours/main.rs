//! Scans find the same neighbours as a comparison in single precision.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests stop at the first failure")]

mod cache;
mod scan;

use vectors::{PositionE7, Row, RowId};

/// A random unit vector, near another one if given. Its numbers are about normally distributed.
fn vector(random: &mut fastrand::Rng, dimensions: usize, near: Option<(&[f32], f32)>) -> Vec<f32> {
    let mut number = || (0..4).map(|_| random.f32()).sum::<f32>() - 2.0;
    let mut vector: Vec<f32> = (0..dimensions).map(|_| number()).collect();
    if let Some((centre, spread)) = near {
        normalise(&mut vector);
        vector.iter_mut().zip(centre).for_each(|(number, centre)| *number = *number * spread + centre);
    }
    normalise(&mut vector);
    vector
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|number| *number /= length);
}

fn row(number: usize) -> Row {
    let number = i64::try_from(number).unwrap();
    Row { vector: RowId(number + 1), image: number * 3, captured_at_ms: number * 1000, position: None }
}

fn position(latitude: f64, longitude: f64) -> Option<PositionE7> {
    Some(PositionE7::from_degrees(latitude, longitude))
}
