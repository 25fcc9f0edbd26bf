//! The calls into Tesseract.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use crate::functions::{ENGINE_LSTM_ONLY, Functions, RawEngine, RawMonitor, RawResults, level, segmentation};
use crate::text::Lines;
use crate::{
    BoundingBox, GrayImage, PageLayout, ReadError, ReadOptions, ReaderError, RecognizedText, TextWord,
};

/// The longest side of a picture: Tesseract's coordinates have 16 bits.
const MAX_SIDE: u32 = 32_767;
/// As many words are looked at as no page of a book has.
const MAX_WORDS: usize = 20_000;
/// As many names of a list are looked at.
const MAX_NAMES: usize = 1000;
/// Pixels per inch that Tesseract is told: of it only sizes follow that it guesses from the letters in any case.
const RESOLUTION: c_int = 300;

pub(crate) fn version(functions: &Functions) -> String {
    // SAFETY: takes nothing and gives a constant.
    let text = unsafe { (functions.version)() };
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, ends with a NUL, and lives as long as the library.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The names of all trained data in the folder that Tesseract looks into.
pub(crate) fn available_languages(functions: &Functions) -> Vec<String> {
    let Some(engine) = Engine::create(functions) else { return Vec::new() };
    // Which folder it is, Tesseract finds out as it loads a language. None is called so, and that is not worth a word.
    engine.set_variable(c"debug_file", c"/dev/null");
    let _code = engine.init(c"none");
    engine.set_variable(c"debug_file", c"");
    engine.available_languages()
}

/// Trained data of some languages, ready to read pictures, one at a time.
pub struct TextReader<'a> {
    engine: Engine<'a>,
    languages: Vec<String>,
}

impl<'a> TextReader<'a> {
    /// The languages are available, so their names are plain.
    pub(crate) fn new(functions: &'a Functions, languages: &[&str]) -> Result<Self, ReaderError> {
        let joined = languages.join("+");
        let refused = || ReaderError::Refused { languages: joined.clone() };
        let engine = Engine::create(functions).ok_or(ReaderError::NoMemory)?;
        let names = CString::new(joined.as_str()).map_err(|_| refused())?;
        if engine.init(&names) != 0 {
            return Err(refused());
        }
        // Tesseract goes on without those that it cannot load.
        let loaded = engine.loaded_languages();
        if !languages.iter().all(|language| loaded.iter().any(|name| name == language)) {
            return Err(refused());
        }
        Ok(Self { engine, languages: languages.iter().map(ToString::to_string).collect() })
    }

    /// The languages that it reads, in the order in which they were asked for.
    pub fn languages(&self) -> &[String] {
        &self.languages
    }

    /// Sets a parameter of Tesseract by its name. `false`: this release has no such parameter.
    pub fn set(&mut self, name: &CStr, value: &CStr) -> bool {
        self.engine.set_variable(name, value)
    }

    /// Reads a picture that stands upright.
    ///
    /// # Errors
    /// Any [`ReadError`].
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
        formatter.debug_struct("Reader").field("languages", &self.languages).finish_non_exhaustive()
    }
}

struct Engine<'a> {
    functions: &'a Functions,
    /// Made by `TessBaseAPICreate` and not deleted yet.
    raw: NonNull<RawEngine>,
}

