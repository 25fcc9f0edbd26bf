use std::{fmt, sync::Arc};

use crate::{
    AccessTokens, AuthorizationServer, ClientDocuments, Clock, Config, OpaqueTokens, Random, Store,
    SystemClock, SystemRandom,
    secret::{DerivedKeys, derive},
};

/// Builds an [`AuthorizationServer`]; see [`AuthorizationServer::builder`].
#[must_use]
pub struct AuthorizationServerBuilder(AuthorizationServer);

impl fmt::Debug for AuthorizationServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuthorizationServerBuilder").field(&self.0).finish()
    }
}

impl AuthorizationServer {
    /// A server with this configuration on this store. By default it uses the system's clock and randomness, issues
    /// [`OpaqueTokens`], and does not know clients with metadata documents.
    ///
    /// The keys for refresh tokens, for the `sub` of access tokens, for consent forms and for opaque tokens are derived
    /// from `secret_key`. Use 32 random bytes, such as [`new_key`](crate::new_key) returns, that serve no other purpose
    /// and are the same in all processes on one store. Never change the key. Under another key, access tokens issued
    /// before are refused, and a replaced refresh token counts as unknown instead of replayed. Current refresh tokens
    /// still work.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use oauth_core::{
    ///     AuthorizationServer, Config, Endpoints, Lifetimes, MemoryStore, Resource, SystemRandom, new_key,
    /// };
    ///
    /// let photos = Resource::new("https://photos.example/mcp", "Photos", &["photos"]);
    /// let endpoints = Endpoints::under("https://photos.example/oauth");
    /// let config = Config::new("https://photos.example", endpoints, vec![photos], Lifetimes::default())?;
    /// let key = new_key(&SystemRandom::new())?; // Keep it in a secret store.
    /// let server = AuthorizationServer::builder(config, Arc::new(MemoryStore::new()), &key).build();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(
        config: Config,
        store: Arc<dyn Store>,
        secret_key: &[u8; 32],
    ) -> AuthorizationServerBuilder {
        AuthorizationServerBuilder(Self {
            config: Arc::new(config),
            store,
            tokens: Arc::new(OpaqueTokens::new(&derive(secret_key, b"opaque tokens"))),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom::new()),
            keys: Arc::new(DerivedKeys::of(secret_key)),
            documents: None,
        })
    }
}

impl AuthorizationServerBuilder {
    /// Sets the format of access tokens, for instance the JWTs of the module `jwt`.
    pub fn access_tokens(mut self, tokens: Arc<dyn AccessTokens>) -> Self {
        self.0.tokens = tokens;
        self
    }

    /// Replaces the system's clock, for tests.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.0.clock = clock;
        self
    }

    /// Replaces the system's source of random bytes, for tests.
    pub fn random(mut self, random: Arc<dyn Random>) -> Self {
        self.0.random = random;
        self
    }

    /// Also accepts clients whose `client_id` is the https URL of a metadata document, and says so in the server
    /// metadata.
    pub fn client_documents(mut self, documents: Arc<dyn ClientDocuments>) -> Self {
        self.0.documents = Some(documents);
        self
    }

    /// The server.
    pub fn build(self) -> AuthorizationServer {
        self.0
    }
}
