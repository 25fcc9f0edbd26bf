//! The functions of Tesseract that this crate calls, as `tesseract/capi.h` declares them. Every release since 4.0 has all of them.
//!
//! C enumerations are `c_int` here: every supported ABI passes them as `int`, and a value outside the enumeration must
//! not be undefined behaviour. `BOOL` is an `int` in that header. C++ code may throw, so the functions are declared as
//! unwinding.

use std::ffi::{c_char, c_float, c_int, c_uchar};

use system_library::SystemLibrary;

use crate::LoadError;

/// The library's name in messages.
pub(crate) const NAME: &str = "Tesseract";

/// The file names that the loader tries: releases 5 and 4.
#[cfg(not(target_os = "macos"))]
const FILES: &[&str] = &["libtesseract.so.5", "libtesseract.so.4"];
#[cfg(target_os = "macos")]
const FILES: &[&str] = &[
    "libtesseract.5.dylib",
    "/opt/homebrew/lib/libtesseract.5.dylib",
    "/usr/local/lib/libtesseract.5.dylib",
    "libtesseract.4.dylib",
];

/// `enum TessOcrEngineMode`: the neural network, the only engine that most trained data support.
pub(crate) const ENGINE_LSTM_ONLY: c_int = 1;

/// `enum TessPageSegMode`.
pub(crate) mod segmentation {
    use super::c_int;

    pub(crate) const AUTO: c_int = 3;
    pub(crate) const SINGLE_BLOCK: c_int = 6;
    pub(crate) const SPARSE_TEXT: c_int = 11;
}

/// `enum TessPageIteratorLevel`.
pub(crate) mod level {
    use super::c_int;

    pub(crate) const PARAGRAPH: c_int = 1;
    pub(crate) const LINE: c_int = 2;
    pub(crate) const WORD: c_int = 3;
}

/// `TessBaseAPI`: an engine with its trained data and its current picture.
#[repr(C)]
pub(crate) struct RawEngine {
    _opaque: [u8; 0],
}

/// `ETEXT_DESC`: the deadline of a recognition.
#[repr(C)]
pub(crate) struct RawMonitor {
    _opaque: [u8; 0],
}

/// `TessResultIterator`: an iterator over the recognized text.
#[repr(C)]
pub(crate) struct RawResultIterator {
    _opaque: [u8; 0],
}

/// `TessPageIterator`: the base class of `TessResultIterator`, with positions on the page.
#[repr(C)]
pub(crate) struct RawPageIterator {
    _opaque: [u8; 0],
}

system_library::functions! {
    extern "C-unwind"
    required {
        version = c"TessVersion": fn() -> *const c_char;
        delete_text = c"TessDeleteText": fn(*const c_char);
        delete_texts = c"TessDeleteTextArray": fn(*mut *mut c_char);
        create = c"TessBaseAPICreate": fn() -> *mut RawEngine;
        delete = c"TessBaseAPIDelete": fn(*mut RawEngine);
        init = c"TessBaseAPIInit2": fn(*mut RawEngine, *const c_char, *const c_char, c_int) -> c_int;
        available_languages = c"TessBaseAPIGetAvailableLanguagesAsVector": fn(*const RawEngine) -> *mut *mut c_char;
        loaded_languages = c"TessBaseAPIGetLoadedLanguagesAsVector": fn(*const RawEngine) -> *mut *mut c_char;
        set_segmentation = c"TessBaseAPISetPageSegMode": fn(*mut RawEngine, c_int);
        set_variable = c"TessBaseAPISetVariable": fn(*mut RawEngine, *const c_char, *const c_char) -> c_int;
        set_image = c"TessBaseAPISetImage": fn(*mut RawEngine, *const c_uchar, c_int, c_int, c_int, c_int);
        set_resolution = c"TessBaseAPISetSourceResolution": fn(*mut RawEngine, c_int);
        recognize = c"TessBaseAPIRecognize": fn(*mut RawEngine, *mut RawMonitor) -> c_int;
        clear = c"TessBaseAPIClear": fn(*mut RawEngine);
        results = c"TessBaseAPIGetIterator": fn(*mut RawEngine) -> *mut RawResultIterator;
        results_delete = c"TessResultIteratorDelete": fn(*mut RawResultIterator);
        results_next = c"TessResultIteratorNext": fn(*mut RawResultIterator, c_int) -> c_int;
        results_text = c"TessResultIteratorGetUTF8Text": fn(*const RawResultIterator, c_int) -> *mut c_char;
        results_confidence = c"TessResultIteratorConfidence": fn(*const RawResultIterator, c_int) -> c_float;
        results_page = c"TessResultIteratorGetPageIteratorConst":
            fn(*const RawResultIterator) -> *const RawPageIterator;
        page_is_at_start = c"TessPageIteratorIsAtBeginningOf": fn(*const RawPageIterator, c_int) -> c_int;
        page_bounds = c"TessPageIteratorBoundingBox":
            fn(*const RawPageIterator, c_int, *mut c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
        monitor_create = c"TessMonitorCreate": fn() -> *mut RawMonitor;
        monitor_delete = c"TessMonitorDelete": fn(*mut RawMonitor);
        monitor_deadline = c"TessMonitorSetDeadlineMSecs": fn(*mut RawMonitor, c_int);
    }
    optional {}
}

impl Functions {
    pub(crate) fn load() -> Result<Self, LoadError> {
        // SAFETY: Tesseract and its dependencies run only initialisers of C++ objects when loaded.
        Self::find(unsafe { SystemLibrary::open(NAME, FILES) }?)
    }
}
