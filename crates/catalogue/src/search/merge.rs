//! Merges the results of the text channel and the image channel into one ranking.

use std::collections::HashMap;

use domain::Timestamp;
use storage::{ImageKey, TextTier};

use super::appearance::ImageResult;

/// A result of the text channel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextResult {
    pub(super) image: ImageKey,
    pub(super) captured_at: Timestamp,
    pub(super) tier: TextTier,
    /// Above 0 and at most 1.
    pub(super) strength: f64,
}

/// An image in the merged ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    pub(super) image: ImageKey,
    captured_at: Timestamp,
    /// Above 0 and at most 1.
    pub(super) score: f64,
}

/// The text score of an image. Each tier covers a quarter of the scale, ordered by strength within.
fn text_score(tier: TextTier, strength: f64) -> f64 {
    let base = match tier {
        TextTier::AllInContent => 0.75,
        TextTier::AllAnywhere => 0.5,
        TextTier::SomeInContent => 0.25,
        TextTier::SomeAnywhere => 0.0,
    };
    // The weakest match scores above 0, and the strongest stays below the next tier.
    base + 0.25 * strength.clamp(1e-6, 1.0 - 1e-6)
}

/// Combines two scores as independent evidence (noisy OR).
fn noisy_or(a: f64, b: f64) -> f64 {
    1.0 - (1.0 - a) * (1.0 - b)
}

/// Merges the results: best first, equal scores newest first, at most `limit`. If several encoders score an image, the
/// highest score counts.
pub(super) fn merge(
    text_results: &[TextResult],
    image_results: &[Vec<ImageResult>],
    limit: usize,
) -> Vec<Ranked> {
    let mut images: HashMap<ImageKey, (Timestamp, f64)> = HashMap::new();
    for result in image_results.iter().flatten() {
        let (_, score) = images.entry(result.image).or_insert((result.captured_at, 0.0));
        *score = score.max(result.score);
    }
    let mut ranked: Vec<Ranked> = text_results
        .iter()
        .map(|found| {
            let image_score = images.remove(&found.image).map_or(0.0, |(_, score)| score);
            let score = noisy_or(text_score(found.tier, found.strength), image_score);
            Ranked { image: found.image, captured_at: found.captured_at, score }
        })
        .collect();
    ranked.extend(images.into_iter().map(|(image, (captured_at, score))| Ranked {
        image,
        captured_at,
        score,
    }));
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

    fn text(image: i64, tier: TextTier, strength: f64) -> TextResult {
        TextResult { image: ImageKey(image), captured_at: at(image), tier, strength }
    }

    fn image(image: i64, score: f64) -> ImageResult {
        ImageResult { image: ImageKey(image), captured_at: at(image), score }
    }

    fn images(ranked: &[Ranked]) -> Vec<i64> {
        ranked.iter().map(|found| found.image.0).collect()
    }

    #[test]
    fn text_scores_do_not_overlap_between_tiers() {
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
    fn match_in_both_channels_scores_higher() {
        let texts = [text(1, TextTier::AllInContent, 0.5), text(2, TextTier::AllInContent, 0.5)];
        let by_encoder = vec![vec![image(1, 0.6), image(3, 0.6)], vec![image(3, 0.7), image(1, 0.1)]];
        let ranked = merge(&texts, &by_encoder, 10);
        assert_eq!(images(&ranked), [1, 2, 3]);
        let score = |image| ranked.iter().find(|found| found.image.0 == image).unwrap().score;
        assert_eq!(score(2), 0.875);
        assert!((score(1) - (1.0 - 0.125 * 0.4)).abs() < 1e-12);
        assert_eq!(score(3), 0.7, "the higher score of two encoders");
        assert_eq!(images(&merge(&texts, &by_encoder, 2)), [1, 2]);
    }

    #[test]
    fn equal_scores_come_newest_first() {
        let by_encoder = vec![vec![image(1, 0.5), image(9, 0.5), image(4, 0.5), image(5, 0.0)]];
        assert_eq!(images(&merge(&[], &by_encoder, 10)), [9, 4, 1]);
        assert!(merge(&[], &[], 10).is_empty());
    }
}
