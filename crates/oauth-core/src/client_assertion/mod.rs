//! Clients that authenticate with an assertion signed by a key in their metadata document: `private_key_jwt` (RFC 7523;
//! RFC 7521, section 4.2).

mod assertion;
mod errors;
mod keys;
#[cfg(test)]
mod tests;

pub use errors::{AssertionError, AssertionRefused};

pub(crate) use assertion::Assertion;

use serde_json::{Map, Value};

use crate::{
    AuthorizationServer, ClientDocuments, ClientUrl, DocumentError, Unavailable, UsedAssertion,
    document_members::{KeySource, keys as keys_in, members_at},
    json,
    parameters::{BadParameter, Parameters, bad},
};

/// The value of `client_assertion_type` (RFC 7523, section 2.2).
pub(crate) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The error for a request with another authentication method besides (RFC 6749, section 2.3).
pub(crate) fn second_method() -> BadParameter {
    bad("client_assertion", "must not be sent together with a secret")
}

/// The assertion of a request. The outer error is a malformed request; the inner value is `None` if there is no assertion.
pub(crate) fn read_assertion(
    parameters: &Parameters,
) -> Result<Result<Option<Assertion>, AssertionRefused>, BadParameter> {
    let (text, kind) = (parameters.get("client_assertion")?, parameters.get("client_assertion_type")?);
    let (client_id, secret) = (parameters.get("client_id")?, parameters.get("client_secret")?);
    if text.is_some() && secret.is_some() {
        return Err(second_method());
    }
    Ok(match (text, kind) {
        (None, None) => Ok(None),
        (Some(text), Some(ASSERTION_TYPE)) => Assertion::parse(text).and_then(|assertion| {
            let is_same = client_id.is_none_or(|id| id == assertion.client_id());
            if is_same { Ok(Some(assertion)) } else { Err(AssertionRefused::OtherClient) }
        }),
        (None, Some(ASSERTION_TYPE)) => Err(AssertionRefused::Malformed),
        _ => Err(AssertionRefused::Type),
    })
}

/// Whether a document may come from the cache.
#[derive(Clone, Copy)]
enum Fetch {
    Cached,
    Again,
}

impl Fetch {
    /// The members of the JSON object at a URL. `read` parses the document.
    async fn object(
        self,
        documents: &dyn ClientDocuments,
        url: &ClientUrl,
        read: impl FnOnce(&[u8]) -> Result<Map<String, Value>, String> + Send,
    ) -> Result<Map<String, Value>, Unavailable> {
        let document = match self {
            Self::Cached => documents.document(url).await,
            Self::Again => documents.refresh(url).await,
        };
        read(&document.map_err(Unavailable::ClientKeys)?).map_err(|fault| invalid(documents, url, fault))
    }
}

/// The error for a document that was fetched and is invalid. Perhaps its host repairs it, so it is temporary.
fn invalid(documents: &dyn ClientDocuments, url: &ClientUrl, detail: String) -> Unavailable {
    documents.reject(url);
    Unavailable::ClientKeys(DocumentError::Failed { message: "the document with them is invalid", detail })
}

impl AuthorizationServer {
    /// Checks an assertion of a client in the store, and last records that it was used, so that it is accepted once.
    pub(crate) async fn verify_assertion(&self, assertion: &Assertion) -> Result<(), AssertionError> {
        let accepted = [self.config.issuer(), self.config.endpoints().token.as_str()];
        assertion.check(&accepted, self.now())?;
        let documents = self.documents.as_deref().ok_or(AssertionRefused::NoKeys)?;
        let client = ClientUrl::parse(assertion.client_id()).map_err(|_| AssertionRefused::NoKeys)?;
        match verify_signature(documents, &client, assertion, Fetch::Cached).await {
            // Perhaps the client has replaced its keys since they were cached.
            Err(AssertionError::Refused(_)) => {
                verify_signature(documents, &client, assertion, Fetch::Again).await?;
            }
            outcome => outcome?,
        }
        let used = UsedAssertion { hash: assertion.hash(), expires_at: assertion.expires_at() };
        if self.store.record_assertion(used).await? { Ok(()) } else { Err(AssertionRefused::Replayed.into()) }
    }
}

async fn verify_signature(
    documents: &dyn ClientDocuments,
    client: &ClientUrl,
    assertion: &Assertion,
    fetch: Fetch,
) -> Result<(), AssertionError> {
    Ok(keys::verify(&keys_of(documents, client, fetch).await?, assertion)?)
}

/// The public keys of a client.
async fn keys_of(
    documents: &dyn ClientDocuments,
    client: &ClientUrl,
    fetch: Fetch,
) -> Result<Vec<Value>, AssertionError> {
    let members = fetch.object(documents, client, |document| members_at(client, document)).await?;
    match KeySource::of(&members).map_err(|fault| invalid(documents, client, fault))? {
        None => Err(AssertionRefused::NoKeys.into()),
        Some(KeySource::Document(keys)) => Ok(keys),
        Some(KeySource::Url(url)) => {
            let read = |set: &[u8]| {
                strict_json::parse_object(set).map_err(|error| json::fault("the key set", &error))
            };
            let set = fetch.object(documents, &url, read).await?;
            let no_keys = || invalid(documents, &url, "the key set has no list named keys".to_owned());
            Ok(keys_in(&set).ok_or_else(no_keys)?)
        }
    }
}
