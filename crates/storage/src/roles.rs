use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// The fencing token of one acquisition of a role. It is higher than those of all earlier acquisitions of the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleFence(pub i64);

/// A request of a process for a role.
#[derive(Debug, Clone, Copy)]
pub struct RoleRequest<'a> {
    /// The name of the role.
    pub role: &'a str,
    /// The unique name of the holder.
    pub holder: &'a str,
    /// The current time; a role that expired before it is free.
    pub at: Timestamp,
    /// When the role expires unless it is renewed.
    pub until: Timestamp,
}

/// Roles: tasks that one process of the whole installation does at a time, on any machine.
///
/// The store cannot stop a process that lost its role, for example while its machine was suspended. So a holder calls
/// [`holds_role`](Self::holds_role) before each step that must not overlap with the work of another holder, and each
/// step takes much less time than a role is valid.
#[async_trait]
pub trait RoleStore: Send + Sync + 'static {
    /// Takes a role that is free: never taken, released or expired. `None` while it is held, even by the same holder.
    async fn take_role(&self, request: RoleRequest<'_>) -> Result<Option<RoleFence>, StorageError>;

    /// Extends a role to `until`, even after it expired, unless it was released or taken again. Returns whether it was
    /// extended.
    async fn renew_role(&self, role: &str, fence: RoleFence, until: Timestamp) -> Result<bool, StorageError>;

    /// Whether the acquisition with this fencing token still holds the role: it was neither released nor taken again.
    /// It may have expired.
    async fn holds_role(&self, role: &str, fence: RoleFence) -> Result<bool, StorageError>;

    /// Releases a role, if the acquisition with this fencing token still holds it.
    async fn release_role(&self, role: &str, fence: RoleFence) -> Result<(), StorageError>;

    /// Releases all roles of a holder whose process has ended.
    async fn release_roles_of(&self, holder: &str) -> Result<(), StorageError>;
}
