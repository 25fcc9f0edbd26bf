//! The words in a picture: what is loaded before the worker closes itself off, and how a picture is read.
//!
//! Tesseract reads pages. So a picture is read twice: as the page that it may be, and then, as photos are none, a sheet
//! that is made of whatever looks like lines of letters in it and was not read yet (`strokes` finds ink, dark and light,
//! `parts` what of it hangs together, `rows` what stands side by side, `sheet` cuts it out). Where nothing looks like
//! letters, nothing is read at all.
//!
//! Ink is what is darker or lighter than its surroundings, which finds the strokes of letters up to a certain height.
//! Higher letters are found in a smaller copy of the picture.

mod gray;
mod parts;
mod rows;
mod sense;
mod sets;
mod sheet;
mod strokes;

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use domain::clean_text;
use media::RgbPicture;
use tesseract::{
    BoundingBox, LoadError, PageLayout, ReadOptions, ReaderError, RecognizedText, Tesseract, TextReader,
};

use self::{gray::Gray, parts::Part, rows::Row, strokes::Run};
use crate::{Languages, OcrStatus};

/// Raised whenever other words are read in the same pictures, so that they are read again.
pub const OCR_VERSION: u32 = 2;

/// The longest side of the picture that is read.
pub(crate) const SIDE_PX: u32 = 2000;

/// What reading such a picture takes beside its pixels, in bytes.
pub(crate) const MEMORY_BYTES: u64 = 256 << 20;

/// Smaller pictures are enlarged to this side, but at most so many times.
const ENLARGED_SIDE_PX: u32 = 1600;
const MOST_ENLARGED: u32 = 3;

/// Pictures that are lower or narrower hold no letters that could be read.
const LEAST_SIDE_PX: u32 = 12;

/// The height, in pixels, up to which letters are found. The strokes of higher letters are wider than the surroundings
/// that ink is compared with.
const MOST_HEIGHT: u32 = 240;
/// How many times smaller each further copy of the picture is, in which higher letters are found.
const SHRUNK: u32 = 4;

/// As many installed languages are read at once: two more take twice the time.
const MOST_INSTALLED: usize = 4;

/// The language that comes first among those that are installed.
const FIRST: &str = "eng";

/// This process reads no words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotReading;

/// Whether this process reads words, and with what.
#[derive(Debug)]
pub(crate) enum Words {
    Off,
    Ready { reader: TextReader<'static>, missing: Vec<String>, installed: Vec<String>, version: String },
    Unavailable { reason: String, missing: Vec<String> },
}

impl Words {
    /// Loads Tesseract and its trained data, after which no file is opened any more.
    pub(crate) fn load(languages: &Languages) -> Self {
        let library = match Tesseract::load() {
            Ok(library) => library,
            Err(error) => return Self::Unavailable { reason: without_library(error), missing: Vec::new() },
        };
        let installed = library.available_languages();
        let (chosen, missing) = choose(languages, &installed);
        match library.reader(&chosen) {
            Ok(reader) => Self::Ready { reader, missing, installed, version: library.version().to_string() },
            Err(error) => Self::Unavailable { reason: without_language(&error, &missing), missing },
        }
    }

    /// What the service is told of it.
    pub(crate) fn told(&self) -> OcrStatus {
        match self {
            Self::Off => OcrStatus::Off,
            Self::Ready { reader, missing, installed, version } => OcrStatus::Ready {
                version: version.clone(),
                languages: reader.languages().to_vec(),
                missing: missing.clone(),
                installed: installed.clone(),
            },
            Self::Unavailable { reason, missing } => {
                OcrStatus::Unavailable { reason: reason.clone(), missing: missing.clone() }
            }
        }
    }

