use dav_protocol::{
    Name,
    bodies::{Comparison, Condition},
    names::{DAV, OWNCLOUD},
};
use domain::Timestamp;
use library::FileId;

use super::property::{Property, file_id, time, whole_second};

/// What is known of all files that match a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// They were not modified before.
    pub(super) since: Timestamp,
    /// They were not modified after.
    pub(super) until: Timestamp,
    /// They have this id.
    pub(super) id: Option<FileId>,
}

impl Bounds {
    /// Nothing is known.
    pub(super) const ALL: Self = Self { since: Timestamp::MIN, until: Timestamp::MAX, id: None };

    /// No file matches.
    const NONE: Self = Self { since: Timestamp::MAX, until: Timestamp::MIN, id: None };

    pub(super) fn of(condition: &Condition) -> Self {
        match condition {
            Condition::All(all) => all.iter().map(Self::of).fold(Self::ALL, Self::both),
            Condition::Any(any) => any.iter().map(Self::of).reduce(Self::either).unwrap_or(Self::ALL),
            Condition::Compare { property, comparison, literal } => {
                Self::of_comparison(property, *comparison, literal)
            }
            _ => Self::ALL,
        }
    }

    fn of_comparison(property: &Name, comparison: Comparison, literal: &str) -> Self {
        let is_equal = comparison == Comparison::Equal;
        match property.parts() {
            (DAV, "getlastmodified") => time(literal).map_or(Self::NONE, |at| Self::of_time(comparison, at)),
            (OWNCLOUD, "fileid") if is_equal => {
                let id = file_id(literal).and_then(|id| i64::try_from(id).ok());
                id.map_or(Self::NONE, |id| Self { id: Some(FileId(id)), ..Self::ALL })
            }
            _ if Property::named(property).is_none() => Self::NONE,
            _ => Self::ALL,
        }
    }

    /// The bounds of the times whose whole seconds have this relation to `at`.
    fn of_time(comparison: Comparison, at: Timestamp) -> Self {
        let second = whole_second(at);
        let is_whole = second == at;
        // The last millisecond of a second, and the first of the next.
        let (end, next) = (second.plus_millis(999), second.plus_millis(1000));
        let since = |since| Self { since, ..Self::ALL };
        let until = |until| Self { until, ..Self::ALL };
        match comparison {
            Comparison::Equal => Self { since: second, until: end, id: None },
            Comparison::Less if is_whole => until(second.plus_millis(-1)),
            Comparison::Less | Comparison::LessOrEqual => until(end),
            Comparison::GreaterOrEqual if is_whole => since(second),
            Comparison::GreaterOrEqual | Comparison::Greater => since(next),
        }
    }

    fn both(self, other: Self) -> Self {
        Self {
            since: self.since.max(other.since),
            until: self.until.min(other.until),
            id: self.id.or(other.id),
        }
    }

    fn either(self, other: Self) -> Self {
        Self {
            since: self.since.min(other.since),
            until: self.until.max(other.until),
            id: self.id.filter(|id| other.id == Some(*id)),
        }
    }
}
