use std::sync::Arc;

use ring::hmac;

use crate::{
    AccessTokenClaims, AuthorizationServer, ErrorBody, Grant, GrantKey, Resource, Unavailable, UnixMillis,
    secret::base64url,
};

/// The clock skew allowed between servers on one store, in seconds. A token may have been issued this far in the future.
const CLOCK_SKEW_S: i64 = 10;

/// Why a request gets no access to a resource (RFC 6750, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessRefused {
    /// It has no bearer token: 401, with a challenge that names no error.
    #[error("the request has no token; send `Authorization: Bearer TOKEN`")]
    NoToken,
    /// Its token is expired, revoked, malformed, or issued for another resource: 401 `invalid_token`.
    #[error("the token is not valid here")]
    InvalidToken,
    /// Its token is valid but lacks the required scope, or has no scope of the resource: 403 `insufficient_scope`.
    #[error("the token lacks a scope that this request needs")]
    InsufficientScope,
}

impl AccessRefused {
    /// The error code; `None` for a request without a token.
    pub fn code(self) -> Option<&'static str> {
        match self {
            Self::NoToken => None,
            Self::InvalidToken => Some("invalid_token"),
            Self::InsufficientScope => Some("insufficient_scope"),
        }
    }

    /// The HTTP status of the response.
    pub fn status(self) -> u16 {
        match self {
            Self::NoToken | Self::InvalidToken => 401,
            Self::InsufficientScope => 403,
        }
    }

    /// The body of the response.
    pub fn body(self) -> ErrorBody {
        ErrorBody::new(self.code().unwrap_or("unauthorized"), self.to_string())
    }

    /// The value of `WWW-Authenticate`: the error, the scopes of the resource, and the URL of its metadata. A client
    /// finds the authorization server through that metadata (RFC 9728, section 5.1).
    ///
    /// ```
    /// use oauth_core::{AccessRefused, Resource};
    ///
    /// let photos = Resource::new("https://photos.example/mcp", "Photos", &["photos"]);
    /// assert_eq!(
    ///     AccessRefused::InvalidToken.www_authenticate(&photos),
    ///     "Bearer error=\"invalid_token\", scope=\"photos\", \
    ///      resource_metadata=\"https://photos.example/.well-known/oauth-protected-resource/mcp\""
    /// );
    /// ```
    pub fn www_authenticate(self, resource: &Resource) -> String {
        self.challenge(&resource.scopes.join(" "), resource)
    }

    fn challenge(self, scopes: &str, resource: &Resource) -> String {
        let error = self.code().map(|code| format!("error=\"{code}\", ")).unwrap_or_default();
        let url = &resource.metadata_url;
        format!("Bearer {error}scope=\"{scopes}\", resource_metadata=\"{url}\"")
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AccessError {
    /// It has no token that gives access.
    #[error("{refused}")]
    Refused {
        /// The reason.
        refused: AccessRefused,
        /// The value of `WWW-Authenticate`.
        challenge: String,
    },
    /// A temporary failure: 503.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl AccessError {
    /// The HTTP status of the response.
    pub fn status(&self) -> u16 {
        match self {
            Self::Refused { refused, .. } => refused.status(),
            Self::Unavailable(error) => error.status(),
        }
    }

    /// The body of the response.
    pub fn body(&self) -> ErrorBody {
        match self {
            Self::Refused { refused, .. } => refused.body(),
            Self::Unavailable(error) => error.body(),
        }
    }

    /// The value of `WWW-Authenticate`; `None` for a temporary failure.
    pub fn www_authenticate(&self) -> Option<&str> {
        match self {
            Self::Refused { challenge, .. } => Some(challenge),
            Self::Unavailable(_) => None,
        }
    }
}

/// A resource of an [`AuthorizationServer`]. It checks whether requests may access that resource. Clones share everything.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    server: AuthorizationServer,
    resource: Arc<Resource>,
}

