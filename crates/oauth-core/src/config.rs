use url::Url;

/// What an authorization server is told once, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    issuer: String,
    endpoints: Endpoints,
    resources: Vec<Resource>,
    lifetimes: Lifetimes,
}

/// Where the endpoints are: complete URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// The page on which users consent.
    pub authorization: String,
    /// Where codes and refresh tokens are exchanged.
    pub token: String,
    /// Where clients register.
    pub registration: String,
    /// Where tokens are revoked.
    pub revocation: String,
    /// The public signing keys; `None` when nobody but this service reads its tokens.
    pub jwks: Option<String>,
}

impl Endpoints {
    /// `authorize`, `token`, `register` and `revoke` below one URL, without public keys.
    pub fn under(url: &str) -> Self {
        let at = |name: &str| format!("{}/{name}", url.trim_end_matches('/'));
        Self {
            authorization: at("authorize"),
            token: at("token"),
            registration: at("register"),
            revocation: at("revoke"),
            jwks: None,
        }
    }
}

/// Something that tokens open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its URL, as its metadata and the audience of its tokens have it.
    pub url: String,
    /// Its name for people.
    pub name: String,
    /// The scopes that apply to it, at least one.
    pub scopes: Vec<String>,
    /// Scopes that are taken for others here: what is asked for, and what is granted instead.
    pub scope_aliases: Vec<(String, String)>,
    /// Where its metadata document is (RFC 9728).
    pub metadata_url: String,
}

/// How long things live, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// An authorization code.
    pub code_seconds: u32,
    /// An access token.
    pub access_token_seconds: u32,
    /// A refresh token.
    pub refresh_token_seconds: u32,
}

impl Default for Lifetimes {
    /// Ten minutes, one hour, thirty days.
    fn default() -> Self {
        Self { code_seconds: 600, access_token_seconds: 3600, refresh_token_seconds: 30 * 24 * 3600 }
    }
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not a complete `http` or `https` URL without user, query and fragment.
    #[error("{0:?} is not a complete http or https URL without user, query and fragment")]
    Url(String),
    /// No resource.
    #[error("there is no resource that tokens could open")]
    NoResource,
    /// Two resources that requests could not tell apart.
    #[error("{0:?} stands for two resources")]
    RepeatedResource(String),
    /// A resource without scopes.
    #[error("the resource {0:?} has no scope")]
    NoScope(String),
    /// A scope with characters that RFC 6749 does not allow in one.
    #[error("{0:?} is not a scope")]
    Scope(String),
    /// A scope that is replaced by one of another resource.
    #[error("{0:?} replaces a scope but is none of the resource")]
    Replacement(String),
    /// Something that would expire at once.
    #[error("a lifetime is zero seconds")]
    Lifetime,
}

impl Config {
    /// Checks a configuration. The first resource is the one that clients get who name none.
    ///
    /// # Errors
    /// [`ConfigError`] tells the first thing that is wrong.
    pub fn new(
        issuer: impl Into<String>,
        endpoints: Endpoints,
        resources: Vec<Resource>,
        lifetimes: Lifetimes,
    ) -> Result<Self, ConfigError> {
        let config = Self { issuer: issuer.into(), endpoints, resources, lifetimes };
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

    fn check_urls(&self) -> Result<(), ConfigError> {
        let Endpoints { authorization, token, registration, revocation, jwks } = &self.endpoints;
        let ours = [&self.issuer, authorization, token, registration, revocation];
        let of_resources = self.resources.iter().flat_map(|resource| [&resource.url, &resource.metadata_url]);
        for text in ours.into_iter().chain(jwks).chain(of_resources) {
            let is_fine = Url::parse(text).is_ok_and(|url| {
                ["http", "https"].contains(&url.scheme())
                    && url.has_host()
                    && url.username().is_empty()
                    && url.password().is_none()
            });
            if !is_fine || text.contains(['?', '#']) {
                return Err(ConfigError::Url(text.clone()));
            }
        }
        Ok(())
    }

    /// The issuer (RFC 8414), byte by byte as in metadata, tokens and answers.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Where the endpoints are.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// All resources, the default one first.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// How long things live.
    pub fn lifetimes(&self) -> &Lifetimes {
        &self.lifetimes
    }

    /// The resource of that URL. A trailing slash, the default port and the case of scheme and host do not count;
    /// everything else does, byte by byte.
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
    /// A resource that replaces no scopes, with its metadata where clients look for them: at the well-known path
    /// between its host and its own path (RFC 9728, section 3.1).
    pub fn new(url: impl Into<String>, name: impl Into<String>, scopes: &[&str]) -> Self {
        let url = url.into();
        let end_of_host = url.find("://").and_then(|at| url.get(at + 3..)?.find('/').map(|end| at + 3 + end));
        let (host, path) = url.split_at(end_of_host.unwrap_or(url.len()));
        Self {
            metadata_url: format!(
                "{host}/.well-known/oauth-protected-resource{}",
                path.trim_end_matches('/')
            ),
            url,
            name: name.into(),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            scope_aliases: Vec::new(),
        }
    }

    fn is_at(&self, url: &str) -> bool {
        comparable(&self.url).is_some_and(|own| comparable(url) == Some(own))
    }

    fn check(&self) -> Result<(), ConfigError> {
        if self.scopes.is_empty() {
            return Err(ConfigError::NoScope(self.url.clone()));
        }
        let asked = self.scope_aliases.iter().map(|(asked, _)| asked);
        if let Some(scope) = self.scopes.iter().chain(asked).find(|scope| !is_scope(scope)) {
            return Err(ConfigError::Scope(scope.clone()));
        }
        match self.scope_aliases.iter().find(|(_, granted)| !self.scopes.contains(granted)) {
            Some((_, granted)) => Err(ConfigError::Replacement(granted.clone())),
            None => Ok(()),
        }
    }

    /// What is granted here of the scopes that are asked for: replaced, without those of other resources, each once.
    pub(crate) fn applicable(&self, asked: &[&str]) -> Vec<String> {
        let mut granted: Vec<String> = Vec::new();
        for scope in asked {
            let replaced = self.scope_aliases.iter().find(|(from, _)| from == scope);
            let scope = replaced.map_or(*scope, |(_, to)| to);
            if self.scopes.iter().any(|own| own == scope) && !granted.iter().any(|other| other == scope) {
                granted.push(scope.to_owned());
            }
        }
        granted
    }
}

/// RFC 6749, section 3.3.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

/// A URL without what does not count when resources are compared.
fn comparable(url: &str) -> Option<(String, String, &str)> {
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
