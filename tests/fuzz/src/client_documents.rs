//! Client ID metadata documents and the URLs that serve as client ids.
#![expect(clippy::unwrap_used, reason = "a panic reports a finding")]

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use oauth_core::{
    Attempt, AuthMethod, AuthorizationServer, AuthorizeError, ClientDocuments, ClientStore as _, ClientUrl,
    DocumentError, MemoryStore, PageError, RevokeRequest,
};
use serde_json::{Value, json};
use url::{Host, Url, form_urlencoded};

use crate::oauth::{FixedClock, assert_is_safe, config, now};

/// Checks accepted `client_id` URLs against a second implementation of the rules.
pub(crate) fn client_url(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(accepted) = ClientUrl::parse(text) else { return };
    let url = Url::parse(text).unwrap();
    assert_eq!((url.as_str(), accepted.as_str()), (text, text), "an accepted URL is normalised");
    assert!(text.len() <= 2000 && text.bytes().all(|byte| byte.is_ascii_graphic()), "{text:?}");
    assert_eq!((url.scheme(), url.fragment()), ("https", None), "{text:?}");
    assert!(url.username().is_empty() && url.password().is_none() && !text.contains('#'), "{text:?}");
    assert!(matches!(url.host(), Some(Host::Domain(name)) if name == accepted.host_name()), "{text:?}");
    assert_eq!(url.port_or_known_default(), Some(accepted.port()), "{text:?}");
    assert_ne!(url.path(), "/", "{text:?}");
    // The request goes to exactly the URL in the id.
    assert_eq!(format!("https://{}{}", accepted.host(), accepted.path_and_query()), text);
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    assert_eq!(format!("{}{query}", url.path()), accepted.path_and_query());
}

const CLIENT_ID: &str = "https://app.example/client.json";
const REDIRECT: &str = "http://127.0.0.1:33418/";
const QUERY: &str = "response_type=code&client_id=https://app.example/client.json\
     &redirect_uri=http://127.0.0.1:33418/&code_challenge_method=S256\
     &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

struct OneDocument(Arc<[u8]>);

#[async_trait]
impl ClientDocuments for OneDocument {
    async fn document(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError> {
        assert_eq!(url.as_str(), CLIENT_ID);
        Ok(self.0.clone())
    }

    async fn refresh(&self, url: &ClientUrl) -> Result<Arc<[u8]>, DocumentError> {
        self.document(url).await
    }

    fn is_cached(&self, _: &ClientUrl) -> bool {
        true
    }

    fn reject(&self, _: &ClientUrl) {}
}

/// A client metadata document, read when its client requests authorization.
pub(crate) fn client_document(bytes: &[u8]) {
    let store = Arc::new(MemoryStore::new());
    let server = AuthorizationServer::builder(config(), store.clone(), &[8; 32])
        .clock(Arc::new(FixedClock))
        .client_documents(Arc::new(OneDocument(bytes.into())))
        .build();
    let request = match now(server.authorize(QUERY)) {
        Ok(request) => request,
        Err(AuthorizeError::Page(PageError::RefusedDocument(_) | PageError::UnregisteredRedirectUri)) => {
            return;
        }
        // The document may list no scope of the resource.
        Err(AuthorizeError::Redirect(redirect)) => return assert_eq!(redirect.code, "invalid_scope"),
        Err(error) => unreachable!("{error}"),
    };
    let metadata = &request.client.metadata;
    assert_eq!((request.client.id.as_str(), request.redirect_uri.as_str()), (CLIENT_ID, REDIRECT));
    assert_eq!((request.client.secret, metadata.token_endpoint_auth_method), (None, AuthMethod::None));
    assert!((1..=200).contains(&metadata.client_name.chars().count()));
    assert!((1..=20).contains(&metadata.redirect_uris.len()) && !metadata.scopes.is_empty());
    metadata.redirect_uris.iter().for_each(|uri| assert_is_safe(uri));
    let without_port = |uri: &str| {
        let mut url = Url::parse(uri).unwrap();
        url.set_port(None).ok();
        url
    };
    let is_same = |uri: &String| without_port(uri) == without_port(REDIRECT) && uri.starts_with("http");
    assert!(metadata.redirect_uris.iter().any(is_same), "{metadata:?}");
    assert_eq!(now(store.client(CLIENT_ID)).unwrap(), None, "no client is stored before consent");
    now(server.allow(&request, "1", &Attempt::derive(&[7; 32], &[]))).unwrap();
    assert_eq!(now(store.client(CLIENT_ID)).unwrap(), Some(request.client));
}

/// Assertions that other libraries signed, and the public keys.
static VECTORS: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../crates/oauth-core/src/client_assertion/vectors.json");
    serde_json::from_str(text).unwrap()
});

/// An assertion of a connected client. Only those that its keys signed are accepted.
pub(crate) fn client_assertion(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let document = json!({
        "client_id": CLIENT_ID,
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks": VECTORS["jwks"],
    });
    let server = AuthorizationServer::builder(config(), Arc::new(MemoryStore::new()), &[8; 32])
        .clock(Arc::new(FixedClock))
        .client_documents(Arc::new(OneDocument(document.to_string().into_bytes().into())))
        .build();
    let request = now(server.authorize(QUERY)).unwrap();
    now(server.allow(&request, "1", &Attempt::derive(&[7; 32], &[]))).unwrap();
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("token", "unknown")
        .append_pair("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        .append_pair("client_assertion", text)
        .finish();
    let request = RevokeRequest::from_form(body.as_bytes()).unwrap();
    let is_genuine = VECTORS["valid"].as_array().unwrap().iter().any(|vector| vector["token"] == text);
    match now(server.revoke(&request)) {
        Ok(_) => assert!(is_genuine, "{text:?}"),
        Err(error) => assert!(!is_genuine && error.status() == 401, "{text:?}: {error}"),
    }
    assert_eq!(now(server.revoke(&request)).unwrap_err().status(), 401, "a second use");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corpora_contain_accepted_input() {
        let assertion = include_str!("../corpus/client_assertion/ES256");
        assert!(VECTORS["valid"].as_array().unwrap().iter().any(|vector| vector["token"] == assertion));
        ClientUrl::parse(include_str!("../corpus/client_url/complete")).unwrap();
        for document in [
            &include_bytes!("../corpus/client_document/complete")[..],
            include_bytes!("../corpus/client_document/least"),
        ] {
            let server = AuthorizationServer::builder(config(), Arc::new(MemoryStore::new()), &[8; 32])
                .clock(Arc::new(FixedClock))
                .client_documents(Arc::new(OneDocument(document.into())))
                .build();
            now(server.authorize(QUERY)).unwrap();
        }
    }
}