impl ProtectedResource {
    /// The grant that gives a request with this `Authorization` header access. Reads the token, looks the grant up, and
    /// checks both with [`AuthorizationServer::check_access`], so a revocation takes effect at the next request. The
    /// grant has at least one scope of the resource; [`require`](Self::require) checks for a specific one.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn grant(&self, authorization: Option<&str>) -> Result<Grant, AccessError> {
        let bearer = authorization.and_then(|header| header.split_once(' '));
        let token = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let token = token.map(|(_, token)| token.trim()).filter(|token| !token.is_empty());
        let claims = self.claims(token.ok_or_else(|| self.refuse(AccessRefused::NoToken))?).await?;
        let found =
            self.server.store.grant(GrantKey::Id(&claims.grant_id)).await.map_err(Unavailable::from)?;
        let grant = found.map(|found| found.grant);
        self.check(&claims, grant.as_ref())?;
        grant.ok_or_else(|| self.refuse(AccessRefused::InvalidToken))
    }

    /// The claims of a token that this server made. The claims alone give no access: look up the grant by its id, and
    /// [`check`](Self::check) both. This method is for a service that reads the grant and other data in one query.
    /// Other services call [`grant`](Self::grant).
    ///
    /// # Errors
    /// [`AccessRefused::InvalidToken`], or the signing keys are unavailable.
    pub async fn claims(&self, token: &str) -> Result<AccessTokenClaims, AccessError> {
        let claims = self.server.tokens.read(token).await.map_err(Unavailable::from)?;
        claims.ok_or_else(|| self.refuse(AccessRefused::InvalidToken))
    }

    /// Checks that a token with these claims gives access now. `grant` is what the store has for its `grant_id`.
    ///
    /// # Errors
    /// [`AccessRefused`], never `NoToken`.
    pub fn check(&self, claims: &AccessTokenClaims, grant: Option<&Grant>) -> Result<(), AccessError> {
        let Self { server, resource } = self;
        server
            .check_access(claims, grant, &resource.url, server.now())
            .map_err(|refused| self.refuse(refused))
    }

    fn refuse(&self, refused: AccessRefused) -> AccessError {
        AccessError::Refused { refused, challenge: refused.www_authenticate(&self.resource) }
    }

    /// Checks that a grant, as returned by [`grant`](Self::grant), has this scope. The challenge of the error names the
    /// scope, so that the client can ask its user for it.
    ///
    /// ```
    /// use oauth_core::{AccessError, Grant, ProtectedResource};
    ///
    /// fn delete_photo(photos: &ProtectedResource, grant: &Grant) -> Result<(), AccessError> {
    ///     photos.require(grant, "photos:write")?;
    ///     // Delete it.
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`AccessRefused::InsufficientScope`].
    pub fn require(&self, grant: &Grant, scope: &str) -> Result<(), AccessError> {
        if grant.scopes.iter().any(|granted| granted == scope) {
            return Ok(());
        }
        let refused = AccessRefused::InsufficientScope;
        Err(AccessError::Refused { refused, challenge: refused.challenge(scope, &self.resource) })
    }
}

impl AuthorizationServer {
    /// The resource with that URL, to check requests to it; `None` when the configuration has no such resource.
    pub fn protect(&self, resource_url: &str) -> Option<ProtectedResource> {
        let resource = Arc::new(self.resource(resource_url)?.clone());
        Some(ProtectedResource { server: self.clone(), resource })
    }

