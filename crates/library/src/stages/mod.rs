//! Work on images once they can be seen: what they look like, the words in them.

mod run;

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{AccountId, ImageId};
use storage::{BackfillFilter, Stage, StageId, StageProgress, StorageError, VersionPolicy};

pub(crate) use run::Reader;

use crate::{IndexingScope, Library, encoders::SharedEncoder};

/// The stage of the words in images.
pub(crate) const TEXT: &str = "text";
/// The stage of the encoder that is always there.
pub(crate) const APPEARANCE: &str = "appearance";
/// The stage of the vision model in use.
pub(crate) const MODEL: &str = "model";

/// So many images are looked at in one write, to find those that a stage has to do.
const LOOKED_AT_ONCE: u32 = 2_000;
/// So many vectors of encoders that serve no more are forgotten in one write.
const FORGOTTEN_AT_ONCE: u32 = 2_000;

/// What a stage does.
#[derive(Clone)]
pub(crate) enum Kind {
    /// Reads words.
    Text,
    /// Sees with an encoder, and what is new also with the one that serves until this one has seen all.
    Look { encoder: SharedEncoder, before: Option<SharedEncoder> },
}

/// A stage that this process works on.
#[derive(Clone)]
pub(crate) struct OpenStage {
    pub(crate) id: StageId,
    pub(crate) version: String,
    pub(crate) kind: Kind,
    /// Whether every image was done when this process looked last.
    pub(crate) is_complete: bool,
}

impl OpenStage {
    fn undone(&self) -> BackfillFilter<'_> {
        match &self.kind {
            Kind::Text => BackfillFilter::All,
            Kind::Look { encoder, .. } => BackfillFilter::WithoutVector(encoder.name()),
        }
    }
}

/// The stages that this process works on, for those who wait for them; and which of them rest because what they work
/// with failed.
#[derive(Default)]
pub(crate) struct AtWork(Mutex<Stages>);

#[derive(Default)]
struct Stages {
    open: Vec<(StageId, String)>,
    /// Under which version they rest, and until when by the monotonic clock. Another version is another try.
    resting: HashMap<StageId, (String, Duration)>,
    /// The stages that were logged as belonging to a newer program.
    newer: HashSet<StageId>,
}

impl Stages {
    fn rests(&self, stage: StageId, version: &str, now: Duration) -> bool {
        self.resting.get(&stage).is_some_and(|(resting, until)| resting == version && now < *until)
    }
}

impl AtWork {
    fn stages(&self) -> MutexGuard<'_, Stages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, stages: &[OpenStage]) {
        self.stages().open = stages.iter().map(|stage| (stage.id, stage.version.clone())).collect();
    }

    /// Notes that a stage belongs to a newer program; `true` when that was not known yet.
    fn note_newer(&self, stage: StageId) -> bool {
        self.stages().newer.insert(stage)
    }

    /// A stage is left alone until then: with each further image it would fail again. `true` when it did not rest yet.
    fn rest(&self, stage: &OpenStage, now: Duration, until: Duration) -> bool {
        let mut stages = self.stages();
        let rested = stages.rests(stage.id, &stage.version, now);
        stages.resting.insert(stage.id, (stage.version.clone(), until));
        !rested
    }

    /// Whether a stage is to be left alone.
    pub(crate) fn rests(&self, stage: &OpenStage, now: Duration) -> bool {
        self.stages().rests(stage.id, &stage.version, now)
    }

    /// Those that do not rest.
    fn ids(&self, now: Duration) -> Vec<StageId> {
        let stages = self.stages();
        let at_work = stages.open.iter().filter(|(stage, version)| !stages.rests(*stage, version, now));
        at_work.map(|(stage, _)| *stage).collect()
    }
}

/// A kind of work on images that can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStage {
    /// Words are read in photos.
    Text,
    /// It is noted what photos look like, in the way that needs no model.
    Appearance,
    /// A vision model sees photos.
    Model,
}

