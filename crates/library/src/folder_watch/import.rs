use std::{io, path::PathBuf, time::Duration};

use domain::AccountId;
use futures_util::{StreamExt as _, stream};

use crate::{
    FailedFile, ImportError, ImportOutcome, ImportReport, Library,
    folder_import::record_outcome,
    sidecars::{self, Photo},
};

/// How many photos are imported before their outcome is reported.
pub(super) const BATCH: usize = 100;
/// How many files are read at once.
const MAX_READING: usize = 4;
/// How often the states of waiting images are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

type Received = (PathBuf, Result<ImportOutcome, ImportError>, Vec<FailedFile>);

impl Library {
    /// Imports photos and waits until each one is visible. `report` is filled even if this fails.
    pub(super) async fn import_batch(
        &self,
        account: AccountId,
        photos: Vec<Photo>,
        report: &mut ImportReport,
    ) -> Result<(), ImportError> {
        self.mark_synced(account).await?;
        let reading = photos.into_iter().map(|photo| self.import_photo(account, photo));
        let received: Vec<Received> = stream::iter(reading).buffered(MAX_READING).collect().await;
        let (mut waiting, mut visible) = (Vec::new(), Vec::new());
        for (path, outcome, unread) in received {
            report.failed.extend(unread);
            record_outcome(path, outcome, report, &mut waiting)?;
        }
        while !waiting.is_empty() {
            self.settle(&mut waiting, &mut visible, report).await?;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    async fn import_photo(&self, account: AccountId, photo: Photo) -> Received {
        let Photo { path, sidecars } = photo;
        match tokio::task::spawn_blocking(move || sidecars::read(&sidecars)).await {
            Ok((sidecars, unread)) => {
                let outcome = self.import_local_file(account, &path, sidecars).await;
                (path, outcome, unread)
            }
            Err(error) => (path, Err(ImportError::Read(io::Error::other(error))), Vec::new()),
        }
    }
}
