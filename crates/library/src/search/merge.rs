//! One ranking of what words and looks found.

use std::collections::HashMap;

use domain::Timestamp;
use storage::{ImageKey, TextTier};

use super::looks::Look;

/// An image that words found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worded {
    pub(super) image: ImageKey,
    pub(super) captured_at: Timestamp,
    pub(super) tier: TextTier,
    /// Above 0 and at most 1.
    pub(super) strength: f64,
}

/// An image that was found, by whatever channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    pub(super) image: ImageKey,
    captured_at: Timestamp,
    /// Above 0 and at most 1.
    pub(super) score: f64,
}

/// The score of an image by words alone: each tier has a quarter of the scores, and within it more strength brings more.
fn text_score(tier: TextTier, strength: f64) -> f64 {
    let base = match tier {
        TextTier::AllInContent => 0.75,
        TextTier::AllAnywhere => 0.5,
        TextTier::SomeInContent => 0.25,
        TextTier::SomeAnywhere => 0.0,
    };
    // Even the weakest match scores above 0, and none reaches the next tier.
    base + 0.25 * strength.clamp(1e-6, 1.0 - 1e-6)
}

/// What two pieces of evidence are worth that do not depend on each other: either is enough, both are more.
fn either(a: f64, b: f64) -> f64 {
    1.0 - (1.0 - a) * (1.0 - b)
}

/// Merges what was found: best first, equal ones newest first, so many at the most. An encoder's vote counts once for an
/// image, and of several encoders the highest.
pub(super) fn merged(worded: &[Worded], looks: &[Vec<Look>], limit: usize) -> Vec<Ranked> {
    let mut seen: HashMap<ImageKey, (Timestamp, f64)> = HashMap::new();
    for look in looks.iter().flatten() {
        let known = seen.entry(look.image).or_insert((look.captured_at, 0.0));
        known.1 = known.1.max(look.score);
    }
    let mut ranked: Vec<Ranked> = worded
        .iter()
        .map(|found| {
            let by_look = seen.remove(&found.image).map_or(0.0, |(_, score)| score);
            let score = either(text_score(found.tier, found.strength), by_look);
            Ranked { image: found.image, captured_at: found.captured_at, score }
        })
        .collect();
    ranked.extend(seen.into_iter().map(|(image, (captured_at, score))| Ranked { image, captured_at, score }));
    ranked.retain(|found| found.score > 0.0);
    ranked.sort_unstable_by(|a, b| {
        let newest_first = || b.captured_at.cmp(&a.captured_at).then(b.image.cmp(&a.image));
        b.score.total_cmp(&a.score).then_with(newest_first)
    });
    ranked.truncate(limit);
    for found in &mut ranked {
        found.score = found.score.min(1.0);
    }
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000).unwrap()
    }

    fn worded(image: i64, tier: TextTier, strength: f64) -> Worded {
        Worded { image: ImageKey(image), captured_at: at(image), tier, strength }
    }

    fn look(image: i64, score: f64) -> Look {
        Look { image: ImageKey(image), captured_at: at(image), score }
    }

    fn images(ranked: &[Ranked]) -> Vec<i64> {
        ranked.iter().map(|found| found.image.0).collect()
    }

    #[test]
    fn tiers_share_the_scores_out() {
        use TextTier::{AllAnywhere, AllInContent, SomeAnywhere, SomeInContent};
        let tiers = [SomeAnywhere, SomeInContent, AllAnywhere, AllInContent];
        let scores: Vec<f64> = tiers
            .iter()
            .flat_map(|tier| [0.0, 0.5, 1.0].map(|strength| text_score(*tier, strength)))
            .collect();
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        assert!(scores.iter().all(|score| 0.0 < *score && *score <= 1.0));
    }

    #[test]
    fn both_channels_count_more_than_either() {
        let words = [worded(1, TextTier::AllInContent, 0.5), worded(2, TextTier::AllInContent, 0.5)];
        let looks = vec![vec![look(1, 0.6), look(3, 0.6)], vec![look(3, 0.7), look(1, 0.1)]];
        let ranked = merged(&words, &looks, 10);
        assert_eq!(images(&ranked), [1, 2, 3]);
        let of = |image| ranked.iter().find(|found| found.image.0 == image).unwrap().score;
        assert_eq!(of(2), 0.875);
        assert!((of(1) - (1.0 - 0.125 * 0.4)).abs() < 1e-12);
        assert_eq!(of(3), 0.7, "the better of two encoders, not both");
        assert_eq!(images(&merged(&words, &looks, 2)), [1, 2]);
    }

    #[test]
    fn equal_scores_come_newest_first() {
        let looks = vec![vec![look(1, 0.5), look(9, 0.5), look(4, 0.5), look(5, 0.0)]];
        assert_eq!(images(&merged(&[], &looks, 10)), [9, 4, 1]);
        assert!(merged(&[], &[], 10).is_empty());
    }
}
