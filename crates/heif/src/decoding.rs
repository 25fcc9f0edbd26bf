//! The calls into libheif.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::functions::{
    CHANNEL_INTERLEAVED, CHROMA_INTERLEAVED_RGB, CHROMA_INTERLEAVED_RGBA, COLORSPACE_RGB, Functions,
    RawContext, RawError, RawHandle, RawImage, SUBERROR_SECURITY_LIMIT, code,
};
use crate::{DecodeOptions, DecodedImage, Error, PixelFormat, Version};

/// As much of libheif's words as is passed on, in characters.
const MAX_WORDS: usize = 200;

/// The release since which the limit on a side is one on the area, of a square of that side.
const LIMITS_AREA: Version = Version { major: 1, minor: 19, patch: 0 };

pub(crate) fn version_number(functions: &Functions) -> u32 {
    // SAFETY: takes nothing and reads a constant.
    unsafe { (functions.version_number)() }
}

/// Loads the decoders that are plugins. One that cannot be loaded leaves the others to be used; what there is in the
/// end is asked by [`have_decoder`].
pub(crate) fn init(functions: &Functions) {
    if let Some(init) = functions.init {
        // SAFETY: the header allows null parameters, and any number of calls.
        let _error = unsafe { init(ptr::null_mut()) };
    }
}

pub(crate) fn have_decoder(functions: &Functions, format: c_int) -> bool {
    // SAFETY: takes a number, of which unknown ones are answered with no.
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
    side_lengths(width, height, options)?;
    let layout = if picture.has_alpha() { PixelFormat::Rgba } else { PixelFormat::Rgb };
    picture.decode(layout)?.copy(layout, options)
}

/// Fails with what libheif says.
fn check(error: &RawError) -> Result<(), Error> {
    let Some(words) = words(error) else { return Ok(()) };
    Err(match (error.code, error.subcode) {
        (_, SUBERROR_SECURITY_LIMIT) => Error::TooManyPixels,
        (code::MEMORY_ALLOCATION, _) => Error::NoMemory,
        (code::UNSUPPORTED_FEATURE | code::UNSUPPORTED_FILETYPE, _) => Error::Unsupported(words),
        _ => Error::Damaged(words),
    })
}

/// What an error says, in one line; `None` if it is none. To be called before the object dies that the error is about.
fn words(error: &RawError) -> Option<String> {
    if error.code == code::OK {
        return None;
    }
    if error.message.is_null() {
        return Some(format!("error {}", error.code));
    }
    // SAFETY: not null, and libheif ends its messages with a NUL and keeps them as long as the object lives.
    let message = unsafe { CStr::from_ptr(error.message) }.to_string_lossy();
    let words = message.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty());
    Some(words.collect::<Vec<_>>().join(" ").chars().take(MAX_WORDS).collect())
}

/// Both sides, if they are sides of a picture and the limit allows it.
fn side_lengths(width: c_int, height: c_int, options: &DecodeOptions) -> Result<(u32, u32), Error> {
    let (Ok(width @ 1..), Ok(height @ 1..)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(Error::Damaged("the picture has no width or no height".into()));
    };
    if u64::from(width) * u64::from(height) > options.max_pixels {
        return Err(Error::TooManyPixels);
    }
    Ok((width, height))
}

/// A file that is about to be read.
struct Context<'a> {
    functions: &'a Functions,
    /// Made by `heif_context_alloc` and not freed yet.
    raw: NonNull<RawContext>,
}

impl<'a> Context<'a> {
    fn alloc(functions: &'a Functions) -> Result<Self, Error> {
        // SAFETY: takes nothing.
        let raw = unsafe { (functions.context_alloc)() };
        NonNull::new(raw).map(|raw| Self { functions, raw }).ok_or(Error::NoMemory)
    }

