//! What results of revision 2026-07-28 say about themselves beside what was asked for.

use serde::{Deserialize, Serialize};

/// What kind of result it is. Absent, as in every earlier revision, means [`Complete`](Self::Complete).
///
/// ```
/// use mcp_protocol::{EmptyResult, ResultType};
///
/// let result: EmptyResult = serde_json::from_str(r#"{"resultType":"complete"}"#)?;
/// assert_eq!(result.result_type, Some(ResultType::Complete));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultType {
    /// The answer.
    Complete,
    /// A question of the server, to be answered by the same request once more; see
    /// [`InputRequiredResult`](crate::tools::InputRequiredResult).
    InputRequired,
    /// A kind that an extension or a later revision names.
    #[serde(untagged)]
    Other(String),
}

/// Who may keep a result: for `ttlMs` milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Anybody, a gateway that serves several users among them.
    Public,
    /// Only whoever sent the token with which it was asked for.
    Private,
}

/// How long a result may be kept, and by whom.
///
/// ```
/// use mcp_protocol::{CacheScope, Caching};
///
/// let caching = Caching { ttl_ms: 60_000, scope: CacheScope::Private };
/// assert_ne!(caching, Caching::NONE);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caching {
    /// For how many milliseconds.
    pub ttl_ms: u64,
    /// By whom.
    pub scope: CacheScope,
}

impl Caching {
    /// Not at all.
    pub const NONE: Self = Self { ttl_ms: 0, scope: CacheScope::Private };
}

/// A result that says no more than that the call worked, such as that of `ping`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmptyResult {
    /// What kind of result it is (from revision 2026-07-28 on).
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
    fn kinds_of_results_are_read_back_known_or_not() {
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
