//! Why photos could not be indexed, in words for people. The reasons that decoders give are in the log and in the store.

/// The beginnings of stored reasons, and the words that people read instead.
const WORDS: [(&str, &str); 9] = [
    ("the picture cannot be read: the file is cut off", "the end of the file is missing"),
    ("the picture cannot be read", "the file is damaged"),
    ("the picture could not be converted", "the picture is too large or too unusual for this server"),
    ("the file is cut off before", "the end of the file is missing"),
    ("the JPEG has", "the file is damaged"),
    ("the RAW file has no embedded preview", "the RAW file has no preview picture, which the library needs"),
    ("the decoder crashed", "the file is damaged"),
    ("decoding it took longer", "reading the file takes too long"),
    ("decoding it needs more memory", "the picture is too large for this server"),
];

/// A stored reason in words for people; the reason itself if it is plain already.
pub(crate) fn plain(reason: &str) -> &str {
    WORDS.iter().find(|(start, _)| reason.starts_with(start)).map_or(reason, |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use media::MediaError;
    use sandbox::{FileFault, TimeKind};

    use super::*;

    #[test]
    fn reasons_of_decoders_are_plain() {
        let detail = || "Corrupt JPEG data: bad Huffman code".to_owned();
        let refused = [
            MediaError::Empty,
            MediaError::UnknownFormat,
            MediaError::NoPixels,
            MediaError::TooManyPixels { pixels: 2, limit: 1 },
            MediaError::TooManyScans { scans: 900 },
            MediaError::Truncated,
            MediaError::Corrupt(detail()),
            MediaError::Corrupt("the file is cut off".to_owned()),
            MediaError::NoPreview,
            MediaError::Movie,
            MediaError::Conversion(detail()),
        ];
        let limit = Duration::from_secs(30);
        let faults = [
            FileFault::Crashed { how: "signal 11".to_owned() },
            FileFault::TimedOut { kind: TimeKind::Cpu, limit },
            FileFault::OutOfMemory { limit_bytes: 1 << 30 },
        ];
        let reasons = refused.iter().map(ToString::to_string).chain(faults.iter().map(ToString::to_string));
        for reason in reasons {
            let words = plain(&reason);
            for word in ["decod", "Huffman", "JPEG has", "scan", "CPU", "MiB", "embedded", "crash"] {
                assert!(!words.contains(word), "{reason}: {words}");
            }
        }
        assert_eq!(plain(&MediaError::Corrupt(detail()).to_string()), "the file is damaged");
        assert_eq!(plain("the file is empty"), "the file is empty");
    }
}
