//! SEARCH with the grammar `DAV:basicsearch` (RFC 5323 §5).

mod condition;
mod pattern;

use super::{
    InvalidBody, PropFind,
    prop_find::property_names,
    xml::{self, Element},
};
use crate::{
    Name,
    headers::Depth,
    names::{DAV, SEARCH_DAV},
};

pub use condition::{Comparison, Condition, MAX_CONDITIONS};
pub use pattern::Pattern;

/// Maximum number of properties by which results are ordered.
const MAX_SORT_KEYS: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BasicSearch {
    /// The properties of each result.
    pub select: PropFind,
    /// Where to search: a URL, or a path as clients of Nextcloud write it.
    pub href: String,
    /// How far below that folder.
    pub depth: Depth,
    /// What the results have in common; `None` for everything.
    pub condition: Option<Condition>,
    /// The order of the results, the most significant key first.
    pub order: Vec<SortKey>,
    /// How many results of that order are left out at the start, which is an extension of Nextcloud.
    pub skip: u64,
    /// Maximum number of results; `None` if the server decides.
    pub limit: Option<u64>,
}

/// A property by which results are ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    pub property: Name,
    /// Whether high values come first.
    pub is_descending: bool,
}

/// Why a search cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSearch {
    /// The body is malformed.
    #[error(transparent)]
    Body(#[from] InvalidBody),
    /// The query has another grammar.
    #[error("the only supported grammar is basicsearch")]
    Grammar,
    /// The query names several folders.
    #[error("only one folder can be searched at a time")]
    SeveralScopes,
    /// The body is well-formed, but has an operator that is not supported.
    #[error("the operator {0} is not supported")]
    Operator(String),
}

impl BasicSearch {
    pub fn parse(body: &[u8]) -> Result<Self, InvalidSearch> {
        let root = xml::parse(body)?;
        if root.name.parts() != (DAV, "searchrequest") {
            return Err(InvalidBody("its root element must be searchrequest").into());
        }
        let search = root.child(DAV, "basicsearch").ok_or(InvalidSearch::Grammar)?;
        let (href, depth) = scope(required(search, "from", "it has no from")?)?;
        let condition = search.child(DAV, "where").map(Condition::of_where).transpose()?;
        let limit = search.child(DAV, "limit");
        let number = |namespace, name| {
            let element = limit.and_then(|limit| limit.child(namespace, name));
            element.map(whole_number).transpose()
        };
        Ok(Self {
            select: select(required(search, "select", "it has no select")?)?,
            href,
            depth,
            condition,
            order: search.child(DAV, "orderby").map(order).transpose()?.unwrap_or_default(),
            skip: number(SEARCH_DAV, "firstresult")?.unwrap_or(0),
            limit: number(DAV, "nresults")?,
        })
    }
}

fn required<'a>(
    parent: &'a Element,
    name: &'static str,
    reason: &'static str,
) -> Result<&'a Element, InvalidBody> {
    parent.child(DAV, name).ok_or(InvalidBody(reason))
}

fn select(select: &Element) -> Result<PropFind, InvalidBody> {
    match select.child(DAV, "prop") {
        Some(prop) => Ok(PropFind::Prop(property_names(prop)?)),
        None if select.child(DAV, "allprop").is_some() => Ok(PropFind::AllProp { include: Vec::new() }),
        None => Err(InvalidBody("select must contain prop or allprop")),
    }
}

fn scope(from: &Element) -> Result<(String, Depth), InvalidSearch> {
    let mut scopes = from.children().filter(|child| child.name.parts() == (DAV, "scope"));
    let scope = scopes.next().ok_or(InvalidBody("it has no scope"))?;
    if scopes.next().is_some() {
        return Err(InvalidSearch::SeveralScopes);
    }
    let href = required(scope, "href", "the scope has no href")?.text().trim().to_owned();
    let depth = scope.child(DAV, "depth").map(|depth| Depth::parse(&depth.text())).transpose();
    let depth = depth.map_err(|_| InvalidBody("the depth must be 0, 1 or infinity"))?;
    Ok((href, depth.unwrap_or(Depth::Infinity)))
}

fn order(orderby: &Element) -> Result<Vec<SortKey>, InvalidSearch> {
    let orders = orderby.children().filter(|child| child.name.parts() == (DAV, "order"));
    let order = orders.map(sort_key).collect::<Result<Vec<_>, _>>()?;
    if order.len() > MAX_SORT_KEYS {
        return Err(InvalidBody("it orders by too many properties").into());
    }
    Ok(order)
}

fn sort_key(order: &Element) -> Result<SortKey, InvalidSearch> {
    if order.child(DAV, "score").is_some() {
        return Err(InvalidSearch::Operator("score".to_owned()));
    }
    Ok(SortKey { property: property(order)?, is_descending: order.child(DAV, "descending").is_some() })
}

