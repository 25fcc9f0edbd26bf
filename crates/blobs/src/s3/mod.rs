//! S3 and stores that are compatible with it.
//!
//! The client is the one of `object_store`. This module decides what it connects to ([`options`]), how long it waits
//! ([`connection`]), and finds the uploads that a killed process left ([`incomplete`]). It uses only what every
//! S3-compatible store has: no conditional writes, no appends, no renames on the server. Only the clean-up and the
//! integrity check list keys.

mod connection;
mod incomplete;
mod listing;
mod options;
mod store;

use std::sync::Arc;

use object_store::{
    BackoffConfig, ClientOptions, ObjectStore, RetryConfig,
    aws::{AmazonS3Builder, Checksum},
    prefix::PrefixStore,
};

use crate::{
    BlobError,
    s3_failure::{S3Failure, classified},
};
use connection::Connections;
use store::S3Store;

pub(crate) use incomplete::{IncompleteUpload, IncompleteUploads};
pub use listing::{InvalidListing, ListedUpload, UploadsPage};
pub use options::{
    InvalidEndpoint, InvalidLocation, S3_CREDENTIAL_VARIABLES, S3Credentials, S3Endpoint, S3Limits,
    S3Location, S3Options,
};

/// An S3 store.
pub(crate) struct S3 {
    /// The objects below the prefix.
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// The uploads below the prefix that are not complete.
    pub(crate) incomplete: IncompleteUploads,
}

/// Prepares the connections to a store. Sends nothing.
pub(crate) fn open(options: &S3Options) -> Result<S3, BlobError> {
    let S3Options { location, limits, credentials, .. } = options;
    credentials.check()?;
    let connections = Connections::new(*limits).map_err(|error| S3Failure::tls(&error))?;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&location.bucket)
        .with_region(options.region())
        .with_virtual_hosted_style_request(!options.path_style())
        // The HTTPS rule is checked by `S3Endpoint`. Credentials of containers and instances come from http URLs.
        .with_client_options(ClientOptions::new().with_allow_http(true))
        .with_checksum_algorithm(Checksum::SHA256)
        .with_disable_tagging(true)
        // One request per object is part of every S3 API; the bulk request is not.
        .with_disable_bulk_delete(true)
        .with_retry(retries(limits))
        .with_http_connector(connections.clone());
    if let Some(url) = options.endpoint_url() {
        builder = builder.with_endpoint(url);
    }
    let client = credentials.add_to(builder).build().map_err(|error| classified(&error))?;
    let incomplete = IncompleteUploads::new(client.clone(), connections.client(), &location.prefix);
    let store = S3Store::new(client, limits.answer);
    let objects: Arc<dyn ObjectStore> = match location.prefix.as_str() {
        "" => Arc::new(store),
        prefix => Arc::new(PrefixStore::new(store, prefix)),
    };
    Ok(S3 { objects, incomplete })
}

fn retries(limits: &S3Limits) -> RetryConfig {
    let backoff = BackoffConfig { init_backoff: limits.backoff, max_backoff: limits.backoff * 16, base: 2.0 };
    RetryConfig { backoff, max_retries: limits.retries, retry_timeout: limits.retry_within }
}
