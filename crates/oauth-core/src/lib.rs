//! An OAuth 2.1 authorization server as decisions over one [`Store`], to be embedded in any HTTP service.
#![deny(missing_docs)]

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "memory")]
mod memory;
mod model;
mod store;

#[cfg(feature = "memory")]
pub use memory::MemoryStore;
pub use model::{
    AuthMethod, Client, ClientMetadata, Connection, CurrentRefreshToken, Grant, GrantType, IssuedCode,
    MAX_RECENT_ROTATIONS, RefreshableGrant, SecretHash, UnixMillis,
};
pub use store::{
    Issued, NewClient, NewCode, NewRefreshToken, Redemption, Rotation, Store, StoreError, Sweep,
};
