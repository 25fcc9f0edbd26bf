//! Plans the work that can wait: search stages, full renditions ahead of requests, and upkeep.
//!
//! The planner runs beside the jobs that make images visible. So these jobs never wait for a model to load, an OCR worker
//! to start or a large write to end.

use std::{sync::Arc, time::Duration};

use storage::{LeaseRequest, RenditionJob, StageJob, StorageError};
use tokio::time::Instant;

use crate::{
    Indexer,
    indexer_role::IndexingScope,
    stages::{OpenStage, StageKeeper, StageWork},
};

/// How often the stages are opened again.
const STAGES_INTERVAL: Duration = Duration::from_secs(3);
/// How often the store is searched for images of older decoders. An older program may have indexed some meanwhile.
const OUTDATED_INTERVAL: Duration = Duration::from_secs(3600);
/// How many images have their words indexed again in one write.
const WORDS_BATCH: u32 = 200;
/// For how many images regions are stored in one write.
const REGIONS_BATCH: u32 = 100;

/// How many images that are older than the map are added to it in one write.
const MAP_BATCH: u32 = 200;
/// How many outdated images are queued again in one write.
const OUTDATED_BATCH: u32 = 500;

/// A leased job that can wait.
pub(crate) enum PlannedJob {
    Stage(StageJob, OpenStage),
    FullRendition(RenditionJob),
}

/// The running jobs that can wait.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunningCounts {
    /// Images that older decoders read.
    pub(crate) outdated: usize,
    pub(crate) embeddings: usize,
    pub(crate) texts: usize,
    pub(crate) full_renditions: usize,
}

impl RunningCounts {
    fn total(self) -> usize {
        self.outdated + self.embeddings + self.texts + self.full_renditions
    }
}

/// What a round of planning found.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) jobs: Vec<PlannedJob>,
    /// Whether another round would find more at once.
    pub(crate) has_more: bool,
}

pub(crate) struct Planner {
    indexer: Indexer,
    worker: Arc<str>,
    scope: IndexingScope,
    has_outdated_images: bool,
    /// When no outdated image was found last.
    outdated_checked: Instant,
    has_outdated_words: bool,
    /// Whether images may be missing in the map because they are older than it.
    fills_map: bool,
    /// Whether regions of images may be missing or outdated.
    fills_regions: bool,
    /// Whether it was logged that a newer program made the word index.
    newer_words_logged: bool,
    stages: Vec<OpenStage>,
    /// When the stages were last opened.
    stages_opened: Option<Instant>,
    stage_keeper: StageKeeper,
}

impl Planner {
    pub(crate) fn new(indexer: Indexer, worker: Arc<str>, scope: IndexingScope) -> Self {
        Self {
            indexer,
            worker,
            scope,
            has_outdated_images: scope.includes_upkeep(),
            outdated_checked: Instant::now(),
            has_outdated_words: scope.includes_upkeep(),
            fills_map: scope.includes_upkeep(),
            fills_regions: scope.includes_upkeep(),
            newer_words_logged: false,
            stages: Vec::new(),
            stages_opened: None,
            stage_keeper: StageKeeper::default(),
        }
    }

    /// Opens the stages of another process, because an import waits for them. This may start an OCR worker to read the
    /// version of its stage.
    pub(crate) async fn watch_stages(&mut self) {
        self.open_stages(false).await;
        self.indexer.stop_idle_workers().await;
    }

    /// Leases as many jobs as can run beside the running ones, and does one step of the upkeep.
    pub(crate) async fn plan(&mut self, running: RunningCounts) -> Plan {
        let mut plan = Plan::default();
        if self.has_outdated_words {
            plan.has_more |= self.reindex_words().await;
        }
        if self.fills_map {
            plan.has_more |= self.fill_map().await;
        }
        if self.fills_regions {
            plan.has_more |= self.fill_regions().await;
        }
        self.open_stages(true).await;
        let running = self.lease_stage_jobs(running, &mut plan.jobs).await;
        // Full renditions can wait, because a request for a missing one makes it at once.
        if !self.scope.includes_upkeep() || running.embeddings > 0 {
            return plan;
        }
        let room = self.indexer.decode_workers().saturating_sub(running.total());
        if room > 0 {
            let leased = self.lease_full_renditions(room).await;
            plan.jobs.extend(leased.into_iter().map(PlannedJob::FullRendition));
        }
        self.has_outdated_images |= self.outdated_checked.elapsed() > OUTDATED_INTERVAL;
        if running.total() == 0 && plan.jobs.is_empty() && self.has_outdated_images {
            plan.has_more |= self.requeue_outdated().await;
        }
        plan
    }

    /// Lets other processes decide on the versions of the stages.
    pub(crate) async fn release_stages(&mut self) {
        self.stage_keeper.release().await;
    }

    /// Leases jobs of the stages; returns the counts of running jobs with those that were leased. Embeddings are quick
    /// and come first. OCR uses the processors that are left.
    async fn lease_stage_jobs(
        &mut self,
        mut running: RunningCounts,
        jobs: &mut Vec<PlannedJob>,
    ) -> RunningCounts {
        let decoders = self.indexer.decode_workers();
        let mut stages = std::mem::take(&mut self.stages);
        for stage in &mut stages {
            let (count, max) = match stage.work {
                // One more than there are decoders, so that the encoder always has a picture.
                StageWork::Embedding { .. } => {
                    let others = running.embeddings;
                    (&mut running.embeddings, (decoders + 1).saturating_sub(others))
                }
                StageWork::Text => {
                    let (total, texts) = (running.total(), running.texts);
                    let readers = self.indexer.parts.text_reader.as_ref().map_or(0, |reader| reader.workers);
                    (&mut running.texts, readers.saturating_sub(texts).min(decoders.saturating_sub(total)))
                }
            };
            let parts = &self.indexer.parts;
            if max == 0 || parts.running_stages.is_paused(stage, parts.clock.monotonic()) {
                continue;
            }
            let leased = self.lease_jobs_of(stage, max).await;
            *count += leased.len();
            jobs.extend(leased.into_iter().map(|job| PlannedJob::Stage(job, stage.clone())));
        }
        if running.total() == 0
            && let Err(error) = self.indexer.prune_old_vectors(&mut self.stage_keeper, &stages).await
        {
            tracing::warn!(%error, "the vectors of older models were not deleted; it will be retried");
        }
        self.stages = stages;
        running
    }

