//! Roles: what one process of the whole installation does at a time, as the metadata store decides.
//!
//! A holder may lose its role without noticing, because its machine was suspended. So it calls [`HeldRole::is_valid`]
//! directly before each step, and a step is given up after [`MAX_STEP`]. What remains is a process that is stopped between
//! this check and its step for longer than [`MARGIN`]. A late deletion then does harm only if, within the same stop, another
//! process takes the role, deletes and forgets the same blob, and a client sends its bytes again.

#[cfg(test)]
mod tests;

use std::time::Duration;

use blobs::OwnerLock;
use keys::new_id;
use storage::{RoleFence, RoleRequest, StorageError};

use crate::{Library, stages::SearchStage};

/// A step begins only if the role is valid for longer than this.
const MARGIN: Duration = Duration::from_secs(30);
/// How long a step may take.
pub(crate) const MAX_STEP: Duration = Duration::from_secs(20);

/// What one process does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Deletes blobs and expired rows.
    Sweeper,
    /// Decides on the version of a search stage. Without it, two machines with different versions of Tesseract would change
    /// the version of the stage in turns. Only a process that can work on the stage takes the role.
    StageKeeper(SearchStage),
}

impl Role {
    /// The name in the store.
    fn name(self) -> &'static str {
        match self {
            Self::Sweeper => "sweeper",
            Self::StageKeeper(SearchStage::Text) => "text-keeper",
            Self::StageKeeper(SearchStage::Appearance) => "appearance-keeper",
            Self::StageKeeper(SearchStage::Model) => "model-keeper",
        }
    }

    /// How long the role is valid. That of a stage keeper can wait for another machine, and is renewed also while nothing
    /// happens, so it is long.
    fn valid(self) -> Duration {
        match self {
            Self::Sweeper => Duration::from_secs(60),
            Self::StageKeeper(_) => Duration::from_secs(600),
        }
    }

    /// A role that is valid for less than this is renewed before the next step. It is longer than [`MARGIN`].
    fn renew_below(self) -> Duration {
        self.valid() * 3 / 4
    }
}

/// A role that this process holds. Dropping it without [`release`](Self::release) leaves the role to the next process of
/// this machine that wants it, and to other machines when it expires.
pub(crate) struct HeldRole {
    library: Library,
    role: Role,
    fence: RoleFence,
    /// By the monotonic clock, measured from before the request to the store.
    valid_until: Duration,
    owner: Option<OwnerLock>,
}

impl Library {
    /// Takes a role if it is free, or if its holder was killed on this machine.
    pub(crate) async fn try_role(&self, role: Role) -> Result<Option<HeldRole>, StorageError> {
        match self.take_role(role).await? {
            None if self.free_ended_owners().await? > 0 => self.take_role(role).await,
            taken => Ok(taken),
        }
    }

    async fn take_role(&self, role: Role) -> Result<Option<HeldRole>, StorageError> {
        let holder = match new_id(self.random()) {
            Ok(holder) => holder,
            Err(error) => {
                tracing::warn!(%error, role = role.name(), "a role was not taken; it will be retried");
                return Ok(None);
            }
        };
        let owner = self.register_owner(&holder).await;
        let (began, at) = (self.parts.clock.monotonic(), self.parts.clock.now());
        let until = at.plus_millis(millis(role.valid()));
        let request = RoleRequest { role: role.name(), holder: &holder, at, until };
        let taken = self.parts.store.take_role(request).await;
        if !matches!(taken, Ok(Some(_)))
            && let Some(owner) = owner
        {
            owner.remove();
            return taken.map(|_| None);
        }
        let library = self.clone();
        Ok(taken?.map(|fence| HeldRole { library, role, fence, valid_until: began + role.valid(), owner }))
    }

    /// Marks an owner of leases or roles as alive. Without the mark, they expire if this process is killed.
    pub(crate) async fn register_owner(&self, id: &str) -> Option<OwnerLock> {
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
    pub(crate) async fn free_ended_owners(&self) -> Result<usize, StorageError> {
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
    pub(crate) async fn is_valid(&mut self) -> Result<bool, StorageError> {
        let store = &self.library.parts.store;
        let held = if self.left() < self.role.renew_below() {
            let began = self.library.parts.clock.monotonic();
            let until = self.library.parts.clock.now().plus_millis(millis(self.role.valid()));
            let renewed = store.renew_role(self.role.name(), self.fence, until).await?;
            self.valid_until = began + self.role.valid();
            renewed
        } else {
            store.holds_role(self.role.name(), self.fence).await?
        };
        // The request itself may have taken long.
        Ok(held && self.left() > MARGIN)
    }

    fn left(&self) -> Duration {
        self.valid_until.saturating_sub(self.library.parts.clock.monotonic())
    }

    /// Lets another process take the role.
    pub(crate) async fn release(self) {
        match self.library.parts.store.release_role(self.role.name(), self.fence).await {
            Ok(()) => {
                if let Some(owner) = self.owner {
                    owner.remove();
                }
            }
            Err(error) => {
                tracing::warn!(%error, role = self.role.name(), "a role was not released; it will expire");
            }
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
