//! The interface of encoders.

use crate::Picture;

/// Encodes pictures and search texts. Its methods compute for milliseconds to seconds and must not be called on async
/// threads.
pub trait VisualEncoder: Send + Sync + 'static {
    /// Identifies the encoder, its version and its weights. Only vectors of the same name can be compared.
    fn name(&self) -> &str;

    fn dimensions(&self) -> usize;

    /// The useful length of a picture's longest side, in pixels. Larger pictures give no better vectors.
    fn longest_side_px(&self) -> u32;

    fn encode_picture(&self, picture: &Picture) -> Result<Vec<f32>, EncodeError>;

    /// Encodes the text of a search; `None` if the encoder knows none of the words.
    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError>;

    /// Whether [`encode_query`](Self::encode_query) takes a fraction of a millisecond, so that it may run on an async
    /// thread.
    fn encodes_queries_quickly(&self) -> bool {
        false
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the vision model failed: {0}")]
pub struct EncodeError(pub String);

#[derive(Debug, Clone, PartialEq)]
pub struct EncodedQuery {
    /// The encoded text. The dot product of this vector and a picture's vector is their similarity.
    pub vector: Vec<f32>,
    /// Converts the similarity to a score.
    pub calibration: Calibration,
}

/// Converts a similarity to a score by a logistic curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The similarity that scores half of `max_score`.
    pub midpoint: f32,
    /// The slope of the curve; above 0.
    pub steepness: f32,
    /// The upper bound of the score, above 0 and at most 1; below 1 if some words are unknown.
    pub max_score: f32,
    /// A lower similarity is no match.
    pub min_similarity: f32,
}

impl Calibration {
    /// The score of a similarity, above 0 and at most 1; `None` for no match.
    pub fn score(&self, similarity: f32) -> Option<f32> {
        let score = self.max_score / (1.0 + (-self.steepness * (similarity - self.midpoint)).exp());
        (similarity >= self.min_similarity && score > 0.0).then_some(score.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_rise_with_similarity() {
        let calibration = Calibration { midpoint: 0.3, steepness: 10.0, max_score: 0.8, min_similarity: 0.0 };
        assert_eq!(calibration.score(0.3), Some(0.4));
        assert!(calibration.score(0.5) > calibration.score(0.4));
        assert!(calibration.score(1000.0).is_some_and(|score| score <= 0.8));
        assert_eq!(calibration.score(-0.1), None);
        assert_eq!(calibration.score(f32::NAN), None);
    }
}
