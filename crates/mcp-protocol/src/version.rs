//! The protocol's revisions and their negotiation.

use crate::jsonrpc::{ErrorObject, UNSUPPORTED_PROTOCOL_VERSION};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;
use std::fmt;
use std::str::FromStr;

/// A supported revision of the protocol; a later one is greater.
///
/// Legacy revisions start with `initialize`. From 2026-07-28 on (the modern era) every request describes itself.
///
/// ```
/// use mcp_wire::ProtocolVersion;
///
/// let version: ProtocolVersion = "2025-06-18".parse()?;
/// assert!(version.is_legacy());
/// assert!(version < ProtocolVersion::V2026_07_28);
/// assert_eq!(ProtocolVersion::negotiate("2024-01-01").to_string(), "2025-11-25");
/// # Ok::<(), mcp_wire::UnsupportedProtocolVersion>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// 2025-03-26, the first with Streamable HTTP.
    V2025_03_26,
    /// 2025-06-18, the first with structured content and the version header.
    V2025_06_18,
    /// 2025-11-25, the last with `initialize`.
    V2025_11_25,
    /// 2026-07-28, the first of the modern era.
    V2026_07_28,
}

/// The name of a revision that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unsupported protocol version")]
#[non_exhaustive]
pub struct UnsupportedProtocolVersion {
    /// The requested name.
    pub requested: String,
}

impl ProtocolVersion {
    /// Every supported revision, oldest first.
    pub const ALL: [Self; 4] = [Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The revision that a server offers when `initialize` requests an unsupported one.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;
    /// The revision of a legacy request without the header `MCP-Protocol-Version`.
    pub const WITHOUT_HEADER: Self = Self::V2025_03_26;

    /// The name, a date.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether this revision starts with `initialize`.
    pub fn is_legacy(self) -> bool {
        self <= Self::LATEST_LEGACY
    }

    /// The revision to return from `initialize`: the requested one if it is a supported legacy revision, else the
    /// newest legacy one.
    pub fn negotiate(requested: &str) -> Self {
        requested.parse().ok().filter(|version: &Self| version.is_legacy()).unwrap_or(Self::LATEST_LEGACY)
    }

    /// The revision in a request's `MCP-Protocol-Version` header; [`Self::WITHOUT_HEADER`] without a header.
    ///
    /// # Errors
    /// If the header does not name a supported revision.
    pub fn from_header(header: Option<&str>) -> Result<Self, UnsupportedProtocolVersion> {
        header.map_or(Ok(Self::WITHOUT_HEADER), |name| name.trim_matches([' ', '\t']).parse())
    }
}

impl UnsupportedProtocolVersion {
    /// The error object: code [`UNSUPPORTED_PROTOCOL_VERSION`] with `data` `{supported, requested}`, so that the client
    /// can choose another revision.
    pub fn error_object(&self, supported: &[ProtocolVersion]) -> ErrorObject {
        ErrorObject::new(UNSUPPORTED_PROTOCOL_VERSION, self.to_string())
            .with_data(json!({"supported": supported, "requested": self.requested}))
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnsupportedProtocolVersion;

    fn from_str(name: &str) -> Result<Self, UnsupportedProtocolVersion> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == name)
            .ok_or_else(|| UnsupportedProtocolVersion { requested: name.to_owned() })
    }
}

impl Serialize for ProtocolVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ProtocolVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_survive_a_round_trip_and_are_ordered() {
        assert!(ProtocolVersion::ALL.is_sorted());
        for version in ProtocolVersion::ALL {
            assert_eq!(version.as_str().parse(), Ok(version));
            let json = serde_json::to_string(&version).unwrap();
            assert_eq!(json, format!("\"{version}\""));
            assert_eq!(serde_json::from_str::<ProtocolVersion>(&json).unwrap(), version);
        }
        let legacy: Vec<_> = ProtocolVersion::ALL.into_iter().filter(|version| version.is_legacy()).collect();
        assert_eq!(legacy, ProtocolVersion::ALL[..3]);
    }

    #[test]
    fn initialize_gets_the_requested_or_the_newest_legacy_revision() {
        for (requested, expect) in [
            ("2025-03-26", ProtocolVersion::V2025_03_26),
            ("2025-06-18", ProtocolVersion::V2025_06_18),
            ("2025-11-25", ProtocolVersion::V2025_11_25),
            ("2026-07-28", ProtocolVersion::V2025_11_25),
            ("2024-11-05", ProtocolVersion::V2025_11_25),
            ("2099-01-01", ProtocolVersion::V2025_11_25),
            ("DRAFT-2026", ProtocolVersion::V2025_11_25),
            ("", ProtocolVersion::V2025_11_25),
        ] {
            assert_eq!(ProtocolVersion::negotiate(requested), expect, "{requested}");
        }
    }

    #[test]
    fn a_header_must_name_a_published_revision() {
        for (header, expect) in [
            (None, Some(ProtocolVersion::V2025_03_26)),
            (Some("2025-11-25"), Some(ProtocolVersion::V2025_11_25)),
            (Some(" 2026-07-28 "), Some(ProtocolVersion::V2026_07_28)),
            (Some(""), None),
            (Some("2024-11-05"), None),
            (Some("2025-11-25, 2025-06-18"), None),
        ] {
            assert_eq!(ProtocolVersion::from_header(header).ok(), expect, "{header:?}");
        }
    }

    #[test]
    fn the_error_lists_the_supported_revisions() {
        let refused = ProtocolVersion::from_header(Some("1900-01-01")).unwrap_err();
        let error = refused.error_object(&[ProtocolVersion::V2026_07_28]);
        assert_eq!(error.code, -32022);
        assert_eq!(error.data, Some(json!({"supported": ["2026-07-28"], "requested": "1900-01-01"})));
    }

    proptest! {
        #[test]
        fn negotiation_gives_a_legacy_revision_for_any_name(name: String) {
            prop_assert!(ProtocolVersion::negotiate(&name).is_legacy());
        }
    }
}
