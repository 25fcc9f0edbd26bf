use url::Url;

/// The checked configuration of an authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    issuer: String,
    endpoints: Endpoints,
    resources: Vec<Resource>,
    lifetimes: Lifetimes,
    policies: Policies,
    links: ServiceLinks,
}

/// Pages about the service, for its users: https URLs. They are shown on the consent form and are in the metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceLinks {
    /// The privacy policy: `op_policy_uri`.
    pub policy: Option<String>,
    /// The terms of service: `op_tos_uri`.
    pub terms: Option<String>,
    /// Help and contact: `service_documentation`.
    pub support: Option<String>,
}

impl ServiceLinks {
    /// The links that are set, each with its text.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let links =
            [("Privacy policy", &self.policy), ("Terms of service", &self.terms), ("Support", &self.support)];
        links.into_iter().filter_map(|(text, url)| url.as_deref().map(|url| (text, url)))
    }
}

/// The URLs of the endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// The consent page.
    pub authorization: String,
    /// The token endpoint.
    pub token: String,
    /// Dynamic client registration.
    pub registration: String,
    /// Token revocation.
    pub revocation: String,
    /// The public keys of access tokens. The endpoint exists if the tokens have such keys
    /// ([`AccessTokens::public_keys`](crate::AccessTokens::public_keys)).
    pub jwks: String,
}

impl Endpoints {
    /// `authorize`, `token`, `register`, `revoke` and `jwks` below one URL.
    pub fn under(url: &str) -> Self {
        let at = |name: &str| format!("{}/{name}", url.trim_end_matches('/'));
        Self {
            authorization: at("authorize"),
            token: at("token"),
            registration: at("register"),
            revocation: at("revoke"),
            jwks: at("jwks"),
        }
    }
}

/// A protected resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its URL, as in its metadata and in the audience of its tokens.
    pub url: String,
    /// Its name for people.
    pub name: String,
    /// The scopes that apply to it, at least one.
    pub scopes: Vec<String>,
    /// Scope aliases, each as the requested scope and the scope of the resource that is granted instead:
    ///
    /// ```
    /// # use oauth_core::Resource;
    /// let mut v2 = Resource::new("https://photos.example/mcp/v2", "Photos", &["images"]);
    /// // An app that requests `photos`, a scope of an older resource, gets `images` here.
    /// v2.scope_aliases.push(("photos".to_owned(), "images".to_owned()));
    /// ```
    ///
    /// The requested scope must belong to another resource, because the server refuses a scope that no resource has.
    pub scope_aliases: Vec<(String, String)>,
    /// The URL of its metadata document (RFC 9728).
    pub metadata_url: String,
}

/// Lifetimes in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// An authorization code.
    pub code_seconds: u32,
    /// An access token.
    pub access_token_seconds: u32,
    /// A refresh token.
    pub refresh_token_seconds: u32,
}

impl Lifetimes {
    /// Ten minutes, one hour, thirty days.
    pub const DEFAULT: Self =
        Self { code_seconds: 600, access_token_seconds: 3600, refresh_token_seconds: 30 * 24 * 3600 };
}

impl Default for Lifetimes {
    /// [`Lifetimes::DEFAULT`].
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Rules on which services differ. [`policies`](crate::policies) describes what the specifications require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policies {
    /// How long after its rotation a refresh token may be replayed without ending the grant, in seconds. Default: 30.
    /// Parallel processes of one client cause such replays. The replay itself is refused with `invalid_grant`: the
    /// process that sent it gets no tokens, and may ask its user to connect again although the grant is still valid.
    pub replay_grace_seconds: u32,
    /// Whether a code that is used twice ends its grant. Default: no.
    pub ends_grant_on_code_replay: bool,
    /// Whether a registered client may use any port of its loopback redirect URIs. Default: no. Clients with a metadata
    /// document always may.
    pub allows_any_loopback_port: bool,
    /// Whether an authorization request must name its resource. Default: no, and the first resource is used.
    pub requires_resource: bool,
    /// The maximum number of clients that never had a grant. Default: 20,000. Above it, a registration evicts the oldest ones.
    pub max_unused_clients: u32,
    /// Whether the `sub` of access tokens is the user's id, [`Grant::subject`](crate::Grant::subject). Default: no, it
    /// is a pseudonym that differs between clients. A change of this policy invalidates all access tokens; clients get
    /// new ones with their refresh tokens.
    pub reveals_subject: bool,
}

impl Policies {
    /// The default of each policy, as documented at its field.
    pub const DEFAULT: Self = Self {
        replay_grace_seconds: 30,
        ends_grant_on_code_replay: false,
        allows_any_loopback_port: false,
        requires_resource: false,
        max_unused_clients: 20_000,
        reveals_subject: false,
    };

