//! Calls into Tesseract.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use crate::functions::{
    ENGINE_LSTM_ONLY, Functions, RawEngine, RawMonitor, RawResultIterator, level, segmentation,
};
use crate::text::Lines;
use crate::{BoundingBox, GrayImage, PageLayout, ReadError, ReadOptions, RecognizedText, TextWord};

/// The longest side of a picture: Tesseract's coordinates have 16 bits.
const MAX_SIDE: u32 = 32_767;
/// Upper bound on words per page.
const MAX_WORDS: usize = 20_000;
/// Upper bound on names per list.
const MAX_NAMES: usize = 1000;
/// Pixels per inch passed to Tesseract. Tesseract uses the resolution only for text sizes, and estimates these from the letters
/// anyway.
const RESOLUTION: c_int = 300;

/// Why a reader cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    /// No language was given.
    #[error("no language is given")]
    NoLanguage,
    /// The trained data for a language is not installed.
    #[error("Tesseract has no trained data for the language `{language}`")]
    Missing { language: String },
    /// Tesseract cannot load the trained data.
    #[error("Tesseract cannot load its trained data for {languages}")]
    Refused {
        /// The names of the languages, with `+` between them.
        languages: String,
    },
    #[error("there is not enough memory for the trained data")]
    NoMemory,
}

pub(crate) fn version(functions: &Functions) -> String {
    // SAFETY: takes nothing and returns a constant.
    let text = unsafe { (functions.version)() };
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, ends with a NUL, and lives as long as the library.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The names of all trained data in the folder that Tesseract uses.
pub(crate) fn available_languages(functions: &Functions) -> Vec<String> {
    let Some(engine) = Engine::create(functions) else { return Vec::new() };
    // Tesseract determines its folder when it loads a language. This call fails, because no language is called `none`; the error
    // message is discarded.
    engine.set_variable(c"debug_file", c"/dev/null");
    let _code = engine.init(c"none");
    engine.set_variable(c"debug_file", c"");
    engine.available_languages()
}

/// Reads pictures in some languages, one picture at a time.
pub struct TextReader<'a> {
    engine: Engine<'a>,
    languages: Vec<String>,
}

impl<'a> TextReader<'a> {
    /// `languages` must be available ones, so that their names contain no `+` or NUL.
    pub(crate) fn new(functions: &'a Functions, languages: &[&str]) -> Result<Self, ReaderError> {
        let joined = languages.join("+");
        let refused = || ReaderError::Refused { languages: joined.clone() };
        let engine = Engine::create(functions).ok_or(ReaderError::NoMemory)?;
        let names = CString::new(joined.as_str()).map_err(|_| refused())?;
        if engine.init(&names) != 0 {
            return Err(refused());
        }
        // Tesseract skips languages that it cannot load.
        let loaded = engine.loaded_languages();
        if !languages.iter().all(|language| loaded.iter().any(|name| name == language)) {
            return Err(refused());
        }
        Ok(Self { engine, languages: languages.iter().map(ToString::to_string).collect() })
    }

    /// The languages that it reads, in the requested order.
    pub fn languages(&self) -> &[String] {
        &self.languages
    }

    /// Sets a parameter of Tesseract by name. Returns `false` if this release has no such parameter.
    pub fn set(&mut self, name: &CStr, value: &CStr) -> bool {
        self.engine.set_variable(name, value)
    }

    /// Reads an upright picture.
    pub fn read(
        &mut self,
        picture: &GrayImage<'_>,
        options: &ReadOptions,
    ) -> Result<RecognizedText, ReadError> {
        self.engine.set_layout(options.layout);
        let outcome = self.engine.set_picture(picture).and_then(|()| self.engine.read(options));
        self.engine.clear();
        outcome
    }
}

impl fmt::Debug for TextReader<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TextReader").field("languages", &self.languages).finish_non_exhaustive()
    }
}

struct Engine<'a> {
    functions: &'a Functions,
    /// Created by `TessBaseAPICreate`, not deleted yet.
    raw: NonNull<RawEngine>,
}

