use std::{cmp::Reverse, collections::HashSet, sync::Arc};

use crate::{ImageId, Invalid, Timestamp};

/// Maximum number of image ids in a selection, and of ids that it excludes.
pub const MAX_SELECTED_IDS: usize = 20_000;

/// Maximum number of ranges in a selection.
pub const MAX_SELECTED_RANGES: usize = 1000;

/// Images chosen by id and by capture time, without some exceptions. A clone is cheap.
///
/// An id that belongs to no image of the viewer selects nothing.
///
/// ```
/// use domain::{Selection, Timestamp};
///
/// let at = |ms| Timestamp::from_millis(ms).unwrap();
/// let chosen = Selection::new(Vec::new(), vec![(at(1), at(5)), (at(4), at(9))], vec!["not-this".to_owned()])?;
/// assert_eq!(chosen.ranges(), [(at(1), at(9))]);
/// assert!(chosen.covers(at(9)));
/// # Ok::<(), domain::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Arc<Parts>);

#[derive(Debug, PartialEq, Eq)]
struct Parts {
    ids: Vec<ImageId>,
    ranges: Vec<(Timestamp, Timestamp)>,
    except: HashSet<ImageId>,
}

impl Selection {
    /// Checks a selection: image ids, ranges of capture times with both ends included, and ids that are not selected
    /// although a range covers them. Malformed and repeated ids are left out.
    ///
    /// # Errors
    /// [`Invalid`] naming `ids`, `ranges` or `except`: there are neither ids nor ranges, there are too many, or a range
    /// ends before it starts.
    pub fn new(
        ids: Vec<String>,
        ranges: Vec<(Timestamp, Timestamp)>,
        except: Vec<String>,
    ) -> Result<Self, Invalid> {
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
        if ranges.iter().any(|(first, last)| first > last) {
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
        let ranges = vec![(Timestamp::MIN, Timestamp::MAX)];
        Self(Arc::new(Parts { ids: Vec::new(), ranges, except: HashSet::new() }))
    }

    /// The distinct ids, without the excluded ones.
    pub fn ids(&self) -> &[ImageId] {
        &self.0.ids
    }

    /// The ranges, newest first. They do not overlap.
    pub fn ranges(&self) -> &[(Timestamp, Timestamp)] {
        &self.0.ranges
    }

    /// The excluded ids, in no particular order.
    pub fn exceptions(&self) -> impl ExactSizeIterator<Item = &ImageId> {
        self.0.except.iter()
    }

    /// Whether a range contains the capture time.
    pub fn covers(&self, captured_at: Timestamp) -> bool {
        let later = self.0.ranges.partition_point(|(first, _)| *first > captured_at);
        self.0.ranges.get(later).is_some_and(|(_, last)| captured_at <= *last)
    }

    pub fn excludes(&self, id: &ImageId) -> bool {
        self.0.except.contains(id)
    }
}

/// The ranges, newest first, with overlapping ones united.
fn merged(mut ranges: Vec<(Timestamp, Timestamp)>) -> Vec<(Timestamp, Timestamp)> {
    ranges.sort_unstable_by_key(|(_, last)| Reverse(*last));
    let mut merged: Vec<(Timestamp, Timestamp)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            // Ranges are visited by descending end, so this one ends no later than the one before.
            Some(newer) if last >= newer.0 => newer.0 = newer.0.min(first),
            _ => merged.push((first, last)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms).unwrap()
    }

    fn field(ids: usize, ranges: usize, except: usize) -> Option<&'static str> {
        let names = |count| vec!["id".to_owned(); count];
        Selection::new(names(ids), vec![(at(1), at(2)); ranges], names(except))
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
        let backwards = Selection::new(Vec::new(), vec![(at(2), at(1))], Vec::new());
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
            let ranges: Vec<_> = pairs.iter().map(|(first, length)| (at(*first), at(first + length))).collect();
            let chosen = Selection::new(Vec::new(), ranges.clone(), Vec::new()).unwrap();
            let expected = ranges.iter().any(|(first, last)| (*first..=*last).contains(&at(moment)));
            prop_assert_eq!(chosen.covers(at(moment)), expected);
            prop_assert!(chosen.ranges().windows(2).all(|pair| pair[0].0 > pair[1].1));
        }
    }
}
