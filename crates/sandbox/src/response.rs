//! Validates the responses of a worker.

use domain::{CameraSettings, Metadata, PixelSize, Rendition, Sidecar, Thumbhash, UtcOffset, clean_text};
use media::EncodedRendition;

use crate::{
    AnalysisTask, DecodeTask, FileFault, RequestedRenditions,
    error::MAX_REASON_CHARS,
    wire::{self, FileRefusal, JobSpec},
};

/// A response that no correct worker sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidResponse(pub(crate) &'static str);

/// Upper bound on the memory that a worker may request, in bytes per pixel.
const MAX_BYTES_PER_PIXEL: u64 = 32;
const MAX_BASE_BYTES: u64 = 256 << 20;

const RGB_BYTES_PER_PIXEL: u64 = 3;

/// The announced size and memory of a picture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecodePlan {
    pub(crate) upright_size: PixelSize,
    /// The memory that the job needs.
    pub(crate) memory_bytes: u64,
}

impl DecodePlan {
    pub(crate) fn new(
        (width, height): (u32, u32),
        memory_bytes: u64,
        max_pixels: u64,
    ) -> Result<Self, InvalidResponse> {
        let upright_size = PixelSize { width, height };
        if upright_size.area() == 0 || upright_size.area() > max_pixels {
            return Err(InvalidResponse("it announced a picture that it should have refused"));
        }
        let max = MAX_BASE_BYTES.saturating_add(max_pixels.saturating_mul(MAX_BYTES_PER_PIXEL));
        if memory_bytes > max {
            return Err(InvalidResponse("it announced more memory than any picture needs"));
        }
        Ok(Self { upright_size, memory_bytes })
    }

    pub(crate) fn renditions(&self, requested: &RequestedRenditions) -> Vec<(Rendition, PixelSize)> {
        let size = |rendition: Rendition| self.upright_size.fit_within(rendition.longest_side_px());
        let renditions = requested.for_size(self.upright_size).into_iter();
        renditions.map(|rendition| (rendition, size(rendition))).collect()
    }

    /// Checks the announced lengths: each file is at most as long as its uncompressed pixels, and all together fit into the
    /// granted memory. Correct files are much shorter.
    pub(crate) fn check_lengths(
        &self,
        renditions: &[(Rendition, PixelSize)],
        webp_bytes: &[u64],
    ) -> Result<(), InvalidResponse> {
        const HEADERS: u64 = 4096;
        if webp_bytes.len() != renditions.len() {
            return Err(InvalidResponse("it made other renditions than were requested"));
        }
        let sane = |((_, size), bytes): (&(Rendition, PixelSize), &u64)| *bytes <= size.area() * 4 + HEADERS;
        if !renditions.iter().zip(webp_bytes).all(sane) {
            return Err(InvalidResponse("it made a rendition that is longer than its pixels"));
        }
        if webp_bytes.iter().sum::<u64>() > self.memory_bytes {
            return Err(InvalidResponse("it made renditions that exceed the memory that it requested"));
        }
        Ok(())
    }

    /// The size of the RGB picture, if one is requested, and the length of its pixels in bytes.
    pub(crate) fn rgb_picture(&self, task: &AnalysisTask) -> Option<(PixelSize, u64)> {
        let size = self.upright_size.fit_within(task.side_px()?);
        Some((size, size.area() * RGB_BYTES_PER_PIXEL))
    }
}

/// The cleaned text of a picture.
pub(crate) fn text(text: Option<String>, task: &AnalysisTask) -> Result<Option<String>, InvalidResponse> {
    match text {
        Some(_) if !task.read_text => Err(InvalidResponse("it read text that was not requested")),
        text => Ok(text.as_deref().and_then(clean_text)),
    }
}

pub(crate) fn rendition(
    rendition: Rendition,
    size: PixelSize,
    webp: Vec<u8>,
) -> Result<EncodedRendition, InvalidResponse> {
    crate::webp::check(&webp, size).map_err(InvalidResponse)?;
    Ok(EncodedRendition { rendition, size, webp })
}

/// Checks the length of a preview. The content is not checked, because it is only drawn.
pub(crate) fn thumbhash(bytes: Option<Vec<u8>>) -> Result<Option<Thumbhash>, InvalidResponse> {
    let made = |bytes| Thumbhash::new(bytes).ok_or(InvalidResponse("it made a preview of impossible length"));
    bytes.map(made).transpose()
}

