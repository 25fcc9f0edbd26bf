//! The common members of results of revision 2026-07-28.

use serde::{Deserialize, Serialize};

/// The kind of a result. Absent, as in earlier revisions, means [`Complete`](Self::Complete).
///
/// ```
/// use mcp_wire::{EmptyResult, ResultType};
///
/// let result: EmptyResult = serde_json::from_str(r#"{"resultType":"complete"}"#)?;
/// assert_eq!(result.result_type, Some(ResultType::Complete));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultType {
    /// The final result.
    Complete,
    /// The server requires input, to be sent with the same request again; see
    /// [`InputRequiredResult`](crate::tools::InputRequiredResult).
    InputRequired,
    /// A kind of an extension or a later revision.
    #[serde(untagged)]
    Other(String),
}

/// Who may cache a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CacheScope {
    /// Anybody, including a gateway for several users.
    Public,
    /// Only the sender of the request's token.
    Private,
}

/// How long a result may be cached, and which caches may store it.
///
/// ```
/// use mcp_wire::{CacheScope, Caching};
///
/// let caching = Caching { ttl_ms: 60_000, scope: CacheScope::Private };
/// assert_ne!(caching, Caching::NONE);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caching {
    /// The lifetime in milliseconds.
    pub ttl_ms: u64,
    /// Who may cache it.
    pub scope: CacheScope,
}

impl Caching {
    /// No caching.
    pub const NONE: Self = Self { ttl_ms: 0, scope: CacheScope::Private };
}

/// A result without data, such as that of `ping`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmptyResult {
    /// The kind of result (from revision 2026-07-28 on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// Extensions.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<crate::Meta>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_and_unknown_kinds_survive_a_round_trip() {
        for (kind, name) in [
            (ResultType::Complete, "complete"),
            (ResultType::InputRequired, "input_required"),
            (ResultType::Other("task".into()), "task"),
        ] {
            assert_eq!(serde_json::to_value(&kind).unwrap(), json!(name));
            assert_eq!(serde_json::from_value::<ResultType>(json!(name)).unwrap(), kind);
        }
        assert_eq!(serde_json::to_value(CacheScope::Private).unwrap(), json!("private"));
    }
}
