mod add;
mod complete;
mod jobs;
mod lease;
mod states;

pub(crate) use add::add;

use domain::{AccountId, ContentHash, ImageId, Sidecar, Timestamp};
use storage::{
    AddOutcome, ExistingImage, FailedImage, ImageState, IndexJob, IndexQueue, IndexedImage, JobId,
    LeaseRequest, NewImage, QueueLength, StorageError,
};

pub(crate) use jobs::{replace_job, requeue};

use crate::{
    Lock,
    sql::{lease::OwnedLeaseRequest, rendition_queue, stages},
};

operations! {
    impl IndexQueue {
        write_of_account(move |c| jobs::account_of(c, job)) complete_job(
            job: JobId, worker: &str, indexed: IndexedImage as ref
        ) -> bool = complete::complete;
        write_of_account(move |c| jobs::account_of(c, job)) fail_job(
            job: JobId, worker: &str, reason: &str, decoder_version: u32
        ) -> () = jobs::fail;
        read image_by_original(account: AccountId, original: &ContentHash) -> Option<ExistingImage>
            = states::existing;
        query known_originals(account: AccountId, originals: &[ContentHash]) -> Vec<ContentHash>
            = states::known;
        write(Lock::Account(image.account.0)) add_image(image: NewImage as ref) -> AddOutcome = add;
        write(Lock::Account(account.0)) add_sidecars(
            account: AccountId, image: &ImageId, sidecars: Vec<Sidecar> as ref, at: Timestamp
        ) -> bool = add::add_sidecars;
        write(Lock::Nothing) retry_job(job: JobId, worker: &str, not_before: Timestamp) -> () {
            |c| lease::retry(c, &job.0, &worker, not_before)
        }
        write(Lock::Nothing) requeue_failed(decoder_version: u32, at: Timestamp) -> u32
            = jobs::requeue_failed;
        write(Lock::Nothing) requeue_outdated(decoder_version: u32, at: Timestamp, max: u32) -> u32
            = jobs::requeue_outdated;
        read image_states(ids: &[ImageId]) -> Vec<(ImageId, ImageState)> = states::states;
        read queued_images(ids: &[ImageId]) -> Vec<ImageId> = states::queued;
        read failed_images(max: u32) -> Vec<FailedImage> = states::failed;
        read queue_length() -> QueueLength = states::queue_length;
    }
    by hand {
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

        async fn renew_leases(
            &self,
            worker: &str,
            jobs: &[JobId],
            until: Timestamp,
        ) -> Result<(), StorageError> {
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
    }
}
