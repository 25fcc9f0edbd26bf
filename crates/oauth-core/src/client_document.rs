//! Clients that describe themselves at their `client_id` instead of registering
//! (draft-ietf-oauth-client-id-metadata-document).

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    AuthorizationServer, Client, ClientMetadata, ClientUrl, Config, PageError, json,
    parameters::Parameters,
    registration::{MAX_NAME_CHARS, described, list, text},
};

/// Where the documents come from in which clients describe themselves. The implementation owes the server a guard: who
/// asks is a stranger, who may name any host.
#[async_trait]
pub trait ClientDocuments: Send + Sync + 'static {
    /// What stands at that URL now, or stood there as long ago as its own headers allow.
    async fn document(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError>;

    /// Whether [`document`](Self::document) would answer from memory, so that whoever makes the service ask for it may
    /// be limited in how often.
    fn is_cached(&self, url: &ClientUrl) -> bool;

    /// The document of that URL turned out to be useless. It is not to be kept as a good one would be.
    fn reject(&self, url: &ClientUrl);
}

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Too many are fetched at the moment.
    #[error("too many documents are fetched at the moment")]
    Busy,
    /// It could not be fetched.
    #[error("{told}")]
    Failed {
        /// What whoever asks is told. It must not tell what lies inside the service's own network.
        told: &'static str,
        /// What the log is told.
        detail: String,
    },
}

impl AuthorizationServer {
    /// The document that [`authorize`](Self::authorize) will ask for when it is given this query; `None` when it will
    /// ask for none.
    pub fn client_url(&self, query: &str) -> Option<ClientUrl> {
        self.documents.as_ref()?;
        let parameters = Parameters::from_form(query.as_bytes(), &["client_id"]);
        ClientUrl::parse(parameters.required("client_id").ok()?).ok()
    }

    /// The client that describes itself at its id.
    pub(crate) async fn described_client(
        &self,
        documents: &dyn ClientDocuments,
        url: &ClientUrl,
    ) -> Result<Client, PageError> {
        let document = documents.document(url).await.map_err(|error| match error {
            DocumentError::Busy => PageError::Busy,
            DocumentError::Failed { told, detail } => PageError::UnreadableDocument { told, detail },
        })?;
        let metadata = metadata(&self.config, url, &document).map_err(|words| {
            documents.reject(url);
            PageError::RefusedDocument(words)
        })?;
        Ok(Client { id: url.as_str().to_owned(), metadata, secret: None, issued_at: self.now() })
    }
}

/// What the document at that URL says of the client, by the rules for registration, and in words what is wrong with it.
fn metadata(config: &Config, url: &ClientUrl, document: &[u8]) -> Result<ClientMetadata, String> {
    let mut members = json::object(document).map_err(|words| words.replace("the body", "the document"))?;
    match members.get("client_id") {
        None => return Err("client_id is missing".to_owned()),
        Some(Value::String(id)) if id == url.as_str() => {}
        Some(_) => return Err("client_id is not the address of the document".to_owned()),
    }
    let secrets = ["client_secret", "client_secret_expires_at"];
    if let Some(secret) =
        secrets.iter().find(|name| members.get(**name).is_some_and(|value| !value.is_null()))
    {
        return Err(format!("{secret} stands in it, where everybody can read it"));
    }
    // A client that can do more may say in a list that it does without, too.
    let methods = list(&members, "token_endpoint_auth_methods_supported").ok().flatten().unwrap_or_default();
    let method = text(&members, "token_endpoint_auth_method").map_err(|error| error.to_string())?;
    if !matches!(method, None | Some("none")) && !methods.contains(&"none") {
        return Err("token_endpoint_auth_method is not none, and this service takes no other \
                    of clients that describe themselves"
            .to_owned());
    }
    members.insert("token_endpoint_auth_method".to_owned(), "none".into());
    if text(&members, "client_name").is_ok_and(|name| name.is_none()) {
        let host: String = url.host().chars().take(MAX_NAME_CHARS).collect();
        members.insert("client_name".to_owned(), host.into());
    }
    described(config, &members).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