impl<'a> Engine<'a> {
    fn create(functions: &'a Functions) -> Option<Self> {
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.create)() };
        NonNull::new(raw).map(|raw| Self { functions, raw })
    }

    /// Loads trained data; 0 if it succeeds.
    fn init(&self, languages: &CStr) -> c_int {
        // SAFETY: the engine is alive, a null folder stands for the default one, and the text outlives the call.
        unsafe { (self.functions.init)(self.raw.as_ptr(), ptr::null(), languages.as_ptr(), ENGINE_LSTM_ONLY) }
    }

    fn available_languages(&self) -> Vec<String> {
        // SAFETY: the engine is alive, and one without any language answers with an empty list.
        let names = unsafe { (self.functions.available_languages)(self.raw.as_ptr()) };
        self.take_names(names)
    }

    fn loaded_languages(&self) -> Vec<String> {
        // SAFETY: the engine is alive, and one without any language answers with an empty list.
        let names = unsafe { (self.functions.loaded_languages)(self.raw.as_ptr()) };
        self.take_names(names)
    }

    /// Copies a list that Tesseract made, and frees it.
    fn take_names(&self, names: *mut *mut c_char) -> Vec<String> {
        let mut taken = Vec::new();
        if names.is_null() {
            return taken;
        }
        for place in 0..MAX_NAMES {
            // SAFETY: the list ends with a null, up to which every place can be read; this one follows one that is none.
            let at = unsafe { names.add(place) };
            // SAFETY: as above.
            let name = unsafe { *at };
            if name.is_null() {
                break;
            }
            // SAFETY: not null, ends with a NUL, and lives until the list is deleted below.
            taken.push(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
        }
        // SAFETY: Tesseract made the list, and nobody looks at it any more.
        unsafe { (self.functions.delete_texts)(names) };
        taken
    }

    fn set_layout(&self, layout: PageLayout) {
        let mode = match layout {
            PageLayout::Auto => segmentation::AUTO,
            PageLayout::Block => segmentation::SINGLE_BLOCK,
            PageLayout::Sparse => segmentation::SPARSE_TEXT,
        };
        // SAFETY: the engine is alive, and the number is one of the enumeration.
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
        // SAFETY: the engine is alive, and the pixels are as many rows of as many bytes as is said, one for each pixel.
        // They are copied.
        unsafe { (self.functions.set_image)(self.raw.as_ptr(), pixels.as_ptr(), width, height, 1, width) };
        // SAFETY: the engine is alive and has a picture.
        unsafe { (self.functions.set_resolution)(self.raw.as_ptr(), RESOLUTION) };
        Ok(())
    }

    /// Reads the picture that was set.
    fn read(&self, options: &ReadOptions) -> Result<RecognizedText, ReadError> {
        let monitor = Monitor::create(self.functions).ok_or(ReadError::NoMemory)?;
        let begin = Instant::now();
        monitor.set_deadline(options.deadline);
        // SAFETY: the engine is alive and has a picture, and so is the monitor, for longer than the call.
        let code = unsafe { (self.functions.recognize)(self.raw.as_ptr(), monitor.raw.as_ptr()) };
        let in_time = begin.elapsed() < options.deadline;
        // What was read until the deadline is as good as the rest.
        match self.results() {
            Some(results) => {
                let (lines, all) = results.lines(options.min_confidence);
                Ok(RecognizedText { lines, complete: code == 0 && all })
            }
            None if code == 0 || !in_time => Ok(RecognizedText { lines: Vec::new(), complete: code == 0 }),
            None => Err(ReadError::Refused),
        }
    }

    fn results(&self) -> Option<Results<'_>> {
        // SAFETY: the engine is alive, and one that has read nothing answers with null.
        let raw = unsafe { (self.functions.results)(self.raw.as_ptr()) };
        NonNull::new(raw).map(|raw| Results { engine: self, raw })
    }

    /// Forgets the picture and what was read.
    fn clear(&self) {
        // SAFETY: the engine is alive, and the results, which point into it, borrow it and are gone.
        unsafe { (self.functions.clear)(self.raw.as_ptr()) };
    }
}

impl Drop for Engine<'_> {
    fn drop(&mut self) {
        // SAFETY: the engine is alive, and this is the only place that deletes it.
        unsafe { (self.functions.delete)(self.raw.as_ptr()) };
    }
}

struct Monitor<'a> {
    functions: &'a Functions,
    /// Made by `TessMonitorCreate` and not deleted yet.
    raw: NonNull<RawMonitor>,
}

