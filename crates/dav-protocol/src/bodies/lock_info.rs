use super::{
    InvalidBody,
    xml::{self, Element, Node},
};
use crate::{XmlWriter, names::DAV};

/// Maximum length of the owner as XML, in bytes.
const MAX_OWNER_BYTES: usize = 2048;

/// Whether others may lock the same resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockScope {
    /// Only its holder may write.
    Exclusive,
    /// Others may lock as well.
    Shared,
}

/// The lock that a LOCK requests (RFC 4918 §14.11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockInfo {
    pub scope: LockScope,
    /// The content of the owner element as XML, written anew from what was parsed. The prefix `d` must be declared around
    /// it. Attributes are dropped.
    pub owner: Option<String>,
}

impl LockInfo {
    pub fn parse(body: &[u8]) -> Result<Self, InvalidBody> {
        let root = xml::parse(body)?;
        if root.name.parts() != (DAV, "lockinfo") {
            return Err(InvalidBody("its root element must be lockinfo"));
        }
        let is_write = root.child(DAV, "locktype").is_some_and(|kind| kind.child(DAV, "write").is_some());
        if !is_write {
            return Err(InvalidBody("the lock type must be write"));
        }
        let scope = root.child(DAV, "lockscope").ok_or(InvalidBody("it has no lock scope"))?;
        let scope = if scope.child(DAV, "exclusive").is_some() {
            LockScope::Exclusive
        } else if scope.child(DAV, "shared").is_some() {
            LockScope::Shared
        } else {
            return Err(InvalidBody("the lock scope must be exclusive or shared"));
        };
        let owner = root.child(DAV, "owner").map(owner_content).transpose()?;
        Ok(Self { scope, owner })
    }
}

fn owner_content(owner: &Element) -> Result<String, InvalidBody> {
    let mut writer = XmlWriter::default();
    write_content(owner, &mut writer);
    if writer.len() > MAX_OWNER_BYTES {
        return Err(InvalidBody("the lock owner is too long"));
    }
    Ok(writer.take())
}

fn write_content(element: &Element, writer: &mut XmlWriter) {
    for node in &element.content {
        match node {
            Node::Text(text) => writer.escaped(text),
            Node::Element(child) => {
                writer.open_named(&child.name);
                write_content(child, writer);
                writer.close_named(&child.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(owner: &str) -> Result<Option<String>, InvalidBody> {
        let body = format!(
            r#"<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>{owner}</lockinfo>"#
        );
        LockInfo::parse(body.as_bytes()).map(|info| info.owner)
    }

    #[test]
    fn the_owner_is_written_anew() {
        assert_eq!(owner(""), Ok(None));
        assert_eq!(owner("<owner>Ann &amp; Bob</owner>"), Ok(Some("Ann &amp; Bob".to_owned())));
        assert_eq!(
            owner(r#"<owner a="b"><href>http://a/</href><x:y xmlns:x="urn:z" x:q="1"/></owner>"#),
            Ok(Some(r#"<d:href>http://a/</d:href><x:y xmlns:x="urn:z"></x:y>"#.to_owned()))
        );
        let long = format!("<owner>{}</owner>", "a".repeat(MAX_OWNER_BYTES + 1));
        assert_eq!(owner(&long), Err(InvalidBody("the lock owner is too long")));
    }

    #[test]
    fn scope_and_type_are_required() {
        let check = |inner: &str, expect: Option<LockScope>| {
            let body = format!(r#"<lockinfo xmlns="DAV:">{inner}</lockinfo>"#);
            assert_eq!(LockInfo::parse(body.as_bytes()).ok().map(|info| info.scope), expect, "{inner}");
        };
        let write = "<locktype><write/></locktype>";
        check(&format!("{write}<lockscope><shared/></lockscope>"), Some(LockScope::Shared));
        check(&format!("{write}<lockscope><other/></lockscope>"), None);
        check(write, None);
        check("<lockscope><exclusive/></lockscope>", None);
    }
}
