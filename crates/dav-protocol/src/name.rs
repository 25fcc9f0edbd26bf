use std::borrow::Cow;

pub mod names {
    /// WebDAV (RFC 4918).
    pub const DAV: &str = "DAV:";
    pub const OWNCLOUD: &str = "http://owncloud.org/ns";
    pub const NEXTCLOUD: &str = "http://nextcloud.org/ns";
    /// Errors of sabre/dav, which Nextcloud's apps read.
    pub const SABRE: &str = "http://sabredav.org/ns";
    /// Extensions of SEARCH, which Nextcloud's clients use.
    pub const SEARCH_DAV: &str = "https://github.com/icewind1991/SearchDAV/ns";
    /// Microsoft's WebDAV client.
    pub const MICROSOFT: &str = "urn:schemas-microsoft-com:";
}

/// The name of an XML element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    namespace: Cow<'static, str>,
    local: Cow<'static, str>,
}

impl Name {
    /// A name that is known at compile time, with a valid local name.
    pub const fn new(namespace: &'static str, local: &'static str) -> Self {
        Self { namespace: Cow::Borrowed(namespace), local: Cow::Borrowed(local) }
    }

    /// A name from a request; `None` if the local name would not be valid in XML.
    pub(crate) fn parse(namespace: &str, local: &str) -> Option<Self> {
        let mut chars = local.chars();
        let is_valid = chars.next().is_some_and(is_name_start)
            && chars.all(|c| is_name_start(c) || c.is_ascii_digit() || matches!(c, '-' | '.' | '\u{b7}'));
        is_valid.then(|| Self { namespace: namespace.to_owned().into(), local: local.to_owned().into() })
    }

    /// The namespace; empty for none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name without a prefix.
    pub fn local(&self) -> &str {
        &self.local
    }

    /// Namespace and local name, to match on.
    pub fn parts(&self) -> (&str, &str) {
        (&self.namespace, &self.local)
    }
}

/// `NameStartChar` of XML without the colon, for characters beyond ASCII restricted to letters.
fn is_name_start(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic() || (!c.is_ascii() && c.is_alphabetic())
}
