//! Request bodies.

mod lock_info;
mod prop_find;
mod prop_patch;
mod report;
mod search;
mod xml;

pub use lock_info::{LockInfo, LockScope};
pub use prop_find::{MAX_PROPERTIES, PropFind};
pub use prop_patch::{PropertyChange, parse_prop_patch};
pub use report::{Report, parse_report};
pub use search::{BasicSearch, Comparison, Condition, InvalidSearch, MAX_CONDITIONS, Pattern, SortKey};
pub use xml::MAX_BODY_BYTES;

/// The body is not what the method expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request body is not valid: {0}")]
pub struct InvalidBody(pub(crate) &'static str);
