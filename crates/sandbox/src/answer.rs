//! From what a worker says to values that can be trusted to be what they claim, or to the finding that it lies.

use domain::{Metadata, PixelSize, Rendition, Sidecar, UtcOffset, clean_text};
use media::EncodedRendition;

use crate::{
    AnalysisTask, DecodeTask, FileFault, RequestedRenditions, RgbPicture,
    error::MAX_REASON_CHARS,
    wire::{self, Order, Refusal},
};

/// What a worker said that cannot be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lie(pub(crate) &'static str);

/// The most that rendering a pixel can take, in bytes; what a worker claims beyond it is not believed.
const MAX_BYTES_PER_PIXEL: u64 = 32;
const MAX_BASE_BYTES: u64 = 256 << 20;

/// A picture that a worker announces.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) upright_size: PixelSize,
    /// What the job takes.
    pub(crate) memory_bytes: u64,
}

impl Plan {
    pub(crate) fn new((width, height): (u32, u32), memory_bytes: u64, max_pixels: u64) -> Result<Self, Lie> {
        let upright_size = PixelSize { width, height };
        if upright_size.area() == 0 || upright_size.area() > max_pixels {
            return Err(Lie("it announced a picture that it had to refuse"));
        }
        let most = MAX_BASE_BYTES.saturating_add(max_pixels.saturating_mul(MAX_BYTES_PER_PIXEL));
        if memory_bytes > most {
            return Err(Lie("it announced more memory than any picture needs"));
        }
        Ok(Self { upright_size, memory_bytes })
    }

    /// The renditions to come, with their sizes.
    pub(crate) fn renditions(&self, wanted: &RequestedRenditions) -> Vec<(Rendition, PixelSize)> {
        let size = |rendition: Rendition| self.upright_size.fit_within(rendition.longest_side_px());
        let wanted = wanted.renditions(self.upright_size).into_iter();
        wanted.map(|rendition| (rendition, size(rendition))).collect()
    }

    /// Checks the lengths of the files to come: no longer than the plain pixels, and together no longer than the memory
    /// that was granted, of which honest ones take a fraction.
    pub(crate) fn check_lengths(
        &self,
        renditions: &[(Rendition, PixelSize)],
        webp_bytes: &[u64],
    ) -> Result<(), Lie> {
        const HEADERS: u64 = 4096;
        if webp_bytes.len() != renditions.len() {
            return Err(Lie("it made other renditions than were wanted"));
        }
        let sane = |((_, size), bytes): (&(Rendition, PixelSize), &u64)| *bytes <= size.area() * 4 + HEADERS;
        if !renditions.iter().zip(webp_bytes).all(sane) {
            return Err(Lie("it made a rendition that is longer than its pixels"));
        }
        if webp_bytes.iter().sum::<u64>() > self.memory_bytes {
            return Err(Lie("it made more than the memory holds that it asked for"));
        }
        Ok(())
    }

    /// The size of the plain picture to come, if one is wanted, and the length of its pixels in bytes.
    pub(crate) fn plain_picture(&self, look: &AnalysisTask) -> Option<(PixelSize, u64)> {
        let size = self.upright_size.fit_within(look.side_px()?);
        Some((size, size.area() * RgbPicture::BYTES_PER_PIXEL))
    }
}

/// The words of a picture, fit to be kept.
pub(crate) fn text(said: Option<String>, look: &AnalysisTask) -> Result<Option<String>, Lie> {
    match said {
        Some(_) if !look.read_text => Err(Lie("it read words that nobody asked for")),
        said => Ok(said.as_deref().and_then(clean_text)),
    }
}

/// A rendition that is what it should be.
pub(crate) fn rendition(
    rendition: Rendition,
    size: PixelSize,
    webp: Vec<u8>,
) -> Result<EncodedRendition, Lie> {
    crate::webp::check(&webp, size).map_err(Lie)?;
    Ok(EncodedRendition { rendition, size, webp })
}

/// A reason, in one line of limited length.
pub(crate) fn reason(text: &str) -> Option<String> {
    let line = clean_text(text)?.replace('\n', " ");
    Some(line.chars().take(MAX_REASON_CHARS).collect())
}

pub(crate) fn refused(refusal: &Refusal) -> Result<FileFault, Lie> {
    let reason = reason(&refusal.reason).ok_or(Lie("it refused the file without a reason"))?;
    Ok(FileFault::Refused { kind: refusal.kind, reason })
}

/// Metadata with clean texts. Reading the message has checked times and positions.
pub(crate) fn metadata(Metadata { capture, details }: Metadata) -> Result<Metadata, Lie> {
    if capture.offset_minutes.is_some_and(|minutes| UtcOffset::from_minutes(minutes).is_none()) {
        return Err(Lie("its capture time has an offset of a day or more"));
    }
    if capture.wall.is_some_and(|wall| wall.year() < 1) {
        return Err(Lie("its capture time is before the year 1"));
    }
    Ok(Metadata { capture, details: details.cleaned() })
}

