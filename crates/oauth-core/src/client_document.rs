//! Clients whose `client_id` is the URL of a metadata document, instead of a registration
//! (draft-ietf-oauth-client-id-metadata-document).

use serde_json::{Map, Value};

use crate::{
    AuthorizationServer, Client, ClientDocuments, ClientMetadata, ClientUrl, Config, DocumentError,
    PageError,
    document_members::{KeySource, members_at},
    parameters::Parameters,
    registration::{MAX_NAME_CHARS, list, metadata_from_members, text},
};

impl AuthorizationServer {
    /// The URL of the metadata document that [`authorize`](Self::authorize) would fetch for this query, if any.
    pub fn client_url(&self, query: &str) -> Option<ClientUrl> {
        self.documents.as_ref()?;
        let parameters = Parameters::from_form(query.as_bytes(), &["client_id"]);
        ClientUrl::parse(parameters.required("client_id").ok()?).ok()
    }

    /// The client with a metadata document at that URL.
    pub(crate) async fn fetch_client(
        &self,
        documents: &dyn ClientDocuments,
        url: &ClientUrl,
    ) -> Result<Client, PageError> {
        let document = documents.document(url).await.map_err(|error| match error {
            DocumentError::Busy => PageError::Busy,
            DocumentError::Failed { message, detail } => PageError::UnreadableDocument { message, detail },
        })?;
        let metadata = metadata(&self.config, url, &document).map_err(|message| {
            documents.reject(url);
            PageError::RefusedDocument(message)
        })?;
        Ok(Client { id: url.as_str().to_owned(), metadata, secret: None, issued_at: self.now() })
    }
}

/// The client's metadata in the document at that URL, by the rules of registration, or what is wrong with it.
fn metadata(config: &Config, url: &ClientUrl, document: &[u8]) -> Result<ClientMetadata, String> {
    let mut members = members_at(url, document)?;
    let secrets = ["client_secret", "client_secret_expires_at"];
    if let Some(secret) =
        secrets.iter().find(|name| members.get(**name).is_some_and(|value| !value.is_null()))
    {
        return Err(format!("it contains a {secret}, which everybody can read"));
    }
    let requires_assertion = requires_assertion(&members)?;
    members.insert("token_endpoint_auth_method".to_owned(), "none".into());
    if text(&members, "client_name").is_ok_and(|name| name.is_none()) {
        let host: String = url.host().chars().take(MAX_NAME_CHARS).collect();
        members.insert("client_name".to_owned(), host.into());
    }
    let metadata = metadata_from_members(config, &members).map_err(|error| error.to_string())?;
    Ok(ClientMetadata { requires_assertion, ..metadata })
}

/// Whether the client always authenticates with an assertion. One that also offers `none` may do so.
fn requires_assertion(members: &Map<String, Value>) -> Result<bool, String> {
    let (none, assertion) = ("none", "private_key_jwt");
    // A client that supports several methods can list the others here.
    let others = list(members, "token_endpoint_auth_methods_supported").ok().flatten().unwrap_or_default();
    let method = text(members, "token_endpoint_auth_method").map_err(|error| error.to_string())?;
    let offers = |name: &str| method == Some(name) || others.contains(&name);
    if offers(none) || (method.is_none() && !offers(assertion)) {
        return Ok(false);
    }
    if !offers(assertion) {
        return Err(
            "token_endpoint_auth_method is not none and not private_key_jwt, the only methods for clients \
                    with a document"
                .to_owned(),
        );
    }
    match KeySource::of(members)? {
        Some(_) => Ok(true),
        None => Err("it has neither jwks nor jwks_uri, which private_key_jwt needs".to_owned()),
    }
}

#[cfg(test)]
mod tests;
