mod add;
mod complete;
mod jobs;
mod lease;
mod states;

pub(crate) use add::add;

use async_trait::async_trait;
use domain::{AccountId, ContentHash, ImageId, Sidecar, Timestamp};
use storage::{
    AddOutcome, ExistingImage, FailedImage, ImageState, IndexJob, IndexQueue, IndexedImage, JobId,
    LeaseRequest, NewImage, QueueLength, StorageError,
};

pub(crate) use jobs::{replace_job, requeue};

use crate::{
    Lock, SqlStore,
    sql::{lease::OwnedLeaseRequest, rendition_queue, stages},
};

#[async_trait]
impl IndexQueue for SqlStore {
    async fn image_by_original(
        &self,
        account: AccountId,
        original: &ContentHash,
    ) -> Result<Option<ExistingImage>, StorageError> {
        let original = *original;
        self.read(move |c| states::existing(c, account, &original)).await
    }

    async fn known_originals(
        &self,
        account: AccountId,
        originals: &[ContentHash],
    ) -> Result<Vec<ContentHash>, StorageError> {
        let originals = originals.to_vec();
        self.query(move |c| states::known(c, account, &originals)).await
    }

    async fn add_image(&self, image: NewImage) -> Result<AddOutcome, StorageError> {
        self.write(Lock::Account(image.account.0), move |c| add(c, &image)).await
    }

    async fn add_sidecars(
        &self,
        account: AccountId,
        image: &ImageId,
        sidecars: Vec<Sidecar>,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let image = image.clone();
        self.write(Lock::Account(account.0), move |c| add::add_sidecars(c, account, &image, &sidecars, at))
            .await
    }

    async fn lease_jobs(
        &self,
        request: LeaseRequest<'_>,
        decoder_version: u32,
    ) -> Result<Vec<IndexJob>, StorageError> {
        let request = OwnedLeaseRequest::from(request);
        let at = request.at;
        // Workers poll often and the queue is usually empty: check it without the write lock first.
        if !self.query(move |c| lease::has_available(c, decoder_version, at)).await? {
            return Ok(Vec::new());
        }
        self.write(Lock::Nothing, move |c| lease::lease(c, &request, decoder_version)).await
    }

    async fn renew_leases(&self, worker: &str, jobs: &[JobId], until: Timestamp) -> Result<(), StorageError> {
        let worker = worker.to_owned();
        let jobs: Vec<i64> = jobs.iter().map(|job| job.0).collect();
        self.write(Lock::Nothing, move |c| lease::renew(c, &worker, &jobs, until)).await
    }

    async fn release_leases(&self, worker: &str) -> Result<(), StorageError> {
        let worker = worker.to_owned();
        self.write(Lock::Nothing, move |c| {
            lease::release(c, &worker)?;
            rendition_queue::release(c, &worker)?;
            stages::release(c, &worker)
        })
        .await
    }

    async fn abandon_leases(&self, worker: &str) -> Result<(), StorageError> {
        let worker = worker.to_owned();
        self.write(Lock::Nothing, move |c| {
            lease::abandon(c, &worker)?;
            rendition_queue::abandon(c, &worker)?;
            stages::abandon(c, &worker)
        })
        .await
    }

    async fn complete_job(
        &self,
        job: JobId,
        worker: &str,
        indexed: IndexedImage,
    ) -> Result<bool, StorageError> {
        let worker = worker.to_owned();
        let completed = self
            .write_of_account(
                move |c| jobs::account_of(c, job),
                move |c| complete::complete(c, job, &worker, &indexed),
            )
            .await?;
        Ok(completed.unwrap_or(false))
    }

    async fn retry_job(&self, job: JobId, worker: &str, not_before: Timestamp) -> Result<(), StorageError> {
        let worker = worker.to_owned();
        self.write(Lock::Nothing, move |c| lease::retry(c, &job.0, &worker, not_before)).await
    }

    async fn fail_job(
        &self,
        job: JobId,
        worker: &str,
        reason: &str,
        decoder_version: u32,
    ) -> Result<(), StorageError> {
        let (worker, reason) = (worker.to_owned(), reason.to_owned());
        self.write_of_account(
            move |c| jobs::account_of(c, job),
            move |c| jobs::fail(c, job, &worker, &reason, decoder_version),
        )
        .await?;
        Ok(())
    }

    async fn requeue_failed(&self, decoder_version: u32, at: Timestamp) -> Result<u32, StorageError> {
        self.write(Lock::Nothing, move |c| jobs::requeue_failed(c, decoder_version, at)).await
    }

    async fn requeue_outdated(
        &self,
        decoder_version: u32,
        at: Timestamp,
        max: u32,
    ) -> Result<u32, StorageError> {
        self.write(Lock::Nothing, move |c| jobs::requeue_outdated(c, decoder_version, at, max)).await
    }

    async fn image_states(&self, ids: &[ImageId]) -> Result<Vec<(ImageId, ImageState)>, StorageError> {
        let ids = ids.to_vec();
        self.read(move |c| states::states(c, &ids)).await
    }

    async fn queued_images(&self, ids: &[ImageId]) -> Result<Vec<ImageId>, StorageError> {
        let ids = ids.to_vec();
        self.read(move |c| states::queued(c, &ids)).await
    }

    async fn failed_images(&self, max: u32) -> Result<Vec<FailedImage>, StorageError> {
        self.read(move |c| states::failed(c, max)).await
    }

    async fn queue_length(&self) -> Result<QueueLength, StorageError> {
        self.read(states::queue_length).await
    }
}
