//! The functions of libheif that are used, as `heif.h` declares them.
//!
//! C's enumerations are `int`s here: that is how every ABI that this runs on passes them, and a number that is not
//! among the names must not be undefined behaviour.

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::LoadError;

/// The names under which the loader knows the library; all releases since 1.0 have this number.
#[cfg(not(target_os = "macos"))]
const NAMES: &[&str] = &["libheif.so.1"];
#[cfg(target_os = "macos")]
const NAMES: &[&str] =
    &["libheif.1.dylib", "/opt/homebrew/lib/libheif.1.dylib", "/usr/local/lib/libheif.1.dylib"];

/// `enum heif_colorspace`.
pub(crate) const COLORSPACE_RGB: c_int = 1;
/// `enum heif_chroma`: 8 bits a channel, channels side by side.
pub(crate) const CHROMA_INTERLEAVED_RGB: c_int = 10;
/// `enum heif_chroma`: the same with alpha.
pub(crate) const CHROMA_INTERLEAVED_RGBA: c_int = 11;
/// `enum heif_channel`.
pub(crate) const CHANNEL_INTERLEAVED: c_int = 10;

/// `enum heif_error_code`.
pub(crate) mod code {
    use super::c_int;

    pub(crate) const OK: c_int = 0;
    pub(crate) const UNSUPPORTED_FILETYPE: c_int = 3;
    pub(crate) const UNSUPPORTED_FEATURE: c_int = 4;
    pub(crate) const MEMORY_ALLOCATION: c_int = 6;
}

/// `enum heif_suberror_code`: libheif's own limits refuse the file. Comes with the code of failed allocations.
pub(crate) const SUBERROR_SECURITY_LIMIT: c_int = 1000;

/// `struct heif_error`, returned by value.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RawError {
    pub(crate) code: c_int,
    pub(crate) subcode: c_int,
    /// Never null, says the header. Belongs to the object that the call was about and dies with it.
    pub(crate) message: *const c_char,
}

/// `struct heif_context`: a file.
#[repr(C)]
pub(crate) struct RawContext {
    _opaque: [u8; 0],
}

/// `struct heif_image_handle`: one of the pictures in a file.
#[repr(C)]
pub(crate) struct RawHandle {
    _opaque: [u8; 0],
}

/// `struct heif_image`: decoded pixels.
#[repr(C)]
pub(crate) struct RawImage {
    _opaque: [u8; 0],
}

/// Declares the table of functions and how it is filled: `required` ones are in every release since 1.12, the
/// `optional` ones came later or may go.
macro_rules! functions {
    (
        required { $($name:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)* }
        optional { $($maybe:ident = $maybe_symbol:literal: fn($($maybe_argument:ty),*) $(-> $maybe_result:ty)?;)* }
    ) => {
        /// What was found in the library. The pointers are valid as long as `_library` is open, which is as long as
        /// this lives.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub(crate) $maybe: Option<unsafe extern "C" fn($($maybe_argument),*) $(-> $maybe_result)?>,)*
            _library: Library,
        }

        impl Functions {
            fn find(library: Library) -> Result<Self, LoadError> {
                $(
                    // SAFETY: the signature is the one that heif.h declares for this name in all releases.
                    let found = unsafe { library.get($symbol) };
                    let $name = *found.map_err(|_| LoadError::Incomplete { function: name_of($symbol) })?;
                )*
                $(
                    // SAFETY: as above, in all releases that have it.
                    let found = unsafe { library.get($maybe_symbol) };
                    let $maybe = found.ok().map(|symbol| *symbol);
                )*
                Ok(Self { $($name,)* $($maybe,)* _library: library })
            }
        }
    };
}

functions! {
    required {
        version_number = b"heif_get_version_number\0": fn() -> u32;
        have_decoder = b"heif_have_decoder_for_format\0": fn(c_int) -> c_int;
        context_alloc = b"heif_context_alloc\0": fn() -> *mut RawContext;
        context_free = b"heif_context_free\0": fn(*mut RawContext);
        context_read = b"heif_context_read_from_memory_without_copy\0":
            fn(*mut RawContext, *const c_void, usize, *const c_void) -> RawError;
        primary_handle = b"heif_context_get_primary_image_handle\0":
            fn(*mut RawContext, *mut *mut RawHandle) -> RawError;
        handle_release = b"heif_image_handle_release\0": fn(*const RawHandle);
        handle_width = b"heif_image_handle_get_ispe_width\0": fn(*const RawHandle) -> c_int;
        handle_height = b"heif_image_handle_get_ispe_height\0": fn(*const RawHandle) -> c_int;
        handle_has_alpha = b"heif_image_handle_has_alpha_channel\0": fn(*const RawHandle) -> c_int;
        decode = b"heif_decode_image\0":
            fn(*const RawHandle, *mut *mut RawImage, c_int, c_int, *const c_void) -> RawError;
        image_release = b"heif_image_release\0": fn(*const RawImage);
        image_width = b"heif_image_get_width\0": fn(*const RawImage, c_int) -> c_int;
        image_height = b"heif_image_get_height\0": fn(*const RawImage, c_int) -> c_int;
        image_bits = b"heif_image_get_bits_per_pixel\0": fn(*const RawImage, c_int) -> c_int;
        image_plane = b"heif_image_get_plane_readonly\0": fn(*const RawImage, c_int, *mut c_int) -> *const u8;
        image_is_premultiplied = b"heif_image_is_premultiplied_alpha\0": fn(*mut RawImage) -> c_int;
    }
    optional {
        // Since 1.13. Loads the decoders that are plugins, which older releases do not have.
        init = b"heif_init\0": fn(*mut c_void) -> RawError;
        // Since 1.13.
        set_max_threads = b"heif_context_set_max_decoding_threads\0": fn(*mut RawContext, c_int);
        // Since 1.4, deprecated in 1.19.
        set_max_side = b"heif_context_set_maximum_image_size_limit\0": fn(*mut RawContext, c_int);
    }
}

impl Functions {
    /// Opens the library and finds everything in it.
    pub(crate) fn load() -> Result<Self, LoadError> {
        Self::load_first(NAMES)
    }

    /// The first library that has one of these names.
    fn load_first(names: &[&str]) -> Result<Self, LoadError> {
        let mut reason = String::new();
        for name in names.iter().copied() {
            // SAFETY: libheif and what it is linked with run only the initialisers of C++ objects when loaded. All
            // symbols are resolved now, while files can still be opened, and are seen by nobody else.
            match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) } {
                Ok(library) => return Self::find(library),
                // What the loader says is the source; the error itself only names the call.
                Err(error) => reason = error.source().map_or_else(|| error.to_string(), ToString::to_string),
            }
        }
        Err(LoadError::NotFound { reason })
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
        check(&["libno-such-library.so.1"], "libheif cannot be loaded: libno-such-library.so.1: cannot open");
        check(
            &["libno-such-library.so.1", "libc.so.6"],
            "libheif lacks the function heif_get_version_number",
        );
        assert!(Functions::load_first(&["libno-such-library.so.1", NAMES[0]]).is_ok());
    }
}
