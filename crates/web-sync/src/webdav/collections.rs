//! PROPFIND of the collections above the files.

use dav_protocol::{Name, XmlWriter, bodies::PropFind, names::DAV};
use http_server::{body::RequestBody, reply::Reply};

use super::{
    DavError, DavRequest,
    multistatus::{prop_stat, small_reply},
    places::{self, Collection, is_searched},
    prop_find::lists_members,
    request::xml_body,
};

/// Lists a collection and its members.
pub(super) async fn prop_find(
    request: &DavRequest<'_>,
    collection: Collection,
    body: RequestBody,
) -> Result<Reply, DavError> {
    let has_members = lists_members(request)?;
    let names = match PropFind::parse(&xml_body(body).await?)? {
        PropFind::Prop(names) => names,
        PropFind::AllProp { .. } | PropFind::PropName => vec![Name::new(DAV, "resourcetype")],
    };
    let principal = places::principal_href(&request.caller);
    Ok(small_reply(|xml| {
        write(xml, &collection.href, &names, &principal);
        for member in collection.members.iter().filter(|_| has_members) {
            write(xml, &format!("{}{member}/", collection.href), &names, &principal);
        }
    }))
}

/// `supported-query-grammar-set` (RFC 5323 §3.3).
const QUERY_GRAMMARS: &str = "<d:supported-query-grammar-set><d:supported-query-grammar><d:grammar><d:basicsearch/>\
    </d:grammar></d:supported-query-grammar></d:supported-query-grammar-set>";

fn write(xml: &mut XmlWriter, href: &str, names: &[Name], principal: &str) {
    xml.raw("<d:response>");
    xml.element("d:href", href);
    let (found, missing): (Vec<_>, Vec<_>) =
        names.iter().map(|name| (name, value(name, href, principal))).partition(|(_, value)| value.is_some());
    if !found.is_empty() || missing.is_empty() {
        prop_stat(xml, "200 OK", |xml| {
            found.iter().for_each(|(_, value)| xml.raw(value.as_deref().unwrap_or("")));
        });
    }
    if !missing.is_empty() {
        prop_stat(xml, "404 Not Found", |xml| missing.iter().for_each(|(name, _)| xml.empty_named(name)));
    }
    xml.raw("</d:response>");
}

/// The element of a property; `None` if these collections do not have it.
fn value(name: &Name, href: &str, principal: &str) -> Option<String> {
    match name.parts() {
        (DAV, "resourcetype") => Some("<d:resourcetype><d:collection/></d:resourcetype>".to_owned()),
        (DAV, "current-user-principal") => {
            let href = format!("<d:href>{principal}</d:href>");
            Some(format!("<d:current-user-principal>{href}</d:current-user-principal>"))
        }
        (DAV, "supported-query-grammar-set") if is_searched(href) => Some(QUERY_GRAMMARS.to_owned()),
        _ => None,
    }
}
