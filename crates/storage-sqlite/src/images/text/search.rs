//! The search by words.

use std::{cmp::Reverse, collections::HashMap};

use diesel::{SqliteConnection, prelude::*};
use domain::QueryText;
use storage::{Found, ImageKey, TextColumns, TextMatch, TextTier, Viewer};
use words::{Fields, Score, Search, Tier, Wanted, query_words};

use super::{
    super::{
        filter::OwnedFilter,
        row::{found, load_in_order},
    },
    add::Written,
    candidates::candidates,
    expand::expand,
};
use crate::{error::Failure, schema::accounts};

/// What is searched for.
pub(in super::super) struct Asked {
    pub(in super::super) text: QueryText,
    pub(in super::super) columns: TextColumns,
    /// How many images are wanted.
    pub(in super::super) max: usize,
}

struct Scored {
    seq: i64,
    captured_at_ms: Option<i64>,
    score: Score,
}

/// The images that match best.
pub(in super::super) fn matches(
    c: &mut SqliteConnection,
    viewer: Viewer,
    asked: &Asked,
    filter: &OwnedFilter,
) -> Result<Vec<TextMatch>, Failure> {
    let Some(filter) = filter.narrow(c, viewer)? else { return Ok(Vec::new()) };
    let expanded = expand(c, filter.account, query_words(asked.text.as_str()))?;
    if !expanded.iter().any(|word| !word.word.optional && word.is_known()) {
        return Ok(Vec::new());
    }
    let images: i64 = accounts::table.find(filter.account).select(accounts::live_images).get_result(c)?;
    let wanted: Vec<Wanted> = expanded.iter().map(|word| word.wanted(images)).collect();
    let search = Search::new(&wanted);
    let content_only = asked.columns == TextColumns::Content;
    let written = candidates(c, &filter, &expanded, content_only, asked.max)?;
    let best = best(&search, &written, content_only, asked.max);
    let seqs: Vec<i64> = best.iter().map(|scored| scored.seq).collect();
    let rows = load_in_order(c, &seqs)?;
    let scores: HashMap<i64, Score> = best.into_iter().map(|scored| (scored.seq, scored.score)).collect();
    let mut matches = Vec::with_capacity(rows.len());
    for row in rows {
        let key = ImageKey(row.seq());
        let Some(score) = scores.get(&key.0) else { continue };
        let Found { image, distance_m } = found(row, filter.circle)?;
        let fields = Fields {
            description: image.description.as_deref(),
            ocr_text: image.text.as_deref(),
            ..Fields::default()
        };
        let matched_text = search.passage(&fields);
        let (tier, strength) = (tier(score.tier), score.strength);
        matches.push(TextMatch { image, image_key: key, distance_m, tier, strength, matched_text });
    }
    Ok(matches)
}

fn best(search: &Search, written: &[Written], content_only: bool, max: usize) -> Vec<Scored> {
    let scored = |image: &Written| {
        let fields = image.fields();
        let score = search.score(&if content_only { fields.content() } else { fields })?;
        Some(Scored { seq: image.seq, captured_at_ms: image.captured_at_ms, score })
    };
    let mut best: Vec<Scored> = written.iter().filter_map(scored).collect();
    best.sort_by(|a, b| {
        (a.score.tier.cmp(&b.score.tier))
            .then(b.score.strength.total_cmp(&a.score.strength))
            .then(Reverse(a.captured_at_ms).cmp(&Reverse(b.captured_at_ms)))
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
