use super::{InvalidBody, xml};
use crate::{Name, names::DAV};

/// Maximum number of properties of one request, because each is repeated for every file of the response.
pub const MAX_PROPERTIES: usize = 200;

/// The properties that a PROPFIND asks for (RFC 4918 §14.20).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropFind {
    /// All common properties with their values, and those in `include`.
    AllProp {
        /// Further properties.
        include: Vec<Name>,
    },
    /// The names of all properties.
    PropName,
    /// These properties.
    Prop(Vec<Name>),
}

impl PropFind {
    /// Parses a body. An empty one asks for all properties.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidBody> {
        if body.is_empty() {
            return Ok(Self::AllProp { include: Vec::new() });
        }
        let root = xml::parse(body)?;
        if root.name.parts() != (DAV, "propfind") {
            return Err(InvalidBody("its root element must be propfind"));
        }
        if let Some(prop) = root.child(DAV, "prop") {
            return Ok(Self::Prop(property_names(prop)?));
        }
        if root.child(DAV, "propname").is_some() {
            return Ok(Self::PropName);
        }
        if root.child(DAV, "allprop").is_none() {
            return Err(InvalidBody("it must contain prop, propname or allprop"));
        }
        let include = root.child(DAV, "include").map(property_names).transpose()?;
        Ok(Self::AllProp { include: include.unwrap_or_default() })
    }
}

/// The names of the child elements, each once.
pub(super) fn property_names(prop: &xml::Element) -> Result<Vec<Name>, InvalidBody> {
    let mut found: Vec<Name> = Vec::new();
    for child in prop.children() {
        if !found.contains(&child.name) {
            found.push(child.name.clone());
        }
        if found.len() > MAX_PROPERTIES {
            return Err(InvalidBody("it names too many properties"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inner: &str, expect: &Result<PropFind, InvalidBody>) {
        let body = format!(r#"<propfind xmlns="DAV:">{inner}</propfind>"#);
        assert_eq!(&PropFind::parse(body.as_bytes()), expect, "{inner}");
    }

    #[test]
    fn the_three_forms_are_read() {
        let tag = || vec![Name::new(DAV, "getetag")];
        check("<prop><getetag/><getetag/></prop>", &Ok(PropFind::Prop(tag())));
        check("<prop/>", &Ok(PropFind::Prop(Vec::new())));
        check("<propname/>", &Ok(PropFind::PropName));
        check("<allprop/>", &Ok(PropFind::AllProp { include: Vec::new() }));
        check("<allprop/><include><getetag/></include>", &Ok(PropFind::AllProp { include: tag() }));
        assert_eq!(PropFind::parse(b""), Ok(PropFind::AllProp { include: Vec::new() }));
    }

    #[test]
    fn other_documents_are_refused() {
        check("", &Err(InvalidBody("it must contain prop, propname or allprop")));
        let many: String = (0..=MAX_PROPERTIES).map(|number| format!("<p{number}/>")).collect();
        check(&format!("<prop>{many}</prop>"), &Err(InvalidBody("it names too many properties")));
        assert!(PropFind::parse(b"<propfind><prop/></propfind>").is_err());
    }
}