/// A reason as one line of limited length.
pub(crate) fn reason(text: &str) -> Option<String> {
    let line = clean_text(text)?.replace('\n', " ");
    Some(line.chars().take(MAX_REASON_CHARS).collect())
}

pub(crate) fn refused(refusal: &FileRefusal) -> Result<FileFault, InvalidResponse> {
    let reason = reason(&refusal.reason).ok_or(InvalidResponse("it refused the file without a reason"))?;
    Ok(FileFault::Refused { kind: refusal.kind, reason })
}

/// Cleans the texts of metadata, leaves out settings that no camera has, and refuses offsets and years that deserialization accepts. Deserialization has checked timestamps,
/// positions and marks.
pub(crate) fn metadata(
    Metadata { capture, details, settings, marks }: Metadata,
) -> Result<Metadata, InvalidResponse> {
    if capture.offset_minutes.is_some_and(|minutes| UtcOffset::from_minutes(minutes).is_none()) {
        return Err(InvalidResponse("its capture time has an offset of a day or more"));
    }
    if capture.wall.is_some_and(|wall| wall.year() < 1) {
        return Err(InvalidResponse("its capture time is before the year 1"));
    }
    let settings = settings.and_then(CameraSettings::cleaned);
    Ok(Metadata { capture, details: details.cleaned(), settings, marks })
}

