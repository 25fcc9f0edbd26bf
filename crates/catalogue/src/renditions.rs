use std::ops::Range;

use accounts::Caller;
use blobs::{BlobError, BlobReader};
use bytes::Bytes;
use domain::{BlobKind, ContentHash, ImageId, Rendition};
use indexer::{Remake, RenditionError};
use storage::{RenditionSource, StoredRendition};

use crate::{
    Catalogue,
    hot_renditions::{self, HotRenditions, RenditionContent},
};

/// A rendition that can be read.
#[derive(Debug, Clone)]
pub struct ServedRendition {
    image: ImageId,
    original: ContentHash,
    picture_version: u32,
    stored: StoredRendition,
    catalogue: Catalogue,
}

impl ServedRendition {
    /// Its image.
    pub(crate) fn image(&self) -> &ImageId {
        &self.image
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.stored.bytes
    }

    /// The version of the image's renditions, as in [`Image::picture_version`](domain::Image::picture_version).
    pub fn picture_version(&self) -> u32 {
        self.picture_version
    }

    /// The hash of its bytes.
    pub fn hash(&self) -> ContentHash {
        self.stored.blob
    }

    /// The content of the rendition, or of a range of its bytes. If it is missing from the content store, it is made again
    /// from the original.
    ///
    /// # Errors
    /// [`BlobError`]; [`BlobError::Missing`] if it was lost and cannot be made again.
    pub async fn content(&self, range: Option<Range<u64>>) -> Result<RenditionContent, BlobError> {
        if !HotRenditions::takes(self.stored.bytes) {
            return Ok(RenditionContent::Reader(self.open(range).await?));
        }
        let hot = &self.catalogue.parts.hot_renditions;
        let bytes = match hot.get(self.stored.blob) {
            Some(bytes) => bytes,
            None => {
                let bytes = self.open(None).await?.into_bytes().await?;
                if !hot.insert(self.stored.blob, bytes.clone()) {
                    // The file is damaged, and its length may be wrong. A reader that ends early breaks the connection,
                    // so that the client does not wait for the rest.
                    return Ok(RenditionContent::Reader(self.open(range).await?));
                }
                bytes
            }
        };
        Ok(RenditionContent::InMemory(hot_renditions::part(&bytes, range)))
    }

    /// All bytes of the rendition, also of a large one.
    ///
    /// # Errors
    /// As [`content`](Self::content).
    pub(crate) async fn whole(&self) -> Result<Bytes, BlobError> {
        match self.content(None).await? {
            RenditionContent::InMemory(bytes) => Ok(bytes),
            RenditionContent::Reader(reader) => reader.into_bytes().await,
        }
    }

    async fn open(&self, range: Option<Range<u64>>) -> Result<BlobReader, BlobError> {
        let blobs = &self.catalogue.parts.blobs.content;
        match blobs.open(BlobKind::Rendition, self.stored.blob, range.clone()).await {
            Err(BlobError::Missing { .. }) => {
                tracing::warn!(image = %self.image, rendition = %self.stored.rendition, "a lost rendition is made again");
                let (image, rendition) = (self.image.clone(), self.stored.rendition);
                let made =
                    self.catalogue.make_rendition(image, rendition, self.original, Remake::Always).await;
                if let Err(error) = made {
                    tracing::error!(image = %self.image, %error, "a lost rendition cannot be made again");
                }
                blobs.open(BlobKind::Rendition, self.stored.blob, range).await
            }
            opened => opened,
        }
    }
}

impl Catalogue {
    /// A rendition of an image that its owner can see. A missing rendition is made now, once for all concurrent requests.
    pub async fn rendition(
        &self,
        image: &str,
        rendition: Rendition,
    ) -> Result<ServedRendition, RenditionError> {
        let id = ImageId::parse(image).ok_or(RenditionError::NoImage)?;
        let source = self.rendition_source(&id, rendition).await?;
        self.serve(id, rendition, source).await
    }

    /// A rendition of an image of the caller, as [`rendition`](Self::rendition) finds it.
    ///
    /// # Errors
    /// [`RenditionError`]; [`RenditionError::NoImage`] for an image of another account.
    pub async fn own_rendition(
        &self,
        caller: &Caller,
        image: &str,
        rendition: Rendition,
    ) -> Result<ServedRendition, RenditionError> {
        let id = ImageId::parse(image).ok_or(RenditionError::NoImage)?;
        let source = match self.rendition_source(&id, rendition).await {
            Err(RenditionError::NoImage) => self.trashed_source(caller, &id, rendition).await?,
            found => found?,
        };
        if source.owner != caller.account.id {
            return Err(RenditionError::NoImage);
        }
        self.serve(id, rendition, source).await
    }

    async fn serve(
        &self,
        id: ImageId,
        rendition: Rendition,
        source: RenditionSource,
    ) -> Result<ServedRendition, RenditionError> {
        let stored = match source.stored {
            Some(stored) => stored,
            None => self.make_rendition(id.clone(), rendition, source.original, Remake::IfAbsent).await?,
        };
        let RenditionSource { original, picture_version, .. } = source;
        Ok(ServedRendition { image: id, original, picture_version, stored, catalogue: self.clone() })
    }

    /// The source of a rendition that was made before its image was deleted.
    async fn trashed_source(
        &self,
        caller: &Caller,
        id: &ImageId,
        rendition: Rendition,
    ) -> Result<RenditionSource, RenditionError> {
        let source = self.parts.store.trashed_rendition(caller.account.id, id, rendition).await?;
        source.filter(|source| source.stored.is_some()).ok_or(RenditionError::NoImage)
    }

    async fn rendition_source(
        &self,
        id: &ImageId,
        rendition: Rendition,
    ) -> Result<RenditionSource, RenditionError> {
        let source = self.parts.store.rendition(id, rendition, self.parts.free_window).await?;
        source.ok_or(RenditionError::NoImage)
    }

    async fn make_rendition(
        &self,
        image: ImageId,
        rendition: Rendition,
        original: ContentHash,
        remake: Remake,
    ) -> Result<StoredRendition, RenditionError> {
        let free_window = self.parts.free_window;
        self.parts.indexer.make_rendition(image, rendition, original, free_window, remake).await
    }
}