impl SearchStage {
    /// The work that the store knows by this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            TEXT => Some(Self::Text),
            APPEARANCE => Some(Self::Appearance),
            MODEL => Some(Self::Model),
            _ => None,
        }
    }

    /// The name of the work in the store.
    fn name(self) -> &'static str {
        match self {
            Self::Text => TEXT,
            Self::Appearance => APPEARANCE,
            Self::Model => MODEL,
        }
    }

    /// The number of this program's part in the work. Models carry their own version in their names.
    pub fn revision(self) -> u32 {
        match self {
            Self::Text => sandbox::OCR_VERSION,
            Self::Appearance => vision::BuiltInEncoder::VERSION,
            Self::Model => 1,
        }
    }
}

/// How far search knows what images hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchProgress {
    /// The work.
    pub stage: SearchStage,
    /// By whom it is done.
    pub version: String,
    /// Images for which it is yet to be done.
    pub waiting: u64,
    /// Images for which it could not be done.
    pub failed: u64,
}

impl Library {
    /// How far search knows what the images of an account hold, or those of all accounts. What nobody does, because it
    /// was switched off, is left out.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn search_progress(
        &self,
        account: Option<AccountId>,
    ) -> Result<Vec<SearchProgress>, StorageError> {
        let told = self.parts.store.stage_progress(account).await?;
        let has_model = self.has_vision_model().await;
        let known = |StageProgress { stage, waiting, failed }| {
            let kind = SearchStage::from_name(&stage.name)?;
            let is_off = match kind {
                SearchStage::Text => self.parts.reader.is_none(),
                SearchStage::Appearance => false,
                SearchStage::Model => !has_model,
            };
            let told = SearchProgress { stage: kind, version: stage.version, waiting, failed };
            (!is_off).then_some(told)
        };
        Ok(told.into_iter().filter_map(known).collect())
    }

    /// Those of these images on which this process still has work to do that makes them found. What rests is not waited
    /// for: nobody knows for how long.
    pub(crate) async fn not_yet_found(&self, images: &[ImageId]) -> Result<Vec<ImageId>, StorageError> {
        let stages = self.parts.stages_at_work.ids(self.parts.clock.monotonic());
        if stages.is_empty() || images.is_empty() {
            return Ok(Vec::new());
        }
        self.parts.store.images_with_pending_stages(images, &stages).await
    }

    /// Opens the stages that this process can work on. One that helps out leaves those alone that others do otherwise.
    pub(crate) async fn open_stages(
        &self,
        scope: IndexingScope,
        open: &[OpenStage],
    ) -> Result<Vec<OpenStage>, StorageError> {
        let parts = &self.parts;
        let other_version = match scope {
            IndexingScope::Everything => VersionPolicy::Replace,
            IndexingScope::Images => VersionPolicy::Keep,
        };
        let mut opened = Vec::new();
        let mut add = |stage: Stage, version: &str, kind: Kind| {
            let is_ours =
                SearchStage::from_name(&stage.name).is_some_and(|kind| kind.revision() == stage.revision);
            if is_ours && stage.version == version {
                let known = open.iter().find(|known| known.id == stage.id && known.version == version);
                opened.push(OpenStage {
                    id: stage.id,
                    version: stage.version,
                    kind,
                    is_complete: known.is_some_and(|known| known.is_complete),
                });
            }
        };
        let open_stage =
            async |kind: SearchStage, version: &str| self.open_stage(kind, version, other_version).await;
        let built_in = parts.encoders.built_in().clone();
        let stage = open_stage(SearchStage::Appearance, built_in.name()).await?;
        let name = built_in.name().to_owned();
        add(stage, &name, Kind::Look { encoder: built_in, before: None });
        // One that cannot be used now keeps its stage as it is.
        if let Ok(Some(model)) = parts.encoders.model(&parts.clock).await {
            let stage = open_stage(SearchStage::Model, model.name()).await?;
            let before = self.model_before(&stage, &model).await?;
            let name = model.name().to_owned();
            add(stage, &name, Kind::Look { encoder: model, before });
        }
        if let Some(reader) = &parts.reader {
            match reader.version().await {
                Ok(version) => {
                    let stage = open_stage(SearchStage::Text, &version).await?;
                    add(stage, &version, Kind::Text);
                }
                Err(error) => tracing::debug!(%error, "words cannot be read now"),
            }
        }
        let is_new = |stage: &&OpenStage| {
            !open.iter().any(|known| known.id == stage.id && known.version == stage.version)
        };
        for stage in opened.iter().filter(is_new) {
            // What was lost meanwhile is made anew: a vector, or all of them.
            if scope == IndexingScope::Everything && matches!(stage.kind, Kind::Look { .. }) {
                parts.store.restart_backfill(stage.id).await?;
            }
        }
        parts.stages_at_work.set(&opened);
        Ok(opened)
    }

    /// The stage as the store has it now. One that a newer program took over is left to it, which is logged once.
    async fn open_stage(
        &self,
        kind: SearchStage,
        version: &str,
        other_version: VersionPolicy,
    ) -> Result<Stage, StorageError> {
        let store = &self.parts.store;
        let stage = store.open_stage(kind.name(), version, kind.revision(), other_version).await?;
        if stage.revision > kind.revision() && self.parts.stages_at_work.note_newer(stage.id) {
            tracing::warn!(
                stage = stage.name,
                revision = stage.revision,
                own_revision = kind.revision(),
                "a newer version of this program works on this stage; this version leaves it alone"
            );
        }
        Ok(stage)
    }

    /// The encoder that answers as long as the model in use has not seen every image; `None` when it has, or nothing is
    /// left of what the one before saw, or that one is gone.
    pub(crate) async fn model_before(
        &self,
        stage: &Stage,
        model: &SharedEncoder,
    ) -> Result<Option<SharedEncoder>, StorageError> {
        let Some(complete) = stage.complete_version.as_deref().filter(|complete| *complete != model.name())
        else {
            return Ok(None);
        };
        if self.parts.store.encoder(complete).await?.is_none() {
            return Ok(None);
        }
        Ok(self.parts.encoders.named(complete).await)
    }

    /// Queues further images that a stage has to do, or notes that none are left; `true` when there may be jobs now.
    pub(crate) async fn go_on_with(&self, stage: &mut OpenStage) -> Result<bool, StorageError> {
        if stage.is_complete {
            return Ok(false);
        }
        let store = &self.parts.store;
        if store.backfill_stage(stage.id, stage.undone(), LOOKED_AT_ONCE).await? {
            return Ok(true);
        }
        stage.is_complete = store.mark_stage_complete(stage.id, &stage.version).await?;
        if stage.is_complete && matches!(stage.kind, Kind::Look { before: Some(_), .. }) {
            self.parts.encoders.forget_before().await;
        }
        Ok(false)
    }

    /// Forgets some vectors of encoders that serve no more; `true` when there were any.
    pub(crate) async fn forget_old_vectors(&self, stages: &[OpenStage]) -> Result<bool, StorageError> {
        if !stages.iter().all(|stage| stage.is_complete) {
            return Ok(false);
        }
        let mut names: Vec<&str> = Vec::new();
        for stage in stages {
            if let Kind::Look { encoder, .. } = &stage.kind {
                names.push(encoder.name());
            }
        }
        // The built-in encoder of a newer program serves there.
        if !names.contains(&self.parts.encoders.built_in().name()) {
            return Ok(false);
        }
        // A model that cannot be used now may be mended, and one that was chosen just now is no stage yet.
        match self.parts.encoders.model(&self.parts.clock).await {
            Ok(Some(model)) if names.contains(&model.name()) => {}
            Ok(None) if self.parts.encoders.is_built_in_chosen().await => {}
            _ => return Ok(false),
        }
        Ok(self.parts.store.prune_vectors(&names, FORGOTTEN_AT_ONCE).await? > 0)
    }
}
