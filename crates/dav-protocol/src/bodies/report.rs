use super::{InvalidBody, prop_find::property_names, xml};
use crate::{
    bodies::PropFind,
    names::{DAV, OWNCLOUD},
};

/// A REPORT (RFC 3253 §3.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Files with a property, which Nextcloud's apps use for favourites.
    FilterFiles {
        /// The properties of the files that are listed.
        select: PropFind,
        /// The value that `oc:favorite` must have; `None` if this is not the only rule.
        favorite: Option<String>,
    },
    /// Another report.
    Other,
}

pub fn parse_report(body: &[u8]) -> Result<Report, InvalidBody> {
    let root = xml::parse(body)?;
    if root.name.parts() != (OWNCLOUD, "filter-files") {
        return Ok(Report::Other);
    }
    let select = match root.child(DAV, "prop") {
        Some(prop) => PropFind::Prop(property_names(prop)?),
        None => PropFind::AllProp { include: Vec::new() },
    };
    let mut rules = root.child(OWNCLOUD, "filter-rules").into_iter().flat_map(xml::Element::children);
    let favorite = match (rules.next(), rules.next()) {
        (Some(rule), None) if rule.name.parts() == (OWNCLOUD, "favorite") => Some(rule.text()),
        _ => None,
    };
    Ok(Report::FilterFiles { select, favorite })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Name;

    #[test]
    fn favourites_are_asked_for_by_one_rule() {
        let check = |inner: &str, expect: Option<&str>| {
            let body = format!(
                r#"<oc:filter-files xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:getetag/></d:prop>
                {inner}</oc:filter-files>"#
            );
            let select = PropFind::Prop(vec![Name::new(DAV, "getetag")]);
            let favorite = expect.map(str::to_owned);
            assert_eq!(
                parse_report(body.as_bytes()),
                Ok(Report::FilterFiles { select, favorite }),
                "{inner}"
            );
        };
        let rules = |rules: &str| format!("<oc:filter-rules>{rules}</oc:filter-rules>");
        check(&rules("<oc:favorite>1</oc:favorite>"), Some("1"));
        check(&rules("<oc:favorite/>"), Some(""));
        check(&rules("<oc:systemtag>1</oc:systemtag>"), None);
        check(&rules("<oc:favorite>1</oc:favorite><oc:systemtag>1</oc:systemtag>"), None);
        check(&rules(""), None);
        check("", None);
    }

    #[test]
    fn reports_are_distinguished_by_their_root_element() {
        let body = br#"<oc:filter-files xmlns:oc="http://owncloud.org/ns"/>"#;
        let select = PropFind::AllProp { include: Vec::new() };
        assert_eq!(parse_report(body), Ok(Report::FilterFiles { select, favorite: None }));
        assert_eq!(parse_report(b"<a/>"), Ok(Report::Other));
        assert!(parse_report(b"").is_err());
    }
}
