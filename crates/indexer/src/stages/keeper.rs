use std::{collections::HashMap, time::Duration};

use roles::{HeldRole, Role};
use storage::{StorageError, VersionPolicy};
use tokio::time::Instant;

use crate::{Indexer, search_stage::SearchStage};

/// How often a process tries to become the keeper of a stage.
const INTERVAL: Duration = Duration::from_secs(30);
/// How long the role of a keeper is valid. This can be long, because another machine can wait for the role. It should be
/// long, because the role is renewed even while nothing happens.
const VALID: Duration = Duration::from_secs(600);

/// The role that decides on the version of a stage. Without it, two machines with different versions of Tesseract would change
/// the version in turns. Only a process that can work on the stage takes the role.
fn keeper_of(stage: SearchStage) -> Role {
    let name = match stage {
        SearchStage::Text => "text-keeper",
        SearchStage::Appearance => "appearance-keeper",
        SearchStage::Model => "model-keeper",
    };
    Role::new(name, VALID)
}

/// The stages whose version this process decides. For each stage, one indexer of all machines decides.
#[derive(Default)]
pub(crate) struct StageKeeper {
    roles: HashMap<SearchStage, HeldRole>,
    tried: HashMap<SearchStage, Instant>,
    may_decide: bool,
}

impl StageKeeper {
    /// Whether this process may decide on stages at all.
    pub(crate) fn set_may_decide(&mut self, may_decide: bool) {
        self.may_decide = may_decide;
    }

    /// What this process does with another version of a stage that it can work on. Tries to become the keeper of the stage.
    pub(crate) async fn policy(
        &mut self,
        indexer: &Indexer,
        stage: SearchStage,
    ) -> Result<VersionPolicy, StorageError> {
        Ok(if self.decides(indexer, stage).await? { VersionPolicy::Replace } else { VersionPolicy::Keep })
    }

    /// Whether this process decides on a stage that it can work on. Tries to become its keeper.
    pub(crate) async fn decides(
        &mut self,
        indexer: &Indexer,
        stage: SearchStage,
    ) -> Result<bool, StorageError> {
        if !self.may_decide {
            return Ok(false);
        }
        if let Some(role) = self.roles.get_mut(&stage) {
            if role.is_valid().await? {
                return Ok(true);
            }
            self.roles.remove(&stage);
        }
        if self.tried.get(&stage).is_some_and(|tried| tried.elapsed() <= INTERVAL) {
            return Ok(false);
        }
        self.tried.insert(stage, Instant::now());
        let taken = indexer.parts.roles.try_role(keeper_of(stage)).await?;
        let decides = taken.is_some();
        self.roles.extend(taken.map(|role| (stage, role)));
        Ok(decides)
    }

    /// Lets another process decide.
    pub(crate) async fn release(&mut self) {
        self.tried.clear();
        for (_, role) in self.roles.drain() {
            role.release().await;
        }
    }
}
