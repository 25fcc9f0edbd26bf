use std::{cmp::Reverse, collections::HashSet, sync::Arc};

use crate::{ImageId, Invalid, LocalRange, LocalTime};

/// Maximum number of image ids in a selection, and of ids that it excludes.
pub const MAX_SELECTED_IDS: usize = 20_000;

/// Maximum number of ranges in a selection.
pub const MAX_SELECTED_RANGES: usize = 1000;

/// Images chosen by id and by ranges of the timeline, without some exceptions. A clone is cheap.
///
/// An id that belongs to no image of the viewer selects nothing.
///
/// ```
/// use domain::{LocalRange, LocalTime, Selection};
///
/// let range = |first, last| LocalRange { first: LocalTime::from_number(first), last: LocalTime::from_number(last) };
/// let chosen = Selection::new(Vec::new(), vec![range(1, 5), range(4, 9)], vec!["not-this".to_owned()])?;
/// assert_eq!(chosen.ranges(), [range(1, 9)]);
/// assert!(chosen.covers(LocalTime::from_number(9)));
/// # Ok::<(), domain::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Arc<Parts>);

#[derive(Debug, PartialEq, Eq)]
struct Parts {
    ids: Vec<ImageId>,
    ranges: Vec<LocalRange>,
    except: HashSet<ImageId>,
}

impl Selection {
    /// Checks a selection: image ids, ranges of the timeline, and ids that are not selected although a range covers them. Malformed and repeated ids are left out.
    ///
    /// # Errors
    /// [`Invalid`] naming `ids`, `ranges` or `except`: there are neither ids nor ranges, there are too many, or a range
    /// ends before it starts.
    pub fn new(ids: Vec<String>, ranges: Vec<LocalRange>, except: Vec<String>) -> Result<Self, Invalid> {
        if ids.is_empty() && ranges.is_empty() {
            return Err(Invalid::new("ids", "select nothing; give at least one id or one range"));
        }
        for (field, count) in [("ids", ids.len()), ("except", except.len())] {
            if count > MAX_SELECTED_IDS {
                return Err(Invalid::new(field, "must have at most 20000 ids"));
            }
        }
        if ranges.len() > MAX_SELECTED_RANGES {
            return Err(Invalid::new("ranges", "must have at most 1000 ranges"));
        }
        if ranges.iter().any(|range| range.first > range.last) {
            return Err(Invalid::new("ranges", "must not end before they start"));
        }
        let except: HashSet<ImageId> = except.into_iter().filter_map(ImageId::parse).collect();
        let mut seen = HashSet::new();
        let ids = ids
            .into_iter()
            .filter_map(ImageId::parse)
            .filter(|id| !except.contains(id) && seen.insert(id.clone()))
            .collect();
        Ok(Self(Arc::new(Parts { ids, ranges: merged(ranges), except })))
    }

    pub fn of_image(id: ImageId) -> Self {
        Self(Arc::new(Parts { ids: vec![id], ranges: Vec::new(), except: HashSet::new() }))
    }

    /// All images that have a capture time.
    pub fn everything() -> Self {
        let ranges = vec![LocalRange::ALL];
        Self(Arc::new(Parts { ids: Vec::new(), ranges, except: HashSet::new() }))
    }

    /// The distinct ids, without the excluded ones.
    pub fn ids(&self) -> &[ImageId] {
        &self.0.ids
    }

    /// The ranges, newest first. They do not overlap.
    pub fn ranges(&self) -> &[LocalRange] {
        &self.0.ranges
    }

    /// The excluded ids, in no particular order.
    pub fn exceptions(&self) -> impl ExactSizeIterator<Item = &ImageId> {
        self.0.except.iter()
    }

    /// Whether a range contains this place.
    pub fn covers(&self, place: LocalTime) -> bool {
        let later = self.0.ranges.partition_point(|range| range.first > place);
        self.0.ranges.get(later).is_some_and(|range| place <= range.last)
    }

    pub fn excludes(&self, id: &ImageId) -> bool {
        self.0.except.contains(id)
    }
}

/// The ranges, newest first, with overlapping ones united.
fn merged(mut ranges: Vec<LocalRange>) -> Vec<LocalRange> {
    ranges.sort_unstable_by_key(|range| Reverse(range.last));
    let mut merged: Vec<LocalRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            // Ranges are visited by descending end, so this one ends no later than the one before.
            Some(newer) if range.last >= newer.first => newer.first = newer.first.min(range.first),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(first: i64, last: i64) -> LocalRange {
        LocalRange { first: LocalTime::from_number(first), last: LocalTime::from_number(last) }
    }

    fn field(ids: usize, ranges: usize, except: usize) -> Option<&'static str> {
        let names = |count| vec!["id".to_owned(); count];
        Selection::new(names(ids), vec![range(1, 2); ranges], names(except))
            .err()
            .map(|invalid| invalid.field)
    }

    #[test]
    fn sizes_are_checked() {
        assert_eq!(field(0, 0, 0), Some("ids"));
        assert_eq!(field(0, 0, 1), Some("ids"));
        assert_eq!(field(MAX_SELECTED_IDS, MAX_SELECTED_RANGES, MAX_SELECTED_IDS), None);
        assert_eq!(field(MAX_SELECTED_IDS + 1, 0, 0), Some("ids"));
        assert_eq!(field(0, MAX_SELECTED_RANGES + 1, 0), Some("ranges"));
        assert_eq!(field(0, 1, MAX_SELECTED_IDS + 1), Some("except"));
        let backwards = Selection::new(Vec::new(), vec![range(2, 1)], Vec::new());
        assert_eq!(backwards.unwrap_err().field, "ranges");
    }

    #[test]
    fn malformed_repeated_and_excluded_ids_are_left_out() {
        let strings = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let chosen =
            Selection::new(strings(&["b", "../x", "a", "b", "c"]), Vec::new(), strings(&["c"])).unwrap();
        let ids: Vec<&str> = chosen.ids().iter().map(ImageId::as_str).collect();
        assert_eq!(ids, ["b", "a"]);
        assert!(chosen.exceptions().all(|id| chosen.excludes(id)) && !chosen.excludes(&chosen.ids()[0]));
    }

    proptest! {
        #[test]
        fn merged_ranges_cover_the_same_times(
            pairs in prop::collection::vec((0_i64..60, 0_i64..8), 1..20), moment in 0_i64..80,
        ) {
            let ranges: Vec<_> = pairs.iter().map(|(first, length)| range(*first, first + length)).collect();
            let chosen = Selection::new(Vec::new(), ranges.clone(), Vec::new()).unwrap();
            let expected = ranges
                .iter()
                .any(|range| (range.first.number()..=range.last.number()).contains(&moment));
            prop_assert_eq!(chosen.covers(LocalTime::from_number(moment)), expected);
            prop_assert!(chosen.ranges().windows(2).all(|pair| pair[0].first > pair[1].last));
        }
    }
}
