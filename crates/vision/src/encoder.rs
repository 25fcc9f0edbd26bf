use crate::Picture;

/// One way to see pictures. Its methods compute for milliseconds to seconds: they are not for async threads.
pub trait VisualEncoder: Send + Sync + 'static {
    /// Names the encoder, its version and its weights: vectors of equal names can be compared, others never.
    fn name(&self) -> &str;

    /// How many numbers a vector has.
    fn dimensions(&self) -> usize;

    /// The longest side in pixels that a picture needs to have; of a larger one no more is seen.
    fn longest_side_px(&self) -> u32;

    /// What a picture looks like.
    ///
    /// # Errors
    /// [`EncodeError`].
    fn encode_picture(&self, picture: &Picture) -> Result<Vec<f32>, EncodeError>;

    /// What a search for pictures by plain words looks for; `None` when the encoder knows none of the words.
    ///
    /// # Errors
    /// [`EncodeError`].
    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError>;

    /// Whether [`query`](Self::query) takes a fraction of a millisecond, so that it needs no thread where it may take
    /// its time.
    fn encodes_queries_quickly(&self) -> bool {
        false
    }
}

/// Why an encoder gave no vector.
#[derive(Debug, thiserror::Error)]
#[error("the vision model failed: {0}")]
pub struct EncodeError(pub String);

/// What a search looks for.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedQuery {
    /// As many numbers as a picture's vector has. Its dot product with that is their similarity.
    pub vector: Vec<f32>,
    /// What a similarity is worth.
    pub calibration: Calibration,
}

/// How a similarity becomes a score: a logistic curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The similarity that scores half of `most`: as good a match as none.
    pub midpoint: f32,
    /// How fast the score rises there; above 0.
    pub steepness: f32,
    /// What the best similarity scores, above 0 and at most 1: less when only some of the words are known.
    pub max_score: f32,
    /// A similarity below this is no match.
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
