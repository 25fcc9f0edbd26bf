//! What the service and its workers say to each other.
//!
//! A message is a length (4 bytes, little-endian), so many bytes of JSON, and whatever raw bytes the JSON announces.
//! The worker begins with [`Hello`]. Then, for each photo:
//!
//! 1. service: [`Request`], the sidecars, the file;
//! 2. worker: [`Inspected`], what the headers say;
//! 3. service: [`Go`], once there is memory for it;
//! 4. worker: [`Answer`], the renditions' or the picture's bytes.
//!
//! A refusal in step 2 or 4 ends the photo, not the worker.

use std::io;

use domain::{Metadata, SidecarKind, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{OcrStatus, Protections, RefusalKind};

/// Raised whenever a message changes its form or meaning.
pub(crate) const PROTOCOL: u32 = 3;

/// The longest JSON of a message. What is in it is bounded: five texts of 10,000 characters at the most.
pub(crate) const MAX_HEAD_BYTES: u32 = 256 << 10;

/// The worker is ready.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) decoder_version: u32,
    pub(crate) protections: Protections,
    pub(crate) text_reading: OcrStatus,
}

/// A photo. The bytes of its sidecars and its own follow.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) file_bytes: u64,
    pub(crate) max_pixels: u64,
    pub(crate) order: Order,
}

/// What is done with it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Order {
    Render {
        /// Names of renditions; none stands for what makes an image visible.
        wanted: Option<Vec<String>>,
        file_info: Option<FileHeader>,
    },
    Look {
        /// The longest side of the plain picture, if one is wanted.
        max_side_px: Option<u32>,
        /// How long its words may be read, in milliseconds, if they are wanted.
        read_text_ms: Option<u64>,
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

/// What the headers say.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Inspected {
    Picture {
        /// Width and height of the upright picture.
        upright_size: (u32, u32),
        /// What rendering it takes.
        memory_bytes: u64,
    },
    Refused(Refusal),
}

/// The memory is there.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Go {}

/// The outcome. The WebP files follow in the order of what was wanted; or the pixels of the plain picture, 3 bytes each,
/// whose number follows from the size that was announced.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Answer {
    Rendered { damaged: Option<String>, webp_bytes: Vec<u64>, metadata: Option<Metadata> },
    Looked { text: Option<String> },
    Refused(Refusal),
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) reason: String,
}

/// A message as it is sent.
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

/// The length of the JSON that follows.
///
/// # Errors
/// It is longer than [`MAX_HEAD_BYTES`].
pub(crate) fn head_length(bytes: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(bytes);
    if length > MAX_HEAD_BYTES {
        return Err(invalid("a message announces too much"));
    }
    usize::try_from(length).map_err(|_| invalid("a message announces too much"))
}

/// The message in the JSON.
///
/// # Errors
/// It is none of that kind.
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
    fn messages_are_read_back() {
        let answer = Answer::Refused(Refusal { kind: RefusalKind::NoPixels, reason: "none".into() });
        let bytes = encode(&answer).unwrap();
        let (length, json) = bytes.split_first_chunk().unwrap();
        assert_eq!(head_length(*length).unwrap(), json.len());
        assert_eq!(json, br#"{"refused":{"kind":"no-pixels","reason":"none"}}"#);
        assert_eq!(decode::<Answer>(json).unwrap(), answer);
        assert_eq!(encode(&Go {}).unwrap(), b"\x02\0\0\0{}");
    }

    #[test]
    fn lengths_are_bounded() {
        assert!(head_length(MAX_HEAD_BYTES.to_le_bytes()).is_ok());
        assert!(head_length((MAX_HEAD_BYTES + 1).to_le_bytes()).is_err());
        let reason = "x".repeat(300_000);
        assert!(encode(&Refusal { kind: RefusalKind::Empty, reason }).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_json_never_panics(json in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Hello>(&json);
            let _ = decode::<Inspected>(&json);
            let _ = decode::<Answer>(&json);
            let _ = decode::<Request>(&json);
        }

        #[test]
        fn what_is_said_arrives(text in ".*", side: Option<u32>, time: Option<u64>, file_bytes: u64, reads in any::<bool>()) {
            let order = Order::Look { max_side_px: side, read_text_ms: time };
            let request = Request { file_bytes, max_pixels: 5, order };
            prop_assert_eq!(decode::<Request>(&encode(&request)?[4..])?, request);
            let answer = Answer::Looked { text: reads.then(|| text.clone()) };
            prop_assert_eq!(decode::<Answer>(&encode(&answer)?[4..])?, answer);
            let text_reading = OcrStatus::Unavailable { reason: text, missing: Vec::new() };
            let protections = Protections { files: reads, system_calls: false, limits: true };
            let hello = Hello { protocol: PROTOCOL, decoder_version: 7, protections, text_reading };
            prop_assert_eq!(decode::<Hello>(&encode(&hello)?[4..])?, hello);
        }
    }
}
