use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{AuthorizationServer, TokensUnavailable, Unavailable};

/// The members of a public key (JWK, RFC 7517).
pub type Jwk = Map<String, Value>;

/// A document of public keys (RFC 7517, section 5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JwkSet {
    /// The keys, each with the `kid` that tokens name. They have no private members: everyone may read them.
    pub keys: Vec<Jwk>,
}

/// The public keys of access tokens, with which other services verify them.
#[async_trait]
pub trait PublicKeys: Send + Sync {
    /// All keys whose tokens are valid now or soon.
    ///
    /// # Errors
    /// [`TokensUnavailable`].
    async fn jwk_set(&self) -> Result<JwkSet, TokensUnavailable>;
}

impl AuthorizationServer {
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
