//! Search stages: compute embeddings of visible images and read the text in them.

mod keeper;
mod run;

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{AccountId, ImageId};
use sandbox::Urgency;
use storage::{BackfillFilter, Stage, StageId, StageProgress, StorageError, VersionPolicy};

pub(crate) use keeper::StageKeeper;

use crate::{Indexer, encoders::SharedEncoder, indexer_role::IndexingScope, search_stage::SearchStage};

/// How many images one write checks for a backfill.
const BACKFILL_BATCH: u32 = 2_000;
/// How many vectors of unused encoders one write deletes.
const PRUNE_BATCH: u32 = 2_000;

#[derive(Clone)]
pub(crate) enum StageWork {
    /// OCR.
    Text,
    /// Computes embeddings with `encoder`. New images also get one of `previous`, the encoder that serves searches until
    /// `encoder` has processed every image.
    Embedding { encoder: SharedEncoder, previous: Option<SharedEncoder> },
}

/// A stage that this process works on.
#[derive(Clone)]
pub(crate) struct OpenStage {
    pub(crate) kind: SearchStage,
    pub(crate) id: StageId,
    pub(crate) version: String,
    pub(crate) work: StageWork,
    /// Whether every image was processed at this process's last check.
    pub(crate) is_complete: bool,
    /// Whether this process decides on the version of the stage.
    pub(crate) is_kept: bool,
}

impl OpenStage {
    /// Quick stages are more urgent, because imports wait for them.
    pub(crate) fn urgency(&self) -> Urgency {
        if self.kind.is_quick() { Urgency::Background } else { Urgency::Deferrable }
    }

    fn backfill_filter(&self) -> BackfillFilter<'_> {
        match &self.work {
            StageWork::Text => BackfillFilter::All,
            StageWork::Embedding { encoder, .. } => BackfillFilter::WithoutVector(encoder.name()),
        }
    }
}

/// The stages that this process works on. A stage is paused for a while after its worker or encoder failed.
#[derive(Default)]
pub(crate) struct RunningStages(Mutex<Stages>);

#[derive(Default)]
struct Stages {
    open: Vec<(SearchStage, StageId, String)>,
    /// Whether an indexer of this process will open them.
    is_opening: bool,
    /// The paused version of each stage, and the end of the pause by the monotonic clock. Another version is not paused.
    paused: HashMap<StageId, (String, Duration)>,
    /// The stages that were logged as belonging to a newer program.
    newer: HashSet<StageId>,
    /// The stages and versions that were logged as those of another process.
    other: HashSet<(StageId, String)>,
}

impl Stages {
    fn is_paused(&self, stage: StageId, version: &str, now: Duration) -> bool {
        self.paused.get(&stage).is_some_and(|(paused, until)| paused == version && now < *until)
    }
}

impl RunningStages {
    fn stages(&self) -> MutexGuard<'_, Stages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the stages will be opened.
    pub(crate) fn expect(&self) {
        let mut stages = self.stages();
        stages.is_opening = stages.open.is_empty();
    }

    fn set(&self, stages: &[OpenStage]) {
        let open = stages.iter().map(|stage| (stage.kind, stage.id, stage.version.clone()));
        let open = open.collect();
        let mut state = self.stages();
        (state.open, state.is_opening) = (open, false);
    }

    /// Records that a stage belongs to a newer program; `true` the first time.
    fn record_newer(&self, stage: StageId) -> bool {
        self.stages().newer.insert(stage)
    }

    /// Records that another process works on a stage with this version; `true` the first time.
    fn record_other(&self, stage: StageId, version: &str) -> bool {
        self.stages().other.insert((stage, version.to_owned()))
    }

    /// Pauses a stage, because its next image would fail as well; `true` if it was not paused.
    fn pause(&self, stage: &OpenStage, now: Duration, until: Duration) -> bool {
        let mut stages = self.stages();
        let was_paused = stages.is_paused(stage.id, &stage.version, now);
        stages.paused.insert(stage.id, (stage.version.clone(), until));
        !was_paused
    }

    /// Whether a stage is paused.
    pub(crate) fn is_paused(&self, stage: &OpenStage, now: Duration) -> bool {
        self.stages().is_paused(stage.id, &stage.version, now)
    }

    /// The stages of a scope that are not paused; `None` while they are being opened for the first time.
    fn ids(&self, scope: IndexingScope, now: Duration) -> Option<Vec<StageId>> {
        let stages = self.stages();
        let is_active = |kind: SearchStage, stage, version: &str| {
            scope.includes_stage(kind) && !stages.is_paused(stage, version, now)
        };
        let open = stages.open.iter().filter(|(kind, stage, version)| is_active(*kind, *stage, version));
        (!stages.is_opening).then(|| open.map(|(_, stage, _)| *stage).collect())
    }
}

