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
