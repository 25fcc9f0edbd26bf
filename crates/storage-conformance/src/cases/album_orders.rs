//! The own order of an album.

use domain::{AlbumChange, AlbumId, AlbumMove, AlbumOrder, ImageId, MAX_IMAGE_IDS_PER_CALL, Plan, Selection};
use storage::{AlbumMoved, Positions, SelectionCursor, Viewer};

use super::concurrently;
use crate::{
    Photo, Seed,
    queries::{delete, limit, second},
};

/// An album with images, of which the first is the oldest.
struct Ordered<'a> {
    seed: &'a Seed,
    viewer: Viewer,
    id: AlbumId,
    images: Vec<ImageId>,
}

impl<'a> Ordered<'a> {
    async fn new(seed: &'a Seed, plan: Plan, count: i64) -> Self {
        let viewer = seed.account(plan).await;
        let images = seed.images(viewer.account, (0..count).map(Photo::at_second).collect()).await;
        let id = seed.album(viewer, "Mine", &images).await;
        Self { seed, viewer, id, images }
    }

    async fn change(&self, change: AlbumChange, at: i64) {
        self.seed.store().change_album(self.viewer, &self.id, change, second(at)).await.unwrap();
    }

    async fn set(&self, order: AlbumOrder) {
        self.change(AlbumChange { order: Some(order), ..AlbumChange::default() }, 1).await;
    }

    async fn page(&self, positions: Positions, size: u32) -> Vec<(usize, i64)> {
        let page = self.seed.store().positioned_images(self.viewer, &self.id, positions, limit(size)).await;
        let page = page.unwrap().unwrap();
        let place = |id: &ImageId| self.images.iter().position(|image| image == id).unwrap();
        page.iter().map(|found| (place(&found.image.id), found.position)).collect()
    }

    /// The album in its own order.
    async fn shown(&self) -> Vec<usize> {
        self.page(Positions::From(0), 100).await.into_iter().map(|(image, _)| image).collect()
    }

    fn ids(&self, images: &[usize]) -> Vec<String> {
        images.iter().map(|image| self.images[*image].to_string()).collect()
    }

    fn one(&self, images: &[usize], before: Option<usize>) -> AlbumMove {
        AlbumMove { images: self.ids(images), before: before.map(|before| self.images[before].to_string()) }
    }

    async fn apply(&self, moves: Vec<AlbumMove>, at: i64) -> AlbumMoved {
        self.seed.store().move_images(self.viewer, &self.id, moves, second(at)).await.unwrap()
    }

    /// Moves images and returns how to undo it.
    async fn moved(&self, images: &[usize], before: Option<usize>) -> Vec<AlbumMove> {
        match self.apply(vec![self.one(images, before)], 5).await {
            AlbumMoved::Done(undo) => undo,
            other => panic!("{other:?}"),
        }
    }
}

fn images_of(page: &[(usize, i64)]) -> Vec<usize> {
    page.iter().map(|(image, _)| *image).collect()
}

pub(crate) async fn an_albums_own_order_begins_with_the_shown_one(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Paid, 4).await;
    it.set(AlbumOrder::ByHand).await;
    assert_eq!(seed.store().album(it.viewer, &it.id).await.unwrap().unwrap().order, AlbumOrder::ByHand);
    assert_eq!(it.shown().await, [3, 2, 1, 0]);
    it.moved(&[0], Some(3)).await;
    it.set(AlbumOrder::OldestFirst).await;
    it.set(AlbumOrder::ByHand).await;
    assert_eq!(it.shown().await, [0, 3, 2, 1], "it is kept while the album has another order");

    let other = Ordered::new(seed, Plan::Paid, 3).await;
    other.set(AlbumOrder::OldestFirst).await;
    other.set(AlbumOrder::ByHand).await;
    assert_eq!(other.shown().await, [0, 1, 2]);
}

