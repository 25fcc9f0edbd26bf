use crate::{AccessTokenClaims, AuthorizationServer, Grant, UnixMillis};

/// Why a token does not open a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessRefused {
    /// It is expired, revoked, or for something else: 401.
    #[error("the token is not valid here")]
    Invalid,
    /// It is valid but has no scope of the resource: 403 `insufficient_scope`.
    #[error("the token has no scope that this resource wants")]
    InsufficientScope,
}

impl AuthorizationServer {
    /// Whether a token with these claims, which [`AccessTokens::read`](crate::AccessTokens::read) gave, opens the
    /// resource of that URL now. `grant` is what the store has for its `grant_id` at this moment.
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
        let is_valid = claims.iss == self.config.issuer()
            && claims.aud == resource.url
            && now.seconds() < claims.exp
            && grant.revoked_at.is_none()
            && grant.id == claims.grant_id
            && grant.subject == claims.sub
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
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, LEGACY, V1};

    #[tokio::test]
    async fn a_token_opens_one_resource_while_its_grant_lives() {
        let bench = Bench::new();
        let id = bench.register(json!({})).await.client_id;
        let tokens = bench.tokens(&id).await;
        let claims = bench.server.tokens.read(tokens.access_token.expose()).await.unwrap().unwrap();
        let grant = bench.server.store().grant(&claims.grant_id).await.unwrap().unwrap();
        let now = bench.server.now();
        type Change = fn(&mut AccessTokenClaims, &mut Grant);
        let check = |change: Change, url: &str, now: UnixMillis, expect: Result<(), AccessRefused>| {
            let (mut claims, mut grant) = (claims.clone(), grant.clone());
            change(&mut claims, &mut grant);
            assert_eq!(
                bench.server.check_access(&claims, Some(&grant), url, now),
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
        let changes: [Change; 8] = [
            |claims, _| claims.iss.push('/'),
            |claims, _| claims.aud.push('/'),
            |claims, _| claims.sub.push('1'),
            |claims, _| claims.client_id.push('x'),
            |claims, _| claims.grant_id.push('x'),
            |_, grant| grant.revoked_at = Some(UnixMillis(0)),
            |_, grant| grant.resource = LEGACY.to_owned(),
            |claims, _| claims.exp = i64::MIN,
        ];
        for change in changes {
            check(change, V1, now, invalid);
        }
        assert_eq!(bench.server.check_access(&claims, None, V1, now), invalid);
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
