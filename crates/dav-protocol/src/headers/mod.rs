//! Request headers. Each function takes the text of one header.

mod checksum;
mod entity_tags;
mod if_header;
mod simple;

pub use checksum::{BODY_CHECKSUM_HEADERS, ReadChecksums, oc_checksum};
pub use entity_tags::{EntityTag, EntityTags};
pub use if_header::{IfCondition, IfHeader, IfList, IfState};
pub use simple::{DEFAULT_LOCK_S, Depth, destination_path, is_true, lock_timeout_s, lock_token, overwrite};

/// A header has an invalid value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the header {0} is not valid")]
pub struct InvalidHeader(pub(crate) &'static str);
