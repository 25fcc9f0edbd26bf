//! Searches images by words.

use diesel::prelude::*;
use domain::{Filter, ImageId, QueryText};
use storage::{ImageKey, MAX_TEXT_MATCHES, TextColumns, TextMatch, TextTier, Viewer};
use words::{QueryTerm, Score, Scorer, Tier, query_words};

use super::{add::ImageText, candidates::candidates, expand::expand};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{filter::ResolvedFilter, schema::accounts, value::RowReader},
};

struct ScoredImage {
    image: ImageText,
    score: Score,
}

/// The images that match best.
pub(crate) fn matches(
    c: &mut SqlConnection,
    viewer: Viewer,
    text: &QueryText,
    columns: TextColumns,
    filter: &Filter,
    max: u32,
) -> Result<Vec<TextMatch>, SqlError> {
    let Some(filter) = ResolvedFilter::resolve(c, viewer, filter)? else { return Ok(Vec::new()) };
    let max = usize::try_from(max.min(MAX_TEXT_MATCHES)).unwrap_or(usize::MAX);
    let content_only = columns == TextColumns::Content;
    let expanded = expand(c, filter.account, query_words(text.as_str()), content_only)?;
    if !expanded.iter().any(|word| !word.word.optional && word.is_known()) {
        return Ok(Vec::new());
    }
    let images: i64 = accounts::table.find(filter.account).select(accounts::live_images).get_result(c)?;
    let terms: Vec<QueryTerm> = expanded.iter().map(|word| word.term(images)).collect();
    let scorer = Scorer::new(&terms);
    let candidates = candidates(c, &filter, &expanded, content_only, max)?;
    best(&scorer, candidates, content_only, max)
        .into_iter()
        .map(|ScoredImage { image, score }| {
            let reader = RowReader::new("images", &image.seq);
            let captured_at_ms = reader.required("captured_at_ms", image.captured_at_ms)?;
            let fields = image.fields();
            let matched_text = scorer.passage(&fields.content());
            let matched_context = scorer.context(&fields).filter(|_| !content_only).map(str::to_owned);
            Ok(TextMatch {
                image_key: ImageKey(image.seq),
                captured_at: reader.timestamp("captured_at_ms", captured_at_ms)?,
                tier: tier(score.tier),
                strength: score.strength,
                matched_text,
                matched_context,
                id: reader.required("id", ImageId::parse(image.id))?,
            })
        })
        .collect()
}

fn best(scorer: &Scorer, candidates: Vec<ImageText>, content_only: bool, max: usize) -> Vec<ScoredImage> {
    let scored = |image: ImageText| {
        let fields = image.fields();
        let score = scorer.score(&if content_only { fields.content() } else { fields })?;
        Some(ScoredImage { image, score })
    };
    let mut best: Vec<ScoredImage> = candidates.into_iter().filter_map(scored).collect();
    best.sort_by(|a, b| {
        (a.score.tier.cmp(&b.score.tier))
            .then(b.score.strength.total_cmp(&a.score.strength))
            .then(b.image.captured_at_ms.cmp(&a.image.captured_at_ms))
    });
    best.truncate(max);
    best
}

fn tier(tier: Tier) -> TextTier {
    match tier {
        Tier::AllInContent => TextTier::AllInContent,
        Tier::AllAnywhere => TextTier::AllAnywhere,
        Tier::SomeInContent => TextTier::SomeInContent,
        Tier::SomeAnywhere => TextTier::SomeAnywhere,
    }
}