/// What a worker is told to do with a file that is rendered.
pub(crate) fn order(task: &DecodeTask) -> Order {
    let name = |rendition: &Rendition| rendition.name().to_owned();
    let sidecar =
        |sidecar: &Sidecar| wire::SidecarHeader { kind: sidecar.kind, bytes: sidecar.content.len() as u64 };
    Order::Render {
        wanted: match &task.renditions {
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

    fn said() -> Value {
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
        })
    }

    #[test]
    fn metadata_are_cleaned() {
        let read = metadata(serde_json::from_value(said()).unwrap()).unwrap();
        assert_eq!(read.capture.wall.unwrap().to_string(), "2023-11-14T22:13:20.5");
        assert_eq!(read.details.description.as_deref(), Some("a b"));
        assert_eq!(read.details.camera_make, None);
        assert_eq!(read.details.camera_model.unwrap().len(), domain::MAX_TEXT_CHARS);
        assert_eq!(read.details.position.unwrap().longitude(), 37.774_929);
    }

    #[test]
    fn impossible_metadata_are_refused() {
        let is_refused = |part: &str, field: &str, value: Value| {
            let mut said = said();
            said[part][field] = value;
            serde_json::from_value(said).map_or(true, |read| metadata(read).is_err())
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
    fn pictures_are_planned() {
        let wanted = RequestedRenditions::Only(vec![Full, Thumb]);
        let plan = Plan::new((3000, 1500), 64 << 20, 200_000_000).unwrap();
        let size = |width, height| PixelSize { width, height };
        let renditions = plan.renditions(&wanted);
        assert_eq!(renditions, [(Full, size(3000, 1500)), (Thumb, size(512, 256))]);
        let check = |plan: &Plan, lengths: &[u64], expect| {
            assert_eq!(plan.check_lengths(&renditions, lengths).is_ok(), expect, "{lengths:?}");
        };
        check(&plan, &[18_000_000, 500_000], true);
        check(&plan, &[1, u64::MAX], false);
        check(&plan, &[1], false);
        check(&plan, &[1, 1, 1], false);
        let modest = Plan::new((3000, 1500), 1 << 20, 200_000_000).unwrap();
        check(&modest, &[1_000_000, 10_000], true);
        check(&modest, &[1_000_000, 100_000], false);
        for (size, memory) in
            [((0, 5), 1), ((5, 0), 1), ((20_000, 20_000), 1), ((u32::MAX, u32::MAX), 1), ((5, 5), u64::MAX)]
        {
            assert!(Plan::new(size, memory, 200_000_000).is_err(), "{size:?} {memory}");
        }
    }

    #[test]
    fn plain_pictures_have_the_announced_size() {
        let plan = Plan::new((3000, 1500), 64 << 20, 200_000_000).unwrap();
        let check = |max_side_px, expect: Option<(u32, u32)>| {
            let expect = expect.map(|(width, height)| {
                (PixelSize { width, height }, u64::from(width) * u64::from(height) * 3)
            });
            assert_eq!(plan.plain_picture(&AnalysisTask { max_side_px, read_text: false }), expect);
        };
        check(None, None);
        check(Some(300), Some((300, 150)));
        check(Some(u32::MAX), Some((3000, 1500)));
        check(Some(0), Some((1, 1)));
    }

    #[test]
    fn words_are_cleaned_and_only_taken_when_asked_for() {
        let look = |read_text| AnalysisTask { max_side_px: None, read_text };
        let said = || Some(format!("a\0b\nc{}", "d".repeat(20_000)));
        let words = text(said(), &look(true)).unwrap().unwrap();
        assert!(words.starts_with("a b\ncd") && words.len() == domain::MAX_TEXT_CHARS);
        assert_eq!(text(Some("\0".into()), &look(true)), Ok(None));
        assert_eq!(text(None, &look(false)), Ok(None));
        assert!(text(said(), &look(false)).is_err());
    }

    #[test]
    fn reasons_are_one_short_line() {
        let refusal =
            |reason: &str| refused(&Refusal { kind: RefusalKind::Corrupt, reason: reason.to_owned() });
        let fault =
            |reason: &str| FileFault::Refused { kind: RefusalKind::Corrupt, reason: reason.to_owned() };
        assert_eq!(refusal("broken\nin\u{1b}two\n"), Ok(fault("broken in two")));
        assert_eq!(refusal(&"é".repeat(9000)), Ok(fault(&"é".repeat(MAX_REASON_CHARS))));
        assert!(refusal(" \0 ").is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(width: u32, height: u32, memory: u64, max: u64, lengths: Vec<u64>) {
            if let Ok(plan) = Plan::new((width, height), memory, max) {
                let _ = plan.check_lengths(&plan.renditions(&RequestedRenditions::Only(vec![Medium])), &lengths);
                let _ = plan.plain_picture(&AnalysisTask { max_side_px: Some(width ^ height), read_text: false });
            }
        }
    }
}
