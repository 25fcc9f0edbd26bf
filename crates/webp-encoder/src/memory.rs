//! Owners of what libwebp allocates.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use libwebp_sys::{
    WebPMemoryWrite, WebPMemoryWriter, WebPMemoryWriterClear, WebPMemoryWriterInit, WebPPicture,
    WebPPictureFree,
};

/// A picture whose planes are borrowed for `'a` or belong to it.
pub(crate) struct OwnedPicture<'a>(pub(crate) WebPPicture, PhantomData<&'a [u8]>);

impl OwnedPicture<'_> {
    /// Takes over an initialized picture.
    pub(crate) fn new(picture: WebPPicture) -> Self {
        Self(picture, PhantomData)
    }
}

impl Drop for OwnedPicture<'_> {
    fn drop(&mut self) {
        // SAFETY: the picture was initialized. Only planes that libwebp allocated are freed.
        unsafe { WebPPictureFree(&raw mut self.0) }
    }
}

/// The encoded file. It is on the heap, because the picture has a pointer to it.
pub(crate) struct Writer(Box<WebPMemoryWriter>);

impl Writer {
    pub(crate) fn new() -> Self {
        let mut writer = Box::new(MaybeUninit::uninit());
        // SAFETY: the function initializes every field.
        unsafe { WebPMemoryWriterInit(writer.as_mut_ptr()) };
        // SAFETY: initialized above.
        Self(unsafe { writer.assume_init() })
    }

    /// Makes the encoder write to this writer. The picture must be encoded before the writer is dropped.
    pub(crate) fn attach(&mut self, picture: &mut WebPPicture) {
        picture.writer = Some(WebPMemoryWrite);
        picture.custom_ptr = (&raw mut *self.0).cast();
    }

    /// A copy of what was written.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if self.0.mem.is_null() {
            return Vec::new();
        }
        // SAFETY: libwebp has written `size` bytes at `mem`.
        unsafe { std::slice::from_raw_parts(self.0.mem, self.0.size) }.to_vec()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // SAFETY: the writer was initialized, and its memory belongs to it.
        unsafe { WebPMemoryWriterClear(&raw mut *self.0) }
    }
}
