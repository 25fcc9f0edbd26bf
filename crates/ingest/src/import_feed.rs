//! Hands the photos of a plan to an import, one after the other.

use std::{
    io::{self, Read},
    ops::ControlFlow,
    sync::Arc,
};

use bytes::Bytes;
use exports::{EntryError, Plan};
use tokio::sync::mpsc;

/// The size of the chunks in which entries of archives are read, in bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// How many chunks of an entry wait to be stored.
const WAITING_CHUNKS: usize = 4;

/// The next photo.
pub(crate) struct FedPhoto {
    /// Its position in the plan.
    pub(crate) position: usize,
    pub(crate) content: Content,
}

/// Where the content of a photo comes from.
pub(crate) enum Content {
    /// From a file on disk.
    Disk,
    /// From an archive, in chunks.
    Archived(mpsc::Receiver<io::Result<Bytes>>),
    /// It cannot be read from its archive.
    Unreadable(EntryError),
}

/// The photos on disk, then those in archives. A thread reads the archives; it waits while nothing takes its chunks, and
/// ends when the feed is dropped.
pub(crate) struct PhotoFeed {
    on_disk: std::vec::IntoIter<usize>,
    archived: Option<mpsc::Receiver<FedPhoto>>,
    left: usize,
}

impl PhotoFeed {
    pub(crate) fn of(plan: &Arc<Plan>) -> Self {
        let positions = plan.photos.iter().enumerate();
        let on_disk: Vec<usize> =
            positions.filter(|(_, photo)| photo.is_on_disk()).map(|(position, _)| position).collect();
        let has_archived = on_disk.len() < plan.photos.len();
        Self {
            on_disk: on_disk.into_iter(),
            archived: has_archived.then(|| read_archives(plan.clone())),
            left: plan.photos.len(),
        }
    }

    /// How many photos were not handed out yet.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// The next photo. `None` at the end; then [`left`](Self::left) is 0, unless the archives could not be read to the end.
    pub(crate) async fn next(&mut self) -> Option<FedPhoto> {
        let photo = match self.on_disk.next() {
            Some(position) => Some(FedPhoto { position, content: Content::Disk }),
            None => self.next_archived().await,
        };
        self.left -= usize::from(photo.is_some());
        photo
    }

    async fn next_archived(&mut self) -> Option<FedPhoto> {
        let photo = self.archived.as_mut()?.recv().await;
        if photo.is_none() {
            self.archived = None;
        }
        photo
    }

    /// Whether every photo was handed out.
    pub(crate) fn is_finished(&self) -> bool {
        self.on_disk.len() == 0 && self.archived.is_none()
    }
}

fn read_archives(plan: Arc<Plan>) -> mpsc::Receiver<FedPhoto> {
    let (photos, receiver) = mpsc::channel(1);
    tokio::task::spawn_blocking(move || {
        plan.read_archived(|position, content| match content {
            Ok(content) => send_photo(&photos, position, content),
            Err(error) => send(&photos, FedPhoto { position, content: Content::Unreadable(error) }),
        });
    });
    receiver
}

fn send_photo(photos: &mpsc::Sender<FedPhoto>, position: usize, content: &mut dyn Read) -> ControlFlow<()> {
    let (chunks, receiver) = mpsc::channel(WAITING_CHUNKS);
    send(photos, FedPhoto { position, content: Content::Archived(receiver) })?;
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let chunk = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => Ok(Bytes::copy_from_slice(buffer.get(..read).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_failed = chunk.is_err();
        // The receiver is gone when the photo is refused by its first bytes. The next photo may be fine.
        if chunks.blocking_send(chunk).is_err() || is_failed {
            break;
        }
    }
    ControlFlow::Continue(())
}

/// Breaks when the import has ended.
fn send(photos: &mpsc::Sender<FedPhoto>, photo: FedPhoto) -> ControlFlow<()> {
    if photos.blocking_send(photo).is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
