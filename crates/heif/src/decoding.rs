//! Calls into libheif.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::functions::{
    CHANNEL_INTERLEAVED, CHROMA_INTERLEAVED_RGB, CHROMA_INTERLEAVED_RGBA, COLORSPACE_RGB, Functions,
    RawContext, RawError, RawHandle, RawImage, SUBERROR_SECURITY_LIMIT, code,
};
use crate::{DecodeOptions, DecodedImage, Error, PixelFormat, Version};

/// Maximum length of a libheif message in an error, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// From this release on, libheif limits the area to the square of the maximum side. Older releases limit each side.
const LIMITS_AREA: Version = Version { major: 1, minor: 19, patch: 0 };

pub(crate) fn version_number(functions: &Functions) -> u32 {
    // SAFETY: takes nothing and reads a constant.
    unsafe { (functions.version_number)() }
}

/// Loads decoder plugins. An error is ignored because it does not affect the other plugins; [`have_decoder`] says what was
/// loaded.
pub(crate) fn init(functions: &Functions) {
    if let Some(init) = functions.init {
        // SAFETY: the header allows null parameters, and any number of calls.
        let _error = unsafe { init(ptr::null_mut()) };
    }
}

pub(crate) fn have_decoder(functions: &Functions, format: c_int) -> bool {
    // SAFETY: takes any number; unknown ones return 0.
    unsafe { (functions.have_decoder)(format) != 0 }
}

pub(crate) fn decode(
    functions: &Functions,
    version: Version,
    bytes: &[u8],
    options: &DecodeOptions,
) -> Result<DecodedImage, Error> {
    let context = Context::alloc(functions)?;
    context.limit(version, options);
    let picture = context.read(bytes)?.primary()?;
    let (width, height) = picture.stored_size();
    check_size(width, height, options)?;
    let format = if picture.has_alpha() { PixelFormat::Rgba } else { PixelFormat::Rgb };
    picture.decode(format)?.copy(format, options)
}

/// Converts libheif's error.
fn check(error: &RawError) -> Result<(), Error> {
    let Some(message) = message(error) else { return Ok(()) };
    Err(match (error.code, error.subcode) {
        (_, SUBERROR_SECURITY_LIMIT) => Error::TooManyPixels,
        (code::MEMORY_ALLOCATION, _) => Error::NoMemory,
        (code::UNSUPPORTED_FEATURE | code::UNSUPPORTED_FILETYPE, _) => Error::Unsupported(message),
        _ => Error::Damaged(message),
    })
}

/// The message of an error in one line; `None` if the call succeeded. Must be called while the object of the failed call is
/// alive.
fn message(error: &RawError) -> Option<String> {
    if error.code == code::OK {
        return None;
    }
    if error.message.is_null() {
        return Some(format!("error {}", error.code));
    }
    // SAFETY: not null; libheif ends its messages with a NUL and keeps them as long as the object lives.
    let text = unsafe { CStr::from_ptr(error.message) }.to_string_lossy();
    let words = text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty());
    Some(words.collect::<Vec<_>>().join(" ").chars().take(MAX_MESSAGE_CHARS).collect())
}

/// Width and height of a picture, if they are positive and within the limit.
fn check_size(width: c_int, height: c_int, options: &DecodeOptions) -> Result<(u32, u32), Error> {
    let (Ok(width @ 1..), Ok(height @ 1..)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(Error::Damaged("the picture has no width or no height".into()));
    };
    if u64::from(width) * u64::from(height) > options.max_pixels {
        return Err(Error::TooManyPixels);
    }
    Ok((width, height))
}

struct Context<'a> {
    functions: &'a Functions,
    /// Created by `heif_context_alloc`, not freed yet.
    raw: NonNull<RawContext>,
}

