use data_encoding::BASE32_NOPAD;
use ring::rand::SecureRandom as _;

/// The operating system returned no random bytes.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the operating system returned no random bytes")]
pub struct RandomError;

/// A cryptographically secure source of random bytes.
pub trait Random: Send + Sync + 'static {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// [`RandomError`]; `bytes` must not be used then.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The operating system's source.
#[derive(Debug, Clone)]
pub struct SystemRandom(ring::rand::SystemRandom);

impl SystemRandom {
    /// The source that a service in production uses.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that owns randomness")]
    pub fn new() -> Self {
        Self(ring::rand::SystemRandom::new())
    }
}

impl Default for SystemRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.fill(bytes).map_err(|_| RandomError)
    }
}

/// A new id: 128 random bits as 26 characters from `a-z 2-7`.
///
/// # Errors
/// [`RandomError`].
pub fn new_id(random: &dyn Random) -> Result<String, RandomError> {
    Ok(BASE32_NOPAD.encode(&random_bytes::<16>(random)?).to_ascii_lowercase())
}

/// A new secret key: 256 random bits.
///
/// # Errors
/// [`RandomError`].
pub fn new_key(random: &dyn Random) -> Result<[u8; 32], RandomError> {
    random_bytes(random)
}

pub(crate) fn random_bytes<const N: usize>(random: &dyn Random) -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    random.fill(&mut bytes)?;
    Ok(bytes)
}