impl<'a> Engine<'a> {
    fn create(functions: &'a Functions) -> Option<Self> {
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.create)() };
        NonNull::new(raw).map(|raw| Self { functions, raw })
    }

    /// Loads trained data; 0 means success.
    fn init(&self, languages: &CStr) -> c_int {
        // SAFETY: the engine is alive, null means the default folder, and the text outlives the call.
        unsafe { (self.functions.init)(self.raw.as_ptr(), ptr::null(), languages.as_ptr(), ENGINE_LSTM_ONLY) }
    }

    fn available_languages(&self) -> Vec<String> {
        // SAFETY: the engine is alive; without any language it returns an empty list.
        let names = unsafe { (self.functions.available_languages)(self.raw.as_ptr()) };
        self.take_names(names)
    }

    fn loaded_languages(&self) -> Vec<String> {
        // SAFETY: the engine is alive; without any language it returns an empty list.
        let names = unsafe { (self.functions.loaded_languages)(self.raw.as_ptr()) };
        self.take_names(names)
    }

    /// Copies a list that Tesseract allocated, and frees it.
    fn take_names(&self, names: *mut *mut c_char) -> Vec<String> {
        let mut taken = Vec::new();
        if names.is_null() {
            return taken;
        }
        for index in 0..MAX_NAMES {
            // SAFETY: the list ends with a null pointer, and none of the elements before this one was null.
            let at = unsafe { names.add(index) };
            // SAFETY: as above.
            let name = unsafe { *at };
            if name.is_null() {
                break;
            }
            // SAFETY: not null, ends with a NUL, and lives until the list is deleted below.
            taken.push(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
        }
        // SAFETY: Tesseract allocated the list, and it is not used after this.
        unsafe { (self.functions.delete_texts)(names) };
        taken
    }

    fn set_layout(&self, layout: PageLayout) {
        let mode = match layout {
            PageLayout::Auto => segmentation::AUTO,
            PageLayout::Block => segmentation::SINGLE_BLOCK,
            PageLayout::Sparse => segmentation::SPARSE_TEXT,
        };
        // SAFETY: the engine is alive, and the number is a value of the enumeration.
        unsafe { (self.functions.set_segmentation)(self.raw.as_ptr(), mode) };
    }

    fn set_variable(&self, name: &CStr, value: &CStr) -> bool {
        // SAFETY: the engine is alive, and both texts outlive the call.
        unsafe { (self.functions.set_variable)(self.raw.as_ptr(), name.as_ptr(), value.as_ptr()) != 0 }
    }

    fn set_picture(&self, picture: &GrayImage<'_>) -> Result<(), ReadError> {
        let GrayImage { width, height, pixels } = *picture;
        let wrong = || ReadError::Size { width, height, bytes: pixels.len() };
        let sides = 1..=MAX_SIDE;
        let area = u64::from(width) * u64::from(height);
        if !sides.contains(&width) || !sides.contains(&height) || u64::try_from(pixels.len()) != Ok(area) {
            return Err(wrong());
        }
        let width = c_int::try_from(width).map_err(|_| wrong())?;
        let height = c_int::try_from(height).map_err(|_| wrong())?;
        // SAFETY: the engine is alive, and there are `width * height` bytes, one per pixel. They are copied.
        unsafe { (self.functions.set_image)(self.raw.as_ptr(), pixels.as_ptr(), width, height, 1, width) };
        // SAFETY: the engine is alive and has a picture.
        unsafe { (self.functions.set_resolution)(self.raw.as_ptr(), RESOLUTION) };
        Ok(())
    }

    /// Reads the current picture.
    fn read(&self, options: &ReadOptions) -> Result<RecognizedText, ReadError> {
        let monitor = Monitor::create(self.functions).ok_or(ReadError::NoMemory)?;
        let begin = Instant::now();
        monitor.set_deadline(options.deadline);
        // SAFETY: the engine is alive and has a picture, and the monitor outlives the call.
        let code = unsafe { (self.functions.recognize)(self.raw.as_ptr(), monitor.raw.as_ptr()) };
        let in_time = begin.elapsed() < options.deadline;
        // Words that were read before the deadline are valid.
        match self.results() {
            Some(results) => {
                let (lines, all) = results.lines(options.min_confidence);
                Ok(RecognizedText { lines, complete: code == 0 && all })
            }
            None if code == 0 || !in_time => Ok(RecognizedText { lines: Vec::new(), complete: code == 0 }),
            None => Err(ReadError::Refused),
        }
    }

    fn results(&self) -> Option<ResultIterator<'_>> {
        // SAFETY: the engine is alive; it returns null if it has read nothing.
        let raw = unsafe { (self.functions.results)(self.raw.as_ptr()) };
        NonNull::new(raw).map(|raw| ResultIterator { engine: self, raw })
    }

    /// Frees the picture and the results.
    fn clear(&self) {
        // SAFETY: the engine is alive; results borrow it, so none is left.
        unsafe { (self.functions.clear)(self.raw.as_ptr()) };
    }
}

impl Drop for Engine<'_> {
    fn drop(&mut self) {
        // SAFETY: the engine is alive, and only this deletes it.
        unsafe { (self.functions.delete)(self.raw.as_ptr()) };
    }
}