impl<'a> Context<'a> {
    fn alloc(functions: &'a Functions) -> Result<Self, Error> {
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.context_alloc)() };
        NonNull::new(raw).map(|raw| Self { functions, raw }).ok_or(Error::NoMemory)
    }

    /// Sets the limits that this release supports.
    fn limit(&self, version: Version, options: &DecodeOptions) {
        if let Some(set_max_threads) = self.functions.set_max_threads {
            // SAFETY: the context is alive; 0 means no additional threads.
            unsafe { set_max_threads(self.raw.as_ptr(), 0) };
        }
        // Older releases limit each side, which would refuse panoramas.
        if let (Some(set_max_side), true) = (self.functions.set_max_side, version >= LIMITS_AREA) {
            let side = options.max_pixels.isqrt().saturating_add(1);
            let side = c_int::try_from(side).unwrap_or(c_int::MAX);
            // SAFETY: the context is alive, and any positive number is a limit.
            unsafe { set_max_side(self.raw.as_ptr(), side) };
        }
    }

    fn read(self, bytes: &'a [u8]) -> Result<File<'a>, Error> {
        // SAFETY: the context is alive; reading without a copy needs the bytes to outlive it, which the lifetime of
        // `File` ensures; null options are allowed.
        let error = unsafe {
            (self.functions.context_read)(self.raw.as_ptr(), bytes.as_ptr().cast(), bytes.len(), ptr::null())
        };
        check(&error)?;
        Ok(File { context: self, _bytes: PhantomData })
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is alive, and only this frees it. Handles and images hold their own references.
        unsafe { (self.functions.context_free)(self.raw.as_ptr()) };
    }
}

/// A file whose boxes have been read.
struct File<'a> {
    context: Context<'a>,
    /// The context contains pointers into these bytes.
    _bytes: PhantomData<&'a [u8]>,
}

impl<'a> File<'a> {
    fn primary(self) -> Result<PictureHandle<'a>, Error> {
        let functions = self.context.functions;
        let mut raw = ptr::null_mut();
        // SAFETY: the context is alive, and `raw` can be written to.
        let error = unsafe { (functions.primary_handle)(self.context.raw.as_ptr(), &raw mut raw) };
        check(&error)?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::Damaged("there is no picture".into()))?;
        Ok(PictureHandle { functions, raw, _file: self })
    }
}

/// A picture before decoding.
struct PictureHandle<'a> {
    functions: &'a Functions,
    /// Created by `heif_context_get_primary_image_handle`, not released yet.
    raw: NonNull<RawHandle>,
    /// The file is freed after the handle, because the file owns the messages of the handle's errors.
    _file: File<'a>,
}

impl<'a> PictureHandle<'a> {
    /// The size before cropping and rotation. The size that libheif predicts after them is not reliable: a crop may be
    /// larger than the picture.
    fn stored_size(&self) -> (c_int, c_int) {
        // SAFETY: the handle is alive.
        let width = unsafe { (self.functions.handle_width)(self.raw.as_ptr()) };
        // SAFETY: the handle is alive.
        let height = unsafe { (self.functions.handle_height)(self.raw.as_ptr()) };
        (width, height)
    }

    fn has_alpha(&self) -> bool {
        // SAFETY: the handle is alive.
        unsafe { (self.functions.handle_has_alpha)(self.raw.as_ptr()) != 0 }
    }

    fn decode(self, format: PixelFormat) -> Result<LibheifImage<'a>, Error> {
        let chroma = match format {
            PixelFormat::Rgb => CHROMA_INTERLEAVED_RGB,
            PixelFormat::Rgba => CHROMA_INTERLEAVED_RGBA,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is alive, and `raw` can be written to. Null options are allowed: libheif then transforms the picture
        // as the file says, and is lenient. The layout of an options struct would depend on the release.
        let error = unsafe {
            (self.functions.decode)(self.raw.as_ptr(), &raw mut raw, COLORSPACE_RGB, chroma, ptr::null())
        };
        check(&error)?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::Damaged("there are no pixels".into()))?;
        Ok(LibheifImage { functions: self.functions, raw, _picture: self })
    }
}

impl Drop for PictureHandle<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is alive, and only this releases it.
        unsafe { (self.functions.handle_release)(self.raw.as_ptr()) };
    }
}

/// Decoded pixels owned by libheif.
struct LibheifImage<'a> {
    functions: &'a Functions,
    /// Created by `heif_decode_image`, not released yet.
    raw: NonNull<RawImage>,
    _picture: PictureHandle<'a>,
}

