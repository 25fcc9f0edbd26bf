//! Albums of exports.

use std::collections::{HashMap, HashSet};

use accounts::Unavailable;
use domain::{
    AccountId, AlbumChange, AlbumCover, AlbumId, AlbumMove, AlbumOrder, AlbumTitle, ImageId, Limit,
    MAX_IMAGE_IDS_PER_CALL, Offset,
};
use exports::PlannedAlbum;
use keys::new_id;
use storage::{AlbumWrite, NewAlbum, Viewer};

use crate::{FailedFile, ImportError, ImportReport, Ingest};

impl Ingest {
    /// Puts imported images into the albums of their export. An album with the same title gets the images that it lacks.
    /// `images` has the image of each planned photo.
    pub(crate) async fn import_albums(
        &self,
        account: AccountId,
        albums: &[PlannedAlbum],
        images: &[Option<ImageId>],
        report: &mut ImportReport,
    ) -> Result<(), ImportError> {
        if albums.is_empty() {
            return Ok(());
        }
        // The window of the free plan hides images, also from their owner. Hidden images belong in the album
        // nevertheless.
        let viewer = self.parts.catalogue.full_viewer(account);
        let mut known = self.album_ids(viewer).await?;
        for album in albums {
            let mut seen = HashSet::new();
            let photos = album.photos.iter().filter_map(|photo| images.get(*photo)?.as_ref());
            let added: Vec<String> =
                photos.filter(|image| seen.insert(*image)).map(ToString::to_string).collect();
            let cover = album.cover.and_then(|cover| images.get(cover)?.as_ref()).map(ToString::to_string);
            let images = added;
            match self.import_album(viewer, album, (&images, cover), &mut known).await? {
                Ok(()) => report.albums += u64::from(!images.is_empty()),
                Err(reason) => report.failed.push(FailedFile::new(album.path.clone(), reason)),
            }
        }
        Ok(())
    }

    /// The ids of the account's albums by title; of albums with the same title, that of the oldest.
    async fn album_ids(&self, viewer: Viewer) -> Result<HashMap<String, AlbumId>, ImportError> {
        let mut ids = HashMap::new();
        let mut offset = 0;
        loop {
            let (limit, from) = (Limit::default(), Offset::new(offset).unwrap_or_default());
            let page = self.parts.store.page_albums(viewer, limit, from).await?;
            let read = u32::try_from(page.albums.len()).unwrap_or(u32::MAX);
            ids.extend(page.albums.into_iter().map(|album| (album.title, album.id)));
            offset = offset.saturating_add(read);
            if read == 0 || offset >= page.total {
                return Ok(ids);
            }
        }
    }

    /// The inner error is the reason for the user.
    async fn import_album(
        &self,
        viewer: Viewer,
        album: &PlannedAlbum,
        (images, cover): (&[String], Option<String>),
        known: &mut HashMap<String, AlbumId>,
    ) -> Result<Result<(), &'static str>, ImportError> {
        let Ok(title) = AlbumTitle::parse(&album.title) else { return Ok(Err(NO_TITLE)) };
        let is_new = !known.contains_key(title.as_str());
        // In its own order, an album shows its photos in the order in which they are added.
        let by_hand = album.order == Some(AlbumOrder::ByHand);
        for images in images.chunks(MAX_IMAGE_IDS_PER_CALL) {
            let written = match known.get(title.as_str()) {
                Some(id) => self.add_to_album(viewer, id, images).await?,
                None => self.create_imported_album(viewer, &title, images).await?,
            };
            match written {
                AlbumWrite::Done(made) => {
                    let is_first = !known.contains_key(title.as_str());
                    if by_hand && is_first {
                        self.order_by_hand(viewer, &made.id, images).await?;
                    }
                    known.insert(title.as_str().to_owned(), made.id)
                }
                AlbumWrite::TooManyAlbums => return Ok(Err(TOO_MANY)),
                AlbumWrite::NoAlbum | AlbumWrite::ForeignImage | AlbumWrite::UnknownImage => {
                    return Ok(Err(CHANGED));
                }
            };
        }
        // If the album existed before, its order and cover are the owner's choice.
        if let Some(id) = known.get(title.as_str()).filter(|_| is_new)
            && (album.order.is_some() || cover.is_some())
        {
            let cover = cover.map(AlbumCover::Image);
            let change = AlbumChange { order: album.order, cover, ..AlbumChange::default() };
            self.parts.store.change_album(viewer, id, change, self.parts.clock.now()).await?;
        }
        Ok(Ok(()))
    }

    /// Puts a new album in its own order, which is that of its first images.
    async fn order_by_hand(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        images: &[String],
    ) -> Result<(), ImportError> {
        let (store, now) = (&self.parts.store, self.parts.clock.now());
        let change = AlbumChange { order: Some(AlbumOrder::ByHand), ..AlbumChange::default() };
        store.change_album(viewer, id, change, now).await?;
        let moved = AlbumMove { images: images.to_vec(), before: None };
        store.move_images(viewer, id, vec![moved], now).await?;
        Ok(())
    }

    async fn add_to_album(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        images: &[String],
    ) -> Result<AlbumWrite, ImportError> {
        let change = AlbumChange { add: images.to_vec(), ..AlbumChange::default() };
        Ok(self.parts.store.change_album(viewer, id, change, self.parts.clock.now()).await?)
    }

    async fn create_imported_album(
        &self,
        viewer: Viewer,
        title: &AlbumTitle,
        images: &[String],
    ) -> Result<AlbumWrite, ImportError> {
        let id = new_id(self.random()).map_err(Unavailable::from)?;
        // A new id is always valid.
        let Some(id) = AlbumId::parse(id) else { return Ok(AlbumWrite::NoAlbum) };
        let created_at = self.parts.clock.now();
        let album = NewAlbum { id, title: title.clone(), images: images.to_vec(), created_at };
        Ok(self.parts.store.create_album(viewer, album).await?)
    }
}

const NO_TITLE: &str = "the album was not made: its title is blank";
const TOO_MANY: &str = "the album was not made: the account has the maximum number of albums";
const CHANGED: &str =
    "the album is not complete: it or its photos were deleted during the import; import again";
