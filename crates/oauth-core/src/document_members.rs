//! The members of a client's metadata document, and its keys.

use serde_json::{Map, Value};

use crate::{ClientUrl, json, registration::text};

/// The members of the document at that URL, or what is wrong with it.
pub(crate) fn members_at(url: &ClientUrl, document: &[u8]) -> Result<Map<String, Value>, String> {
    let members = strict_json::parse_object(document).map_err(|error| json::fault("the document", &error))?;
    match members.get("client_id") {
        None => Err("client_id is missing".to_owned()),
        Some(Value::String(id)) if id == url.as_str() => Ok(members),
        Some(_) => Err("client_id is not the URL of the document".to_owned()),
    }
}

/// Where the public keys of a client are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// In its metadata document: `jwks`.
    Document(Vec<Value>),
    /// At another URL: `jwks_uri`.
    Url(ClientUrl),
}

impl KeySource {
    /// Reads it from the members of a metadata document; `None` if there is none. The error is a message for the client's
    /// developer.
    pub(crate) fn of(members: &Map<String, Value>) -> Result<Option<Self>, String> {
        let jwks = members.get("jwks").filter(|jwks| !jwks.is_null());
        let url = text(members, "jwks_uri").map_err(|error| error.to_string())?;
        match (jwks, url) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err("it has both jwks and jwks_uri".to_owned()),
            (Some(jwks), None) => {
                let keys = jwks.as_object().and_then(keys).ok_or("jwks is not a JWK set")?;
                Ok(Some(Self::Document(keys)))
            }
            (None, Some(url)) => match ClientUrl::parse(url) {
                Ok(url) => Ok(Some(Self::Url(url))),
                Err(refused) => Err(format!("jwks_uri cannot be used, because {refused}")),
            },
        }
    }
}

/// The keys of a JWK set (RFC 7517, section 5).
pub(crate) fn keys(set: &Map<String, Value>) -> Option<Vec<Value>> {
    set.get("keys").and_then(Value::as_array).cloned()
}
