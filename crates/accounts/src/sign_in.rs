use std::{
    convert::Infallible,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use domain::{Account, Email, SecurityEventKind, Timestamp};
use keys::{hash_parts, new_session_token, session_hash};
use storage::{AttemptId, NewSession, SignInAttempt, SignInDecision, SignInLimits, StorageError};
use tokio::sync::Mutex;

use crate::{
    AccountError, Accounts, Unavailable,
    passwords::{PasswordError, QueueFull},
    sessions::SESSION_MS,
};

/// How many sign-ins may fail, and in what time.
pub(crate) const LIMITS: SignInLimits =
    SignInLimits { per_pair: 10, per_address: 100, per_network: 1_000, window_ms: 15 * 60 * 1000 };
/// The retry delay in seconds when the password queue is full. A queue of the default length is empty by then.
const BUSY_RETRY_S: u64 = 2;
/// The stored user agent is cut to this many characters.
const MAX_USER_AGENT_CHARS: usize = 300;

/// The origin of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInSource {
    pub address: IpAddr,
    /// The browser's `User-Agent` header.
    pub user_agent: Option<String>,
}

/// A user who signed in.
#[derive(Clone)]
pub struct SignedIn {
    /// The new session's token, for the browser. Only its hash is stored.
    pub token: String,
    /// The user's account.
    pub account: Account,
    /// When the session expires if it is not used.
    pub expires_at: Timestamp,
}

impl fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedIn").field("account", &self.account.id).finish_non_exhaustive()
    }
}

/// Why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// No account has this email, or the password is wrong.
    #[error("the email or the password is wrong")]
    Wrong,
    /// Too many sign-ins failed for this email from this address, or from this address or network.
    #[error("too many sign-ins failed; try again in {} min", retry_after_s.div_ceil(60))]
    LockedOut {
        /// Seconds until the next attempt is allowed; at least 1.
        retry_after_s: u64,
    },
    /// The queue of passwords to verify is full.
    #[error("too many people are signing in; try again in {retry_after_s} seconds")]
    Busy {
        /// Seconds until the attempt should be repeated.
        retry_after_s: u64,
    },
    /// The service is unavailable; the attempt does not count.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<StorageError> for SignInError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<PasswordError> for Unavailable {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::Random(error) => error.into(),
            PasswordError::Hash(reason) => Self::Passwords(reason),
        }
    }
}