/// The progress of a search stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchProgress {
    pub stage: SearchStage,
    /// The version of the encoder or of OCR.
    pub version: String,
    /// How many images are waiting.
    pub waiting: u64,
    /// How many images failed.
    pub failed: u64,
}

impl Indexer {
    /// The progress of the search stages for the images of one account, or of all accounts. Stages that are switched off
    /// are left out.
    pub async fn search_progress(
        &self,
        account: Option<AccountId>,
    ) -> Result<Vec<SearchProgress>, StorageError> {
        let stages = self.parts.store.stage_progress(account).await?;
        let has_model = self.has_vision_model().await;
        let progress = |StageProgress { stage, waiting, failed }| {
            let kind = SearchStage::from_name(&stage.name)?;
            let is_on = match kind {
                SearchStage::Text => self.parts.text_reader.is_some(),
                SearchStage::Appearance => true,
                SearchStage::Model => has_model,
            };
            is_on.then_some(SearchProgress { stage: kind, version: stage.version, waiting, failed })
        };
        Ok(stages.into_iter().filter_map(progress).collect())
    }

    /// How many images of an account wait for their text to be read or for a vision model.
    pub async fn awaiting_recognition(&self, account: AccountId) -> Result<u64, StorageError> {
        let parts = &self.parts;
        // If no server has run yet, the stage does not exist, and its waiting images would not be counted.
        if let Some(reader) = &parts.text_reader
            && let Ok(version) = reader.version().await
        {
            self.open_stage(SearchStage::Text, &version, VersionPolicy::Keep).await?;
        }
        let has_model = !parts.encoders.is_built_in_chosen().await;
        let is_on = |stage: &Stage| match SearchStage::from_name(&stage.name) {
            Some(SearchStage::Text) => parts.text_reader.is_some(),
            Some(SearchStage::Model) => has_model,
            Some(SearchStage::Appearance) | None => false,
        };
        let stages = parts.store.stage_progress(Some(account)).await?;
        let waiting =
            stages.iter().filter(|progress| is_on(&progress.stage)).map(|progress| progress.waiting);
        Ok(waiting.max().unwrap_or(0))
    }

    /// The stages of a scope that this process waits for; `None` until it knows them. Paused stages do not count, because the
    /// end of the pause is unknown.
    pub fn awaited_stages(&self, scope: IndexingScope) -> Option<Vec<StageId>> {
        self.parts.running_stages.ids(scope, self.parts.clock.monotonic())
    }

    /// The images that still wait for a stage of this scope.
    pub async fn not_yet_searchable(
        &self,
        images: &[ImageId],
        scope: IndexingScope,
    ) -> Result<Vec<ImageId>, StorageError> {
        match self.awaited_stages(scope) {
            None => Ok(images.to_vec()),
            Some(stages) if stages.is_empty() || images.is_empty() => Ok(Vec::new()),
            Some(stages) => self.parts.store.images_with_pending_stages(images, &stages).await,
        }
    }