    /// The words of a picture, if there are any; what cannot be read has none.
    ///
    /// # Errors
    /// [`NotReading`]
    pub(crate) fn read(
        &mut self,
        picture: &RgbPicture,
        time: Duration,
    ) -> Result<Option<String>, NotReading> {
        let Self::Ready { reader, .. } = self else { return Err(NotReading) };
        let (width, height) = (picture.size.width, picture.size.height);
        if width.min(height) < LEAST_SIDE_PX {
            return Ok(None);
        }
        let gray = Gray::of_rgb(width, height, &picture.rgb);
        let longest = width.max(height);
        let side = longest.max(ENLARGED_SIDE_PX.min(longest.saturating_mul(MOST_ENLARGED)));
        let enlarged = |length: u32| {
            let length = u64::from(length) * u64::from(side) / u64::from(longest);
            u32::try_from(length).unwrap_or(side)
        };
        let gray = match side > longest {
            true => gray.resize(enlarged(width), enlarged(height)).unwrap_or(gray),
            false => gray,
        };
        Ok(clean_text(&read_twice(reader, &gray, time)))
    }
}

/// The words of the page, and then those of the lines that stand elsewhere.
fn read_twice(reader: &mut TextReader<'_>, gray: &Gray, time: Duration) -> String {
    let begin = Instant::now();
    let mut found = vec![Found::at_full_size(gray)];
    let mut shrunk = 1;
    while gray.height > shrunk * MOST_HEIGHT {
        shrunk *= SHRUNK;
        found.extend(Found::shrunk(gray, shrunk));
    }
    found.retain(|found| !found.rows.is_empty());
    if found.is_empty() {
        return String::new();
    }
    let page = read(reader, gray, PageLayout::Auto, time);
    // The highest letters come first: there is room for them, whatever else there is.
    let strips = found.iter_mut().rev().flat_map(|found| {
        found.rows.retain(|row| !is_read(row, found.shrunk, &page));
        found.strips()
    });
    let sheet = sheet::of(&strips.collect::<Vec<_>>());
    drop(found);
    let left = time.saturating_sub(begin.elapsed());
    let rest = match sheet {
        Some(sheet) if !left.is_zero() => read(reader, &sheet, PageLayout::Block, left),
        _ => RecognizedText { lines: Vec::new(), complete: true },
    };
    sense::of(page.lines.iter().chain(&rest.lines))
}

/// The lines of letters in a picture at one size.
struct Found<'a> {
    gray: Cow<'a, Gray>,
    /// How many times smaller than the whole picture it is.
    shrunk: u32,
    runs: Vec<Run>,
    parts: Vec<Part>,
    rows: Vec<Row>,
}

impl<'a> Found<'a> {
    fn at_full_size(gray: &'a Gray) -> Self {
        Self::among(Cow::Borrowed(gray), 1, rows::LEAST_HEIGHT..=MOST_HEIGHT)
    }

    /// Letters that are too high at a larger size; `None` when the picture cannot be made so small.
    fn shrunk(gray: &Gray, times: u32) -> Option<Self> {
        let small = gray.resize((gray.width / times).max(1), (gray.height / times).max(1))?;
        Some(Self::among(Cow::Owned(small), times, MOST_HEIGHT / SHRUNK + 1..=MOST_HEIGHT))
    }

    fn among(gray: Cow<'a, Gray>, shrunk: u32, heights: RangeInclusive<u32>) -> Self {
        let mut runs = strokes::find(&gray);
        let parts = parts::connect(&mut runs);
        let rows = rows::find(&parts, &heights);
        Self { gray, shrunk, runs, parts, rows }
    }

    fn strips(&self) -> Vec<Gray> {
        sheet::strips(&self.gray, &self.runs, &self.parts, &self.rows)
    }
}

/// What cannot be read has no words.
fn read(reader: &mut TextReader<'_>, gray: &Gray, layout: PageLayout, deadline: Duration) -> RecognizedText {
    let Gray { width, height, pixels } = gray;
    let picture = tesseract::GrayImage { width: *width, height: *height, pixels };
    let options = ReadOptions { deadline, layout, min_confidence: sense::LEAST_CONFIDENCE };
    reader.read(&picture, &options).unwrap_or_else(|error| {
        eprintln!("{error}");
        RecognizedText { lines: Vec::new(), complete: false }
    })
}

/// Whether words that make sense were read over half of a row, of a picture that is so many times smaller than the page.
fn is_read(row: &Row, shrunk: u32, page: &RecognizedText) -> bool {
    let row = row.enlarged(shrunk);
    let common = |bounds: &BoundingBox| {
        let across = row.right.min(bounds.right).saturating_sub(row.left.max(bounds.left));
        let down = row.bottom.min(bounds.bottom).saturating_sub(row.top.max(bounds.top));
        if u64::from(down) * 2 >= u64::from(row.bottom - row.top) { across } else { 0 }
    };
    let words = page.lines.iter().flat_map(|line| &line.words).filter(|word| sense::is_word(word));
    let covered: u64 = words.map(|word| u64::from(common(&word.bounds))).sum();
    covered * 2 >= u64::from(row.right - row.left)
}

