use data_encoding::BASE64;

use super::{TokenError, is_client_id};
use crate::{
    AuthorizationServer, Client, SecretHash, Unavailable,
    parameters::{Parameters, bad, decode},
};

/// The claimed id of a client, and its secret.
#[derive(PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) client_id: String,
    secret: Option<String>,
}

impl Credentials {
    /// Reads the credentials from the header or the body; a secret in both is an error (RFC 6749, section 2.3).
    pub(super) fn read(parameters: &Parameters, authorization: Option<&str>) -> Result<Self, TokenError> {
        let (in_body, secret) = (parameters.get("client_id")?, parameters.get("client_secret")?);
        let Some(header) = authorization else {
            let client_id = in_body.ok_or(bad("client_id", "is missing"))?.to_owned();
            return Ok(Self { client_id, secret: secret.map(str::to_owned) });
        };
        if secret.is_some() {
            return Err(bad("client_secret", "must not be sent together with an Authorization header").into());
        }
        let (client_id, secret) = basic(header).ok_or(TokenError::InvalidClient)?;
        if in_body.is_some_and(|other| other != client_id) {
            return Err(bad("client_id", "differs from the one in the Authorization header").into());
        }
        Ok(Self { client_id, secret: Some(secret).filter(|secret| !secret.is_empty()) })
    }
}

/// The id and secret of a Basic header (RFC 7617), each form-encoded (RFC 6749, section 2.3.1).
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
    /// The authenticated client. A confidential client may send its secret in the header or the body; a public one has
    /// none.
    pub(super) async fn authenticate(&self, credentials: &Credentials) -> Result<Client, TokenError> {
        if !is_client_id(&credentials.client_id) {
            return Err(TokenError::InvalidClient);
        }
        let client = self.store.client(&credentials.client_id).await.map_err(Unavailable::from)?;
        let client = client.ok_or(TokenError::InvalidClient)?;
        let is_authentic = match (&client.secret, &credentials.secret) {
            (None, None) => true,
            (Some(hash), Some(secret)) => hash.matches(&SecretHash::of(secret)),
            _ => false,
        };
        if is_authentic { Ok(client) } else { Err(TokenError::InvalidClient) }
    }
}
