//! Roles: tasks that only one process of the whole installation has at a time, as the metadata store decides. This crate
//! also removes unreferenced blobs, the main task of the sweeper's role.
//!
//! A holder may lose its role without noticing, because its machine was suspended. So it calls [`HeldRole::is_valid`]
//! directly before each step, and a step is given up after [`MAX_STEP`]. One risk remains: the process may be stopped
//! between this check and its step for longer than [`MARGIN`]. Its late deletion does harm only if, during this stop,
//! another process takes the role, deletes and forgets the same blob, and a client sends its bytes again.
//!
//! The most common change is another role: make one with [`Role::new`] where it is taken.

mod removal;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use blobs::{BlobStore, OwnerLock};
use clock::Clock;
use keys::{Random, new_id};
use storage::{RoleFence, RoleRequest, SharedStore, StorageError};

pub use removal::StoreFailure;

/// A step begins only if the role is valid for longer than this.
const MARGIN: Duration = Duration::from_secs(30);
/// How long a step may take.
pub const MAX_STEP: Duration = Duration::from_secs(20);

/// A task that at most one process has at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Role {
    /// The name in the store.
    name: &'static str,
    /// How long the role is valid without being renewed.
    valid: Duration,
}

impl Role {
    /// Deletes blobs and expired rows.
    pub const SWEEPER: Self = Self::new("sweeper", Duration::from_secs(60));

    /// `valid` must be longer than 40 seconds: a role is renewed when less than three quarters of it are left, and this
    /// must be more than [`MARGIN`].
    pub const fn new(name: &'static str, valid: Duration) -> Self {
        Self { name, valid }
    }

    /// A role that is valid for less than this is renewed before the next step. It is longer than [`MARGIN`].
    fn renew_below(self) -> Duration {
        self.valid * 3 / 4
    }
}

/// A role that this process holds. Dropping it without [`release`](Self::release) leaves the role to the next process of
/// this machine that wants it, and to other machines when it expires.
pub struct HeldRole {
    roles: Roles,
    role: Role,
    fence: RoleFence,
    /// By the monotonic clock, measured from before the request to the store.
    valid_until: Duration,
    owner: Option<OwnerLock>,
}

/// Takes roles for this process, and releases the roles of killed processes. Clones share their state.
#[derive(Clone)]
pub struct Roles {
    parts: Arc<Parts>,
}

struct Parts {
    store: SharedStore,
    blobs: BlobStore,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Roles {
    pub fn new(store: SharedStore, blobs: BlobStore, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { parts: Arc::new(Parts { store, blobs, clock, random }) }
    }

    /// Takes a role if it is free, or if its holder was killed on this machine.
    pub async fn try_role(&self, role: Role) -> Result<Option<HeldRole>, StorageError> {
        match self.take_role(role).await? {
            None if self.free_ended_owners().await? > 0 => self.take_role(role).await,
            taken => Ok(taken),
        }
    }

    async fn take_role(&self, role: Role) -> Result<Option<HeldRole>, StorageError> {
        let holder = match new_id(self.parts.random.as_ref()) {
            Ok(holder) => holder,
            Err(error) => {
                tracing::warn!(%error, role = role.name, "a role was not taken; it will be retried");
                return Ok(None);
            }
        };
        let owner = self.register_owner(&holder).await;
        let (began, at) = (self.parts.clock.monotonic(), self.parts.clock.now());
        let until = at.plus_millis(millis(role.valid));
        let request = RoleRequest { role: role.name, holder: &holder, at, until };
        let taken = self.parts.store.take_role(request).await;
        if !matches!(taken, Ok(Some(_)))
            && let Some(owner) = owner
        {
            owner.remove();
            return taken.map(|_| None);
        }
        let roles = self.clone();
        Ok(taken?.map(|fence| HeldRole { roles, role, fence, valid_until: began + role.valid, owner }))
    }

    /// Cleans up after processes of this machine that were killed: releases their leases and roles. If no other process uses
    /// the blob folder, it also deletes their temporary files.
    ///
    /// Other processes are not disturbed: leases of other machines expire. Unreferenced blobs are left to the periodic
    /// clean-up, because another process may be about to refer to them.
    ///
    /// # Errors
    /// A store failed; the next start retries.
    pub async fn recover(&self) -> Result<(), String> {
        self.free_ended_owners().await.map_err(|error| error.to_string())?;
        self.parts.blobs.run_exclusively(async {}).await.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Marks an owner of leases or roles as alive. Without the mark, its leases and roles are not released when this
    /// process is killed, but expire later.
    pub async fn register_owner(&self, id: &str) -> Option<OwnerLock> {
        let (locks, id) = (self.parts.blobs.locks.clone(), id.to_owned());
        let registered = tokio::task::spawn_blocking(move || locks.register_owner(&id)).await;
        registered
            .map_err(|error| tracing::debug!(%error, "an owner of leases was not registered"))
            .ok()?
            .map_err(|error| tracing::debug!(%error, "an owner of leases was not registered"))
            .ok()
    }

    /// Releases the leases and roles of processes of this machine that were killed; returns the number of their owners. On
    /// other machines they expire.
    pub async fn free_ended_owners(&self) -> Result<usize, StorageError> {
        let locks = self.parts.blobs.locks.clone();
        let listed = tokio::task::spawn_blocking(move || locks.ended_owners()).await;
        let ended = match listed {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                tracing::warn!(%error, "leases of killed processes are not released; they will expire");
                return Ok(0);
            }
            Err(error) => return Err(StorageError::Unavailable(error.to_string())),
        };
        let count = ended.len();
        for owner in ended {
            self.parts.store.abandon_leases(&owner.id).await?;
            self.parts.store.release_roles_of(&owner.id).await?;
            owner.lock.remove();
        }
        Ok(count)
    }
}

impl HeldRole {
    /// Whether the next step may begin. Renews the role if it expires soon.
    pub async fn is_valid(&mut self) -> Result<bool, StorageError> {
        let store = &self.roles.parts.store;
        let held = if self.left() < self.role.renew_below() {
            let began = self.roles.parts.clock.monotonic();
            let until = self.roles.parts.clock.now().plus_millis(millis(self.role.valid));
            let renewed = store.renew_role(self.role.name, self.fence, until).await?;
            self.valid_until = began + self.role.valid;
            renewed
        } else {
            store.holds_role(self.role.name, self.fence).await?
        };
        // The request itself may have taken long.
        Ok(held && self.left() > MARGIN)
    }

    fn left(&self) -> Duration {
        self.valid_until.saturating_sub(self.roles.parts.clock.monotonic())
    }

    /// Lets another process take the role.
    pub async fn release(self) {
        match self.roles.parts.store.release_role(self.role.name, self.fence).await {
            Ok(()) => {
                if let Some(owner) = self.owner {
                    owner.remove();
                }
            }
            Err(error) => {
                tracing::warn!(%error, role = self.role.name, "a role was not released; it will expire");
            }
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
