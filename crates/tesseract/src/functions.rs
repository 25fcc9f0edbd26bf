//! The functions of Tesseract that are used, as `tesseract/capi.h` declares them.
//!
//! C's enumerations are `int`s here: that is how every ABI that this runs on passes them, and a number that is not
//! among the names must not be undefined behaviour. `BOOL` is an `int` by that header. What is behind may throw, so
//! the functions are declared as ones that may unwind.

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_float, c_int, c_uchar};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::LoadError;

/// The names under which the loader knows the library, of the releases 5 and 4.
#[cfg(not(target_os = "macos"))]
const NAMES: &[&str] = &["libtesseract.so.5", "libtesseract.so.4"];
#[cfg(target_os = "macos")]
const NAMES: &[&str] = &[
    "libtesseract.5.dylib",
    "/opt/homebrew/lib/libtesseract.5.dylib",
    "/usr/local/lib/libtesseract.5.dylib",
    "libtesseract.4.dylib",
];

/// `enum TessOcrEngineMode`: the neural network, which is all that the trained data of most systems hold.
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

/// `TessBaseAPI`: an engine with its trained data, and the picture that it is about to read.
#[repr(C)]
pub(crate) struct RawEngine {
    _opaque: [u8; 0],
}

/// `ETEXT_DESC`: when reading has to stop.
#[repr(C)]
pub(crate) struct RawMonitor {
    _opaque: [u8; 0],
}

/// `TessResultIterator`: a place in what was read.
#[repr(C)]
pub(crate) struct RawResults {
    _opaque: [u8; 0],
}

/// `TessPageIterator`: the same place, as far as it is one on the page.
#[repr(C)]
pub(crate) struct RawPlace {
    _opaque: [u8; 0],
}

/// Declares the table of functions, all of which are in every release since 4.0, and how it is filled.
macro_rules! functions {
    ($($name:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The library with its functions. They can be called as long as this lives.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,)*
            _library: Library,
        }

        impl Functions {
            fn find(library: Library) -> Result<Self, LoadError> {
                $(
                    // SAFETY: the signature is the one that capi.h declares for this name in all releases since 4.0.
                    let found = unsafe { library.get($symbol) };
                    let $name = *found.map_err(|_| LoadError::Incomplete { function: name_of($symbol) })?;
                )*
                Ok(Self { $($name,)* _library: library })
            }
        }
    };
}

functions! {
    version = b"TessVersion\0": fn() -> *const c_char;
    delete_text = b"TessDeleteText\0": fn(*const c_char);
    delete_texts = b"TessDeleteTextArray\0": fn(*mut *mut c_char);
    create = b"TessBaseAPICreate\0": fn() -> *mut RawEngine;
    delete = b"TessBaseAPIDelete\0": fn(*mut RawEngine);
    init = b"TessBaseAPIInit2\0": fn(*mut RawEngine, *const c_char, *const c_char, c_int) -> c_int;
    available_languages = b"TessBaseAPIGetAvailableLanguagesAsVector\0": fn(*const RawEngine) -> *mut *mut c_char;
    loaded_languages = b"TessBaseAPIGetLoadedLanguagesAsVector\0": fn(*const RawEngine) -> *mut *mut c_char;
    set_segmentation = b"TessBaseAPISetPageSegMode\0": fn(*mut RawEngine, c_int);
    set_variable = b"TessBaseAPISetVariable\0": fn(*mut RawEngine, *const c_char, *const c_char) -> c_int;
    set_image = b"TessBaseAPISetImage\0": fn(*mut RawEngine, *const c_uchar, c_int, c_int, c_int, c_int);
    set_resolution = b"TessBaseAPISetSourceResolution\0": fn(*mut RawEngine, c_int);
    recognize = b"TessBaseAPIRecognize\0": fn(*mut RawEngine, *mut RawMonitor) -> c_int;
    clear = b"TessBaseAPIClear\0": fn(*mut RawEngine);
    results = b"TessBaseAPIGetIterator\0": fn(*mut RawEngine) -> *mut RawResults;
    results_delete = b"TessResultIteratorDelete\0": fn(*mut RawResults);
    results_next = b"TessResultIteratorNext\0": fn(*mut RawResults, c_int) -> c_int;
    results_text = b"TessResultIteratorGetUTF8Text\0": fn(*const RawResults, c_int) -> *mut c_char;
    results_confidence = b"TessResultIteratorConfidence\0": fn(*const RawResults, c_int) -> c_float;
    results_place = b"TessResultIteratorGetPageIteratorConst\0": fn(*const RawResults) -> *const RawPlace;
    place_begins = b"TessPageIteratorIsAtBeginningOf\0": fn(*const RawPlace, c_int) -> c_int;
    place_bounds = b"TessPageIteratorBoundingBox\0":
        fn(*const RawPlace, c_int, *mut c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
    monitor_create = b"TessMonitorCreate\0": fn() -> *mut RawMonitor;
    monitor_delete = b"TessMonitorDelete\0": fn(*mut RawMonitor);
    monitor_deadline = b"TessMonitorSetDeadlineMSecs\0": fn(*mut RawMonitor, c_int);
}

impl Functions {
    /// Opens the library and finds everything in it.
    pub(crate) fn load() -> Result<Self, LoadError> {
        Self::load_first(NAMES)
    }

    /// The first library that has one of these names.
    fn load_first(names: &[&str]) -> Result<Self, LoadError> {
        let mut reasons = Vec::new();
        for name in names.iter().copied() {
            // SAFETY: Tesseract and what it is linked with run only the initialisers of C++ objects when loaded. All
            // symbols are resolved now, while files can still be opened, and are seen by nobody else.
            match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) } {
                Ok(library) => return Self::find(library),
                // What the loader says is the source; the error itself only names the call.
                Err(error) => {
                    reasons.push(error.source().map_or_else(|| error.to_string(), ToString::to_string));
                }
            }
        }
        // The first name is that of the newest release, which is the one to install.
        Err(LoadError::NotFound { reason: reasons.into_iter().next().unwrap_or_default() })
    }
}

fn name_of(symbol: &'static [u8]) -> &'static str {
    CStr::from_bytes_with_nul(symbol).ok().and_then(|name| name.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_or_another_is_told() {
        let check = |names: &[&str], expect: &str| {
            let error = Functions::load_first(names).err().map(|error| error.to_string());
            assert!(error.as_deref().is_some_and(|error| error.starts_with(expect)), "{error:?}");
        };
        check(
            &["libno-such-library.so.2", "libno-such-library.so.1"],
            "Tesseract cannot be loaded: libno-such-library.so.2: cannot open",
        );
        check(&["libno-such-library.so.1", "libc.so.6"], "Tesseract lacks the function TessVersion");
        assert!(Functions::load_first(&[&["libno-such-library.so.1"], NAMES].concat()).is_ok());
    }
}