/// The job that is sent to a worker.
pub(crate) fn job_spec(task: &DecodeTask) -> JobSpec {
    let name = |rendition: &Rendition| rendition.name().to_owned();
    let sidecar =
        |sidecar: &Sidecar| wire::SidecarHeader { kind: sidecar.kind, bytes: sidecar.content.len() as u64 };
    JobSpec::Render {
        renditions: match &task.renditions {
            RequestedRenditions::Displayable => None,
            RequestedRenditions::Only(renditions) => Some(renditions.iter().map(name).collect()),
        },
        file_info: task.read_metadata.as_ref().map(|info| wire::FileHeader {
            name: info.name.as_deref().and_then(clean_text),
            modified_at: info.modified_at,
            added_at: info.added_at,
            sidecars: info.sidecars.iter().map(sidecar).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use domain::Position;
    use domain::Rendition::{Full, Medium, Thumb};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::RefusalKind;

    fn sent() -> Value {
        json!({
            "capture": {
                "at": 1_700_000_000_000_i64,
                "wall": "2023-11-14T22:13:20.5",
                "offset_minutes": -330,
                "source": "exif-original",
            },
            "details": {
                "position": [-17.0, 37.774_929],
                "description": " a\0b ",
                "camera_make": "\u{7}",
                "camera_model": "X".repeat(20_000),
            },
            "marks": {"rating": 3, "keywords": ["Sea", "sea"]},
        })
    }

    #[test]
    fn metadata_are_cleaned() {
        let read = metadata(serde_json::from_value(sent()).unwrap()).unwrap();
        assert_eq!(read.capture.wall.unwrap().to_string(), "2023-11-14T22:13:20.5");
        assert_eq!(read.details.description.as_deref(), Some("a b"));
        assert_eq!(read.details.camera_make, None);
        assert_eq!(read.details.camera_model.unwrap().len(), domain::MAX_TEXT_CHARS);
        assert_eq!(read.details.position.unwrap().longitude(), 37.774_929);
    }

    #[test]
    fn impossible_metadata_are_refused() {
        let is_refused = |part: &str, field: &str, value: Value| {
            let mut sent = sent();
            sent[part][field] = value;
            serde_json::from_value(sent).map_or(true, |read| metadata(read).is_err())
        };
        assert!(!is_refused("capture", "offset_minutes", json!(1439)));
        for (part, field, value) in [
            ("capture", "at", json!(i64::MAX)),
            ("capture", "source", json!("hearsay")),
            ("capture", "offset_minutes", json!(-1440)),
            ("capture", "wall", json!("-000001-01-01T00:00")),
            ("capture", "wall", json!("0000-01-01T00:00")),
            ("capture", "wall", json!("2".repeat(5000))),
            ("details", "position", json!([90.5, 0.0])),
            ("details", "position", json!([0.0, null])),
            ("details", "lens", json!("unknown")),
        ] {
            assert!(is_refused(part, field, value.clone()), "{field} {value}");
        }
    }

    proptest! {
        #[test]
        fn positions_are_not_rounded(latitude in -90.0..=90.0_f64, longitude in -180.0..=180.0_f64) {
            let position = Position::new(latitude, longitude)?;
            prop_assert_eq!(wire::decode::<Position>(&wire::encode(&position)?[4..])?, position);
        }
    }

    #[test]
    fn announcements_are_checked() {
        let requested = RequestedRenditions::Only(vec![Full, Thumb]);
        let plan = DecodePlan::new((3000, 1500), 64 << 20, 200_000_000).unwrap();
        let size = |width, height| PixelSize { width, height };
        let renditions = plan.renditions(&requested);
        assert_eq!(renditions, [(Full, size(3000, 1500)), (Thumb, size(512, 256))]);
        let check = |plan: &DecodePlan, lengths: &[u64], expect| {
            assert_eq!(plan.check_lengths(&renditions, lengths).is_ok(), expect, "{lengths:?}");
        };
        check(&plan, &[18_000_000, 500_000], true);
        check(&plan, &[1, u64::MAX], false);
        check(&plan, &[1], false);
        check(&plan, &[1, 1, 1], false);
        let modest = DecodePlan::new((3000, 1500), 1 << 20, 200_000_000).unwrap();
        check(&modest, &[1_000_000, 10_000], true);
        check(&modest, &[1_000_000, 100_000], false);
        for (size, memory) in
            [((0, 5), 1), ((5, 0), 1), ((20_000, 20_000), 1), ((u32::MAX, u32::MAX), 1), ((5, 5), u64::MAX)]
        {
            assert!(DecodePlan::new(size, memory, 200_000_000).is_err(), "{size:?} {memory}");
        }
    }

    #[test]
    fn rgb_pictures_have_the_announced_size() {
        let plan = DecodePlan::new((3000, 1500), 64 << 20, 200_000_000).unwrap();
        let check = |max_side_px, expect: Option<(u32, u32)>| {
            let expect = expect.map(|(width, height)| {
                (PixelSize { width, height }, u64::from(width) * u64::from(height) * 3)
            });
            assert_eq!(plan.rgb_picture(&AnalysisTask { max_side_px, read_text: false }), expect);
        };
        check(None, None);
        check(Some(300), Some((300, 150)));
        check(Some(u32::MAX), Some((3000, 1500)));
        check(Some(0), Some((1, 1)));
    }

    #[test]
    fn text_is_cleaned_and_refused_if_not_requested() {
        let task = |read_text| AnalysisTask { max_side_px: None, read_text };
        let sent = || Some(format!("a\0b\nc{}", "d".repeat(20_000)));
        let cleaned = text(sent(), &task(true)).unwrap().unwrap();
        assert!(cleaned.starts_with("a b\ncd") && cleaned.len() == domain::MAX_TEXT_CHARS);
        assert_eq!(text(Some("\0".into()), &task(true)), Ok(None));
        assert_eq!(text(None, &task(false)), Ok(None));
        assert!(text(sent(), &task(false)).is_err());
    }

    #[test]
    fn reasons_are_one_short_line() {
        let refusal =
            |reason: &str| refused(&FileRefusal { kind: RefusalKind::Corrupt, reason: reason.to_owned() });
        let fault =
            |reason: &str| FileFault::Refused { kind: RefusalKind::Corrupt, reason: reason.to_owned() };
        assert_eq!(refusal("broken\nin\u{1b}two\n"), Ok(fault("broken in two")));
        assert_eq!(refusal(&"é".repeat(9000)), Ok(fault(&"é".repeat(MAX_REASON_CHARS))));
        assert!(refusal(" \0 ").is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_announcements_never_panic(width: u32, height: u32, memory: u64, max: u64, lengths: Vec<u64>) {
            if let Ok(plan) = DecodePlan::new((width, height), memory, max) {
                let _ = plan.check_lengths(&plan.renditions(&RequestedRenditions::Only(vec![Medium])), &lengths);
                let _ = plan.rgb_picture(&AnalysisTask { max_side_px: Some(width ^ height), read_text: false });
            }
        }
    }
}
