use data_encoding::BASE64;

use super::{TokenError, is_client_id};
use crate::{
    AssertionRefused, AuthorizationServer, Client, SecretHash, Unavailable,
    client_assertion::{Assertion, read_assertion, second_method},
    parameters::{Parameters, bad, decode},
};

/// The claimed id of a client, and what proves it.
#[derive(PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) client_id: String,
    proof: Proof,
}

#[derive(PartialEq, Eq)]
enum Proof {
    None,
    Secret(String),
    Assertion(Assertion),
}

impl Credentials {
    /// Reads the credentials from the header or the body; more than one secret or assertion is an error (RFC 6749, section
    /// 2.3).
    pub(super) fn read(parameters: &Parameters, authorization: Option<&str>) -> Result<Self, TokenError> {
        let (in_body, secret) = (parameters.get("client_id")?, parameters.get("client_secret")?);
        if secret.is_some() && authorization.is_some() {
            return Err(bad("client_secret", "must not be sent together with an Authorization header").into());
        }
        if let Some(assertion) = read_assertion(parameters)?? {
            if authorization.is_some() {
                return Err(second_method().into());
            }
            let client_id = assertion.client_id().to_owned();
            return Ok(Self { client_id, proof: Proof::Assertion(assertion) });
        }
        let Some(header) = authorization else {
            let client_id = in_body.ok_or(bad("client_id", "is missing"))?.to_owned();
            return Ok(Self { client_id, proof: Proof::of_secret(secret) });
        };
        let (client_id, secret) = basic(header).ok_or(TokenError::InvalidClient)?;
        if in_body.is_some_and(|other| other != client_id) {
            return Err(bad("client_id", "differs from the one in the Authorization header").into());
        }
        Ok(Self { client_id, proof: Proof::of_secret(Some(&secret)) })
    }
}

impl Proof {
    /// An empty secret counts as absent.
    fn of_secret(secret: Option<&str>) -> Self {
        match secret {
            None | Some("") => Self::None,
            Some(secret) => Self::Secret(secret.to_owned()),
        }
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
    /// The authenticated client. A confidential client may send its secret in the header or the body; one with a metadata
    /// document may send an assertion, and some must; others have neither.
    pub(super) async fn authenticate(&self, credentials: &Credentials) -> Result<Client, TokenError> {
        let client = self.known_client(&credentials.client_id).await?.ok_or(TokenError::InvalidClient)?;
        match (&client.secret, &credentials.proof) {
            (None, Proof::Assertion(assertion)) => self.verify_assertion(assertion).await?,
            (None, Proof::None) if client.metadata.requires_assertion => {
                return Err(AssertionRefused::Missing.into());
            }
            (None, Proof::None) => {}
            (Some(hash), Proof::Secret(secret)) if hash.matches(&SecretHash::of(secret)) => {}
            _ => return Err(TokenError::InvalidClient),
        }
        Ok(client)
    }

    /// The client with that id: registered, or with a metadata document and a grant.
    pub(crate) async fn known_client(&self, id: &str) -> Result<Option<Client>, Unavailable> {
        if is_client_id(id) { Ok(self.store.client(id).await?) } else { Ok(None) }
    }
}
