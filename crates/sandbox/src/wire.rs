//! The protocol between the service and its workers.
//!
//! A message is a length (4 bytes, little-endian), JSON of that length, and the raw bytes that the JSON announces. The worker
//! sends [`Hello`] first. Then, for each photo:
//!
//! 1. service: [`JobRequest`], the sidecars, the file;
//! 2. worker: [`Inspection`] of the headers;
//! 3. service: [`Proceed`], once there is memory for it;
//! 4. worker: [`Response`], then the bytes of the renditions, of the RGB picture or of the JPEGs.
//!
//! A refusal in step 2 or 4 ends the photo, not the worker.

use std::io;

use domain::{Metadata, SidecarKind, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{OcrStatus, Protections, RefusalKind};

/// Raise this when a message changes its form or meaning.
pub(crate) const PROTOCOL: u32 = 4;

/// The longest JSON of a message. Its content is bounded: at most five texts of 10,000 characters.
pub(crate) const MAX_HEAD_BYTES: u32 = 256 << 10;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) decoder_version: u32,
    pub(crate) protections: Protections,
    pub(crate) ocr_status: OcrStatus,
}

/// Announces a photo. The bytes of its sidecars follow, then those of the file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobRequest {
    pub(crate) file_bytes: u64,
    pub(crate) max_pixels: u64,
    pub(crate) spec: JobSpec,
}

/// The job to do with a photo.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum JobSpec {
    Render {
        /// The names of the renditions; `None` means the renditions that make an image visible.
        renditions: Option<Vec<String>>,
        file_info: Option<FileHeader>,
    },
    Analyze {
        /// The longest side of the RGB picture, if one is requested.
        max_side_px: Option<u32>,
        /// The time limit for reading text, in milliseconds, if text is requested.
        read_text_ms: Option<u64>,
    },
    /// The bytes of several renditions follow as one file.
    View {
        /// The length of each rendition.
        file_bytes: Vec<u64>,
        /// The name of the renditions.
        rendition: String,
        sheet: bool,
        /// The most bytes of all JPEGs together.
        max_bytes: usize,
    },
}

/// A [`domain::FileInfo`] without the content of the sidecars, which follows as raw bytes.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileHeader {
    pub(crate) name: Option<String>,
    pub(crate) modified_at: Option<Timestamp>,
    pub(crate) added_at: Timestamp,
    pub(crate) sidecars: Vec<SidecarHeader>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SidecarHeader {
    pub(crate) kind: SidecarKind,
    pub(crate) bytes: u64,
}

/// The result of reading the headers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Inspection {
    Picture {
        /// Width and height of the upright picture, or of the largest one.
        upright_size: (u32, u32),
        /// The memory that the job needs.
        memory_bytes: u64,
    },
    Refused(FileRefusal),
}

/// Tells the worker to do the job, because memory is available.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proceed {}

/// The result of a job. The WebP files or the JPEGs follow in the requested order, or the pixels of the RGB picture, 3 bytes
/// each, in the size that follows from the inspection.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Response {
    Rendered {
        damaged: Option<String>,
        webp_bytes: Vec<u64>,
        metadata: Option<Box<Metadata>>,
        /// A preview of at most [`Thumbhash::MAX_BYTES`](domain::Thumbhash::MAX_BYTES) bytes.
        thumbhash: Option<Vec<u8>>,
    },
    Analyzed {
        text: Option<String>,
    },
    Viewed {
        jpeg_bytes: Vec<u64>,
    },
    Refused(FileRefusal),
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileRefusal {
    pub(crate) kind: RefusalKind,
    pub(crate) reason: String,
}

/// Encodes a message.
///
/// # Errors
/// It is longer than [`MAX_HEAD_BYTES`].
pub(crate) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|length| *length <= MAX_HEAD_BYTES);
    let length = length.ok_or_else(|| invalid("a message is too long"))?;
    if let Some(start) = bytes.first_chunk_mut() {
        *start = length.to_le_bytes();
    }
    Ok(bytes)
}

/// Decodes the length of the JSON that follows.
///
/// # Errors
/// It is longer than [`MAX_HEAD_BYTES`].
pub(crate) fn head_length(bytes: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(bytes);
    if length > MAX_HEAD_BYTES {
        return Err(invalid("a message is too long"));
    }
    usize::try_from(length).map_err(|_| invalid("a message is too long"))
}

/// Decodes a message.
///
/// # Errors
/// It is not a message of this type.
pub(crate) fn decode<T: DeserializeOwned>(json: &[u8]) -> io::Result<T> {
    Ok(serde_json::from_slice(json)?)
}

pub(crate) fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_survive_a_round_trip() {
        let response = Response::Refused(FileRefusal { kind: RefusalKind::NoPixels, reason: "none".into() });
        let bytes = encode(&response).unwrap();
        let (length, json) = bytes.split_first_chunk().unwrap();
        assert_eq!(head_length(*length).unwrap(), json.len());
        assert_eq!(json, br#"{"refused":{"kind":"no-pixels","reason":"none"}}"#);
        assert_eq!(decode::<Response>(json).unwrap(), response);
        assert_eq!(encode(&Proceed {}).unwrap(), b"\x02\0\0\0{}");
    }

    #[test]
    fn lengths_are_bounded() {
        assert!(head_length(MAX_HEAD_BYTES.to_le_bytes()).is_ok());
        assert!(head_length((MAX_HEAD_BYTES + 1).to_le_bytes()).is_err());
        let reason = "x".repeat(300_000);
        assert!(encode(&FileRefusal { kind: RefusalKind::Empty, reason }).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_json_never_panics(json in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Hello>(&json);
            let _ = decode::<Inspection>(&json);
            let _ = decode::<Response>(&json);
            let _ = decode::<JobRequest>(&json);
        }

        #[test]
        fn generated_messages_survive_a_round_trip(text in ".*", side: Option<u32>, time: Option<u64>, file_bytes: u64, reads in any::<bool>()) {
            let spec = JobSpec::Analyze { max_side_px: side, read_text_ms: time };
            let request = JobRequest { file_bytes, max_pixels: 5, spec };
            prop_assert_eq!(decode::<JobRequest>(&encode(&request)?[4..])?, request);
            let response = Response::Analyzed { text: reads.then(|| text.clone()) };
            prop_assert_eq!(decode::<Response>(&encode(&response)?[4..])?, response);
            let ocr_status = OcrStatus::Unavailable { reason: text, missing: Vec::new() };
            let protections = Protections { files: reads, system_calls: false, capabilities: true, limits: true };
            let hello = Hello { protocol: PROTOCOL, decoder_version: 7, protections, ocr_status };
            prop_assert_eq!(decode::<Hello>(&encode(&hello)?[4..])?, hello);
        }
    }
}
