use super::{RefreshToken, TokenError, TokenResponse, errors::InvalidGrantReason, request::CodeExchange};
use crate::{
    AuthorizationServer, Client, CurrentRefreshToken, GrantKey, Grants, NewRefreshToken, Redemption,
    SecretHash, StoredGrant, Unavailable, UnixMillis,
    secret::{base64url, sha256},
};

impl AuthorizationServer {
    /// Exchanges a code for the first tokens of its grant.
    pub(super) async fn redeem(
        &self,
        client: &Client,
        exchange: &CodeExchange,
    ) -> Result<TokenResponse, TokenError> {
        let hash = SecretHash::of(&exchange.code);
        let now = self.now();
        let found = self.store.grant(GrantKey::Code(&hash)).await.map_err(Unavailable::from)?;
        let found = found.ok_or(InvalidGrantReason::Unknown)?;
        let grant = &found.grant;
        if let Err(reason) = check(&found, client, exchange, now) {
            if matches!(reason, InvalidGrantReason::CodeReplayed { .. })
                && self.config.policies().ends_grant_on_code_replay
            {
                self.store.revoke(Grants::WithId(&grant.id), now).await.map_err(Unavailable::from)?;
            }
            return Err(reason.into());
        }

        let refresh = client
            .metadata
            .may_refresh()
            .then(|| RefreshToken::first(&*self.random, &self.keys.refresh_tokens));
        let refresh = refresh.transpose().map_err(Unavailable::from)?;
        let access = self.sign(grant, now).await?;
        let redemption = Redemption {
            code: hash,
            at: now,
            refresh: refresh.as_ref().map(|token| NewRefreshToken {
                handle: token.handle_hash(),
                token: CurrentRefreshToken {
                    hash: token.hash(),
                    generation: 0,
                    expires_at: self.refresh_expires_at(now),
                    recent_rotations: Vec::new(),
                },
            }),
            access_expires_at: access.expires_at,
        };
        if !self.store.redeem_code(redemption).await.map_err(Unavailable::from)? {
            return Err(InvalidGrantReason::LostRace.into());
        }
        Ok(self.response(grant, access, refresh))
    }
}

fn check(
    StoredGrant { grant, code, .. }: &StoredGrant,
    client: &Client,
    exchange: &CodeExchange,
    now: UnixMillis,
) -> Result<(), InvalidGrantReason> {
    if grant.client_id != client.id {
        return Err(InvalidGrantReason::OtherClient);
    }
    if code.redeemed_at.is_some() {
        return Err(InvalidGrantReason::CodeReplayed { grant_id: grant.id.clone() });
    }
    if grant.revoked_at.is_some() {
        return Err(InvalidGrantReason::Revoked);
    }
    if code.expires_at <= now {
        return Err(InvalidGrantReason::Expired);
    }
    if code.redirect_uri != exchange.redirect_uri {
        return Err(InvalidGrantReason::OtherRedirectUri);
    }
    // RFC 7636, section 4.6.
    if code.challenge != base64url(&sha256(exchange.verifier.as_bytes())) {
        return Err(InvalidGrantReason::WrongVerifier);
    }
    Ok(())
}
