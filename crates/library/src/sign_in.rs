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
    AccountError, Library, Unavailable,
    passwords::{LineIsFull, PasswordError},
    sessions::SESSION_MS,
};

/// How many sign-ins may fail, and within what time.
pub(crate) const LIMITS: SignInLimits =
    SignInLimits { per_pair: 10, per_address: 100, per_network: 1_000, window_ms: 15 * 60 * 1000 };
/// When to come back, in seconds, if too many wait: by then a line of the usual length is gone.
const BUSY_RETRY_S: u64 = 2;
/// The most characters that are kept of what a browser calls itself.
const MAX_USER_AGENT_CHARS: usize = 300;

/// Where somebody signs in from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInSource {
    /// The address.
    pub address: IpAddr,
    /// What the browser calls itself.
    pub user_agent: Option<String>,
}

/// Somebody who signed in.
#[derive(Clone)]
pub struct SignedIn {
    /// The new session's token, for their browser. It is kept nowhere else.
    pub token: String,
    /// Who they are.
    pub account: Account,
    /// When the session ends unless it is used.
    pub expires_at: Timestamp,
}

impl fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedIn").field("account", &self.account.id).finish_non_exhaustive()
    }
}

/// Why somebody did not get in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// There is no account with this email, or its password is another one.
    #[error("the email or the password is wrong")]
    Wrong,
    /// Too many failed, for this email from this address, or from this address or network.
    #[error("too many sign-ins failed; try again in {} min", retry_after_s.div_ceil(60))]
    LockedOut {
        /// When the next try counts, in seconds from now; at least 1.
        retry_after_s: u64,
    },
    /// Too many want in at this moment.
    #[error("too many people are signing in; try again in {retry_after_s} seconds")]
    Busy {
        /// When to come back, in seconds from now.
        retry_after_s: u64,
    },
    /// The service cannot answer now; the try does not count.
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
    /// The old one was not confirmed.
    #[error(transparent)]
    Current(#[from] SignInError),
    /// The new one was not taken.
    #[error(transparent)]
    New(#[from] AccountError),
}

/// Why a try came to no answer.
enum Undecided {
    Busy,
    Unavailable(Unavailable),
}

impl<E: Into<Unavailable>> From<E> for Undecided {
    fn from(error: E) -> Self {
        Self::Unavailable(error.into())
    }
}

impl Library {
    /// Begins a session for whoever knows an account's password. An email that nobody has takes as long as a wrong
    /// password. After ten failures for one email from one address (of IPv6: one /64), a hundred from one address, or a
    /// thousand from one network (an IPv4 /24 or an IPv6 /48), within 15 minutes, the right password is refused too; from
    /// elsewhere it is accepted.
    ///
    /// # Errors
    /// [`SignInError`].
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

    /// Makes sure that whoever is signed in knows the account's password, within the limits of [`sign_in`](Self::sign_in).
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn confirm_password(
        &self,
        account: &Account,
        password: &str,
        address: IpAddr,
    ) -> Result<(), SignInError> {
        self.confirmed(account, password, address).await.map(|_| ())
    }

    /// Changes a password for whoever knows the old one: ends all sessions of the account, and begins a new one for
    /// them. When only that fails they are told to sign in themselves: `None`.
    ///
    /// # Errors
    /// [`ChangePasswordError`]; nothing was changed then.
    pub async fn change_password(
        &self,
        account: &Account,
        current: &str,
        new: String,
        from: SignInSource,
    ) -> Result<Option<SignedIn>, ChangePasswordError> {
        let old = self.confirmed(account, current, from.address).await?;
        let (hash, _) = self.password_hash(Some(new)).await?;
        let replaced = self.parts.store.set_password_hash(account.id, hash.clone(), Some(old)).await;
        if !replaced.map_err(AccountError::from)? {
            // Somebody else changed it meanwhile, so that it was not the right one any more.
            return Err(SignInError::Wrong.into());
        }
        let kind = SecurityEventKind::PasswordChanged;
        self.record_security_event(account.id, kind, Some(from.address), None).await;
        Ok(self.session_or_none(account.clone(), &hash, from).await)
    }

    /// The hash of an account's password, for whoever knows the password.
    async fn confirmed(
        &self,
        account: &Account,
        password: &str,
        address: IpAddr,
    ) -> Result<String, SignInError> {
        let email = account.email.as_str();
        let confirmed = async {
            let owner = self.owner(email, password, address).await?;
            Ok(owner.filter(|(owner, _)| owner.id == account.id).map(|(_, hash)| hash))
        };
        self.within_limits(email, address, confirmed).await
    }

    /// What comes of an attempt, if the limits let it be made; a refusal counts against them.
    async fn within_limits<T>(
        &self,
        email: &str,
        address: IpAddr,
        tried: impl Future<Output = Result<Option<T>, Undecided>>,
    ) -> Result<T, SignInError> {
        let attempt = attempt(email, address);
        let _turn = self.parts.sign_in_turns.of(&attempt.pair).lock().await;
        let begun = self.parts.store.begin_sign_in(&attempt, self.parts.clock.now(), LIMITS).await?;
        let attempt = match begun {
            SignInDecision::Allowed(attempt) => attempt,
            SignInDecision::LockedUntil(until) => {
                let left_ms = until.millis().saturating_sub(self.parts.clock.now().millis());
                let retry_after_s = u64::try_from(left_ms).unwrap_or(0).div_ceil(1000).max(1);
                return Err(SignInError::LockedOut { retry_after_s });
            }
        };
        match tried.await {
            Ok(None) => Err(SignInError::Wrong),
            Ok(Some(done)) => {
                // They are in: what fails now at worst locks them out for some minutes later on.
                self.withdraw(attempt).await;
                Ok(done)
            }
            Err(undecided) => {
                self.withdraw(attempt).await;
                Err(match undecided {
                    Undecided::Busy => SignInError::Busy { retry_after_s: BUSY_RETRY_S },
                    Undecided::Unavailable(error) => SignInError::Unavailable(error),
                })
            }
        }
    }

    /// Has an attempt not count.
    async fn withdraw(&self, attempt: AttemptId) {
        if let Err(error) = self.parts.store.record_sign_in_success(attempt).await {
            tracing::warn!(%error, "a sign-in that did not fail counts as failed");
        }
    }

    /// The account with this email and password, and the password's hash; `None` when there is none.
    async fn owner(
        &self,
        email: &str,
        password: &str,
        address: IpAddr,
    ) -> Result<Option<(Account, String)>, Undecided> {
        let place = self.parts.passwords.queue().map_err(|LineIsFull| Undecided::Busy)?;
        let email = Email::parse(email).ok();
        let known = match &email {
            Some(email) => self.parts.store.password_hash_by_email(email).await?,
            None => None,
        };
        let hash = known.as_ref().map(|(_, hash)| hash.clone());
        if self.parts.passwords.verify(place, password.to_owned(), hash).await? {
            return Ok(known);
        }
        if let Some((account, _)) = known {
            // In the background: the answer must not take longer for an email that somebody has.
            let library = self.clone();
            self.parts.failure_notes.take(async move {
                let kind = SecurityEventKind::SignInFailed;
                library.record_security_event(account.id, kind, Some(address), None).await;
                Ok::<_, Infallible>(())
            });
        }
        Ok(None)
    }

    /// The session of whoever has this email and password; `None` when nobody has.
    async fn try_sign_in(
        &self,
        email: &str,
        password: &str,
        from: SignInSource,
    ) -> Result<Option<SignedIn>, Undecided> {
        let Some((account, hash)) = self.owner(email, password, from.address).await? else { return Ok(None) };
        Ok(self.begin_session(account, &hash, from).await?)
    }

    /// A session for somebody who proved who they are; `None` when it cannot be begun now, which the log tells.
    pub(crate) async fn session_or_none(
        &self,
        account: Account,
        hash: &str,
        from: SignInSource,
    ) -> Option<SignedIn> {
        self.begin_session(account, hash, from)
            .await
            .inspect_err(|error| tracing::warn!(%error, "a session could not be begun"))
            .ok()
            .flatten()
    }

    /// A session for whoever knew the password of that hash; `None` when the account is gone, or its password is
    /// another one by now.
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
        // A password that was changed meanwhile ended the sessions there were, perhaps not yet this one.
        let still = self.parts.store.password_hash_by_email(&account.email).await?;
        if still.is_none_or(|(_, still)| still != hash) {
            self.parts.store.end_session(&session_hash(&token)).await?;
            return Ok(None);
        }
        Ok(Some(SignedIn { token, account, expires_at }))
    }
}

/// What an attempt counts by.
fn attempt(email: &str, address: IpAddr) -> SignInAttempt {
    // Neighbours in an IPv4 network are strangers, who must not lock each other out.
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

/// Turns of those who sign in with one email from one address. An attempt counts as failed until it did not: of many at
/// once the last ones would be locked out by the first, who have the right password.
///
/// There are so many lanes, and others may share one; they wait no longer than in the line for their password.
pub(crate) struct Turns([Mutex<()>; 256]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Turns {
    fn of(&self, pair: &[u8; 32]) -> &Mutex<()> {
        let [first, ..] = pair;
        let [lane, ..] = &self.0;
        self.0.get(usize::from(*first)).unwrap_or(lane)
    }
}

/// What one subscriber holds of addresses, so that they count as one: an IPv4 address, or an IPv6 network of 64 bits,
/// by its first address.
pub fn subscriber_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(address & Ipv6Addr::from_bits(u128::MAX << 64)),
    }
}

/// What one organisation holds of addresses: an IPv4 network of 24 bits or an IPv6 network of 48 bits, by its first
/// address. Limits for it are wider than those for one [`subscriber`].
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
    fn neighbours_in_one_network_count_as_one() {
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