/// Why a password was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangePasswordError {
    /// The current password was not confirmed.
    #[error(transparent)]
    Current(#[from] SignInError),
    /// The new password was not accepted.
    #[error(transparent)]
    New(#[from] AccountError),
}

/// Why a password was not checked. Such an attempt does not count.
enum Unchecked {
    Busy,
    Unavailable(Unavailable),
}

impl<E: Into<Unavailable>> From<E> for Unchecked {
    fn from(error: E) -> Self {
        Self::Unavailable(error.into())
    }
}

impl Accounts {
    /// Signs in with email and password and begins a session. An unknown email takes as long as a wrong password.
    ///
    /// After too many failures within 15 minutes even the right password is refused: 10 for one email from one address
    /// (IPv4, or an IPv6 /64), 100 from one address, or 1,000 from one network (an IPv6 /48; for IPv4 the address itself).
    /// It is still accepted from other addresses.
    pub async fn sign_in(
        &self,
        email: &str,
        password: &str,
        from: SignInSource,
    ) -> Result<SignedIn, SignInError> {
        let address = from.address;
        let signed_in = self.within_limits(email, address, self.try_sign_in(email, password, from)).await?;
        let (account, kind) = (signed_in.account.id, SecurityEventKind::SignedIn);
        self.record_security_event(account, kind, Some(address), None).await;
        Ok(signed_in)
    }

    /// Checks the password of a user who is signed in, within the limits of [`sign_in`](Self::sign_in).
    pub async fn confirm_password(
        &self,
        account: &Account,
        password: &str,
        address: IpAddr,
    ) -> Result<(), SignInError> {
        self.confirm(account, password, address).await.map(|_| ())
    }

    /// Changes the password of a user who knows the current one. Ends all sessions of the account and begins a new one;
    /// `None` if the password was changed but the session was not created.
    ///
    /// # Errors
    /// [`ChangePasswordError`]; nothing was changed.
    pub async fn change_password(
        &self,
        account: &Account,
        current: &str,
        new: String,
        from: SignInSource,
    ) -> Result<Option<SignedIn>, ChangePasswordError> {
        let old = self.confirm(account, current, from.address).await?;
        let (hash, _) = self.password_hash(Some(new)).await?;
        let replaced = self.parts.store.set_password_hash(account.id, hash.clone(), Some(old)).await;
        if !replaced.map_err(AccountError::from)? {
            // Another request changed the password in the meantime, so `current` is no longer right.
            return Err(SignInError::Wrong.into());
        }
        let kind = SecurityEventKind::PasswordChanged;
        self.record_security_event(account.id, kind, Some(from.address), None).await;
        Ok(self.session_or_none(account.clone(), &hash, from).await)
    }

    /// Checks an account's password and returns its hash.
    async fn confirm(
        &self,
        account: &Account,
        password: &str,
        address: IpAddr,
    ) -> Result<String, SignInError> {
        let email = account.email.as_str();
        let confirmed = async {
            let verified = self.verify_password(email, password, address).await?;
            Ok(verified.filter(|(verified, _)| verified.id == account.id).map(|(_, hash)| hash))
        };
        self.within_limits(email, address, confirmed).await
    }

    /// Runs an attempt if the limits allow it. An attempt that returns `None` failed, and counts towards the limits.
    async fn within_limits<T>(
        &self,
        email: &str,
        address: IpAddr,
        run: impl Future<Output = Result<Option<T>, Unchecked>>,
    ) -> Result<T, SignInError> {
        let attempt = attempt(email, address);
        let _lock = self.parts.sign_in_locks.get(&attempt.pair).lock().await;
        let begun = self.parts.store.begin_sign_in(&attempt, self.parts.clock.now(), LIMITS).await?;
        let attempt = match begun {
            SignInDecision::Allowed(attempt) => attempt,
            SignInDecision::LockedUntil(until) => {
                let left_ms = until.millis().saturating_sub(self.parts.clock.now().millis());
                let retry_after_s = u64::try_from(left_ms).unwrap_or(0).div_ceil(1000).max(1);
                return Err(SignInError::LockedOut { retry_after_s });
            }
        };
        match run.await {
            Ok(None) => Err(SignInError::Wrong),
            Ok(Some(done)) => {
                // If this fails, the sign-in still succeeds, and the attempt counts as failed for some minutes.
                self.withdraw_attempt(attempt).await;
                Ok(done)
            }
            Err(unchecked) => {
                self.withdraw_attempt(attempt).await;
                Err(match unchecked {
                    Unchecked::Busy => SignInError::Busy { retry_after_s: BUSY_RETRY_S },
                    Unchecked::Unavailable(error) => SignInError::Unavailable(error),
                })
            }
        }
    }

    /// Stops counting an attempt as failed. Every attempt counts as failed from its start.
    async fn withdraw_attempt(&self, attempt: AttemptId) {
        if let Err(error) = self.parts.store.record_sign_in_success(attempt).await {
            tracing::warn!(%error, "a sign-in that did not fail still counts as failed");
        }
    }

    /// The account with this email and password, and the password's hash; `None` if either is wrong.
    async fn verify_password(
        &self,
        email: &str,
        password: &str,
        address: IpAddr,
    ) -> Result<Option<(Account, String)>, Unchecked> {
        let slot = self.parts.passwords.reserve().map_err(|QueueFull| Unchecked::Busy)?;
        let email = Email::parse(email).ok();
        let known = match &email {
            Some(email) => self.parts.store.password_hash_by_email(email).await?,
            None => None,
        };
        let hash = known.as_ref().map(|(_, hash)| hash.clone());
        if self.parts.passwords.verify(slot, password.to_owned(), hash).await? {
            return Ok(known);
        }
        if let Some((account, _)) = known {
            // In the background, so that the response takes no longer for a known email.
            let accounts = self.clone();
            self.parts.failed_sign_ins.spawn(async move {
                let kind = SecurityEventKind::SignInFailed;
                accounts.record_security_event(account.id, kind, Some(address), None).await;
                Ok::<_, Infallible>(())
            });
        }
        Ok(None)
    }

    /// A session for this email and password; `None` if either is wrong.
    async fn try_sign_in(
        &self,
        email: &str,
        password: &str,
        from: SignInSource,
    ) -> Result<Option<SignedIn>, Unchecked> {
        let verified = self.verify_password(email, password, from.address).await?;
        let Some((account, hash)) = verified else { return Ok(None) };
        Ok(self.begin_session(account, &hash, from).await?)
    }

    /// A session for a user who proved their identity; `None` if it cannot be created, which is logged.
    pub(crate) async fn session_or_none(
        &self,
        account: Account,
        hash: &str,
        from: SignInSource,
    ) -> Option<SignedIn> {
        self.begin_session(account, hash, from)
            .await
            .inspect_err(|error| tracing::warn!(%error, "a session could not be created"))
            .ok()
            .flatten()
    }

    /// A session for a user whose password matched `hash`; `None` if the account was deleted or its password changed in
    /// the meantime.
    async fn begin_session(
        &self,
        account: Account,
        hash: &str,
        from: SignInSource,
    ) -> Result<Option<SignedIn>, Unavailable> {
        let token = new_session_token(self.random())?;
        let at = self.parts.clock.now();
        let expires_at = at.plus_millis(SESSION_MS);
        let session = NewSession {
            hash: session_hash(&token),
            account: account.id,
            user_agent: from.user_agent.map(|name| name.chars().take(MAX_USER_AGENT_CHARS).collect()),
            address: from.address.to_canonical().to_string(),
            at,
            expires_at,
        };
        if !self.parts.store.add_session(session).await? {
            return Ok(None);
        }
        // A concurrent change of the password ended all sessions, but perhaps before this one was added.
        let current = self.parts.store.password_hash_by_email(&account.email).await?;
        if current.is_none_or(|(_, current)| current != hash) {
            self.parts.store.end_session(&session_hash(&token)).await?;
            return Ok(None);
        }
        Ok(Some(SignedIn { token, account, expires_at }))
    }
}

/// The keys that an attempt is counted by.
fn attempt(email: &str, address: IpAddr) -> SignInAttempt {
    // Neighbouring IPv4 addresses belong to different subscribers, who must not lock each other out.
    let network = match address.to_canonical() {
        IpAddr::V4(_) => subscriber_prefix(address),
        IpAddr::V6(_) => network_prefix(address),
    };
    let (subscriber, network) = (subscriber_prefix(address).to_string(), network.to_string());
    let name = Email::parse(email).map_or_else(|_| email.trim().to_lowercase(), |email| email.to_string());
    SignInAttempt {
        pair: hash_parts(&[b"pair", name.as_bytes(), subscriber.as_bytes()]),
        address: hash_parts(&[b"address", subscriber.as_bytes()]),
        network: hash_parts(&[b"network", network.as_bytes()]),
    }
}

/// Locks that serialize sign-ins with one email from one address. An attempt counts as failed until it succeeds, so that
/// without a lock concurrent sign-ins with the right password could lock each other out.
///
/// Different pairs of email and address may share one of the 256 locks. They wait for each other no longer than in the
/// password queue.
pub(crate) struct SignInLocks([Mutex<()>; 256]);

impl Default for SignInLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl SignInLocks {
    fn get(&self, pair: &[u8; 32]) -> &Mutex<()> {
        let [first_byte, ..] = pair;
        let [first_lock, ..] = &self.0;
        self.0.get(usize::from(*first_byte)).unwrap_or(first_lock)
    }
}

/// The address range of one subscriber, which the limits count as one address: an IPv4 address, or the first address of
/// an IPv6 /64.
pub fn subscriber_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(address & Ipv6Addr::from_bits(u128::MAX << 64)),
    }
}