impl<'a> Monitor<'a> {
    fn create(functions: &'a Functions) -> Option<Self> {
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.monitor_create)() };
        NonNull::new(raw).map(|raw| Self { functions, raw })
    }

    /// The time runs from now on. 0 would stand for no deadline.
    fn set_deadline(&self, deadline: Duration) {
        let milliseconds = c_int::try_from(deadline.as_millis()).unwrap_or(c_int::MAX).max(1);
        // SAFETY: the monitor is alive.
        unsafe { (self.functions.monitor_deadline)(self.raw.as_ptr(), milliseconds) };
    }
}

impl Drop for Monitor<'_> {
    fn drop(&mut self) {
        // SAFETY: the monitor is alive, and this is the only place that deletes it.
        unsafe { (self.functions.monitor_delete)(self.raw.as_ptr()) };
    }
}

/// A walk over what was read.
struct Results<'a> {
    engine: &'a Engine<'a>,
    /// Made by `TessBaseAPIGetIterator` and not deleted yet.
    raw: NonNull<RawResults>,
}

impl Results<'_> {
    /// The lines, and whether they are all.
    fn lines(self, min_confidence: f32) -> (Vec<crate::TextLine>, bool) {
        let mut lines = Lines::default();
        for _ in 0..MAX_WORDS {
            if self.begins(level::PARAGRAPH) {
                lines.begin_paragraph();
            }
            if self.begins(level::LINE) {
                lines.begin_line();
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

    fn begins(&self, level: c_int) -> bool {
        let functions = self.engine.functions;
        // SAFETY: the walk is alive, and so is what it read.
        let place = unsafe { (functions.results_place)(self.raw.as_ptr()) };
        // SAFETY: the place is the walk itself, seen as its base class, and alive with it.
        !place.is_null() && unsafe { (functions.place_begins)(place, level) != 0 }
    }

    fn bounds(&self) -> BoundingBox {
        let functions = self.engine.functions;
        let (mut left, mut top, mut right, mut bottom) = (0, 0, 0, 0);
        // SAFETY: the walk is alive, and so is what it read.
        let place = unsafe { (functions.results_place)(self.raw.as_ptr()) };
        if place.is_null() {
            return BoundingBox::default();
        }
        let (l, t, r, b) = (&raw mut left, &raw mut top, &raw mut right, &raw mut bottom);
        // SAFETY: the place is the walk itself, seen as its base class, and alive with it; the four numbers can be
        // written to, and keep what they were where there is no word.
        let _found = unsafe { (functions.place_bounds)(place, level::WORD, l, t, r, b) };
        let side = |number: c_int| u32::try_from(number).unwrap_or(0);
        BoundingBox { left: side(left), top: side(top), right: side(right), bottom: side(bottom) }
    }

    fn confidence(&self) -> f32 {
        // SAFETY: the walk is alive, and one that is at its end answers with 0.
        unsafe { (self.engine.functions.results_confidence)(self.raw.as_ptr(), level::WORD) }
    }

    /// The word without white space; `None` if there is nothing else.
    fn word(&self) -> Option<String> {
        let functions = self.engine.functions;
        // SAFETY: the walk is alive, and one that is at its end answers with null.
        let text = unsafe { (functions.results_text)(self.raw.as_ptr(), level::WORD) };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, ends with a NUL, and lives until it is deleted below.
        let word = unsafe { CStr::from_ptr(text) }.to_string_lossy().split_whitespace().collect::<String>();
        // SAFETY: Tesseract made the text, and nobody looks at it any more.
        unsafe { (functions.delete_text)(text) };
        (!word.is_empty()).then_some(word)
    }

    /// Goes on to the next word; `false` if there is none.
    fn next(&self) -> bool {
        // SAFETY: the walk is alive.
        unsafe { (self.engine.functions.results_next)(self.raw.as_ptr(), level::WORD) != 0 }
    }
}

impl Drop for Results<'_> {
    fn drop(&mut self) {
        // SAFETY: the walk is alive, and this is the only place that deletes it.
        unsafe { (self.engine.functions.results_delete)(self.raw.as_ptr()) };
    }
}
