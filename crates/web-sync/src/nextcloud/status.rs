//! `/status.php`, and the version that the service announces.

use http::StatusCode;
use http_server::reply::{Reply, json};
use serde::Serialize;

/// The announced version. Below 30 Android warns, and below 32 it renames files by the rules of Windows. From 32.0.2 on,
/// iOS needs paged listings, and from 34 on both trust headers and endpoints that this service lacks.
pub(super) const VERSION: [u32; 3] = [32, 0, 1];
/// `VERSION` as a text.
pub(super) const VERSION_TEXT: &str = "32.0.1";
/// `VERSION` with the number of the build.
const FULL_VERSION: &str = "32.0.1.2";
/// The name of the product. It must not contain "owncloud", because iOS then refuses the server.
pub(super) const PRODUCT_NAME: &str = "Photo library";

/// The body of `/status.php`.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    installed: bool,
    maintenance: bool,
    #[serde(rename = "needsDbUpgrade")]
    needs_db_upgrade: bool,
    version: &'static str,
    versionstring: &'static str,
    edition: &'static str,
    productname: &'static str,
    #[serde(rename = "extendedSupport")]
    extended_support: bool,
}

/// The status of the service. It does not depend on the stores: the endpoints that use a store report its failure.
pub(super) const STATUS: Status = Status {
    installed: true,
    maintenance: false,
    needs_db_upgrade: false,
    version: FULL_VERSION,
    versionstring: VERSION_TEXT,
    edition: "",
    productname: PRODUCT_NAME,
    extended_support: false,
};

/// `GET /status.php`, without authentication.
pub(super) fn status() -> Reply {
    json(StatusCode::OK, &STATUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_the_version_are_equal() {
        let [major, minor, micro] = VERSION;
        assert_eq!(VERSION_TEXT, format!("{major}.{minor}.{micro}"));
        assert!(FULL_VERSION.starts_with(&format!("{VERSION_TEXT}.")));
        assert!(!PRODUCT_NAME.to_lowercase().contains("owncloud"));
    }
}
