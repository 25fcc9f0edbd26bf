use ring::hmac;

use crate::{AccessTokenClaims, AuthorizationServer, Grant, Unavailable, UnixMillis, secret::base64url};

/// How far in the future a token may have been issued, in seconds: the clock skew allowed between servers on one store.
const CLOCK_SKEW_S: i64 = 10;

/// Why a token does not give access to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessRefused {
    /// It is expired, revoked, or issued for another resource: 401.
    #[error("the token is not valid here")]
    Invalid,
    /// It is valid but has no scope of the resource: 403 `insufficient_scope`.
    #[error("the token has no scope of this resource")]
    InsufficientScope,
}

impl AccessRefused {
    /// The HTTP status of the response.
    pub fn status(self) -> u16 {
        match self {
            Self::Invalid => 401,
            Self::InsufficientScope => 403,
        }
    }
}

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// Its token does not give access.
    #[error(transparent)]
    Refused(#[from] AccessRefused),
    /// A temporary failure: 503.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl AccessError {
    /// The HTTP status of the response.
    pub fn status(&self) -> u16 {
        match self {
            Self::Refused(refused) => refused.status(),
            Self::Unavailable(_) => 503,
        }
    }
}

impl AuthorizationServer {
    /// The grant that gives a request with this `Authorization` header access to the resource with that URL. Reads the
    /// token, looks the grant up, and checks both with [`AuthorizationServer::check_access`].
    ///
    /// # Errors
    /// [`AccessError`], also for a missing header and for one without a bearer token (RFC 6750, section 2.1).
    pub async fn grant_from_header(
        &self,
        authorization: Option<&str>,
        resource_url: &str,
    ) -> Result<Grant, AccessError> {
        let bearer = authorization.and_then(|header| header.split_once(' '));
        let (_, token) = bearer
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .ok_or(AccessRefused::Invalid)?;
        let claims = self.tokens.read(token.trim()).await.map_err(Unavailable::from)?;
        let claims = claims.ok_or(AccessRefused::Invalid)?;
        let grant = self.store.grant(&claims.grant_id).await.map_err(Unavailable::from)?;
        self.check_access(&claims, grant.as_ref(), resource_url, self.now())?;
        Ok(grant.ok_or(AccessRefused::Invalid)?)
    }

    /// Checks whether a token with these claims, as returned by [`AccessTokens::read`](crate::AccessTokens::read),
    /// gives access to the resource with that URL. A token with a longer lifetime than this server issues is refused,
    /// and so is one issued more than 10 seconds in the future. `grant` is what the store has for its `grant_id` now.
    ///
    /// # Errors
    /// [`AccessRefused`].
    pub fn check_access(
        &self,
        claims: &AccessTokenClaims,
        grant: Option<&Grant>,
        resource_url: &str,
        now: UnixMillis,
    ) -> Result<(), AccessRefused> {
        let resource = self.resource(resource_url).ok_or(AccessRefused::Invalid)?;
        let grant = grant.ok_or(AccessRefused::Invalid)?;
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
            return Err(AccessRefused::Invalid);
        }
        let has = |scope: &&String| {
            claims.scope.split(' ').any(|held| held == **scope) && grant.scopes.contains(scope)
        };
        resource.scopes.iter().find(has).map(|_| ()).ok_or(AccessRefused::InsufficientScope)
    }

    /// The `sub` of a grant: a pseudonym of the user that differs between clients, so that two clients cannot find out
    /// that they share a user.
    pub(crate) fn subject_for_client(&self, grant: &Grant) -> String {
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
        for header in [format!("Bearer {access}"), format!("bEARER  {access} ")] {
            let grant = test.server.grant_from_header(Some(&header), V1).await.unwrap();
            assert_eq!((grant.client_id.as_str(), grant.subject.as_str()), (id.as_str(), "1"));
        }
        let headers =
            ["", "Bearer", "Bearer ", access, &format!("Basic {access}"), &format!("Bearer {refresh}")]
                .map(|header| Some(header.to_owned()));
        for header in headers.into_iter().chain([None]) {
            let refused = test.server.grant_from_header(header.as_deref(), V1).await.unwrap_err();
            assert!(matches!(refused, AccessError::Refused(AccessRefused::Invalid)), "{header:?}");
        }
        test.store.is_down.store(true, Ordering::SeqCst);
        let refused = test.server.grant_from_header(Some(&format!("Bearer {access}")), V1).await.unwrap_err();
        assert!(matches!(refused, AccessError::Unavailable(_)));
    }

    #[tokio::test]
    async fn a_token_is_valid_for_one_resource_and_one_grant() {
        let test = TestServer::new();
        let id = test.register(json!({})).await.client_id;
        let tokens = test.tokens(&id).await;
        let claims = test.server.tokens.read(tokens.access_token.expose()).await.unwrap().unwrap();
        let grant = test.server.store().grant(&claims.grant_id).await.unwrap().unwrap();
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
        let invalid = Err(AccessRefused::Invalid);
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
