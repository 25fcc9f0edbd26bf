//! Reads the text in photos with Tesseract.
//!
//! Tesseract expects a page, and most photos are not pages. A photo is therefore first read as it is, and then as pages
//! composed of the text lines that the first pass missed. The lines that look most like text come first; if they contain
//! no word, the others are texture, such as leaves, and are not read. A photo without text lines is not read at all. The
//! lines are detected in these steps:
//!
//! 1. `threshold` marks ink: pixels that are darker or lighter than their surroundings.
//! 2. `components` joins adjacent ink into connected components, which are letters where there is text.
//! 3. `lines` groups letters side by side into lines.
//! 4. `page` crops the lines, turns them into black text of one size, and composes a page of them.
//!
//! The threshold finds letters up to a certain height; larger letters are found in smaller copies of the photo. `filter`
//! drops words that are probably noise.

mod components;
mod filter;
mod gray;
mod languages;
mod lines;
mod page;
mod status;
mod threshold;
mod union_find;

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use tesseract::{
    BoundingBox, GrayImage, LoadError, PageLayout, ReadOptions, ReaderError, RecognizedText, Tesseract,
    TextReader,
};

use self::{components::Component, gray::GrayBuffer, lines::LineCandidate, threshold::PixelRun};

pub use languages::{InvalidLanguages, Languages};
pub use status::OcrStatus;

/// Raise this when the same pictures give better text, so that they are read again.
pub const OCR_VERSION: u32 = 2;

/// The best length, in pixels, of the longest side of a picture to read.
pub const SIDE_PX: u32 = 2000;

/// Memory that Tesseract needs for a picture besides the pixels, in bytes.
const TESSERACT_BYTES: u64 = 40 << 20;

/// The memory that reading a picture of this many pixels needs, in bytes.
pub fn memory_bytes(pixels: u64) -> u64 {
    // Three bytes a pixel in colours, and one in grey.
    TESSERACT_BYTES + pixels * 4
}

/// Pictures whose longest side is shorter are enlarged to this length, but at most by [`MAX_ENLARGEMENT`].
const MIN_SIDE_PX: u32 = 1600;
const MAX_ENLARGEMENT: u32 = 3;

/// Pictures with a shorter side contain no legible text.
const MIN_SHORT_SIDE_PX: u32 = 12;

/// Maximum height, in pixels, of the letters that are found in one copy of the picture. The strokes of larger letters are wider
/// than the window of the threshold.
const MAX_LETTER_HEIGHT: u32 = 240;
/// The factor between the sizes of the copies in which larger letters are found.
const SHRINK_FACTOR: u32 = 4;

/// Upper bound on installed languages that are read together: two more double the time.
const MAX_INSTALLED: usize = 4;

/// Number of lines that are read first: those that look most like text. If they contain no word, the others are not read.
const FIRST_LINES: usize = 12;

/// The language that comes first if all installed languages are read.
const FIRST_LANGUAGE: &str = "eng";

/// This instance cannot read text. [`Ocr::status`] says why.
#[derive(Debug, PartialEq, Eq)]
pub struct NotReady;

/// Reads text, if Tesseract and trained data are installed.
#[derive(Debug)]
pub struct Ocr {
    reader: Option<TextReader<'static>>,
    status: OcrStatus,
}

impl Ocr {
    /// An instance that reads nothing.
    pub fn off() -> Self {
        Self { reader: None, status: OcrStatus::Off }
    }

    /// Loads Tesseract and its trained data. No file is opened afterwards.
    pub fn load(languages: &Languages) -> Self {
        let unavailable =
            |reason, missing| Self { reader: None, status: OcrStatus::Unavailable { reason, missing } };
        let library = match Tesseract::load() {
            Ok(library) => library,
            Err(error) => return unavailable(load_error(error), Vec::new()),
        };
        let installed = library.available_languages();
        let (chosen, missing) = choose(languages, &installed);
        match library.reader(&chosen) {
            Ok(mut reader) => {
                // By default, Tesseract reads a line again with inverted colours if it does not understand the line. The lines of
                // composed pages are dark on light already. The name of the parameter depends on the release.
                reader.set(c"tessedit_do_invert", c"0");
                reader.set(c"invert_threshold", c"0");
                let version = library.version().to_string();
                let status = OcrStatus::Ready { version, languages: chosen, missing, installed };
                Self { reader: Some(reader), status }
            }
            Err(error) => unavailable(reader_error(&error, &missing), missing),
        }
    }