/// The languages to read, and those of them that are not installed.
fn choose(languages: &Languages, installed: &[String]) -> (Vec<String>, Vec<String>) {
    match languages {
        Languages::Named(names) => names.iter().cloned().partition(|name| installed.contains(name)),
        Languages::Installed => {
            let mut chosen: Vec<_> = installed.iter().filter(|name| !name.contains('/')).cloned().collect();
            // A stable sort: the others keep their order.
            chosen.sort_by_key(|name| name != FIRST);
            // Where there are many, nobody has chosen them: they came in one package.
            if chosen.len() > MOST_INSTALLED {
                chosen.truncate(1);
            }
            (chosen, Vec::new())
        }
    }
}

fn without_library(error: &LoadError) -> String {
    match error {
        LoadError::NotFound { .. } => format!("Tesseract is not installed ({error})"),
        LoadError::Incomplete { .. } | LoadError::TooOld { .. } => error.to_string(),
    }
}

fn without_language(error: &ReaderError, missing: &[String]) -> String {
    match error {
        ReaderError::NoLanguage if missing.is_empty() => {
            "Tesseract has no trained data for any language".to_owned()
        }
        ReaderError::NoLanguage => {
            format!("Tesseract has no trained data for {}", missing.join(", "))
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn languages_are_chosen_among_the_installed_ones() {
        let check = |languages: &str, installed: &[&str], chosen: &[&str], missing: &[&str]| {
            let found = choose(&languages.parse().unwrap(), &names(installed));
            assert_eq!(found, (names(chosen), names(missing)), "{languages} of {installed:?}");
        };
        check("deu+eng", &["deu", "eng"], &["deu", "eng"], &[]);
        check("xyz,eng", &["deu", "eng"], &["eng"], &["xyz"]);
        check("xyz", &[], &[], &["xyz"]);
        check("auto", &["deu", "eng", "fra", "script/Latin"], &["eng", "deu", "fra"], &[]);
        check("auto", &["afr", "amh", "ara", "deu", "eng"], &["eng"], &[]);
        check("auto", &["deu", "script/Latin"], &["deu"], &[]);
        check("auto", &[], &[], &[]);
    }

    #[test]
    fn what_is_missing_is_told() {
        let check = |languages: &[&str], expect: &str| {
            let found = Words::load(&Languages::Named(names(languages)));
            match found.told() {
                OcrStatus::Unavailable { reason, missing } => {
                    assert_eq!((reason.as_str(), missing), (expect, names(languages)));
                }
                other => panic!("{other:?}"),
            }
        };
        check(&["xyz", "abc"], "Tesseract has no trained data for xyz, abc");
        check(&[], "Tesseract has no trained data for any language");
        let reason = without_library(&LoadError::NotFound { reason: "libtesseract.so.5: none".into() });
        assert_eq!(
            reason,
            "Tesseract is not installed (Tesseract cannot be loaded: libtesseract.so.5: none)"
        );
    }

    #[test]
    fn what_is_too_small_is_not_read() {
        let mut words = Words::load(&Languages::Named(names(&["eng", "xyz"])));
        let OcrStatus::Ready { languages, missing, installed, .. } = words.told() else {
            panic!("{words:?}")
        };
        assert_eq!((languages, missing), (names(&["eng"]), names(&["xyz"])));
        assert!(installed.contains(&"eng".to_owned()) && !installed.contains(&"osd".to_owned()));
        for (width, height) in [(1, 1), (500, 11), (11, 500), (12, 12)] {
            let size = domain::PixelSize { width, height };
            let rgb = vec![255; usize::try_from(size.area() * 3).unwrap()];
            let picture = RgbPicture { size, rgb };
            assert_eq!(words.read(&picture, Duration::from_secs(60)), Ok(None), "{width} x {height}");
            assert_eq!(Words::Off.read(&picture, Duration::from_secs(60)), Err(NotReading));
        }
    }
}
