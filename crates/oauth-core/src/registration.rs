use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    AuthMethod, AuthorizationServer, Client, ClientMetadata, Config, ErrorBody, Eviction, GrantType,
    NewClient, SecretHash, SecretString, Unavailable, check_redirect_uri, json, new_id,
    random::random_bytes,
    secret::{base64url, sha256},
    server::DAY_MS,
    visible_name::is_blank,
};

/// The most redirect URIs of one client.
pub const MAX_REDIRECT_URIS: usize = 20;
/// The most bytes of all redirect URIs of one client together. URIs are ASCII.
const MAX_REDIRECT_URIS_BYTES: usize = 8192;
/// The most clients that one registration evicts.
const MAX_EVICTED: u32 = 20;
/// The longest client name, software id and software version, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 200;

/// The response to a registration (RFC 7591, section 3.2.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Registration {
    /// Its id.
    pub client_id: String,
    /// Its name.
    pub client_name: String,
    /// Its redirect URIs.
    pub redirect_uris: Vec<String>,
    /// The grant types that it may use.
    pub grant_types: Vec<GrantType>,
    /// `code`.
    pub response_types: Vec<&'static str>,
    /// The scopes that it may request.
    #[serde(serialize_with = "separated_by_spaces")]
    pub scope: Vec<String>,
    /// How it authenticates.
    pub token_endpoint_auth_method: AuthMethod,
    /// When it was registered, in seconds since 1970.
    pub client_id_issued_at: i64,
    /// The secret of a confidential client. This response is the only one that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretString>,
    /// When the secret expires: 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<i64>,
    /// The id of its software.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software_id: Option<String>,
    /// The version of that software.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software_version: Option<String>,
}

fn separated_by_spaces<S: Serializer>(scopes: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&scopes.join(" "))
}

/// Why a registration failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Invalid metadata.
    #[error("{0}")]
    InvalidClientMetadata(String),
    /// A refused redirect URI.
    #[error("{0}")]
    InvalidRedirectUri(String),
    /// A temporary failure.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl RegisterError {
    /// The error code (RFC 7591, section 3.2.2).
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidClientMetadata(_) => "invalid_client_metadata",
            Self::InvalidRedirectUri(_) => "invalid_redirect_uri",
            Self::Unavailable(_) => Unavailable::CODE,
        }
    }

    /// The HTTP status of the response.
    pub fn status(&self) -> u16 {
        match self {
            Self::InvalidClientMetadata(_) | Self::InvalidRedirectUri(_) => 400,
            Self::Unavailable(error) => error.status(),
        }
    }

    /// The body of the response.
    pub fn body(&self) -> ErrorBody {
        match self {
            Self::InvalidClientMetadata(message) | Self::InvalidRedirectUri(message) => {
                ErrorBody::new(self.code(), message)
            }
            Self::Unavailable(error) => error.body(),
        }
    }
}

impl AuthorizationServer {
    /// Registers the client described by a JSON body. Idempotent for public clients: the same metadata, in any order of
    /// its lists, returns the same client.
    ///
    /// Mass registration cannot fill the store. If more than
    /// [`max_unused_clients`](crate::Policies::max_unused_clients) clients never had a grant, the oldest of them are
    /// evicted if they are more than a day old.
    ///
    /// # Errors
    /// [`RegisterError`].
    pub async fn register(&self, body: &[u8]) -> Result<Registration, RegisterError> {
        let metadata = parse_metadata(&self.config, body)?;
        let is_public = metadata.token_endpoint_auth_method == AuthMethod::None;
        let id = new_id(&*self.random).map_err(Unavailable::from)?;
        let (secret, digest) = if is_public {
            (None, Some(digest(&metadata)))
        } else {
            let bytes = random_bytes::<32>(&*self.random).map_err(Unavailable::from)?;
            (Some(SecretString::new(base64url(&bytes))), None)
        };
        let hash = secret.as_ref().map(|secret| SecretHash::of(secret.expose()));
        let now = self.now();
        let client = Client { id, metadata, secret: hash, issued_at: now };
        let eviction = Eviction {
            keep: self.config.policies().max_unused_clients,
            before: now.plus_ms(-DAY_MS),
            max: MAX_EVICTED,
        };
        let new = NewClient { client, digest, eviction: Some(eviction) };
        let client = self.store.register_client(new).await.map_err(Unavailable::from)?;
        Ok(registration(client, secret))
    }
}

fn registration(client: Client, secret: Option<SecretString>) -> Registration {
    Registration {
        client_id: client.id,
        client_name: client.metadata.client_name,
        redirect_uris: client.metadata.redirect_uris,
        grant_types: client.metadata.grant_types,
        response_types: vec!["code"],
        scope: client.metadata.scopes,
        token_endpoint_auth_method: client.metadata.token_endpoint_auth_method,
        client_id_issued_at: client.issued_at.seconds(),
        client_secret_expires_at: secret.is_some().then_some(0),
        client_secret: secret,
        software_id: client.metadata.software_id,
        software_version: client.metadata.software_version,
    }
}

/// A digest that is independent of the order of the lists.
fn digest(metadata: &ClientMetadata) -> SecretHash {
    let ClientMetadata {
        client_name,
        mut redirect_uris,
        mut grant_types,
        mut scopes,
        token_endpoint_auth_method,
        requires_assertion: _,
        software_id,
        software_version,
    } = metadata.clone();
    redirect_uris.sort();
    grant_types.sort();
    scopes.sort();
    // An explicit list: a metadata field added later must not change the digests of known clients.
    let canonical = serde_json::json!([
        client_name,
        redirect_uris,
        grant_types,
        scopes,
        token_endpoint_auth_method,
        software_id,
        software_version
    ]);
    SecretHash(sha256(canonical.to_string().as_bytes()))
}