    /// Opens the stages of a scope that this process can work on. It skips stages that have another version in the store,
    /// unless it is their keeper.
    pub(crate) async fn open_stages(
        &self,
        keeper: &mut StageKeeper,
        scope: IndexingScope,
        open: &[OpenStage],
    ) -> Result<Vec<OpenStage>, StorageError> {
        let parts = &self.parts;
        let mut opened = Vec::new();
        let mut add = |(stage, policy): (Stage, VersionPolicy), version: &str, work: StageWork| {
            if let Some(kind) = SearchStage::from_name(&stage.name)
                && kind.revision() == stage.revision
                && stage.version == version
            {
                let before = open.iter().find(|before| before.id == stage.id && before.version == version);
                opened.push(OpenStage {
                    kind,
                    id: stage.id,
                    version: stage.version,
                    work,
                    is_complete: before.is_some_and(|before| before.is_complete),
                    is_kept: policy == VersionPolicy::Replace,
                });
            }
        };
        let mut open_stage = async |kind: SearchStage, version: &str| {
            let policy = keeper.policy(self, kind).await?;
            Ok::<_, StorageError>((self.open_stage(kind, version, policy).await?, policy))
        };
        let built_in = parts.encoders.built_in().clone();
        let stage = open_stage(SearchStage::Appearance, built_in.name()).await?;
        let name = built_in.name().to_owned();
        add(stage, &name, StageWork::Embedding { encoder: built_in, previous: None });
        // The stage of an unusable model stays as it is.
        if scope.includes_stage(SearchStage::Model)
            && let Ok(Some(model)) = parts.encoders.model(&parts.clock).await
        {
            let stage = open_stage(SearchStage::Model, model.name()).await?;
            let previous = self.previous_model(&stage.0, &model).await?;
            let name = model.name().to_owned();
            add(stage, &name, StageWork::Embedding { encoder: model, previous });
        }
        if scope.includes_stage(SearchStage::Text)
            && let Some(reader) = &parts.text_reader
        {
            match reader.version().await {
                Ok(version) => {
                    let stage = open_stage(SearchStage::Text, &version).await?;
                    add(stage, &version, StageWork::Text);
                }
                Err(error) => tracing::debug!(%error, "OCR is not available"),
            }
        }
        let is_new = |stage: &&OpenStage| {
            !open.iter().any(|known| known.id == stage.id && known.version == stage.version)
        };
        for stage in opened.iter().filter(is_new) {
            // Computes vectors again that were lost in the meantime.
            if stage.is_kept && matches!(stage.work, StageWork::Embedding { .. }) {
                parts.store.restart_backfill(stage.id).await?;
            }
        }
        // Queues all images now, because an import waits for its own images, and some became visible before their stage
        // existed.
        if !scope.includes_upkeep() {
            for stage in &mut opened {
                while self.queue_more(stage).await? {}
            }
        }
        parts.running_stages.set(&opened);
        Ok(opened)
    }

    /// Opens a stage in the store. A stage of a newer program stays unchanged, which is logged once.
    async fn open_stage(
        &self,
        kind: SearchStage,
        version: &str,
        other_version: VersionPolicy,
    ) -> Result<Stage, StorageError> {
        let store = &self.parts.store;
        let stage = store.open_stage(kind.name(), version, kind.revision(), other_version).await?;
        if stage.revision > kind.revision() && self.parts.running_stages.record_newer(stage.id) {
            tracing::warn!(
                stage = stage.name,
                revision = stage.revision,
                own_revision = kind.revision(),
                "a newer version of this program owns this stage; this version leaves it unchanged"
            );
        }
        if stage.revision == kind.revision()
            && stage.version != version
            && self.parts.running_stages.record_other(stage.id, &stage.version)
        {
            tracing::warn!(
                stage = stage.name,
                version = stage.version,
                own_version = version,
                "another process works on this search stage with other settings, and this process leaves it alone; give all \
                 processes the same --ocr-languages, version of Tesseract and vision model"
            );
        }
        Ok(stage)
    }

    /// Queues further images of a stage, or records that none are left; `true` if there may be jobs now.
    pub(crate) async fn queue_more(&self, stage: &mut OpenStage) -> Result<bool, StorageError> {
        if stage.is_complete {
            return Ok(false);
        }
        let store = &self.parts.store;
        if store.backfill_stage(stage.id, stage.backfill_filter(), BACKFILL_BATCH).await? {
            return Ok(true);
        }
        stage.is_complete = store.mark_stage_complete(stage.id, &stage.version).await?;
        if stage.is_complete && matches!(stage.work, StageWork::Embedding { previous: Some(_), .. }) {
            self.parts.encoders.release_previous().await;
        }
        Ok(false)
    }

    /// Deletes some vectors of unused encoders; `true` if there were any.
    pub(crate) async fn prune_old_vectors(
        &self,
        keeper: &mut StageKeeper,
        stages: &[OpenStage],
    ) -> Result<bool, StorageError> {
        if !stages.iter().all(|stage| stage.is_complete) {
            return Ok(false);
        }
        let mut names: Vec<&str> = Vec::new();
        for stage in stages {
            if let StageWork::Embedding { encoder, .. } = &stage.work {
                if !stage.is_kept {
                    return Ok(false);
                }
                names.push(encoder.name());
            }
        }
        // If the built-in encoder is missing here, its stage belongs to a newer program.
        if !names.contains(&self.parts.encoders.built_in().name()) {
            return Ok(false);
        }
        // An unusable model may be repaired, and a model that was just chosen has no stage yet.
        match self.parts.encoders.model(&self.parts.clock).await {
            Ok(Some(model)) if names.contains(&model.name()) => {}
            // No other process works with a model, because this process decides on the model stage.
            Ok(None)
                if self.parts.encoders.is_built_in_chosen().await
                    && keeper.decides(self, SearchStage::Model).await? => {}
            _ => return Ok(false),
        }
        Ok(self.parts.store.prune_vectors(&names, PRUNE_BATCH).await? > 0)
    }
}