    /// Checks whether a token with these claims, as returned by [`AccessTokens::read`](crate::AccessTokens::read),
    /// gives access to the resource with that URL. A token with a longer lifetime than this server issues is refused,
    /// and so is one issued more than 10 seconds in the future. `grant` is what the store has for its `grant_id` now.
    ///
    /// # Errors
    /// [`AccessRefused`], never `NoToken`.
    pub fn check_access(
        &self,
        claims: &AccessTokenClaims,
        grant: Option<&Grant>,
        resource_url: &str,
        now: UnixMillis,
    ) -> Result<(), AccessRefused> {
        let resource = self.resource(resource_url).ok_or(AccessRefused::InvalidToken)?;
        let grant = grant.ok_or(AccessRefused::InvalidToken)?;
        let lifetime = i64::from(self.config.lifetimes().access_token_seconds);
        let is_valid = claims.iss == self.config.issuer()
            && claims.aud == resource.url
            && now.seconds() < claims.exp
            && claims.exp.saturating_sub(claims.iat) <= lifetime
            && claims.iat.saturating_sub(now.seconds()) <= CLOCK_SKEW_S
            && grant.revoked_at.is_none()
            && grant.id == claims.grant_id
            && self.subject_for_client(grant) == claims.sub
            && grant.client_id == claims.client_id
            && grant.resource == claims.aud;
        if !is_valid {
            return Err(AccessRefused::InvalidToken);
        }
        let has = |scope: &&String| {
            claims.scope.split(' ').any(|held| held == **scope) && grant.scopes.contains(scope)
        };
        resource.scopes.iter().find(has).map(|_| ()).ok_or(AccessRefused::InsufficientScope)
    }

