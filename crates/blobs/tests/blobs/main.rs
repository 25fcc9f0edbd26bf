//! Blobs and parts of uploads, in a local folder and in an S3 bucket.
#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod backing;
mod cases;
mod folder;
mod s3;
mod s3_faults;
