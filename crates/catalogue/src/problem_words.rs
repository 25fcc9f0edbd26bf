//! Why photos could not be indexed and what helps, in words for people. The page of problems has the reasons of the decoders only
//! as details.

use storage::ProblemImage;

/// A photo that could not be indexed, with words for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhotoProblem {
    /// With the reason as it is stored.
    pub image: ProblemImage,
    /// What happened.
    pub what: String,
    /// What its owner can do.
    pub help: &'static str,
}

const CUT_OFF: &str = "Part of the file is missing";
const DAMAGED: &str = "The file is damaged";
const NEW_COPY: &str = "The upload or a copy may have been interrupted. Upload the original from your phone, camera or computer again.";
const OTHER_PROGRAM: &str = "Open it in another program. If it opens there, save it as a JPEG and upload that; otherwise look for another copy.";
const SMALLER: &str = "Save a smaller copy as a JPEG, and upload that.";
const CONVERT: &str =
    "If it is a photo, save it as a JPEG and upload that. If it is something else, delete it here.";

const NO_DECODER: &str = "A program for photos of this format is not installed on the server";
const ASK: &str = "Ask the person who runs the library to install it, then try again. Its name is in the technical details.";

/// The beginnings of stored reasons, what happened, and what helps.
const WORDS: [(&str, &str, &str); 14] = [
    ("the file is empty", "The file is empty", NEW_COPY),
    ("the picture cannot be read: the file is cut off", CUT_OFF, NEW_COPY),
    ("the picture cannot be read", DAMAGED, OTHER_PROGRAM),
    (
        "the picture could not be converted",
        "The picture is too large or too unusual for this library",
        SMALLER,
    ),
    ("the file is cut off before", CUT_OFF, NEW_COPY),
    ("the JPEG has", DAMAGED, OTHER_PROGRAM),
    (
        "the RAW file has no embedded preview",
        "The RAW file has no preview picture, which the library needs",
        "Export the photo as a JPEG with the program that develops it, and upload that.",
    ),
    ("the decoder crashed", DAMAGED, OTHER_PROGRAM),
    ("decoding it took longer", "Reading the file takes too long", SMALLER),
    ("decoding it needs more memory", "The picture is too large for this library", SMALLER),
    ("this is not a ", "This is not a photo in a format that the library knows", CONVERT),
    ("the picture has no width", DAMAGED, OTHER_PROGRAM),
    ("the picture has ", "The picture has more pixels than the library takes", SMALLER),
    (
        "the file is a video",
        "The file is a video; the library has photos only",
        "Keep it elsewhere, and delete it here.",
    ),
];

impl PhotoProblem {
    pub(crate) fn of(image: ProblemImage) -> Self {
        let known = WORDS.iter().find(|(start, ..)| image.reason.starts_with(start));
        let (what, help) = match known {
            Some((_, what, help)) => ((*what).to_owned(), *help),
            None if image.reason.contains(" pictures need ") => (NO_DECODER.to_owned(), ASK),
            // A reason without words of its own is plain already.
            None => (capitalized(&image.reason), OTHER_PROGRAM),
        };
        Self { image, what, help }
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use media::MediaError;
    use sandbox::{FileFault, TimeKind};

    use super::*;

    fn failed(reason: &str) -> ProblemImage {
        ProblemImage {
            id: domain::ImageId::parse("abcdefghijklmnopqrstuvwxyz").unwrap(),
            file_name: None,
            folder: None,
            reason: reason.to_owned(),
            added_at: domain::Timestamp::from_millis(0).unwrap(),
        }
    }

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
            let PhotoProblem { what: words, help, .. } = PhotoProblem::of(failed(&reason));
            assert!(!help.is_empty());
            for word in ["decod", "Huffman", "JPEG has", "scan", "CPU", "MiB", "embedded", "crash"] {
                assert!(!words.contains(word), "{reason}: {words}");
            }
        }
        let what = |reason: &str| PhotoProblem::of(failed(reason)).what;
        assert_eq!(what(&MediaError::Corrupt(detail()).to_string()), "The file is damaged");
        assert_eq!(what("the lens cap was on"), "The lens cap was on");
    }
}
