//! Metrics that are read when they are requested.

use std::{fmt::Display, time::Duration};

use library::{Library, QueueFigures};
use prometheus::{Error, IntCounterVec, IntGaugeVec, Opts, Registry, core::Collector, proto::MetricFamily};
use tokio::time::{error::Elapsed, timeout};

/// How long a store may take to answer.
const STORE_LIMIT: Duration = Duration::from_secs(5);

/// The queues, stores and caches of a library. A store that does not answer is reported as such, and its queues are left out.
pub(super) async fn gather(library: &Library) -> Result<Vec<MetricFamily>, Error> {
    let queues = timeout(STORE_LIMIT, library.indexer.queue_figures());
    let blobs = timeout(STORE_LIMIT, library.upkeep.probe_blobs());
    let (queues, blobs) = tokio::join!(queues, blobs);
    let queues = answer(queues, "the metadata store does not answer");
    let blobs_answer = answer(blobs, "the blob store does not answer").is_some();

    // A registry for this request only, so that it contains no value of an earlier request.
    let figures = Figures(Registry::new());
    figures.gauges(
        ("photos_build_info", "The version of the program.", "version"),
        [(env!("CARGO_PKG_VERSION"), 1)],
    )?;
    figures.gauges(
        ("photos_store_up", "Whether a store answers: 1 or 0.", "store"),
        [("metadata", u64::from(queues.is_some())), ("blobs", u64::from(blobs_answer))],
    )?;
    figures.process(library)?;
    if let Some(queues) = queues {
        figures.queues(&queues)?;
    }
    Ok(figures.0.gather())
}

/// The answer of a store, if the store answered in time. A failure is logged.
fn answer<T, E: Display>(outcome: Result<Result<T, E>, Elapsed>, failure: &'static str) -> Option<T> {
    match outcome {
        Ok(Ok(answer)) => Some(answer),
        Ok(Err(error)) => {
            tracing::warn!(%error, "metrics: {failure}");
            None
        }
        Err(_) => {
            tracing::warn!("metrics: {failure} within {} s", STORE_LIMIT.as_secs());
            None
        }
    }
}

struct Figures(Registry);

impl Figures {
    fn process(&self, library: &Library) -> Result<(), Error> {
        let (decoders, renditions) = (library.indexer.decoder_load(), library.catalogue.rendition_cache());
        self.gauges(
            ("photos_decoder_jobs", "Photos that are decoded by this process, or wait for it.", "state"),
            [("running", decoders.running as u64), ("waiting", decoders.waiting as u64)],
        )?;
        self.gauges(
            ("photos_cache_bytes", "Memory of a cache.", "cache"),
            [
                ("renditions", renditions.bytes),
                ("views", library.catalogue.view_cache_bytes()),
                ("embeddings", library.catalogue.embeddings_bytes() as u64),
            ],
        )?;
        let name = "photos_rendition_cache_requests_total";
        let look_ups = IntCounterVec::new(Opts::new(name, "Look-ups of renditions in memory."), &["result"])?;
        look_ups.with_label_values(&["hit"]).inc_by(renditions.hits);
        look_ups.with_label_values(&["miss"]).inc_by(renditions.misses);
        self.0.register(Box::new(look_ups))
    }

    fn queues(&self, figures: &QueueFigures) -> Result<(), Error> {
        const NEW: &str = "new";
        let QueueFigures { images, oldest_pending_s, stages } = figures;
        let stages = || stages.iter().map(|progress| (progress.stage.name.as_str(), progress));
        let of_images =
            [(NEW, images.pending), ("reindex", images.reindexes), ("full_renditions", images.renditions)];
        self.gauges(
            (
                "photos_queue_jobs",
                "Photos that wait in a queue of the library or are being processed.",
                "queue",
            ),
            of_images.into_iter().chain(stages().map(|(name, progress)| (name, progress.waiting))),
        )?;
        self.gauges(
            ("photos_failed_jobs", "Photos that a queue's work failed for.", "queue"),
            [(NEW, images.failed)]
                .into_iter()
                .chain(stages().map(|(name, progress)| (name, progress.failed))),
        )?;
        self.gauges(
            (
                "photos_queue_oldest_age_seconds",
                "Time since the first photo in the queue was added, 0 if it is empty.",
                "queue",
            ),
            [(NEW, *oldest_pending_s)],
        )
    }

    /// Adds a gauge, given by name, help and label, with a value for each value of the label.
    fn gauges<'a>(
        &self,
        (name, help, label): (&str, &str, &str),
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Result<(), Error> {
        let gauges = IntGaugeVec::new(Opts::new(name, help), &[label])?;
        for (label, value) in values {
            gauges.with_label_values(&[label]).set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        self.0.register(Box::new(gauges) as Box<dyn Collector>)
    }
}