    /// The `sub` of a grant: a pseudonym of the user that differs between clients, so that two clients cannot find out
    /// that they share a user; or the user's id, if the policies say so.
    pub(crate) fn subject_for_client(&self, grant: &Grant) -> String {
        if self.config.policies().reveals_subject {
            return grant.subject.clone();
        }
        let (client_id, subject) = (grant.client_id.as_bytes(), grant.subject.as_bytes());
        let length = (client_id.len() as u64).to_be_bytes();
        base64url(hmac::sign(&self.keys.subjects, &[&length[..], client_id, subject].concat()).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use serde_json::json;

    use super::*;
    use crate::testing::{LEGACY, TestServer, V1};

    #[tokio::test]
    async fn only_a_bearer_access_token_gives_access() {
        let test = TestServer::new();
        let id = test.register(json!({})).await.client_id;
        let tokens = test.tokens(&id).await;
        let (access, refresh) =
            (tokens.access_token.expose(), tokens.refresh_token.as_ref().unwrap().expose());
        let resource = test.server.protect(V1).unwrap();
        for header in [format!("Bearer {access}"), format!("bEARER  {access} ")] {
            let grant = resource.grant(Some(&header)).await.unwrap();
            assert_eq!((grant.client_id.as_str(), grant.subject.as_str()), (id.as_str(), "1"));
        }
        let check = async |header: Option<&str>, expect: AccessRefused| {
            let error = resource.grant(header).await.unwrap_err();
            let known = test.server.resource(V1).unwrap();
            assert_eq!(error.status(), expect.status(), "{header:?}");
            assert_eq!(error.body(), expect.body(), "{header:?}");
            assert_eq!(error.www_authenticate().unwrap(), expect.www_authenticate(known), "{header:?}");
        };
        for header in ["", "Bearer", "Bearer ", access, &format!("Basic {access}")] {
            check(Some(header), AccessRefused::NoToken).await;
        }
        check(None, AccessRefused::NoToken).await;
        check(Some(&format!("Bearer {refresh}")), AccessRefused::InvalidToken).await;
        assert!(test.server.protect("https://photos.example/api/mcp/v2").is_none());

        test.store.is_down.store(true, Ordering::SeqCst);
        let error = resource.grant(Some(&format!("Bearer {access}"))).await.unwrap_err();
        assert!(matches!(error, AccessError::Unavailable(_)));
        assert_eq!((error.status(), error.www_authenticate()), (503, None));
        assert_eq!(error.body().error, "temporarily_unavailable");
    }

    #[test]
    fn a_challenge_names_error_scopes_and_metadata() {
        let resource = Resource::new("https://a.example/mcp", "A", &["read", "write"]);
        let metadata = "https://a.example/.well-known/oauth-protected-resource/mcp";
        let check = |refused: AccessRefused, error: &str| {
            let expect = format!("Bearer {error}scope=\"read write\", resource_metadata=\"{metadata}\"");
            assert_eq!(refused.www_authenticate(&resource), expect);
        };
        check(AccessRefused::NoToken, "");
        check(AccessRefused::InvalidToken, "error=\"invalid_token\", ");
        check(AccessRefused::InsufficientScope, "error=\"insufficient_scope\", ");
    }

    #[tokio::test]
    async fn one_scope_can_be_required() {
        let test = TestServer::new();
        let id = test.register(json!({})).await.client_id;
        let tokens = test.tokens(&id).await;
        let resource = test.server.protect(V1).unwrap();
        let grant = resource.grant(Some(&format!("Bearer {}", tokens.access_token.expose()))).await.unwrap();
        resource.require(&grant, "mcp:images").unwrap();
        for scope in ["mcp:albums", "mcp:image", ""] {
            let error = resource.require(&grant, scope).unwrap_err();
            assert_eq!((error.status(), error.body().error), (403, "insufficient_scope"));
            let challenge = format!(
                "Bearer error=\"insufficient_scope\", scope=\"{scope}\", \
                 resource_metadata=\"https://photos.example/.well-known/oauth-protected-resource/api/mcp/v1\""
            );
            assert_eq!(error.www_authenticate(), Some(challenge.as_str()));
        }
    }

    #[tokio::test]
    async fn a_token_is_valid_for_one_resource_and_one_grant() {
        let test = TestServer::new();
        let id = test.register(json!({})).await.client_id;
        let tokens = test.tokens(&id).await;
        let claims = test.server.tokens.read(tokens.access_token.expose()).await.unwrap().unwrap();
        let grant = test.server.store().grant(GrantKey::Id(&claims.grant_id)).await.unwrap().unwrap().grant;
        let now = test.server.now();
        type Change = fn(&mut AccessTokenClaims, &mut Grant);
        let check = |change: Change, url: &str, now: UnixMillis, expect: Result<(), AccessRefused>| {
            let (mut claims, mut grant) = (claims.clone(), grant.clone());
            change(&mut claims, &mut grant);
            assert_eq!(
                test.server.check_access(&claims, Some(&grant), url, now),
                expect,
                "{claims:?} {grant:?}"
            );
        };
        let same: Change = |_, _| {};
        check(same, V1, now, Ok(()));
        check(same, "HTTPS://Photos.Example:443/api/mcp/v1/", now, Ok(()));
        check(same, V1, now.plus_ms(3_599_999), Ok(()));
        let invalid = Err(AccessRefused::InvalidToken);
        check(same, V1, now.plus_ms(3_600_000), invalid);
        check(same, LEGACY, now, invalid);
        check(same, "https://photos.example/api/mcp/v2", now, invalid);
        check(same, V1, now.plus_ms(-10_000), Ok(()));
        check(same, V1, now.plus_ms(-10_001), invalid);
        let changes: [Change; 12] = [
            |claims, _| claims.iss.push('/'),
            |claims, _| claims.aud.push('/'),
            |claims, _| claims.sub.push('1'),
            |claims, _| claims.client_id.push('x'),
            |claims, _| claims.grant_id.push('x'),
            |_, grant| grant.revoked_at = Some(UnixMillis(0)),
            |_, grant| grant.resource = LEGACY.to_owned(),
            |claims, _| claims.exp = i64::MIN,
            |claims, _| claims.exp += 1,
            |claims, _| claims.iat -= 1,
            |claims, _| claims.exp = i64::MAX,
            |claims, _| claims.iat = i64::MIN,
        ];
        for change in changes {
            check(change, V1, now, invalid);
        }
        assert_eq!(test.server.check_access(&claims, None, V1, now), invalid);
        let without_scope: [Change; 4] = [
            |claims, _| claims.scope.clear(),
            |claims, _| "mcp:photos".clone_into(&mut claims.scope),
            |claims, _| claims.scope.push('x'),
            |_, grant| grant.scopes = vec!["mcp:photos".to_owned()],
        ];
        for change in without_scope {
            check(change, V1, now, Err(AccessRefused::InsufficientScope));
        }
    }
}