impl LibheifImage<'_> {
    /// Copies the pixels without the gaps between rows.
    fn copy(&self, format: PixelFormat, options: &DecodeOptions) -> Result<DecodedImage, Error> {
        let unexpected = || Error::Damaged("the pixels are not in the requested format".into());
        // SAFETY: the image is alive.
        let width = unsafe { (self.functions.image_width)(self.raw.as_ptr(), CHANNEL_INTERLEAVED) };
        // SAFETY: the image is alive.
        let height = unsafe { (self.functions.image_height)(self.raw.as_ptr(), CHANNEL_INTERLEAVED) };
        let (width, height) = check_size(width, height, options)?;
        // SAFETY: the image is alive.
        let bits = unsafe { (self.functions.image_bits)(self.raw.as_ptr(), CHANNEL_INTERLEAVED) };
        if usize::try_from(bits) != Ok(format.channels() * 8) {
            return Err(unexpected());
        }
        let row = usize::try_from(width).ok().and_then(|width| width.checked_mul(format.channels()));
        let rows = usize::try_from(height).ok();
        let (row, rows) = row.zip(rows).ok_or(Error::NoMemory)?;

        let mut stride: c_int = 0;
        // SAFETY: the image is alive, and `stride` can be written to.
        let plane =
            unsafe { (self.functions.image_plane)(self.raw.as_ptr(), CHANNEL_INTERLEAVED, &raw mut stride) };
        let stride = usize::try_from(stride).ok().filter(|stride| *stride >= row).ok_or_else(unexpected)?;
        // The last row may have no padding.
        let length = stride.checked_mul(rows - 1).and_then(|above| above.checked_add(row));
        let length = length.filter(|length| isize::try_from(*length).is_ok() && !plane.is_null());
        let length = length.ok_or_else(unexpected)?;
        // SAFETY: not null; libheif allocates `stride` bytes for each row, `length` leaves out the padding of the last
        // row, and nothing writes to these bytes while the image is alive.
        let plane = unsafe { std::slice::from_raw_parts(plane, length) };

        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(row.checked_mul(rows).ok_or(Error::NoMemory)?)
            .map_err(|_| Error::NoMemory)?;
        for line in plane.chunks(stride) {
            bytes.extend_from_slice(line.get(..row).ok_or_else(unexpected)?);
        }
        if format == PixelFormat::Rgba && self.is_premultiplied() {
            divide_by_alpha(&mut bytes);
        }
        Ok(DecodedImage { width, height, format, bytes })
    }

    fn is_premultiplied(&self) -> bool {
        // SAFETY: the image is alive; the function only reads it, although the header declares a mutable pointer.
        unsafe { (self.functions.image_is_premultiplied)(self.raw.as_ptr()) != 0 }
    }
}

impl Drop for LibheifImage<'_> {
    fn drop(&mut self) {
        // SAFETY: the image is alive, and only this releases it.
        unsafe { (self.functions.image_release)(self.raw.as_ptr()) };
    }
}

/// Converts premultiplied colours to straight ones.
fn divide_by_alpha(bytes: &mut [u8]) {
    let (pixels, _) = bytes.as_chunks_mut::<4>();
    for [r, g, b, alpha] in pixels {
        let alpha = u16::from(*alpha);
        for colour in [r, g, b] {
            let straight = (u16::from(*colour) * 255 + alpha / 2).checked_div(alpha).unwrap_or(0);
            *colour = u8::try_from(straight).unwrap_or(u8::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn premultiplied_colours_become_straight() {
        let mut pixels = [100, 50, 0, 255, 100, 50, 0, 128, 100, 50, 0, 100, 9, 9, 9, 0, 9, 9, 9, 1];
        divide_by_alpha(&mut pixels);
        assert_eq!(
            pixels,
            [100, 50, 0, 255, 199, 100, 0, 128, 255, 128, 0, 100, 0, 0, 0, 0, 255, 255, 255, 1]
        );
    }

    #[test]
    fn sizes_are_checked() {
        let check = |width, height, expect| {
            assert_eq!(check_size(width, height, &DecodeOptions { max_pixels: 200 }), expect);
        };
        check(20, 10, Ok((20, 10)));
        check(201, 1, Err(Error::TooManyPixels));
        check(c_int::MAX, c_int::MAX, Err(Error::TooManyPixels));
        for (width, height) in [(0, 1), (1, 0), (-1, 1), (c_int::MIN, c_int::MIN)] {
            check(width, height, Err(Error::Damaged("the picture has no width or no height".into())));
        }
    }

    #[test]
    fn error_messages_are_one_line() {
        let message = c"Invalid input:\n  No\x07 'meta' box";
        let error = |code, subcode| RawError { code, subcode, message: message.as_ptr() };
        let expect = "Invalid input: No 'meta' box".to_owned();
        assert_eq!(check(&error(0, 0)), Ok(()));
        assert_eq!(check(&error(2, 0)), Err(Error::Damaged(expect.clone())));
        assert_eq!(check(&error(4, 3000)), Err(Error::Unsupported(expect)));
        assert_eq!(check(&error(6, 0)), Err(Error::NoMemory));
        assert_eq!(check(&error(6, 1000)), Err(Error::TooManyPixels));
        let error = RawError { code: 7, subcode: 0, message: ptr::null() };
        assert_eq!(check(&error), Err(Error::Damaged("error 7".into())));
    }
}