fn property(parent: &Element) -> Result<Name, InvalidBody> {
    const REASON: InvalidBody = InvalidBody("an operator must have one property");
    let mut names = parent.child(DAV, "prop").ok_or(REASON)?.children();
    match (names.next(), names.next()) {
        (Some(element), None) => Ok(element.name.clone()),
        _ => Err(REASON),
    }
}

/// Reads a whole number. A number that is too large for `u64` is read as the largest one.
fn whole_number(element: &Element) -> Result<u64, InvalidBody> {
    let text = element.text();
    let digits = text.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(InvalidBody("a limit must be a whole number"));
    }
    Ok(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "<select><allprop/></select>";
    const FROM: &str = "<from><scope><href>/files/ann</href><depth>1</depth></scope></from>";

    fn parse(inner: &str) -> Result<BasicSearch, InvalidSearch> {
        let body = format!(
            r#"<searchrequest xmlns="DAV:" xmlns:s="{SEARCH_DAV}"><basicsearch>{inner}</basicsearch></searchrequest>"#
        );
        BasicSearch::parse(body.as_bytes())
    }

    #[test]
    fn a_search_has_properties_scope_order_and_limit() {
        let order = "<orderby><order><prop><getlastmodified/></prop><descending/></order>
            <order><prop><displayname/></prop></order></orderby>";
        let limit = "<limit><nresults> 50 </nresults><s:firstresult>100</s:firstresult></limit>";
        let search = parse(&format!("<select><prop><getetag/></prop></select>{FROM}{order}{limit}"));
        let key = |name, is_descending| SortKey { property: Name::new(DAV, name), is_descending };
        let expected = BasicSearch {
            select: PropFind::Prop(vec![Name::new(DAV, "getetag")]),
            href: "/files/ann".to_owned(),
            depth: Depth::One,
            condition: None,
            order: vec![key("getlastmodified", true), key("displayname", false)],
            skip: 100,
            limit: Some(50),
        };
        assert_eq!(search, Ok(expected));
    }

    #[test]
    fn omitted_elements_have_defaults() {
        let search = parse(&format!("{ALL}<from><scope><href> /dav/ </href></scope></from>")).unwrap();
        assert_eq!((search.href.as_str(), search.depth), ("/dav/", Depth::Infinity));
        assert_eq!((search.condition, search.order, search.skip, search.limit), (None, vec![], 0, None));
        let huge = format!("{ALL}{FROM}<limit><nresults>99999999999999999999</nresults></limit>");
        assert_eq!(parse(&huge).unwrap().limit, Some(u64::MAX));
    }

    #[test]
    fn malformed_searches_are_refused() {
        let order = |inner: &str| format!("{ALL}{FROM}<orderby>{inner}</orderby>");
        let key = "<order><prop><getetag/></prop></order>";
        for (inner, reason) in [
            (FROM.to_owned(), "it has no select"),
            (format!("<select/>{FROM}"), "select must contain prop or allprop"),
            (ALL.to_owned(), "it has no from"),
            (format!("{ALL}<from/>"), "it has no scope"),
            (format!("{ALL}<from><scope/></from>"), "the scope has no href"),
            (
                format!("{ALL}<from><scope><href>/</href><depth>2</depth></scope></from>"),
                "the depth must be 0, 1 or infinity",
            ),
            (format!("{ALL}{FROM}<limit><nresults>-1</nresults></limit>"), "a limit must be a whole number"),
            (format!("{ALL}{FROM}<limit><nresults/></limit>"), "a limit must be a whole number"),
            (order("<order/>"), "an operator must have one property"),
            (order(&key.repeat(MAX_SORT_KEYS + 1)), "it orders by too many properties"),
        ] {
            assert_eq!(parse(&inner), Err(InvalidBody(reason).into()), "{inner}");
        }
        assert!(matches!(BasicSearch::parse(b"<a/>"), Err(InvalidSearch::Body(_))));
        assert!(matches!(BasicSearch::parse(b"<a"), Err(InvalidSearch::Body(_))));
    }

    #[test]
    fn unsupported_searches_have_their_own_errors() {
        let other = br#"<searchrequest xmlns="DAV:"><sql/></searchrequest>"#;
        assert_eq!(BasicSearch::parse(other), Err(InvalidSearch::Grammar));
        let scope = "<scope><href>/</href></scope>";
        assert_eq!(parse(&format!("{ALL}<from>{scope}{scope}</from>")), Err(InvalidSearch::SeveralScopes));
        let score = format!("{ALL}{FROM}<orderby><order><score/></order></orderby>");
        assert_eq!(parse(&score), Err(InvalidSearch::Operator("score".to_owned())));
    }
}