    /// Whether this instance reads text, and with which languages.
    pub fn status(&self) -> &OcrStatus {
        &self.status
    }

    /// The text of an upright picture, one line per line of text; empty if there is none or it cannot be read. `rgb` holds
    /// 3 bytes a pixel, rows from top to bottom without gaps.
    ///
    /// # Errors
    /// [`NotReady`]
    pub fn read(
        &mut self,
        (width, height): (u32, u32),
        rgb: &[u8],
        time_limit: Duration,
    ) -> Result<String, NotReady> {
        let reader = self.reader.as_mut().ok_or(NotReady)?;
        if width.min(height) < MIN_SHORT_SIDE_PX {
            return Ok(String::new());
        }
        let gray = GrayBuffer::from_rgb(width, height, rgb);
        let longest = width.max(height);
        let side = longest.max(MIN_SIDE_PX.min(longest.saturating_mul(MAX_ENLARGEMENT)));
        let enlarged = |length: u32| {
            let length = u64::from(length) * u64::from(side) / u64::from(longest);
            u32::try_from(length).unwrap_or(side)
        };
        let gray = match side > longest {
            true => gray.resize(enlarged(width), enlarged(height)).unwrap_or(gray),
            false => gray,
        };
        Ok(read_picture(reader, &gray, time_limit))
    }
}

/// Reads the picture as a page, then the lines that the first pass missed. Only the most text-like of these lines are read if they
/// contain no word.
fn read_picture(reader: &mut TextReader<'_>, gray: &GrayBuffer, time_limit: Duration) -> String {
    let start = Instant::now();
    let mut scales = vec![ScaledLines::at_full_size(gray)];
    let mut divisor = 1;
    while gray.height > divisor * MAX_LETTER_HEIGHT {
        divisor *= SHRINK_FACTOR;
        scales.extend(ScaledLines::shrunk(gray, divisor));
    }
    scales.retain(|scale| !scale.lines.is_empty());
    if scales.is_empty() {
        return String::new();
    }
    let mut read_lines = read(reader, gray, PageLayout::Auto, time_limit);
    for scale in &mut scales {
        scale.lines.retain(|line| !is_read(line, scale.divisor, &read_lines));
    }
    let mut scores: Vec<f32> = scales.iter().flat_map(|scale| &scale.lines).map(|line| line.score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let least = scores.get(FIRST_LINES).copied().unwrap_or(f32::NEG_INFINITY);
    for are_first in [true, false] {
        // The largest letters come first, so that the page always has room for them.
        let lines = |scale: &ScaledLines<'_>| scale.crops(|line| (line.score > least) == are_first);
        let crops: Vec<GrayBuffer> = scales.iter().rev().flat_map(lines).collect();
        let Some(page) = page::compose(&crops) else { continue };
        let left = time_limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            break;
        }
        let found = read(reader, &page, PageLayout::Block, left);
        let has_words = found.lines.iter().flat_map(|line| &line.words).any(filter::is_word);
        read_lines.lines.extend(found.lines);
        if !has_words {
            break;
        }
    }
    filter::keep_words(&read_lines.lines)
}

/// The text lines detected in a picture at one size.
struct ScaledLines<'a> {
    gray: Cow<'a, GrayBuffer>,
    /// How many times the copy is smaller than the whole picture.
    divisor: u32,
    runs: Vec<PixelRun>,
    components: Vec<Component>,
    lines: Vec<LineCandidate>,
}

impl<'a> ScaledLines<'a> {
    fn at_full_size(gray: &'a GrayBuffer) -> Self {
        Self::detect(Cow::Borrowed(gray), 1, lines::MIN_LETTER_HEIGHT..=MAX_LETTER_HEIGHT)
    }

    /// Detects the lines whose letters are too large for the next larger copy; `None` if the picture cannot be resized.
    fn shrunk(gray: &GrayBuffer, divisor: u32) -> Option<Self> {
        let small = gray.resize((gray.width / divisor).max(1), (gray.height / divisor).max(1))?;
        let heights = MAX_LETTER_HEIGHT / SHRINK_FACTOR + 1..=MAX_LETTER_HEIGHT;
        Some(Self::detect(Cow::Owned(small), divisor, heights))
    }

    fn detect(gray: Cow<'a, GrayBuffer>, divisor: u32, letter_heights: RangeInclusive<u32>) -> Self {
        let mut runs = threshold::find_ink(&gray);
        let components = components::find(&mut runs);
        let lines = lines::find(&components, &letter_heights);
        Self { gray, divisor, runs, components, lines }
    }