/// Reads a client's metadata from a JSON body.
fn parse_metadata(config: &Config, body: &[u8]) -> Result<ClientMetadata, RegisterError> {
    let members = strict_json::parse_object(body)
        .map_err(|error| RegisterError::InvalidClientMetadata(json::fault("the body", &error)))?;
    metadata_from_members(config, &members)
}

/// Reads a client's metadata from the members of a JSON object: unknown values are dropped, missing ones get their
/// default, duplicates in lists are removed.
pub(crate) fn metadata_from_members(
    config: &Config,
    members: &Map<String, Value>,
) -> Result<ClientMetadata, RegisterError> {
    let client_name =
        short_text(members, "client_name")?.ok_or_else(|| invalid("client_name", "is missing"))?;
    if is_blank(client_name) {
        return Err(invalid("client_name", "is blank"));
    }
    let redirect_uris = redirect_uris(members)?;
    let grant_types = grant_types(members)?;
    if list(members, "response_types")?.is_some_and(|types| !types.contains(&"code")) {
        return Err(invalid("response_types", "lacks code"));
    }
    let scopes = scopes(config, members)?;
    let token_endpoint_auth_method = match text(members, "token_endpoint_auth_method")? {
        None | Some("none") => AuthMethod::None,
        Some("client_secret_basic") => AuthMethod::ClientSecretBasic,
        Some("client_secret_post") => AuthMethod::ClientSecretPost,
        Some(_) => {
            let fault = "must be none, client_secret_basic or client_secret_post";
            return Err(invalid("token_endpoint_auth_method", fault));
        }
    };
    Ok(ClientMetadata {
        client_name: client_name.to_owned(),
        redirect_uris,
        grant_types,
        scopes,
        token_endpoint_auth_method,
        requires_assertion: false,
        software_id: short_text(members, "software_id")?.map(str::to_owned),
        software_version: short_text(members, "software_version")?.map(str::to_owned),
    })
}

fn invalid(name: &str, fault: &str) -> RegisterError {
    RegisterError::InvalidClientMetadata(format!("{name} {fault}"))
}

/// A member that is text; empty counts as absent.
pub(crate) fn text<'a>(
    members: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, RegisterError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(invalid(name, "is not text")),
    }
}

fn short_text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, RegisterError> {
    let text = text(members, name)?;
    if text.is_some_and(|text| text.chars().count() > MAX_NAME_CHARS) {
        return Err(invalid(name, &format!("is longer than {MAX_NAME_CHARS} characters")));
    }
    if text.is_some_and(|text| text.contains('\0')) {
        return Err(invalid(name, "has a NUL character"));
    }
    Ok(text)
}

pub(crate) fn list<'a>(
    members: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<Vec<&'a str>>, RegisterError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(entries)) => {
            let texts: Option<Vec<&str>> = entries.iter().map(Value::as_str).collect();
            texts.map(Some).ok_or_else(|| invalid(name, "has an entry that is not text"))
        }
        Some(_) => Err(invalid(name, "is not a list")),
    }
}

fn redirect_uris(members: &Map<String, Value>) -> Result<Vec<String>, RegisterError> {
    let name = "redirect_uris";
    let uris = list(members, name)?.ok_or_else(|| invalid(name, "is missing"))?;
    if uris.is_empty() || uris.len() > MAX_REDIRECT_URIS {
        return Err(invalid(name, &format!("must have 1 to {MAX_REDIRECT_URIS} entries")));
    }
    let mut accepted: Vec<String> = Vec::new();
    for (index, uri) in uris.into_iter().enumerate() {
        check_redirect_uri(uri).map_err(|refused| {
            RegisterError::InvalidRedirectUri(format!("{name}[{index}] is refused: {refused}"))
        })?;
        if !accepted.iter().any(|other| other == uri) {
            accepted.push(uri.to_owned());
        }
    }
    if accepted.iter().map(String::len).sum::<usize>() > MAX_REDIRECT_URIS_BYTES {
        let fault = format!("are longer than {MAX_REDIRECT_URIS_BYTES} bytes together");
        return Err(invalid(name, &fault));
    }
    Ok(accepted)
}

fn grant_types(members: &Map<String, Value>) -> Result<Vec<GrantType>, RegisterError> {
    let both = [GrantType::AuthorizationCode, GrantType::RefreshToken];
    let Some(types) = list(members, "grant_types")? else { return Ok(both.to_vec()) };
    if !types.contains(&"authorization_code") {
        return Err(invalid("grant_types", "lacks authorization_code"));
    }
    let may_refresh = types.contains(&"refresh_token");
    Ok(both.into_iter().take(if may_refresh { 2 } else { 1 }).collect())
}

fn scopes(config: &Config, members: &Map<String, Value>) -> Result<Vec<String>, RegisterError> {
    let known = config.scopes();
    let requested = text(members, "scope")?.unwrap_or_default();
    let mut requested = requested.split(' ').filter(|scope| !scope.is_empty()).peekable();
    if requested.peek().is_none() {
        return Ok(known.into_iter().map(str::to_owned).collect());
    }
    let mut scopes: Vec<String> = Vec::new();
    for scope in requested {
        if known.contains(&scope) && !scopes.iter().any(|other| other == scope) {
            scopes.push(scope.to_owned());
        }
    }
    if scopes.is_empty() {
        return Err(invalid("scope", &format!("has none of {}", known.join(", "))));
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests;
