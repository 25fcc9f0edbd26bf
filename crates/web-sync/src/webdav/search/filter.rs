use std::borrow::Cow;

use dav_protocol::{
    Name,
    bodies::{Comparison, Condition, Pattern},
};
use domain::Timestamp;
use library::{FileEntry, FileKind, LocatedFile};

use super::property::{Property, time, whole_second};

/// A condition whose properties and literals are already resolved, because it is evaluated for many files.
pub(super) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    Text(fn(&FileEntry) -> Option<Cow<'_, str>>, Comparison, String),
    Number(fn(&FileEntry) -> Option<u64>, Comparison, u64),
    Time(fn(&FileEntry) -> Option<Timestamp>, Comparison, Timestamp),
    Like(fn(&FileEntry) -> Option<Cow<'_, str>>, Pattern),
    IsFolder,
    IsDefined(Option<Property>),
    /// The files have no such property, or the literal is not a value of it.
    Unknown,
}

impl Filter {
    pub(super) fn new(condition: &Condition) -> Self {
        let several = |all: &[Condition]| all.iter().map(Self::new).collect();
        match condition {
            Condition::All(all) => Self::All(several(all)),
            Condition::Any(any) => Self::Any(several(any)),
            Condition::Not(inner) => Self::Not(Box::new(Self::new(inner))),
            Condition::Compare { property, comparison, literal } => {
                Self::comparison(property, *comparison, literal).unwrap_or(Self::Unknown)
            }
            Condition::Like { property, pattern } => match Property::named(property) {
                Some(Property::Text(value)) => Self::Like(value, pattern.clone()),
                _ => Self::Unknown,
            },
            Condition::IsCollection => Self::IsFolder,
            Condition::IsDefined(property) => Self::IsDefined(Property::named(property)),
        }
    }

    fn comparison(property: &Name, comparison: Comparison, literal: &str) -> Option<Self> {
        Some(match Property::named(property)? {
            Property::Text(value) => Self::Text(value, comparison, literal.to_owned()),
            Property::Number(value, parse) => Self::Number(value, comparison, parse(literal)?),
            Property::Time(value) => Self::Time(value, comparison, time(literal)?),
        })
    }

    /// Whether a file matches.
    pub(super) fn matches(&self, file: &LocatedFile) -> bool {
        self.evaluate(&file.entry) == Some(true)
    }

    /// `None` if the answer is unknown. Then the negated condition does not match either (RFC 5323 §5.5.3).
    fn evaluate(&self, entry: &FileEntry) -> Option<bool> {
        match self {
            Self::All(all) => all_of(all.iter().map(|filter| filter.evaluate(entry))),
            Self::Any(any) => {
                all_of(any.iter().map(|filter| filter.evaluate(entry).map(|is| !is))).map(|is| !is)
            }
            Self::Not(inner) => inner.evaluate(entry).map(|is| !is),
            Self::Text(value, comparison, literal) => {
                value(entry).map(|text| comparison.holds(&&*text, &literal.as_str()))
            }
            Self::Number(value, comparison, literal) => {
                value(entry).map(|number| comparison.holds(&number, literal))
            }
            Self::Time(value, comparison, literal) => {
                value(entry).map(|at| comparison.holds(&whole_second(at), literal))
            }
            Self::Like(value, pattern) => value(entry).map(|text| pattern.matches(&text)),
            Self::IsFolder => Some(entry.kind == FileKind::Folder),
            Self::IsDefined(property) => Some(property.is_some_and(|property| property.is_defined(entry))),
            Self::Unknown => None,
        }
    }
}

fn all_of(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for answer in answers {
        match answer {
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}
