use serde::Serialize;

use crate::{AuthMethod, AuthorizationServer, GrantType, JwkSet, ServiceLinks, Unavailable};

/// Authorization server metadata (RFC 8414).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(
    missing_docs,
    reason = "RFC 8414, section 2, RFC 9207 and draft-ietf-oauth-client-id-metadata-document define each member"
)]
#[non_exhaustive]
pub struct ServerMetadata {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub registration_endpoint: String,
    pub revocation_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks_uri: Option<String>,
    pub response_types_supported: Vec<&'static str>,
    pub response_modes_supported: Vec<&'static str>,
    pub grant_types_supported: Vec<GrantType>,
    pub code_challenge_methods_supported: Vec<&'static str>,
    pub token_endpoint_auth_methods_supported: Vec<AuthMethod>,
    pub revocation_endpoint_auth_methods_supported: Vec<AuthMethod>,
    pub scopes_supported: Vec<String>,
    pub authorization_response_iss_parameter_supported: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub client_id_metadata_document_supported: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_documentation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op_policy_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op_tos_uri: Option<String>,
}

/// Protected resource metadata (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "RFC 9728, section 2, defines each member")]
#[non_exhaustive]
pub struct ResourceMetadata {
    pub resource: String,
    pub authorization_servers: Vec<String>,
    pub scopes_supported: Vec<String>,
    pub bearer_methods_supported: Vec<&'static str>,
    pub resource_name: String,
}

impl AuthorizationServer {
    /// The document at `/.well-known/oauth-authorization-server`, followed by the issuer's path.
    pub fn server_metadata(&self) -> ServerMetadata {
        let endpoints = self.config.endpoints().clone();
        let ServiceLinks { policy, terms, support } = self.config.links().clone();
        ServerMetadata {
            issuer: self.config.issuer().to_owned(),
            authorization_endpoint: endpoints.authorization,
            token_endpoint: endpoints.token,
            registration_endpoint: endpoints.registration,
            revocation_endpoint: endpoints.revocation,
            jwks_uri: self.tokens.public_keys().map(|_| endpoints.jwks),
            response_types_supported: vec!["code"],
            response_modes_supported: vec!["query"],
            grant_types_supported: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
            code_challenge_methods_supported: vec!["S256"],
            token_endpoint_auth_methods_supported: vec![
                AuthMethod::None,
                AuthMethod::ClientSecretBasic,
                AuthMethod::ClientSecretPost,
            ],
            revocation_endpoint_auth_methods_supported: vec![AuthMethod::None],
            scopes_supported: self.config.scopes().into_iter().map(str::to_owned).collect(),
            authorization_response_iss_parameter_supported: true,
            client_id_metadata_document_supported: self.documents.is_some(),
            service_documentation: support,
            op_policy_uri: policy,
            op_tos_uri: terms,
        }
    }

    /// The metadata document of the resource with that URL; `None` when there is no such resource.
    pub fn resource_metadata(&self, url: &str) -> Option<ResourceMetadata> {
        let resource = self.resource(url)?;
        Some(ResourceMetadata {
            resource: resource.url.clone(),
            authorization_servers: vec![self.config.issuer().to_owned()],
            scopes_supported: resource.scopes.clone(),
            bearer_methods_supported: vec!["header"],
            resource_name: resource.name.clone(),
        })
    }

    /// The document at [`Endpoints::jwks`](crate::Endpoints::jwks); `None` if the access tokens have no public keys.
    /// Caches may keep it for five minutes, so that other services soon know a new key.
    ///
    /// # Errors
    /// [`Unavailable::Tokens`].
    pub async fn jwk_set(&self) -> Result<Option<JwkSet>, Unavailable> {
        match self.tokens.public_keys() {
            Some(keys) => Ok(Some(keys.jwk_set().await?)),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::testing::{CountingStore, LEGACY, TestServer, V1, config};

    #[test]
    fn documents_follow_the_configuration() {
        let server = TestServer::new().server;
        assert_eq!(
            serde_json::to_value(server.server_metadata()).unwrap(),
            json!({
                "issuer": "https://photos.example/api",
                "authorization_endpoint": "https://photos.example/api/oauth/authorize",
                "token_endpoint": "https://photos.example/api/oauth/token",
                "registration_endpoint": "https://photos.example/api/oauth/register",
                "revocation_endpoint": "https://photos.example/api/oauth/revoke",
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                "scopes_supported": ["mcp:images", "mcp:photos"],
                "authorization_response_iss_parameter_supported": true,
            })
        );
        let links = ServiceLinks {
            policy: Some("https://photos.example/privacy".to_owned()),
            terms: Some("https://photos.example/terms".to_owned()),
            support: Some("https://photos.example/help?from=metadata".to_owned()),
        };
        let with_links = AuthorizationServer::builder(
            config().with_links(links).unwrap(),
            Arc::new(CountingStore::default()),
            &[8; 32],
        )
        .build();
        let metadata = serde_json::to_value(with_links.server_metadata()).unwrap();
        for (name, url) in [
            ("op_policy_uri", "https://photos.example/privacy"),
            ("op_tos_uri", "https://photos.example/terms"),
            ("service_documentation", "https://photos.example/help?from=metadata"),
        ] {
            assert_eq!(metadata[name], url);
        }
        assert_eq!(
            serde_json::to_value(server.resource_metadata(&format!("{V1}/"))).unwrap(),
            json!({
                "resource": V1,
                "authorization_servers": ["https://photos.example/api"],
                "scopes_supported": ["mcp:images"],
                "bearer_methods_supported": ["header"],
                "resource_name": "Photos",
            })
        );
        assert_eq!(server.resource_metadata(LEGACY).unwrap().scopes_supported, ["mcp:photos"]);
        assert_eq!(server.resource_metadata("https://photos.example/api/mcp/v2"), None);
    }
}