struct Monitor<'a> {
    functions: &'a Functions,
    /// Created by `TessMonitorCreate`, not deleted yet.
    raw: NonNull<RawMonitor>,
}

impl<'a> Monitor<'a> {
    fn create(functions: &'a Functions) -> Option<Self> {
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.monitor_create)() };
        NonNull::new(raw).map(|raw| Self { functions, raw })
    }

    /// Starts the time limit. The limit is at least 1 ms, because 0 means no limit.
    fn set_deadline(&self, deadline: Duration) {
        let milliseconds = c_int::try_from(deadline.as_millis()).unwrap_or(c_int::MAX).max(1);
        // SAFETY: the monitor is alive.
        unsafe { (self.functions.monitor_deadline)(self.raw.as_ptr(), milliseconds) };
    }
}

impl Drop for Monitor<'_> {
    fn drop(&mut self) {
        // SAFETY: the monitor is alive, and only this deletes it.
        unsafe { (self.functions.monitor_delete)(self.raw.as_ptr()) };
    }
}

/// An iterator over the recognized words.
struct ResultIterator<'a> {
    engine: &'a Engine<'a>,
    /// Created by `TessBaseAPIGetIterator`, not deleted yet.
    raw: NonNull<RawResultIterator>,
}

impl ResultIterator<'_> {
    /// The lines, and whether they are complete.
    fn lines(self, min_confidence: f32) -> (Vec<crate::TextLine>, bool) {
        let mut lines = Lines::default();
        for _ in 0..MAX_WORDS {
            if self.is_at_start(level::PARAGRAPH) {
                lines.start_paragraph();
            }
            if self.is_at_start(level::LINE) {
                lines.start_line();
            }
            let confidence = self.confidence();
            if confidence >= min_confidence
                && let Some(text) = self.word()
            {
                lines.add(TextWord { text, confidence, bounds: self.bounds() });
            }
            if !self.next() {
                return (lines.finish(), true);
            }
        }
        (lines.finish(), false)
    }

    fn is_at_start(&self, level: c_int) -> bool {
        let functions = self.engine.functions;
        // SAFETY: the iterator and the results are alive.
        let page = unsafe { (functions.results_page)(self.raw.as_ptr()) };
        // SAFETY: the pointer is the iterator itself as its base class.
        !page.is_null() && unsafe { (functions.page_is_at_start)(page, level) != 0 }
    }

    fn bounds(&self) -> BoundingBox {
        let functions = self.engine.functions;
        let (mut left, mut top, mut right, mut bottom) = (0, 0, 0, 0);
        // SAFETY: the iterator and the results are alive.
        let page = unsafe { (functions.results_page)(self.raw.as_ptr()) };
        if page.is_null() {
            return BoundingBox::default();
        }
        let (l, t, r, b) = (&raw mut left, &raw mut top, &raw mut right, &raw mut bottom);
        // SAFETY: the pointer is the iterator itself as its base class. The four numbers can be written to; they stay
        // unchanged if there is no word.
        let _found = unsafe { (functions.page_bounds)(page, level::WORD, l, t, r, b) };
        let side = |number: c_int| u32::try_from(number).unwrap_or(0);
        BoundingBox { left: side(left), top: side(top), right: side(right), bottom: side(bottom) }
    }

    fn confidence(&self) -> f32 {
        // SAFETY: the iterator is alive, and returns 0 at the end.
        unsafe { (self.engine.functions.results_confidence)(self.raw.as_ptr(), level::WORD) }
    }

    /// The word without white space; `None` if nothing is left.
    fn word(&self) -> Option<String> {
        let functions = self.engine.functions;
        // SAFETY: the iterator is alive, and returns null at the end.
        let text = unsafe { (functions.results_text)(self.raw.as_ptr(), level::WORD) };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, ends with a NUL, and lives until it is deleted below.
        let word = unsafe { CStr::from_ptr(text) }.to_string_lossy().split_whitespace().collect::<String>();
        // SAFETY: Tesseract allocated the text, and it is not used after this.
        unsafe { (functions.delete_text)(text) };
        (!word.is_empty()).then_some(word)
    }

    /// Advances to the next word; `false` if there is none.
    fn next(&self) -> bool {
        // SAFETY: the iterator is alive.
        unsafe { (self.engine.functions.results_next)(self.raw.as_ptr(), level::WORD) != 0 }
    }
}

impl Drop for ResultIterator<'_> {
    fn drop(&mut self) {
        // SAFETY: the iterator is alive, and only this deletes it.
        unsafe { (self.engine.functions.results_delete)(self.raw.as_ptr()) };
    }
}
