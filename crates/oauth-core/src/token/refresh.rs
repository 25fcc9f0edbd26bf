use super::{RefreshToken, TokenError, TokenResponse, errors::InvalidGrantReason};
use crate::{
    AuthorizationServer, Client, CurrentRefreshToken, Grant, GrantKey, Grants, MAX_RECENT_ROTATIONS,
    Rotation, StoreError, StoredGrant, Unavailable, UnixMillis,
};

/// A genuine refresh token of a request, with its grant.
pub(crate) struct PresentedToken {
    token: RefreshToken,
    pub(crate) grant: Grant,
    current: CurrentRefreshToken,
    is_current: bool,
}

impl AuthorizationServer {
    /// Looks up the grant of a refresh token; `None` when this server did not issue the token, or its grant was swept.
    /// A forged token with the right handle is not genuine.
    pub(crate) async fn look_up_refresh_token(
        &self,
        text: &str,
    ) -> Result<Option<PresentedToken>, StoreError> {
        let Some(token) = RefreshToken::decode(text) else { return Ok(None) };
        let found = self.store.grant(GrantKey::RefreshHandle(&token.handle_hash())).await?;
        let Some(StoredGrant { grant, refresh: Some(current), .. }) = found else { return Ok(None) };
        let is_current = current.hash.matches(&token.hash());
        let is_genuine = is_current || token.is_authentic(&self.keys.refresh_tokens);
        Ok(is_genuine.then_some(PresentedToken { token, grant, current, is_current }))
    }

    /// Exchanges a refresh token for new tokens. The scopes stay those that the user consented to.
    pub(super) async fn refresh(&self, client: &Client, text: &str) -> Result<TokenResponse, TokenError> {
        if !client.metadata.may_refresh() {
            return Err(TokenError::UnauthorizedClient);
        }
        let now = self.now();
        let presented = self.look_up_refresh_token(text).await.map_err(Unavailable::from)?;
        let PresentedToken { token, grant, current, is_current } =
            presented.ok_or(InvalidGrantReason::Unknown)?;
        if grant.client_id != client.id {
            return Err(InvalidGrantReason::OtherClient.into());
        }
        if grant.revoked_at.is_some() {
            return Err(InvalidGrantReason::Revoked.into());
        }
        if !is_current {
            return Err(self.handle_replay(grant.id, token.generation, &current, now).await?.into());
        }
        if current.expires_at <= now {
            return Err(InvalidGrantReason::Expired.into());
        }

        let generation = current.generation.checked_add(1).ok_or(InvalidGrantReason::Expired)?;
        let next =
            token.next(generation, &*self.random, &self.keys.refresh_tokens).map_err(Unavailable::from)?;
        let access = self.sign(&grant, now).await?;
        let rotation = Rotation {
            grant_id: grant.id.clone(),
            presented: current.hash,
            next: CurrentRefreshToken {
                hash: next.hash(),
                generation,
                expires_at: self.refresh_expires_at(now),
                recent_rotations: with_rotation(
                    &current.recent_rotations,
                    now,
                    self.config.policies().replay_grace_ms(),
                ),
            },
            access_expires_at: access.expires_at,
            at: now,
        };
        if !self.store.rotate_refresh_token(rotation).await.map_err(Unavailable::from)? {
            return Err(InvalidGrantReason::LostRace.into());
        }
        Ok(self.response(&grant, access, Some(next)))
    }

    /// Handles a token that is not the current one. A replay long after the rotation means that the old or the new
    /// token was stolen: the grant is revoked (RFC 9700, section 4.14.2).
    async fn handle_replay(
        &self,
        grant_id: String,
        generation: u32,
        current: &CurrentRefreshToken,
        now: UnixMillis,
    ) -> Result<InvalidGrantReason, Unavailable> {
        let Some(since) = current.generation.checked_sub(1).and_then(|last| last.checked_sub(generation))
        else {
            return Ok(InvalidGrantReason::Unknown);
        };
        let grace_ms = self.config.policies().replay_grace_ms();
        let ended = is_late(since, &current.recent_rotations, now, grace_ms)
            && self.store.revoke(Grants::WithId(&grant_id), now).await? > 0;
        Ok(InvalidGrantReason::TokenReplayed { grant_id, ended })
    }
}

/// Whether a token was replaced longer ago than the grace period. `since` is the number of rotations after the one that
/// replaced the token.
fn is_late(since: u32, rotations: &[UnixMillis], now: UnixMillis, grace_ms: i64) -> bool {
    let is_long_ago = |at: &UnixMillis| now.0.saturating_sub(at.0) > grace_ms;
    match usize::try_from(since).ok().and_then(|since| rotations.get(since)) {
        Some(at) => is_long_ago(at),
        // A list that is not full lacks only rotations before the grace period. The rotations that a full list lacks
        // are at least as old as its last one.
        None => rotations.len() < MAX_RECENT_ROTATIONS || rotations.last().is_none_or(is_long_ago),
    }
}

/// Adds a rotation to the list and drops those older than the grace period.
fn with_rotation(rotations: &[UnixMillis], now: UnixMillis, grace_ms: i64) -> Vec<UnixMillis> {
    let recent = rotations.iter().take_while(|at| now.0.saturating_sub(at.0) <= grace_ms);
    [now].iter().chain(recent).take(MAX_RECENT_ROTATIONS).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_late_after_thirty_seconds() {
        let at = |seconds: i64| UnixMillis(1_000_000_000 + seconds * 1000);
        let check = |since: u32, rotations: &[UnixMillis], now: UnixMillis, expect: bool| {
            assert_eq!(
                is_late(since, rotations, now, 30_000),
                expect,
                "{since} of {} at {now:?}",
                rotations.len()
            );
        };
        check(0, &[at(0)], at(0), false);
        check(0, &[at(0)], at(30), false);
        check(0, &[at(0)], at(30).plus_ms(1), true);
        check(0, &[at(0)], at(-5), false);
        check(1, &[at(20), at(0)], at(29), false);
        check(1, &[at(20), at(0)], at(31), true);
        check(0, &[at(20), at(0)], at(31), false);
        check(1, &[at(0)], at(0), true);
        check(5, &[], at(0), true);
        let full: Vec<UnixMillis> = (0..32).map(|n| at(0).plus_ms(-n)).collect();
        check(31, &full, at(30).plus_ms(-31), false);
        check(32, &full, at(29), false);
        check(u32::MAX, &full, at(30).plus_ms(-30), true);
    }

    #[test]
    fn only_recent_rotations_are_kept() {
        let at = |seconds: i64| UnixMillis(seconds * 1000);
        let with = |rotations: &[UnixMillis], now: UnixMillis| with_rotation(rotations, now, 30_000);
        assert_eq!(with(&[], at(5)), [at(5)]);
        assert_eq!(with(&[at(5), at(0)], at(30)), [at(30), at(5), at(0)]);
        assert_eq!(with(&[at(5), at(0)], at(31)), [at(31), at(5)]);
        assert_eq!(with(&[at(5)], at(100)), [at(100)]);
        assert_eq!(with(&[at(1); 32], at(2)).len(), MAX_RECENT_ROTATIONS);
    }
}