    pub(crate) fn replay_grace_ms(&self) -> i64 {
        i64::from(self.replay_grace_seconds) * 1000
    }
}

impl Default for Policies {
    /// [`Policies::DEFAULT`].
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A URL that is incomplete, is not `http` or `https`, or has a user, a query or a fragment.
    #[error("{0:?} is not a complete http or https URL without user, query and fragment")]
    Url(String),
    /// No resource.
    #[error("no resource is configured")]
    NoResource,
    /// Two resources with equivalent URLs.
    #[error("two resources have the URL {0:?}")]
    RepeatedResource(String),
    /// A resource without scopes.
    #[error("the resource {0:?} has no scope")]
    NoScope(String),
    /// A scope with characters that RFC 6749 does not allow.
    #[error("{0:?} is not a valid scope")]
    Scope(String),
    /// An alias that grants a scope that the resource does not have.
    #[error("an alias grants the scope {0:?}, which is not a scope of the resource")]
    Alias(String),
    /// A link that is not an https URL.
    #[error("{0:?} is not an https URL")]
    Link(String),
    /// A lifetime of zero.
    #[error("a lifetime is zero seconds")]
    Lifetime,
}

impl Config {
    /// Checks a configuration. The first resource is the default, for clients that name none.
    ///
    /// Use the URLs that clients see. A service on the internet is reached by https, for instance through a proxy that
    /// terminates TLS, so its URLs have the scheme `https`. The scheme `http` is accepted for tests: clients refuse an
    /// issuer with `http`, except on their own machine.
    ///
    /// # Errors
    /// The first [`ConfigError`].
    pub fn new(
        issuer: impl Into<String>,
        endpoints: Endpoints,
        resources: Vec<Resource>,
        lifetimes: Lifetimes,
    ) -> Result<Self, ConfigError> {
        let (policies, links) = (Policies::DEFAULT, ServiceLinks::default());
        let config = Self { issuer: issuer.into(), endpoints, resources, lifetimes, policies, links };
        config.check_urls()?;
        if config.resources.is_empty() {
            return Err(ConfigError::NoResource);
        }
        for (index, resource) in config.resources.iter().enumerate() {
            resource.check()?;
            let before = config.resources.get(..index).unwrap_or_default();
            if before.iter().any(|other| other.is_at(&resource.url)) {
                return Err(ConfigError::RepeatedResource(resource.url.clone()));
            }
        }
        let Lifetimes { code_seconds, access_token_seconds, refresh_token_seconds } = lifetimes;
        if [code_seconds, access_token_seconds, refresh_token_seconds].contains(&0) {
            return Err(ConfigError::Lifetime);
        }
        Ok(config)
    }

    /// The same configuration with other policies.
    ///
    /// ```
    /// # use oauth_core::{Config, Endpoints, Lifetimes, Policies, Resource};
    /// # let resource = Resource::new("https://a.example/mcp", "A", &["a"]);
    /// # let endpoints = Endpoints::under("https://a.example");
    /// let mut policies = Policies::default();
    /// policies.allows_any_loopback_port = true;
    /// let config = Config::new("https://a.example", endpoints, vec![resource], Lifetimes::default())?
    ///     .with_policies(policies);
    /// # Ok::<(), oauth_core::ConfigError>(())
    /// ```
    #[must_use]
    pub fn with_policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// The same configuration with links.
    ///
    /// # Errors
    /// [`ConfigError::Link`].
    pub fn with_links(mut self, links: ServiceLinks) -> Result<Self, ConfigError> {
        let is_https = |url: &str| Url::parse(url).is_ok_and(|url| url.scheme() == "https");
        if let Some((_, url)) = links.iter().find(|(_, url)| !is_https(url)) {
            return Err(ConfigError::Link(url.to_owned()));
        }
        self.links = links;
        Ok(self)
    }