pub(crate) async fn images_move_within_an_album(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Paid, 6).await;
    it.set(AlbumOrder::OldestFirst).await;
    it.set(AlbumOrder::ByHand).await;
    let album = async || seed.store().album(it.viewer, &it.id).await.unwrap().unwrap();
    for (images, before, expected) in [
        (&[4][..], Some(1), [0, 4, 1, 2, 3, 5]),
        (&[0], None, [4, 1, 2, 3, 5, 0]),
        (&[3, 4, 0], Some(5), [1, 2, 3, 4, 0, 5]),
        (&[5, 1], Some(1), [5, 1, 2, 3, 4, 0]),
        (&[2, 4], Some(1), [5, 2, 4, 1, 3, 0]),
    ] {
        it.moved(images, before).await;
        assert_eq!(it.shown().await, expected, "{images:?} before {before:?}");
        let again = it.apply(vec![it.one(images, before)], 9).await;
        assert_eq!(again, AlbumMoved::Done(Vec::new()), "the same again changes nothing");
        assert_eq!((it.shown().await, album().await.updated_at), (expected.to_vec(), second(5)));
    }
    for unknown in ["no-image", "no\0image"].map(str::to_owned) {
        let moved = AlbumMove { images: vec![unknown.clone()], before: None };
        assert_eq!(it.apply(vec![moved], 9).await, AlbumMoved::Done(Vec::new()));
        let nowhere = AlbumMove { images: it.ids(&[1]), before: Some(unknown) };
        assert_eq!(it.apply(vec![nowhere], 9).await, AlbumMoved::UnknownImage);
    }
    it.set(AlbumOrder::NewestFirst).await;
    assert_eq!(it.apply(vec![it.one(&[1], None)], 9).await, AlbumMoved::NotByHand);
    let ben = seed.account(Plan::Paid).await;
    let foreign = seed.store().move_images(ben, &it.id, vec![it.one(&[1], None)], second(9)).await;
    assert_eq!(foreign.unwrap(), AlbumMoved::NoAlbum);
    let foreign = seed.store().positioned_images(ben, &it.id, Positions::From(0), limit(9)).await;
    assert_eq!(foreign.unwrap(), None);
}

pub(crate) async fn moves_within_an_album_are_undone(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Paid, 7).await;
    it.set(AlbumOrder::OldestFirst).await;
    it.set(AlbumOrder::ByHand).await;
    let undo = it.moved(&[6, 2, 0, 3], Some(5)).await;
    assert_eq!(it.shown().await, [1, 4, 6, 2, 0, 3, 5]);
    assert_eq!(undo, [it.one(&[0], Some(1)), it.one(&[2, 3], Some(4)), it.one(&[6], None)]);
    assert!(matches!(it.apply(undo.clone(), 6).await, AlbumMoved::Done(redo) if !redo.is_empty()));
    assert_eq!(it.shown().await, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(it.apply(undo.clone(), 6).await, AlbumMoved::Done(Vec::new()));

    let undo = it.moved(&[1], None).await;
    delete(seed, it.viewer, &it.images[2], second(9)).await;
    it.apply(undo, 6).await;
    assert_eq!(it.shown().await, [0, 1, 3, 4, 5, 6], "before an image that was deleted meanwhile");
    let undo = it.moved(&[1], None).await;
    it.apply(undo, 6).await;
    seed.store().restore_image(it.viewer.account, &it.images[2]).await.unwrap();
    assert_eq!(it.shown().await, [0, 1, 2, 3, 4, 5, 6], "before the deleted image again");
}