    /// Opens the stages again from time to time, because a model may have been installed.
    async fn open_stages(&mut self, is_indexer: bool) {
        if self.stages_opened.is_some_and(|opened| opened.elapsed() < STAGES_INTERVAL) {
            return;
        }
        self.stage_keeper.set_may_decide(self.scope.includes_upkeep() && is_indexer);
        match self.indexer.open_stages(&mut self.stage_keeper, self.scope, &self.stages).await {
            Ok(stages) => self.stages = stages,
            Err(error) => tracing::warn!(%error, "the search stages cannot be opened"),
        }
        if let Err(error) = self.check_words().await {
            tracing::warn!(%error, "the word index cannot be read");
        }
        self.stages_opened = Some(Instant::now());
    }

    /// Checks whether a process of another version added words or took over the word index.
    async fn check_words(&mut self) -> Result<(), StorageError> {
        let store = &self.indexer.parts.store;
        if store.word_index_is_newer().await? {
            if !self.newer_words_logged {
                tracing::warn!(
                    "a newer version of this program made the word index; this version leaves it unchanged"
                );
            }
            self.newer_words_logged = true;
        } else if self.scope.includes_upkeep() && !self.has_outdated_words {
            self.has_outdated_words = store.count_outdated_words().await? > 0;
        }
        Ok(())
    }

    /// Leases jobs of a stage. Queues more of them if there are none.
    async fn lease_jobs_of(&self, stage: &mut OpenStage, max: usize) -> Vec<StageJob> {
        let store = &self.indexer.parts.store;
        loop {
            let more = match store.lease_stage_jobs(stage.id, self.lease(max)).await {
                Ok(jobs) if jobs.is_empty() => self.indexer.queue_more(stage).await,
                Ok(jobs) => return jobs,
                Err(error) => Err(error),
            };
            match more {
                Ok(true) => {}
                Ok(false) => return Vec::new(),
                Err(error) => {
                    tracing::warn!(%error, "the queue of a stage cannot be read");
                    return Vec::new();
                }
            }
        }
    }

    async fn lease_full_renditions(&self, max: usize) -> Vec<RenditionJob> {
        let leased = self.indexer.parts.store.lease_rendition_jobs(self.lease(max)).await;
        leased.unwrap_or_else(|error| {
            tracing::warn!(%error, "the queue of full renditions cannot be read");
            Vec::new()
        })
    }

    fn lease(&self, max: usize) -> LeaseRequest<'_> {
        self.indexer.lease_request(&self.worker, max)
    }

    /// Queues some images again that older decoders read: newer decoders may read more, for example better colours.
    async fn requeue_outdated(&mut self) -> bool {
        let parts = &self.indexer.parts;
        let queued =
            parts.store.requeue_outdated(media::DECODER_VERSION, parts.clock.now(), OUTDATED_BATCH).await;
        match queued {
            Ok(0) => {
                self.has_outdated_images = false;
                self.outdated_checked = Instant::now();
                false
            }
            Ok(images) => {
                tracing::info!(images, "images that older decoders read are queued again");
                true
            }
            Err(error) => {
                // Retried when `OUTDATED_INTERVAL` has passed since the last complete check, or since the start.
                self.has_outdated_images = false;
                tracing::warn!(%error, "images that older decoders read were not queued again");
                false
            }
        }
    }

    /// Indexes some words again that an older version tokenized. Until then, searches for these words may not find their
    /// photos.
    async fn reindex_words(&mut self) -> bool {
        let indexed = self.indexer.parts.store.reindex_words(WORDS_BATCH).await;
        upkeep_has_more("words indexed again", indexed, &mut self.has_outdated_words)
    }

    /// Adds some images to the map that were added to the library before the map existed.
    async fn fill_map(&mut self) -> bool {
        let added = self.indexer.parts.store.fill_map(MAP_BATCH).await;
        upkeep_has_more("images added to the map", added, &mut self.fills_map)
    }

    /// Stores the regions of some images that were added when regions were not stored, or by other data.
    async fn fill_regions(&mut self) -> bool {
        let checked = self.indexer.parts.store.fill_regions(REGIONS_BATCH).await;
        upkeep_has_more("images whose regions were checked", checked, &mut self.fills_regions)
    }
}

/// Whether more of this upkeep can be done at once, after a batch of so many images. A failed batch is retried in the next round.
fn upkeep_has_more(
    upkeep: &'static str,
    images: Result<u32, StorageError>,
    is_unfinished: &mut bool,
) -> bool {
    match images {
        Ok(images) => {
            *is_unfinished = images > 0;
            tracing::debug!(upkeep, images, "a batch of upkeep was done");
            images > 0
        }
        Err(error) => {
            tracing::warn!(upkeep, %error, "a batch of upkeep failed; it will be retried");
            false
        }
    }
}
