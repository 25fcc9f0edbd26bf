use std::collections::{BTreeMap, BTreeSet};

use domain::{AlbumChange, AlbumId, ContentHash, Filter, ImageId, Plan, Sidecar, SidecarKind, Timestamp};
use fastrand::Rng;
use storage::{AddOutcome, AlbumWrite, IndexedImage, Lookup, NewImage, Viewer};

use crate::{
    Photo, Seed, indexed,
    queries::{filtered, id_strings, matching, second, timeline},
};

const WINDOW: u32 = 12;
const STEPS: usize = 400;

/// A fixed seed, so that failures are reproducible.
const SEED: u64 = 23;

/// The words that descriptions consist of.
const WORDS: [&str; 3] = ["harbour", "lantern", "zeppelin"];

/// The expected state of the library.
#[derive(Default)]
struct Model {
    /// Capture time and time of deletion of each image.
    images: BTreeMap<ImageId, (Timestamp, Option<Timestamp>)>,
    albums: BTreeMap<AlbumId, BTreeSet<ImageId>>,
    originals: BTreeMap<ImageId, ContentHash>,
    descriptions: BTreeMap<ImageId, &'static str>,
    free: bool,
}

impl Model {
    /// The visible images, newest first.
    fn visible(&self) -> Vec<ImageId> {
        let live = self.images.iter().filter(|(_, (_, deleted))| deleted.is_none());
        let mut live: Vec<_> = live.map(|(id, (captured, _))| (*captured, id.clone())).collect();
        live.sort_by(|a, b| b.cmp(a));
        live.truncate(if self.free { 12 } else { usize::MAX });
        live.into_iter().map(|(_, id)| id).collect()
    }

    fn visible_in(&self, album: &AlbumId) -> Vec<ImageId> {
        self.visible().into_iter().filter(|id| self.albums[album].contains(id)).collect()
    }
}

struct ModelTest<'a> {
    seed: &'a Seed,
    viewer: Viewer,
    model: Model,
    random: Rng,
}

