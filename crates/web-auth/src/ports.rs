//! Clock and randomness of `oauth-core`, implemented by the library.

use library::Library;
use oauth_core::{RandomError, UnixMillis};

/// The library's clock.
pub(crate) struct Clock(pub(crate) Library);

impl oauth_core::Clock for Clock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.clock().now().millis())
    }
}

/// The library's randomness.
pub(crate) struct Random(pub(crate) Library);

impl oauth_core::Random for Random {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.random().fill(bytes)
    }
}