/// The address range of one organisation: the first address of an IPv4 /24 or an IPv6 /48. Its limits are wider than
/// those of a [`subscriber_prefix`].
pub fn network_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address & Ipv4Addr::from_bits(u32::MAX << 8)),
        IpAddr::V6(address) => IpAddr::V6(address & Ipv6Addr::from_bits(u128::MAX << 80)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_organisation_share_a_network() {
        let same = |one: &str, two: &str| {
            network_prefix(one.parse().unwrap()) == network_prefix(two.parse().unwrap())
        };
        assert!(same("192.0.2.1", "192.0.2.254"));
        assert!(same("192.0.2.1", "::ffff:192.0.2.9"));
        assert!(!same("192.0.2.1", "192.0.3.1"));
        assert!(same("2001:db8:1:2::1", "2001:db8:1:ffff::9"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:2:2::1"));
        let of = |email: &str, address: &str| attempt(email, address.parse().unwrap());
        let (one, two) = (of("ann@example.org", "2001:db8:1:2::1"), of("bob@example.org", "2001:db8:1:3::1"));
        assert_eq!(one.network, two.network);
        assert_ne!((one.address, one.pair), (two.address, two.pair));
        assert_ne!(of("ann@example.org", "192.0.2.1").network, of("bob@example.org", "192.0.2.2").network);
    }

    #[test]
    fn addresses_of_one_subscriber_share_a_prefix() {
        let same = |one: &str, two: &str| {
            subscriber_prefix(one.parse().unwrap()) == subscriber_prefix(two.parse().unwrap())
        };
        assert!(same("192.0.2.1", "192.0.2.1"));
        assert!(same("192.0.2.1", "::ffff:192.0.2.1"));
        assert!(!same("192.0.2.1", "192.0.2.2"));
        assert!(!same("192.0.2.1", "::c000:201"));
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
    }
}
