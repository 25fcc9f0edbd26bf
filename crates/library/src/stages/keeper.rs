use std::time::Duration;

use storage::{StorageError, VersionPolicy};
use tokio::time::Instant;

use crate::{
    Library,
    roles::{HeldRole, Role},
};

/// How often a process tries to become the stage keeper.
const INTERVAL: Duration = Duration::from_secs(30);

/// Whether this process decides on the versions of the stages, as one indexer of all machines does.
#[derive(Default)]
pub(crate) struct StageKeeper {
    role: Option<HeldRole>,
    tried: Option<Instant>,
}

impl StageKeeper {
    /// Whether this process decides.
    pub(crate) fn is_held(&self) -> bool {
        self.role.is_some()
    }

    /// What this process does with a stage of another version. Tries to become the stage keeper if it may.
    pub(crate) async fn policy(
        &mut self,
        library: &Library,
        may_decide: bool,
    ) -> Result<VersionPolicy, StorageError> {
        if !may_decide {
            return Ok(VersionPolicy::Keep);
        }
        if let Some(role) = &mut self.role
            && !role.is_valid().await?
        {
            self.role = None;
        }
        if self.role.is_none() && self.tried.is_none_or(|tried| tried.elapsed() > INTERVAL) {
            self.tried = Some(Instant::now());
            self.role = library.try_role(Role::StageKeeper).await?;
        }
        Ok(if self.role.is_some() { VersionPolicy::Replace } else { VersionPolicy::Keep })
    }

    /// Lets another process decide.
    pub(crate) async fn release(&mut self) {
        self.tried = None;
        if let Some(role) = self.role.take() {
            role.release().await;
        }
    }
}
