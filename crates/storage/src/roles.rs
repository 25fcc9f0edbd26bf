use async_trait::async_trait;
use domain::Timestamp;

use crate::StorageError;

/// The number of one taking of a role. Each taking has a higher number than all takings of that role before.
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
/// The store cannot stop a process that lost its role, for example while its machine was suspended. So a holder checks
/// [`holds_role`](Self::holds_role) before each step that another holder must not see, and each step is short against the
/// time for which a role is valid.
#[async_trait]
pub trait RoleStore: Send + Sync + 'static {
    /// Takes a role that is free: never taken, released or expired. `None` while somebody holds it, even if that is the
    /// same holder.
    async fn take_role(&self, request: RoleRequest<'_>) -> Result<Option<RoleFence>, StorageError>;

    /// Extends a role to `until`, also after it expired, unless it was released or taken by another. Returns whether this
    /// taking still holds.
    async fn renew_role(&self, role: &str, fence: RoleFence, until: Timestamp) -> Result<bool, StorageError>;

    /// Whether the role was neither released nor taken again since this taking. It may have expired.
    async fn holds_role(&self, role: &str, fence: RoleFence) -> Result<bool, StorageError>;

    /// Releases a role, if this taking still holds.
    async fn release_role(&self, role: &str, fence: RoleFence) -> Result<(), StorageError>;

    /// Releases all roles of a holder that has ended.
    async fn release_roles_of(&self, holder: &str) -> Result<(), StorageError>;
}