pub(crate) async fn images_keep_their_places_and_new_ones_come_last(seed: &Seed) {
    let mut it = Ordered::new(seed, Plan::Paid, 4).await;
    it.set(AlbumOrder::ByHand).await;
    it.moved(&[0], Some(2)).await;
    delete(seed, it.viewer, &it.images[0], second(9)).await;
    assert_eq!(it.shown().await, [3, 2, 1]);
    it.moved(&[1], Some(2)).await;
    seed.store().restore_image(it.viewer.account, &it.images[0]).await.unwrap();
    assert_eq!(it.shown().await, [3, 0, 1, 2]);

    it.images.extend(seed.images(it.viewer.account, (10..14).map(Photo::at_second).collect()).await);
    it.change(AlbumChange { add: it.ids(&[6, 0, 5]), ..AlbumChange::default() }, 2).await;
    assert_eq!(it.shown().await, [3, 0, 1, 2, 6, 5], "in the order sent");
    let selected = Selection::new(it.ids(&[4, 7]), Vec::new(), Vec::new()).unwrap();
    let cursor = SelectionCursor::default();
    let added = seed.store().add_selection_to_album(it.viewer, &selected, &it.id, second(3), cursor, 10);
    added.await.unwrap().unwrap();
    assert_eq!(it.shown().await, [3, 0, 1, 2, 6, 5, 7, 4], "the newest first");
    it.change(AlbumChange { remove: it.ids(&[0]), ..AlbumChange::default() }, 4).await;
    it.set(AlbumOrder::NewestFirst).await;
    it.change(AlbumChange { add: it.ids(&[0]), ..AlbumChange::default() }, 5).await;
    it.set(AlbumOrder::ByHand).await;
    assert_eq!(it.shown().await, [3, 1, 2, 6, 5, 7, 4, 0]);
}

pub(crate) async fn an_album_is_paged_in_its_own_order(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Paid, 6).await;
    it.set(AlbumOrder::ByHand).await;
    let first = it.page(Positions::From(0), 3).await;
    let second_page = it.page(Positions::From(first[2].1 + 1), 3).await;
    assert_eq!((images_of(&first), images_of(&second_page)), (vec![5, 4, 3], vec![2, 1, 0]));
    assert_eq!(images_of(&it.page(Positions::Before(second_page[0].1), 2).await), [3, 4]);
    it.moved(&[1], Some(5)).await;
    it.moved(&[2], None).await;
    let page = it.page(Positions::From(second_page[0].1), 3).await;
    assert_eq!(images_of(&page), [0, 2], "the cursor stays where it was when its image moves away");
    assert_eq!(images_of(&it.page(Positions::Before(second_page[0].1), 9).await), [3, 4, 5, 1]);
}

pub(crate) async fn an_album_gets_new_positions_when_there_is_no_room(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Paid, 5).await;
    it.set(AlbumOrder::ByHand).await;
    // The gap between the first two is halved by each move.
    for place in 0..30 {
        let moved = if place % 2 == 0 { 1 } else { 2 };
        let first = it.shown().await[1];
        it.moved(&[moved], Some(first)).await;
        assert_eq!(it.shown().await[..2], [4, moved], "move {place}");
    }
    let page = it.page(Positions::From(0), 9).await;
    assert!(page.is_sorted_by(|one, other| one.1 < other.1), "{page:?}");
    assert_eq!(it.shown().await, [4, 2, 1, 3, 0]);

    let many = Ordered::new(seed, Plan::Paid, 102).await;
    many.set(AlbumOrder::ByHand).await;
    let hundred: Vec<usize> = (1..=MAX_IMAGE_IDS_PER_CALL).collect();
    for _ in 0..4 {
        many.moved(&hundred, Some(101)).await;
        many.moved(&hundred, Some(0)).await;
    }
    let shown = [many.page(Positions::From(0), 100).await, many.page(Positions::Before(i64::MAX), 2).await];
    assert_eq!((shown[0][0].0, shown[0][1].0, shown[1][0].0), (101, 1, 0));
}

