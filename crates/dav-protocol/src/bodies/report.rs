use super::{InvalidBody, xml};
use crate::names::OWNCLOUD;

/// A REPORT (RFC 3253 §3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// Files with a property, which Nextcloud's apps use for favourites.
    FilterFiles,
    /// Another report.
    Other,
}

pub fn parse_report(body: &[u8]) -> Result<Report, InvalidBody> {
    let root = xml::parse(body)?;
    Ok(if root.name.parts() == (OWNCLOUD, "filter-files") { Report::FilterFiles } else { Report::Other })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_distinguished_by_their_root_element() {
        let body = br#"<oc:filter-files xmlns:oc="http://owncloud.org/ns"/>"#;
        assert_eq!(parse_report(body), Ok(Report::FilterFiles));
        assert_eq!(parse_report(b"<a/>"), Ok(Report::Other));
        assert!(parse_report(b"").is_err());
    }
}
