use std::{io, pin::pin};

use blobs::{ChecksumVerifier, HEAD_BYTES, PartWriter, StagingError};
use bytes::Bytes;
use domain::Checksum;
use futures_util::{Stream, StreamExt as _};
use storage::{AddPart, UploadId, UploadPart};

use super::UploadError;
use crate::{ImportError, Ingest, import::supported_format, reserved_bytes::Reservation};

/// What the received bytes of a request are checked against.
pub(super) struct PartLimits {
    /// Maximum number of bytes.
    pub(super) max_bytes: u64,
    /// The announced number of bytes.
    pub(super) expected: Option<u64>,
    pub(super) checksums: Vec<Checksum>,
    /// Whether the bytes of a broken stream are kept.
    pub(super) keeps_broken: bool,
    pub(super) room: Reservation,
}

/// A received part whose file is synced, but which the store does not name yet.
pub(super) struct Received {
    pub(super) file: String,
    pub(super) bytes: u64,
    /// Why the stream broke, if it did.
    pub(super) broken: Option<io::Error>,
    /// Held until the store counts the part.
    _room: Reservation,
}

/// The first bytes of a file, collected while they arrive.
pub(super) enum Head {
    /// The format is not checked yet: too few bytes have arrived.
    Judged(Vec<u8>),
    /// The format needs no check, or no further one.
    NotJudged,
}

impl Head {
    /// Adds bytes; refuses an unsupported format once enough bytes are there.
    fn extend(&mut self, chunk: &[u8]) -> Result<(), ImportError> {
        let Self::Judged(head) = self else { return Ok(()) };
        let missing = HEAD_BYTES.saturating_sub(head.len());
        head.extend(chunk.iter().take(missing));
        if head.len() >= HEAD_BYTES {
            supported_format(head)?;
            *self = Self::NotJudged;
        }
        Ok(())
    }
}

impl Ingest {
    /// Writes a stream to a file. Returns `None` if it has no bytes.
    pub(super) async fn receive_part(
        &self,
        mut limits: PartLimits,
        mut head: Head,
        stream: impl Stream<Item = io::Result<Bytes>> + Send,
    ) -> Result<Option<Received>, UploadError> {
        let checksums = limits.checksums.iter().cloned();
        let mut file = self.parts.blobs.parts.create(checksums).await.map_err(ImportError::Staging)?;
        let mut stream = pin!(stream);
        let mut broken = None;
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(chunk) => self.receive_chunk(&mut file, &mut limits, &mut head, &chunk).await?,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        if let Some(expected) = limits.expected.filter(|expected| *expected != file.bytes())
            && broken.is_none()
        {
            broken = Some(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("{expected} bytes were announced"),
            ));
        }
        let bytes = file.bytes();
        match broken {
            Some(error) if !limits.keeps_broken || bytes == 0 => Err(ImportError::Interrupted(error).into()),
            None if bytes == 0 => {
                let is_right = ChecksumVerifier::new(limits.checksums).matches();
                if is_right { Ok(None) } else { Err(ImportError::ChecksumMismatch.into()) }
            }
            broken => {
                let file = file.finish().await.map_err(ImportError::from)?;
                Ok(Some(Received { file, bytes, broken, _room: limits.room }))
            }
        }
    }

    async fn receive_chunk(
        &self,
        file: &mut PartWriter,
        limits: &mut PartLimits,
        head: &mut Head,
        chunk: &[u8],
    ) -> Result<(), UploadError> {
        let received = file.bytes().saturating_add(chunk.len() as u64);
        if received > limits.max_bytes {
            return Err(ImportError::TooLarge { max_bytes: limits.max_bytes }.into());
        }
        head.extend(chunk)?;
        limits.room.cover(self, received).await?;
        Ok(file.write(chunk).await.map_err(|error| ImportError::from(StagingError::Io(error)))?)
    }

    /// Names a received part in the store.
    pub(super) async fn add_part(
        &self,
        upload: UploadId,
        number: u64,
        name: &str,
        received: &Received,
    ) -> Result<(), UploadError> {
        let part = UploadPart {
            number,
            name: name.to_owned(),
            bytes: received.bytes,
            file: received.file.clone(),
            received_at: self.parts.clock.now(),
        };
        // Even if the store reports a failure, it may have added the part. So the file stays until the sweep.
        let quota_bytes = self.parts.limits.account_quota_bytes;
        let (unneeded, result) = match self.parts.store.add_part(upload, part, quota_bytes).await? {
            AddPart::Added { replaced } => (replaced, Ok(())),
            AddPart::NoUpload => (Some(received.file.clone()), Err(UploadError::NotFound)),
            AddPart::WrongOffset(received_bytes) => {
                let error = UploadError::WrongOffset { received: received_bytes };
                (Some(received.file.clone()), Err(error))
            }
            AddPart::TooMany => (Some(received.file.clone()), Err(UploadError::TooMany)),
            AddPart::QuotaExceeded => {
                let quota_bytes = quota_bytes.unwrap_or_default();
                let error = ImportError::QuotaExceeded { quota_bytes };
                (Some(received.file.clone()), Err(error.into()))
            }
        };
        self.delete_part_files(unneeded.into_iter().collect()).await;
        result
    }
}
