use super::{InvalidBody, MAX_PROPERTIES, xml};
use crate::{Name, names::DAV};

/// A property to change (RFC 4918 §14.19).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyChange {
    pub name: Name,
    /// Its new value as text; `None` to remove it.
    pub value: Option<String>,
}

/// Parses the body of a PROPPATCH: the changes in the order of the document.
pub fn parse_prop_patch(body: &[u8]) -> Result<Vec<PropertyChange>, InvalidBody> {
    let root = xml::parse(body)?;
    if root.name.parts() != (DAV, "propertyupdate") {
        return Err(InvalidBody("its root element must be propertyupdate"));
    }
    let mut changes = Vec::new();
    for instruction in root.children() {
        let is_set = match instruction.name.parts() {
            (DAV, "set") => true,
            (DAV, "remove") => false,
            _ => continue,
        };
        let properties = instruction.child(DAV, "prop").into_iter().flat_map(xml::Element::children);
        changes.extend(properties.map(|property| PropertyChange {
            name: property.name.clone(),
            value: is_set.then(|| property.text()),
        }));
    }
    if changes.is_empty() || changes.len() > MAX_PROPERTIES {
        return Err(InvalidBody("it must change at least one property and not too many"));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_in_order() {
        let body = br#"<D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:z">
            <D:set><D:prop><D:lastmodified>12</D:lastmodified><Z:a>x<Z:b>y</Z:b></Z:a></D:prop></D:set>
            <D:remove><D:prop><Z:c/></D:prop></D:remove></D:propertyupdate>"#;
        let change = |namespace, name, value: Option<&str>| PropertyChange {
            name: Name::new(namespace, name),
            value: value.map(str::to_owned),
        };
        assert_eq!(
            parse_prop_patch(body).unwrap(),
            [
                change(DAV, "lastmodified", Some("12")),
                change("urn:z", "a", Some("xy")),
                change("urn:z", "c", None)
            ]
        );
    }

    #[test]
    fn a_body_without_changes_is_refused() {
        for body in ["", "<a/>", r#"<propertyupdate xmlns="DAV:"><set><prop/></set></propertyupdate>"#] {
            assert!(parse_prop_patch(body.as_bytes()).is_err(), "{body}");
        }
    }
}
