//! The functions of libheif that this crate calls, as `heif.h` declares them.
//!
//! C enumerations are `c_int` here: every supported ABI passes them as `int`, and a value outside the enumeration must
//! not be undefined behaviour.

use std::ffi::{c_char, c_int, c_void};

use system_library::SystemLibrary;

use crate::LoadError;

/// The library's name in messages.
pub(crate) const NAME: &str = "libheif";

/// The file names that the loader tries. The major version has been 1 since release 1.0.
#[cfg(not(target_os = "macos"))]
const FILES: &[&str] = &["libheif.so.1"];
#[cfg(target_os = "macos")]
const FILES: &[&str] =
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

/// `enum heif_suberror_code`: the file exceeds a limit of libheif. libheif combines this suberror with the error code
/// of a failed allocation.
pub(crate) const SUBERROR_SECURITY_LIMIT: c_int = 1000;

/// `struct heif_error`, returned by value.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RawError {
    pub(crate) code: c_int,
    pub(crate) subcode: c_int,
    /// Never null, according to the header. Owned by the object that the call was made on.
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

system_library::functions! {
    extern "C"
    required {
        version_number = c"heif_get_version_number": fn() -> u32;
        have_decoder = c"heif_have_decoder_for_format": fn(c_int) -> c_int;
        context_alloc = c"heif_context_alloc": fn() -> *mut RawContext;
        context_free = c"heif_context_free": fn(*mut RawContext);
        context_read = c"heif_context_read_from_memory_without_copy":
            fn(*mut RawContext, *const c_void, usize, *const c_void) -> RawError;
        primary_handle = c"heif_context_get_primary_image_handle":
            fn(*mut RawContext, *mut *mut RawHandle) -> RawError;
        handle_release = c"heif_image_handle_release": fn(*const RawHandle);
        handle_width = c"heif_image_handle_get_ispe_width": fn(*const RawHandle) -> c_int;
        handle_height = c"heif_image_handle_get_ispe_height": fn(*const RawHandle) -> c_int;
        handle_has_alpha = c"heif_image_handle_has_alpha_channel": fn(*const RawHandle) -> c_int;
        decode = c"heif_decode_image":
            fn(*const RawHandle, *mut *mut RawImage, c_int, c_int, *const c_void) -> RawError;
        image_release = c"heif_image_release": fn(*const RawImage);
        image_width = c"heif_image_get_width": fn(*const RawImage, c_int) -> c_int;
        image_height = c"heif_image_get_height": fn(*const RawImage, c_int) -> c_int;
        image_bits = c"heif_image_get_bits_per_pixel": fn(*const RawImage, c_int) -> c_int;
        image_plane = c"heif_image_get_plane_readonly": fn(*const RawImage, c_int, *mut c_int) -> *const u8;
        image_is_premultiplied = c"heif_image_is_premultiplied_alpha": fn(*mut RawImage) -> c_int;
    }
    optional {
        // Since 1.13: loads decoder plugins, which older releases do not have.
        init = c"heif_init": fn(*mut c_void) -> RawError;
        // Since 1.13
        set_max_threads = c"heif_context_set_max_decoding_threads": fn(*mut RawContext, c_int);
        // Since 1.4, deprecated in 1.19
        set_max_side = c"heif_context_set_maximum_image_size_limit": fn(*mut RawContext, c_int);
    }
}

impl Functions {
    pub(crate) fn load() -> Result<Self, LoadError> {
        // SAFETY: libheif and its dependencies run only initialisers of C++ objects when loaded.
        Self::find(unsafe { SystemLibrary::open(NAME, FILES) }?)
    }
}