    fn crops(&self, is_chosen: impl Fn(&LineCandidate) -> bool) -> Vec<GrayBuffer> {
        let lines = self.lines.iter().filter(|line| is_chosen(line));
        page::crop_lines(&self.gray, &self.runs, &self.components, lines)
    }
}

/// A picture that cannot be read has no text; the error is logged.
fn read(
    reader: &mut TextReader<'_>,
    gray: &GrayBuffer,
    layout: PageLayout,
    deadline: Duration,
) -> RecognizedText {
    let GrayBuffer { width, height, pixels } = gray;
    let picture = GrayImage { width: *width, height: *height, pixels };
    let options = ReadOptions { deadline, layout, min_confidence: filter::MIN_CONFIDENCE };
    reader.read(&picture, &options).unwrap_or_else(|error| {
        eprintln!("{error}");
        RecognizedText { lines: Vec::new(), complete: false }
    })
}

/// Whether accepted words of `text` cover at least half of the width of a line. The line was found in a copy with 1/`divisor` of
/// the size.
fn is_read(line: &LineCandidate, divisor: u32, text: &RecognizedText) -> bool {
    let line = line.scaled(divisor);
    let overlap = |bounds: &BoundingBox| {
        let across = line.right.min(bounds.right).saturating_sub(line.left.max(bounds.left));
        let down = line.bottom.min(bounds.bottom).saturating_sub(line.top.max(bounds.top));
        if u64::from(down) * 2 >= u64::from(line.bottom - line.top) { across } else { 0 }
    };
    let words = text.lines.iter().flat_map(|line| &line.words).filter(|word| filter::is_word(word));
    let covered: u64 = words.map(|word| u64::from(overlap(&word.bounds))).sum();
    covered * 2 >= u64::from(line.right - line.left)
}

/// The languages to read, and the requested ones that are not installed.
fn choose(languages: &Languages, installed: &[String]) -> (Vec<String>, Vec<String>) {
    match languages {
        Languages::Named(names) => names.iter().cloned().partition(|name| installed.contains(name)),
        Languages::Installed => {
            let mut chosen: Vec<_> = installed.iter().filter(|name| !name.contains('/')).cloned().collect();
            // The sort is stable, so the other languages keep their order.
            chosen.sort_by_key(|name| name != FIRST_LANGUAGE);
            // More languages than this were probably installed by one package and not chosen one by one.
            if chosen.len() > MAX_INSTALLED {
                chosen.truncate(1);
            }
            (chosen, Vec::new())
        }
    }
}

fn load_error(error: &LoadError) -> String {
    match error {
        LoadError::NotFound { .. } => format!("Tesseract is not installed ({error})"),
        LoadError::MissingFunction { .. } | LoadError::TooOld { .. } => error.to_string(),
    }
}

fn reader_error(error: &ReaderError, missing: &[String]) -> String {
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
    fn installed_languages_are_chosen() {
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
    fn reason_names_what_is_missing() {
        let check = |languages: &[&str], expect: &str| {
            let expect = OcrStatus::Unavailable { reason: expect.to_owned(), missing: names(languages) };
            assert_eq!(Ocr::load(&Languages::Named(names(languages))).status(), &expect);
        };
        check(&["xyz", "abc"], "Tesseract has no trained data for xyz, abc");
        check(&[], "Tesseract has no trained data for any language");
        let error = LoadError::NotFound { library: "Tesseract", reason: "libtesseract.so.5: none".into() };
        assert_eq!(
            load_error(&error),
            "Tesseract is not installed (Tesseract cannot be loaded: libtesseract.so.5: none)"
        );
    }

    #[test]
    fn tiny_pictures_are_not_read() {
        let mut ocr = Ocr::load(&Languages::Named(names(&["eng", "xyz"])));
        let OcrStatus::Ready { languages, missing, installed, .. } = ocr.status() else { panic!("{ocr:?}") };
        assert_eq!((languages, missing), (&names(&["eng"]), &names(&["xyz"])));
        assert!(installed.contains(&"eng".to_owned()) && !installed.contains(&"osd".to_owned()));
        let time_limit = Duration::from_secs(60);
        for (width, height) in [(1, 1), (500, 11), (11, 500), (12, 12)] {
            let rgb = vec![255; usize::try_from(width * height * 3).unwrap()];
            assert_eq!(ocr.read((width, height), &rgb, time_limit), Ok(String::new()), "{width} x {height}");
            assert_eq!(Ocr::off().read((width, height), &rgb, time_limit), Err(NotReady));
        }
    }
}
