use data_encoding::BASE64;

use super::{TokenError, is_client_id};
use crate::{
    AuthorizationServer, Client, SecretHash, Unavailable,
    parameters::{Parameters, bad, decode},
};

/// Who a client says it is, and its secret.
#[derive(PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) client_id: String,
    secret: Option<String>,
}

impl Credentials {
    /// Takes them from the header or from the body, never the secret from both (RFC 6749, section 2.3).
    pub(super) fn read(parameters: &Parameters, authorization: Option<&str>) -> Result<Self, TokenError> {
        let (in_body, secret) = (parameters.get("client_id")?, parameters.get("client_secret")?);
        let Some(header) = authorization else {
            let client_id = in_body.ok_or(bad("client_id", "is missing"))?.to_owned();
            return Ok(Self { client_id, secret: secret.map(str::to_owned) });
        };
        if secret.is_some() {
            return Err(bad("client_secret", "is not sent together with an Authorization header").into());
        }
        let (client_id, secret) = basic(header).ok_or(TokenError::InvalidClient)?;
        if in_body.is_some_and(|other| other != client_id) {
            return Err(bad("client_id", "is another than in the Authorization header").into());
        }
        Ok(Self { client_id, secret: Some(secret).filter(|secret| !secret.is_empty()) })
    }
}

/// The id and secret of a header by RFC 7617, each form-encoded within (RFC 6749, section 2.3.1).
fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = BASE64.decode(encoded.trim_matches(' ').as_bytes()).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let client_id = decode(decoded.get(..colon)?)?;
    let secret = decode(decoded.get(colon + 1..)?)?;
    (!client_id.is_empty()).then_some((client_id, secret))
}

impl AuthorizationServer {
    /// The client, if it is who it says. A confidential client may send its secret either way; a public one has none.
    pub(super) async fn authenticate(&self, credentials: &Credentials) -> Result<Client, TokenError> {
        if !is_client_id(&credentials.client_id) {
            return Err(TokenError::InvalidClient);
        }
        let client = self.store.client(&credentials.client_id).await.map_err(Unavailable::from)?;
        let client = client.ok_or(TokenError::InvalidClient)?;
        let is_proven = match (&client.secret, &credentials.secret) {
            (None, None) => true,
            (Some(hash), Some(secret)) => hash.is(&SecretHash::of(secret)),
            _ => false,
        };
        if is_proven { Ok(client) } else { Err(TokenError::InvalidClient) }
    }
}