    fn check_urls(&self) -> Result<(), ConfigError> {
        let Endpoints { authorization, token, registration, revocation, jwks } = &self.endpoints;
        let endpoints = [&self.issuer, authorization, token, registration, revocation, jwks];
        let resources = self.resources.iter().flat_map(|resource| [&resource.url, &resource.metadata_url]);
        for text in endpoints.into_iter().chain(resources) {
            let is_valid = Url::parse(text).is_ok_and(|url| {
                ["http", "https"].contains(&url.scheme())
                    && url.has_host()
                    && url.username().is_empty()
                    && url.password().is_none()
            });
            if !is_valid || text.contains(['?', '#']) {
                return Err(ConfigError::Url(text.clone()));
            }
        }
        Ok(())
    }

    /// The issuer (RFC 8414), exactly as in metadata, tokens and responses.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The endpoints.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// All resources, the default one first.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The policies.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// The links.
    pub fn links(&self) -> &ServiceLinks {
        &self.links
    }

    /// The lifetimes.
    pub fn lifetimes(&self) -> &Lifetimes {
        &self.lifetimes
    }

    /// The resource with that URL. A trailing slash, the default port and the case of scheme and host are ignored; the
    /// rest is compared byte by byte.
    pub fn resource(&self, url: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.is_at(url))
    }

    /// The scopes of all resources, each once.
    pub fn scopes(&self) -> Vec<&str> {
        let mut scopes: Vec<&str> = Vec::new();
        for scope in self.resources.iter().flat_map(|resource| &resource.scopes) {
            if !scopes.contains(&scope.as_str()) {
                scopes.push(scope);
            }
        }
        scopes
    }
}

impl Resource {
    /// A resource without scope aliases. Its metadata URL has the well-known path between the host and the path of the
    /// resource (RFC 9728, section 3.1). A path that is only a slash is left out.
    pub fn new(url: impl Into<String>, name: impl Into<String>, scopes: &[&str]) -> Self {
        let url = url.into();
        let end_of_host = url.find("://").and_then(|at| url.get(at + 3..)?.find('/').map(|end| at + 3 + end));
        let (host, path) = url.split_at(end_of_host.unwrap_or(url.len()));
        let path = if path == "/" { "" } else { path };
        Self {
            metadata_url: format!("{host}/.well-known/oauth-protected-resource{path}"),
            url,
            name: name.into(),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            scope_aliases: Vec::new(),
        }
    }

    fn is_at(&self, url: &str) -> bool {
        normalized(&self.url).is_some_and(|own| normalized(url) == Some(own))
    }

    fn check(&self) -> Result<(), ConfigError> {
        if self.scopes.is_empty() {
            return Err(ConfigError::NoScope(self.url.clone()));
        }
        let aliases = self.scope_aliases.iter().map(|(alias, _)| alias);
        if let Some(scope) = self.scopes.iter().chain(aliases).find(|scope| !is_scope(scope)) {
            return Err(ConfigError::Scope(scope.clone()));
        }
        match self.scope_aliases.iter().find(|(_, granted)| !self.scopes.contains(granted)) {
            Some((_, granted)) => Err(ConfigError::Alias(granted.clone())),
            None => Ok(()),
        }
    }

    /// The scopes to grant for the requested ones: with aliases resolved, without scopes of other resources and without
    /// duplicates.
    pub(crate) fn grantable_scopes(&self, requested: &[&str]) -> Vec<String> {
        let mut granted: Vec<String> = Vec::new();
        for scope in requested {
            let alias = self.scope_aliases.iter().find(|(from, _)| from == scope);
            let scope = alias.map_or(*scope, |(_, to)| to);
            if self.scopes.iter().any(|own| own == scope) && !granted.iter().any(|other| other == scope) {
                granted.push(scope.to_owned());
            }
        }
        granted
    }
}

/// Whether a text has the form of one scope (RFC 6749, section 3.3).
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

/// A URL in a normal form, in which two URLs of the same resource are equal.
fn normalized(url: &str) -> Option<(String, String, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let default_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let host = authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
    Some((scheme, host, path.strip_suffix('/').unwrap_or(path)))
}

#[cfg(test)]
mod tests;