impl ModelTest<'_> {
    fn any_image(&mut self) -> Option<ImageId> {
        let ids: Vec<ImageId> = self.model.images.keys().cloned().collect();
        self.random.choice(ids)
    }

    fn any_album(&mut self) -> Option<AlbumId> {
        let ids: Vec<AlbumId> = self.model.albums.keys().cloned().collect();
        self.random.choice(ids)
    }

    async fn step(&mut self, at: Timestamp) {
        match self.random.u32(0..14) {
            0..=3 => self.add().await,
            4 | 5 => self.delete(at).await,
            6 => self.restore().await,
            7 => self.change_plan().await,
            8 => self.create_album().await,
            9 | 10 => self.change_album(at).await,
            11 | 12 => self.reindex(at).await,
            _ => self.purge(at).await,
        }
    }

    async fn add(&mut self) {
        let requested = self.any_second();
        let original = self.seed.hash();
        let word = self.random.choice(WORDS).unwrap();
        let photo = Photo::at(requested).original(original).description(word);
        let id = self.seed.image(self.viewer.account, photo).await;
        let captured = self.capture_time(&id, requested).await;
        self.model.images.insert(id.clone(), (captured, None));
        self.model.descriptions.insert(id.clone(), word);
        self.model.originals.insert(id, original);
    }

    fn any_second(&mut self) -> Timestamp {
        second(self.random.i64(0..30))
    }

    /// The capture time that the store gave to an image.
    async fn capture_time(&self, id: &ImageId, requested: Timestamp) -> Timestamp {
        // The store chooses among equal times; the model takes over its choice.
        let paid = Viewer { plan: Plan::Paid, ..self.viewer };
        let Lookup::Found(image) = self.seed.store().image(paid, id).await.unwrap() else {
            panic!("{id} is not visible");
        };
        assert!(image.captured_at >= requested);
        let others = self.model.images.iter().filter(|(other, _)| *other != id);
        assert!(others.into_iter().all(|(_, (captured, _))| *captured != image.captured_at));
        image.captured_at
    }

    /// Imports an image again with a new sidecar and another capture time. A deleted image is restored.
    async fn reindex(&mut self, at: Timestamp) {
        let Some(id) = self.any_image() else { return };
        let requested = self.any_second();
        let sidecar = Sidecar { kind: SidecarKind::Xmp, content: at.millis().to_be_bytes().to_vec() };
        let word = self.random.choice(WORDS).unwrap();
        let photo = Photo::at(requested).original(self.model.originals[&id]).description(word);
        let new = self.seed.new_image(self.viewer.account, &photo);
        let outcome = self.seed.store().add_image(NewImage { sidecars: vec![sidecar], ..new }).await.unwrap();
        let deleted = self.model.images[&id].1.is_some();
        assert!(match outcome {
            AddOutcome::Restored(_) => deleted,
            AddOutcome::Reindexed(_) => !deleted,
            _ => false,
        });
        let job = self.seed.lease("reader", at).await.remove(0);
        let found = IndexedImage { renditions: Vec::new(), ..indexed(&photo) };
        assert!(self.seed.store().complete_job(job.id, "reader", found).await.unwrap());
        let captured = self.capture_time(&id, requested).await;
        self.model.descriptions.insert(id.clone(), word);
        self.model.images.insert(id, (captured, None));
    }

    async fn delete(&mut self, at: Timestamp) {
        let Some(id) = self.any_image() else { return };
        let visible = self.model.visible().contains(&id);
        let outcome = self.seed.store().delete_image(self.viewer, &id, at).await.unwrap();
        assert_eq!(outcome, if visible { Lookup::Found(()) } else { Lookup::Missing });
        if visible && let Some(image) = self.model.images.get_mut(&id) {
            image.1 = Some(at);
        }
    }

    async fn restore(&mut self) {
        let Some(id) = self.any_image() else { return };
        let restored = self.seed.store().restore_image(self.viewer.account, &id).await.unwrap();
        let image = self.model.images.get_mut(&id).unwrap();
        assert_eq!(restored, image.1.take().is_some());
    }

    async fn change_plan(&mut self) {
        self.model.free = !self.model.free;
        self.viewer.plan = if self.model.free { Plan::Free } else { Plan::Paid };
        self.seed.store().set_plan(self.viewer.account, self.viewer.plan).await.unwrap();
    }

    async fn create_album(&mut self) {
        let images: Vec<ImageId> = self.model.visible().into_iter().step_by(3).take(100).collect();
        let id = self.seed.album(self.viewer, "Album", &images).await;
        self.model.albums.insert(id, images.into_iter().collect());
    }

    async fn change_album(&mut self, at: Timestamp) {
        let (Some(album), Some(image)) = (self.any_album(), self.any_image()) else { return };
        let adds = self.random.bool();
        let ids = id_strings(std::slice::from_ref(&image));
        let (add, remove) = if adds { (ids, Vec::new()) } else { (Vec::new(), ids) };
        let change = AlbumChange { add, remove, ..AlbumChange::default() };
        let outcome = self.seed.store().change_album(self.viewer, &album, change, at).await.unwrap();
        if !self.model.visible().contains(&image) {
            return assert_eq!(outcome, AlbumWrite::UnknownImage);
        }
        assert!(matches!(outcome, AlbumWrite::Done(_)));
        let held = self.model.albums.get_mut(&album).unwrap();
        let _changed = if adds { held.insert(image) } else { held.remove(&image) };
    }

    async fn purge(&mut self, at: Timestamp) {
        let before = at.plus_millis(-20_000);
        let old = |deleted: &Option<Timestamp>| deleted.is_some_and(|deleted| deleted < before);
        let expected = self.model.images.values().filter(|(_, deleted)| old(deleted)).count();
        let gone = self.seed.store().purge_images(before, 1000).await.unwrap();
        assert_eq!(usize::try_from(gone).unwrap(), expected);
        self.model.images.retain(|_, (_, deleted)| !old(deleted));
    }

    async fn check(&self) {
        let seen = self.model.visible();
        let counted = self.seed.store().count_images(self.viewer).await.unwrap();
        assert_eq!(usize::try_from(counted).unwrap(), seen.len());
        assert_eq!(timeline(self.seed, self.viewer).await, seen[..seen.len().min(100)]);
        for word in WORDS {
            let mut expected = seen.clone();
            expected.retain(|id| self.model.descriptions[id] == word);
            expected.truncate(100);
            assert_eq!(matching(self.seed, self.viewer, &[word]).await, expected);
        }
        for id in self.model.albums.keys() {
            let expected = self.model.visible_in(id);
            let album = self.seed.store().album(self.viewer, id).await.unwrap().unwrap();
            assert_eq!(usize::try_from(album.image_count).unwrap(), expected.len());
            assert_eq!(album.cover.as_ref(), expected.first());
            let filter = Filter { album: Some(id.clone()), ..Filter::default() };
            let found = filtered(self.seed, self.viewer, filter).await;
            assert_eq!(found, expected[..expected.len().min(100)]);
        }
    }
}

pub(crate) async fn random_operations_agree_with_a_model(seed: &Seed) {
    let viewer = Viewer { free_window: WINDOW, ..seed.account(Plan::Paid).await };
    let mut test = ModelTest { seed, viewer, model: Model::default(), random: Rng::with_seed(SEED) };
    for step in 0..STEPS {
        test.step(second(100 + i64::try_from(step).unwrap())).await;
        if step % 5 == 0 {
            test.check().await;
        }
    }
    test.check().await;
}