    /// Passes the limits on, as far as this release has any.
    fn limit(&self, version: Version, options: &DecodeOptions) {
        if let Some(set_max_threads) = self.functions.set_max_threads {
            // SAFETY: the context is alive; 0 threads beside this one are allowed.
            unsafe { set_max_threads(self.raw.as_ptr(), 0) };
        }
        // Before, it was a limit on each side, which would forbid panoramas.
        if let (Some(set_max_side), true) = (self.functions.set_max_side, version >= LIMITS_AREA) {
            let side = options.max_pixels.isqrt().saturating_add(1);
            let side = c_int::try_from(side).unwrap_or(c_int::MAX);
            // SAFETY: the context is alive, and any positive number is a limit.
            unsafe { set_max_side(self.raw.as_ptr(), side) };
        }
    }

    fn read(self, bytes: &'a [u8]) -> Result<File<'a>, Error> {
        // SAFETY: the context is alive, the bytes outlive it by the lifetime of `File`, which is what reading without
        // a copy needs, and there are no options to pass.
        let error = unsafe {
            (self.functions.context_read)(self.raw.as_ptr(), bytes.as_ptr().cast(), bytes.len(), ptr::null())
        };
        check(&error)?;
        Ok(File { context: self, _bytes: PhantomData })
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is alive, and this is the only place that frees it. Handles and images hold what they
        // need of it themselves.
        unsafe { (self.functions.context_free)(self.raw.as_ptr()) };
    }
}

/// A file whose boxes have been read.
struct File<'a> {
    context: Context<'a>,
    /// The context points into these.
    _bytes: PhantomData<&'a [u8]>,
}

impl<'a> File<'a> {
    /// The picture that the file is about.
    fn primary(self) -> Result<Picture<'a>, Error> {
        let functions = self.context.functions;
        let mut raw = ptr::null_mut();
        // SAFETY: the context is alive, and `raw` can be written to.
        let error = unsafe { (functions.primary_handle)(self.context.raw.as_ptr(), &raw mut raw) };
        check(&error)?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::Damaged("there is no picture".into()))?;
        Ok(Picture { functions, raw, _file: self })
    }
}

/// A picture that is not decoded yet.
struct Picture<'a> {
    functions: &'a Functions,
    /// Made by `heif_context_get_primary_image_handle` and not released yet.
    raw: NonNull<RawHandle>,
    /// Freed after the handle, whose errors it keeps.
    _file: File<'a>,
}

impl<'a> Picture<'a> {
    /// The size before the picture is cropped and turned. What libheif foretells of it afterwards may be a crop that is
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

    fn decode(self, layout: PixelFormat) -> Result<Decoded<'a>, Error> {
        let chroma = match layout {
            PixelFormat::Rgb => CHROMA_INTERLEAVED_RGB,
            PixelFormat::Rgba => CHROMA_INTERLEAVED_RGBA,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is alive, `raw` can be written to, and null options are allowed: they mean to transform
        // the picture as the file says and to be lenient. The structure of options grows with the releases.
        let error = unsafe {
            (self.functions.decode)(self.raw.as_ptr(), &raw mut raw, COLORSPACE_RGB, chroma, ptr::null())
        };
        check(&error)?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::Damaged("there are no pixels".into()))?;
        Ok(Decoded { functions: self.functions, raw, _picture: self })
    }
}

impl Drop for Picture<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is alive, and this is the only place that releases it.
        unsafe { (self.functions.handle_release)(self.raw.as_ptr()) };
    }
}

/// Pixels that belong to libheif.
struct Decoded<'a> {
    functions: &'a Functions,
    /// Made by `heif_decode_image` and not released yet.
    raw: NonNull<RawImage>,
    _picture: Picture<'a>,
}

