//! Chooses the size and quality of single pictures.

use domain::Rendition;

use super::{Encoder, MAX_HELD_PIXELS, Shrinking, Step, ViewOptions, too_large};
use crate::MediaError;
use crate::pixels::Pixels;

/// From large to small. A picture begins at the first step that its rendition fills.
const STEPS: [Step; 11] = [
    Step::new(1200, 80),
    Step::new(1200, 65),
    Step::new(1000, 65),
    Step::new(800, 65),
    Step::new(640, 65),
    Step::new(512, 75),
    Step::new(512, 60),
    Step::new(416, 60),
    Step::new(320, 60),
    Step::new(256, 50),
    SMALLEST,
];
const SMALLEST: Step = Step::new(192, 40);

/// The first step for one of `count` pictures.
pub(super) fn first_step(count: usize, rendition: Rendition) -> Step {
    steps(count, rendition).next().unwrap_or(SMALLEST)
}

fn steps(count: usize, rendition: Rendition) -> impl Iterator<Item = Step> + Clone {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let is_possible = move |step: &Step| {
        let side = u64::from(step.side_px);
        step.side_px <= rendition.longest_side_px() && count.saturating_mul(side * side) <= MAX_HELD_PIXELS
    };
    STEPS.into_iter().skip_while(move |step| !is_possible(step))
}

/// A JPEG of a picture, and the steps that are left to make a smaller one.
struct Attempt<S> {
    picture: Shrinking,
    jpeg: Vec<u8>,
    steps: S,
}

impl<S: Iterator<Item = Step>> Attempt<S> {
    /// Makes the JPEG of the next step; `false` if there is none.
    fn advance(&mut self, encoder: &mut Encoder) -> Result<bool, MediaError> {
        let Some(Step { side_px, quality }) = self.steps.next() else { return Ok(false) };
        self.jpeg = encoder.encode(self.picture.fit_within(side_px)?, quality)?;
        Ok(true)
    }
}

/// One JPEG for each picture. Those that need most bytes are made smaller until all fit. Each picture is encoded at most once for
/// each step.
pub(super) fn pictures(pictures: Vec<Pixels>, options: &ViewOptions) -> Result<Vec<Vec<u8>>, MediaError> {
    let mut encoder = Encoder::new()?;
    let steps = steps(pictures.len(), options.rendition);
    let mut attempts = pictures
        .into_iter()
        .map(|pixels| {
            let picture = Shrinking::new(pixels);
            let mut attempt = Attempt { picture, jpeg: Vec::new(), steps: steps.clone() };
            attempt.advance(&mut encoder)?;
            Ok(attempt)
        })
        .collect::<Result<Vec<_>, MediaError>>()?;
    while let Some(share) =
        exceeded_share(attempts.iter().map(|attempt| attempt.jpeg.len()), options.max_bytes)
    {
        let mut has_advanced = false;
        for attempt in attempts.iter_mut().filter(|attempt| attempt.jpeg.len() > share) {
            has_advanced |= attempt.advance(&mut encoder)?;
        }
        if !has_advanced {
            return Err(too_large());
        }
    }
    Ok(attempts.into_iter().map(|attempt| attempt.jpeg).collect())
}

/// If files do not fit: the most bytes that each may have so that all do. Files below their share leave the rest to the
/// others.
fn exceeded_share(lengths: impl Iterator<Item = usize>, max_bytes: usize) -> Option<usize> {
    let mut lengths: Vec<_> = lengths.collect();
    lengths.sort_unstable();
    let mut left = max_bytes;
    for (before, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - before);
        if *length > share {
            return Some(share);
        }
        left -= length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_depend_on_the_rendition_and_the_number_of_pictures() {
        for (count, rendition, expect) in [
            (1, Rendition::Thumb, 512),
            (16, Rendition::Thumb, 512),
            (1, Rendition::Medium, 1200),
            (5, Rendition::Medium, 1200),
            (6, Rendition::Medium, 1000),
            (16, Rendition::Medium, 640),
            (usize::MAX, Rendition::Medium, 192),
        ] {
            assert_eq!(first_step(count, rendition).side_px, expect, "{count} {rendition}");
        }
    }

    #[test]
    fn small_files_leave_their_share_to_large_ones() {
        let share = |lengths: &[usize], max| exceeded_share(lengths.iter().copied(), max);
        assert_eq!(share(&[], 0), None);
        assert_eq!(share(&[50, 50], 100), None);
        assert_eq!(share(&[50, 51], 100), Some(50));
        assert_eq!(share(&[90, 10, 10], 100), Some(80));
        assert_eq!(share(&[90, 10, 60], 100), Some(45));
        assert_eq!(share(&[1], 0), Some(0));
    }
}