pub(crate) async fn the_neighbours_in_an_albums_own_order_are_returned(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Paid, 4).await;
    let neighbours = async |image: usize| {
        let context = seed.store().photo_context(it.viewer, &it.images[image], Some(&it.id)).await.unwrap();
        let place = |id: ImageId| it.images.iter().position(|image| *image == id).unwrap();
        (context.previous.map(place), context.next.map(place))
    };
    assert_eq!(neighbours(2).await, (Some(3), Some(1)));
    it.set(AlbumOrder::OldestFirst).await;
    assert_eq!(neighbours(2).await, (Some(1), Some(3)));
    it.set(AlbumOrder::ByHand).await;
    it.moved(&[2], Some(0)).await;
    assert_eq!(neighbours(2).await, (None, Some(0)));
    assert_eq!(neighbours(3).await, (Some(1), None));
    delete(seed, it.viewer, &it.images[0], second(9)).await;
    assert_eq!((neighbours(2).await, neighbours(1).await), ((None, Some(1)), (Some(2), Some(3))));
}

pub(crate) async fn an_albums_own_order_follows_the_window(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Free, 5).await;
    it.set(AlbumOrder::ByHand).await;
    it.moved(&[0], Some(4)).await;
    assert_eq!(it.shown().await, [0, 4, 3, 2, 1]);
    let newer = seed.image(it.viewer.account, Photo::at_second(9)).await;
    assert_eq!(it.shown().await, [4, 3, 2, 1], "the oldest is outside of the window");
    let undo = it.moved(&[1], Some(4)).await;
    assert_eq!(undo, [it.one(&[1], None)]);
    delete(seed, it.viewer, &newer, second(9)).await;
    assert_eq!(it.shown().await, [0, 1, 4, 3, 2]);
}

pub(crate) async fn concurrent_moves_within_an_album_are_all_kept(seed: &Seed) {
    let it = Ordered::new(seed, Plan::Paid, 12).await;
    it.set(AlbumOrder::ByHand).await;
    concurrently((0..11).map(|image| {
        let (store, viewer, id) = (seed.store().clone(), it.viewer, it.id.clone());
        let moves = vec![it.one(&[image], Some(11))];
        async move {
            let outcome = store.move_images(viewer, &id, moves, second(5)).await.unwrap();
            assert!(matches!(outcome, AlbumMoved::Done(_)));
        }
    }))
    .await;
    let page = it.page(Positions::From(0), 100).await;
    assert!(page.is_sorted_by(|one, other| one.1 < other.1), "{page:?}");
    assert_eq!((page.len(), page.last().map(|(image, _)| *image)), (12, Some(11)));
}

/// Not in the list of cases, because it needs an older program: `forget` sets all positions to zero, as that adds images.
///
/// # Panics
/// If a rule does not hold.
pub async fn images_of_an_older_program_come_last(seed: &Seed, forget: impl AsyncFn()) {
    let mut it = Ordered::new(seed, Plan::Paid, 5).await;
    it.set(AlbumOrder::ByHand).await;
    forget().await;
    assert_eq!(images_of(&it.page(Positions::From(i64::MIN), 3).await), [4, 3, 2]);
    let page = it.page(Positions::From(0), 9).await;
    assert!(page[0].1 > 0 && page.is_sorted_by(|one, other| one.1 < other.1), "{page:?}");
    forget().await;
    let context = seed.store().photo_context(it.viewer, &it.images[2], Some(&it.id)).await.unwrap();
    let neighbours = (context.previous.as_ref(), context.next.as_ref());
    assert_eq!(neighbours, (Some(&it.images[3]), Some(&it.images[1])));
    forget().await;
    assert_eq!(it.moved(&[0], Some(4)).await, [it.one(&[0], None)]);
    assert_eq!(it.shown().await, [0, 4, 3, 2, 1]);
    forget().await;
    it.images.push(seed.image(it.viewer.account, Photo::at_second(9)).await);
    it.change(AlbumChange { add: it.ids(&[5]), ..AlbumChange::default() }, 2).await;
    assert_eq!(it.shown().await, [4, 3, 2, 1, 0, 5]);
}
