//! `worker`: indexes photos beside servers.

use std::io::{Write as _, stdout};

use library::IndexingScope;

use super::{CommandError, Report};
use crate::{config::Config, exposed_files, service_manager, shutdown, stores};

/// Works on the queues until a shutdown signal.
pub(super) async fn run(config: &Config) -> Result<Report, CommandError> {
    exposed_files::advice(config).iter().for_each(|advice| tracing::warn!("{advice}"));
    let library = stores::open_library(config, stores::IfMissing::Fail).await?;
    stores::recover(&library).await;
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let indexing = library.indexer.start_indexing(IndexingScope::Worker)?;
    let mut out = stdout().lock();
    out.write_all(b"waiting for photos to index\n")
        .and_then(|()| out.flush())
        .map_err(CommandError::Output)?;
    drop(out);
    service_manager::ready();
    shutdown.await;
    tracing::info!("shutting down");
    service_manager::stopping();
    // Jobs that take longer are abandoned. Another process repeats them when their leases expire.
    if tokio::time::timeout(shutdown::GRACE, indexing.stop()).await.is_err() {
        tracing::warn!("photos in progress were abandoned at shutdown; another process indexes them");
    }
    Ok(Report::default())
}