impl Decoded<'_> {
    /// The pixels in memory of our own, without the gaps between the rows.
    fn copy(&self, layout: PixelFormat, options: &DecodeOptions) -> Result<DecodedImage, Error> {
        let unexpected = || Error::Damaged("the pixels are not as they were asked for".into());
        // SAFETY: the image is alive.
        let width = unsafe { (self.functions.image_width)(self.raw.as_ptr(), CHANNEL_INTERLEAVED) };
        // SAFETY: the image is alive.
        let height = unsafe { (self.functions.image_height)(self.raw.as_ptr(), CHANNEL_INTERLEAVED) };
        let (width, height) = side_lengths(width, height, options)?;
        // SAFETY: the image is alive.
        let bits = unsafe { (self.functions.image_bits)(self.raw.as_ptr(), CHANNEL_INTERLEAVED) };
        if usize::try_from(bits) != Ok(layout.channels() * 8) {
            return Err(unexpected());
        }
        let row = usize::try_from(width).ok().and_then(|width| width.checked_mul(layout.channels()));
        let rows = usize::try_from(height).ok();
        let (row, rows) = row.zip(rows).ok_or(Error::NoMemory)?;

        let mut stride: c_int = 0;
        // SAFETY: the image is alive, and `stride` can be written to.
        let plane =
            unsafe { (self.functions.image_plane)(self.raw.as_ptr(), CHANNEL_INTERLEAVED, &raw mut stride) };
        let stride = usize::try_from(stride).ok().filter(|stride| *stride >= row).ok_or_else(unexpected)?;
        // The last row may lack the gap behind it.
        let length = stride.checked_mul(rows - 1).and_then(|above| above.checked_add(row));
        let length = length.filter(|length| isize::try_from(*length).is_ok() && !plane.is_null());
        let length = length.ok_or_else(unexpected)?;
        // SAFETY: not null; libheif allocates `stride` bytes for each of the rows, of which the last is counted only
        // as far as its pixels go, and nobody writes to them while the image is alive.
        let plane = unsafe { std::slice::from_raw_parts(plane, length) };

        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(row.checked_mul(rows).ok_or(Error::NoMemory)?)
            .map_err(|_| Error::NoMemory)?;
        for line in plane.chunks(stride) {
            bytes.extend_from_slice(line.get(..row).ok_or_else(unexpected)?);
        }
        if layout == PixelFormat::Rgba && self.is_premultiplied() {
            divide_by_alpha(&mut bytes);
        }
        Ok(DecodedImage { width, height, layout, bytes })
    }

    fn is_premultiplied(&self) -> bool {
        // SAFETY: the image is alive, and only read although the header asks for a mutable one.
        unsafe { (self.functions.image_is_premultiplied)(self.raw.as_ptr()) != 0 }
    }
}

impl Drop for Decoded<'_> {
    fn drop(&mut self) {
        // SAFETY: the image is alive, and this is the only place that releases it.
        unsafe { (self.functions.image_release)(self.raw.as_ptr()) };
    }
}

/// Undoes the multiplication of the colours with alpha.
fn divide_by_alpha(bytes: &mut [u8]) {
    let (pixels, _) = bytes.as_chunks_mut::<4>();
    for [r, g, b, alpha] in pixels {
        let alpha = u16::from(*alpha);
        for colour in [r, g, b] {
            let undone = (u16::from(*colour) * 255 + alpha / 2).checked_div(alpha).unwrap_or(0);
            *colour = u8::try_from(undone).unwrap_or(u8::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_is_divided_out() {
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
            assert_eq!(side_lengths(width, height, &DecodeOptions { max_pixels: 200 }), expect);
        };
        check(20, 10, Ok((20, 10)));
        check(201, 1, Err(Error::TooManyPixels));
        check(c_int::MAX, c_int::MAX, Err(Error::TooManyPixels));
        for (width, height) in [(0, 1), (1, 0), (-1, 1), (c_int::MIN, c_int::MIN)] {
            check(width, height, Err(Error::Damaged("the picture has no width or no height".into())));
        }
    }

    #[test]
    fn errors_are_told_in_one_line() {
        let message = c"Invalid input:\n  No\x07 'meta' box";
        let error = |code, subcode| RawError { code, subcode, message: message.as_ptr() };
        let said = "Invalid input: No 'meta' box".to_owned();
        assert_eq!(check(&error(0, 0)), Ok(()));
        assert_eq!(check(&error(2, 0)), Err(Error::Damaged(said.clone())));
        assert_eq!(check(&error(4, 3000)), Err(Error::Unsupported(said)));
        assert_eq!(check(&error(6, 0)), Err(Error::NoMemory));
        assert_eq!(check(&error(6, 1000)), Err(Error::TooManyPixels));
        let error = RawError { code: 7, subcode: 0, message: ptr::null() };
        assert_eq!(check(&error), Err(Error::Damaged("error 7".into())));
    }
}
