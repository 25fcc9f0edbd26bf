use domain::{
    AlbumChange, AlbumCover, AlbumId, AlbumOrder, AlbumTitle, DateRange, Filter, ImageId,
    MAX_ALBUMS_PER_ACCOUNT, Offset, Plan,
};
use storage::{AlbumPage, AlbumWrite, NewAlbum, TimelineOrder, Viewer};

use crate::{
    NOW, Photo, Seed,
    queries::{delete, filtered, id_strings, limit, newest_first, second, seconds},
};

fn title(title: &str) -> AlbumTitle {
    AlbumTitle::parse(title).unwrap()
}

fn new_album(seed: &Seed, images: Vec<String>) -> NewAlbum {
    NewAlbum { id: seed.album_id(), title: title("New"), images, created_at: NOW }
}

fn add(images: Vec<String>) -> AlbumChange {
    AlbumChange { add: images, ..AlbumChange::default() }
}

fn remove(images: Vec<String>) -> AlbumChange {
    AlbumChange { remove: images, ..AlbumChange::default() }
}

async fn change(seed: &Seed, viewer: Viewer, id: &AlbumId, change: AlbumChange, at: i64) -> AlbumWrite {
    seed.store().change_album(viewer, id, change, second(at)).await.unwrap()
}

async fn album(seed: &Seed, viewer: Viewer, id: &AlbumId) -> domain::Album {
    seed.store().album(viewer, id).await.unwrap().unwrap()
}

async fn albums(seed: &Seed, viewer: Viewer, page_size: u32, offset: u32) -> AlbumPage {
    seed.store().page_albums(viewer, limit(page_size), Offset::new(offset).unwrap()).await.unwrap()
}

pub(crate) async fn an_album_is_created(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..3).map(Photo::at_second).collect()).await;
    let new = new_album(seed, id_strings(&ids));
    let AlbumWrite::Done(made) = seed.store().create_album(ann, new.clone()).await.unwrap() else {
        panic!("the album was not created");
    };
    assert_eq!((&made.id, made.title.as_str(), made.image_count), (&new.id, "New", 3));
    assert_eq!((made.cover.as_ref(), made.created_at, made.updated_at), (Some(&ids[2]), NOW, NOW));
    assert_eq!(album(seed, ann, &new.id).await, made);
    let filter = Filter { album: Some(new.id.clone()), ..Default::default() };
    assert_eq!(filtered(seed, ann, filter).await, newest_first(&ids));
}

pub(crate) async fn an_album_may_be_empty(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.album(ann, "Empty", &[]).await;
    let seen = album(seed, ann, &id).await;
    assert_eq!((seen.image_count, seen.cover), (0, None));
}

pub(crate) async fn albums_are_listed_newest_first(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let mut ids = Vec::new();
    for at in [1, 1, 3, 2] {
        let new = NewAlbum { created_at: second(at), ..new_album(seed, Vec::new()) };
        ids.push(new.id.clone());
        seed.store().create_album(ann, new).await.unwrap();
    }
    seed.album(ben, "Other", &[]).await;
    let all: Vec<_> = albums(seed, ann, 50, 0).await.albums.into_iter().map(|album| album.id).collect();
    let expected = [2, 3, 1, 0].map(|at| ids[at].clone());
    assert_eq!(all, expected, "of two with the same time, the later one comes first");
    for (page_size, offset, range) in [(2, 0, 0..2), (2, 1, 1..3), (2, 3, 3..4), (2, 4, 4..4), (1, 500, 4..4)]
    {
        let page = albums(seed, ann, page_size, offset).await;
        assert_eq!(page.total, 4);
        let page: Vec<_> = page.albums.into_iter().map(|album| album.id).collect();
        assert_eq!(page, expected[range]);
    }
}

pub(crate) async fn all_albums_are_listed_with_their_covers(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, (0..4).map(Photo::at_second).collect()).await;
    let first = seed.album(ann, "First", &ids[..3]).await;
    let empty = seed.album(ann, "Empty", &[]).await;
    let other = seed.album(ann, "Other", &ids[3..]).await;
    let chosen = set_cover(AlbumCover::Image(ids[1].to_string()));
    change(seed, ann, &first, chosen, 5).await;
    delete(seed, ann, &ids[2], second(9)).await;
    let listed = seed.store().list_albums(ann).await.unwrap();
    let expected = [
        (other, Some(ids[3].clone()), Some((second(3), second(3)))),
        (empty, None, None),
        (first, Some(ids[1].clone()), Some((second(0), second(1)))),
    ];
    for (listed, (id, cover, captured)) in listed.iter().zip(&expected) {
        assert_eq!(listed.album, album(seed, ann, id).await);
        assert_eq!(
            (listed.cover.as_ref().map(|image| &image.id), &listed.captured),
            (cover.as_ref(), captured)
        );
    }
    let names = seed.store().album_names(ann).await.unwrap();
    let expected: Vec<_> = listed.iter().map(|listed| (&listed.album.id, &listed.album.title)).collect();
    assert_eq!(names.iter().map(|name| (&name.id, &name.title)).collect::<Vec<_>>(), expected);
    assert_eq!(seed.store().album_names(ben).await.unwrap(), []);
    assert_eq!((listed.len(), seed.store().list_albums(ben).await.unwrap()), (3, Vec::new()));
}

pub(crate) async fn the_images_of_a_page_that_are_in_an_album_are_known(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, (0..4).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "Mine", &ids[..3]).await;
    delete(seed, ann, &ids[2], second(9)).await;
    let inside = async |viewer, album: &AlbumId, images: &[ImageId]| {
        let mut found = seed.store().images_in_album(viewer, album, images.to_vec()).await.unwrap();
        found.sort_unstable();
        found
    };
    let mut expected = ids[..2].to_vec();
    expected.sort_unstable();
    assert_eq!(inside(ann, &id, &ids).await, expected);
    assert_eq!(inside(ann, &id, &ids[1..]).await, ids[1..2]);
    assert_eq!(inside(ann, &id, &[]).await, []);
    assert_eq!(inside(ben, &id, &ids).await, []);
    assert_eq!(inside(ann, &seed.album_id(), &ids).await, []);
}

pub(crate) async fn another_accounts_album_is_unknown(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let image = seed.image(ann.account, Photo::at_second(1)).await;
    let id = seed.album(ann, "Mine", &[image]).await;
    assert_eq!(seed.store().album(ben, &id).await.unwrap(), None);
    let retitled = AlbumChange { title: Some(title("Ours")), ..AlbumChange::default() };
    assert_eq!(change(seed, ben, &id, retitled, 1).await, AlbumWrite::NoAlbum);
    assert!(!seed.store().delete_album(ben, &id).await.unwrap());
    let filter = Filter { album: Some(id.clone()), ..Default::default() };
    assert_eq!(filtered(seed, ben, filter).await, []);
    assert_eq!(album(seed, ann, &id).await.title, "Mine");
}

pub(crate) async fn an_unused_id_is_no_album(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.album_id();
    assert_eq!(seed.store().album(ann, &id).await.unwrap(), None);
    assert_eq!(change(seed, ann, &id, add(vec!["nothing".to_owned()]), 1).await, AlbumWrite::NoAlbum);
    assert!(!seed.store().delete_album(ann, &id).await.unwrap());
    let filter = Filter { album: Some(id.clone()), ..Default::default() };
    assert_eq!(filtered(seed, ann, filter).await, []);
}

pub(crate) async fn updated_at_is_set_only_by_real_changes(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..3).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "Mine", &ids[..1]).await;
    let same_title = AlbumChange { title: Some(title("Mine")), ..AlbumChange::default() };
    let steps = [
        (add(id_strings(&ids[..1])), 1, 0, "it is in the album already"),
        (remove(id_strings(&ids[2..])), 1, 0, "it is not in the album"),
        (same_title, 1, 0, "the same title"),
        (add(id_strings(&ids[..2])), 2, 4, "one is new"),
        (remove(id_strings(&ids[..1])), 1, 5, "one is removed"),
        (AlbumChange { title: Some(title("Ours")), ..AlbumChange::default() }, 1, 6, "another title"),
        (
            AlbumChange {
                add: id_strings(&ids[2..]),
                remove: id_strings(&ids[1..2]),
                ..AlbumChange::default()
            },
            1,
            7,
            "one is replaced",
        ),
    ];
    for (at, (step, count, updated, why)) in (1..).zip(steps) {
        let AlbumWrite::Done(now) = change(seed, ann, &id, step, at).await else { panic!("{why}") };
        assert_eq!((now.image_count, now.updated_at, now.created_at), (count, second(updated), NOW), "{why}");
        assert_eq!(album(seed, ann, &id).await, now);
    }
    assert_eq!(album(seed, ann, &id).await.cover, Some(ids[2].clone()));
}

pub(crate) async fn a_foreign_image_takes_precedence_over_an_unknown_one(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let own = id_strings(&[seed.image(ann.account, Photo::at_second(1)).await]);
    let foreign = id_strings(&[seed.image(ben.account, Photo::at_second(1)).await]);
    let unknown = vec!["nobody-has-this".to_owned()];
    let malformed = vec!["../../é \" '".to_owned()];
    let id = seed.album(ann, "Mine", &[]).await;
    let before = album(seed, ann, &id).await;
    let cases = [
        ([&own, &unknown, &foreign], AlbumWrite::ForeignImage),
        ([&foreign, &unknown, &own], AlbumWrite::ForeignImage),
        ([&own, &unknown, &own], AlbumWrite::UnknownImage),
        ([&malformed, &own, &own], AlbumWrite::UnknownImage),
        ([&malformed, &own, &foreign], AlbumWrite::ForeignImage),
    ];
    for (ids, expected) in cases {
        let ids: Vec<String> = ids.into_iter().flatten().cloned().collect();
        assert_eq!(change(seed, ann, &id, add(ids.clone()), 5).await, expected);
        assert_eq!(change(seed, ann, &id, remove(ids.clone()), 5).await, expected);
        assert_eq!(seed.store().create_album(ann, new_album(seed, ids)).await.unwrap(), expected);
    }
    let mixed =
        AlbumChange { title: Some(title("Ours")), add: own, remove: foreign, ..AlbumChange::default() };
    assert_eq!(change(seed, ann, &id, mixed, 5).await, AlbumWrite::ForeignImage);
    assert_eq!(album(seed, ann, &id).await, before, "nothing changed");
    assert_eq!(albums(seed, ann, 50, 0).await.total, 1);
}

pub(crate) async fn a_deleted_image_is_unknown_to_albums(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let image = seed.image(ann.account, Photo::at_second(1)).await;
    delete(seed, ann, &image, second(2)).await;
    for viewer in [ann, ben] {
        let new = new_album(seed, id_strings(std::slice::from_ref(&image)));
        assert_eq!(seed.store().create_album(viewer, new).await.unwrap(), AlbumWrite::UnknownImage);
    }
}

pub(crate) async fn counts_and_covers_follow_deletion_and_restoration(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..3).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "Mine", &ids).await;
    let other = seed.album(ann, "Other", &ids[2..]).await;
    delete(seed, ann, &ids[2], second(9)).await;
    let seen = album(seed, ann, &id).await;
    assert_eq!((seen.image_count, seen.cover, seen.updated_at), (2, Some(ids[1].clone()), NOW));
    assert_eq!(album(seed, ann, &other).await.image_count, 0);
    seed.store().restore_image(ann.account, &ids[2]).await.unwrap();
    let seen = album(seed, ann, &id).await;
    assert_eq!((seen.image_count, seen.cover), (3, Some(ids[2].clone())), "it is restored in its albums");
    assert_eq!(album(seed, ann, &other).await.image_count, 1);
}

pub(crate) async fn deleting_an_album_keeps_its_images(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..2).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "Mine", &ids).await;
    assert!(seed.store().delete_album(ann, &id).await.unwrap());
    assert!(!seed.store().delete_album(ann, &id).await.unwrap());
    assert_eq!(seed.store().album(ann, &id).await.unwrap(), None);
    assert_eq!(filtered(seed, ann, Filter::default()).await, newest_first(&ids));
}

pub(crate) async fn an_account_has_at_most_500_albums(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let mut last = seed.album(ann, "First", &[]).await;
    for _ in 1..MAX_ALBUMS_PER_ACCOUNT {
        last = seed.album(ann, "One more", &[]).await;
    }
    let foreign = id_strings(&[seed.image(ben.account, Photo::at_second(1)).await]);
    for images in [Vec::new(), foreign] {
        let outcome = seed.store().create_album(ann, new_album(seed, images)).await.unwrap();
        assert_eq!(outcome, AlbumWrite::TooManyAlbums);
    }
    seed.album(ben, "Another's", &[]).await;
    assert_eq!(albums(seed, ann, 100, 450).await.albums.len(), 50);
    seed.store().delete_album(ann, &last).await.unwrap();
    seed.album(ann, "In its place", &[]).await;
}

pub(crate) async fn a_title_may_contain_any_characters(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let hundred = "𝄞é".repeat(50);
    for wanted in ["'; DROP TABLE albums; --", "\u{1F468}\u{200D}\u{1F469}", hundred.as_str()] {
        let id = seed.album(ann, wanted, &[]).await;
        assert_eq!(album(seed, ann, &id).await.title, wanted);
    }
}

pub(crate) async fn an_album_holds_thousands_of_images(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..1200).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "All", &[]).await;
    for batch in ids.chunks(100) {
        assert!(matches!(change(seed, ann, &id, add(id_strings(batch)), 1).await, AlbumWrite::Done(_)));
    }
    let seen = album(seed, ann, &id).await;
    assert_eq!((seen.image_count, seen.cover), (1200, ids.last().cloned()));
}

fn set_cover(cover: AlbumCover) -> AlbumChange {
    AlbumChange { cover: Some(cover), ..AlbumChange::default() }
}

fn cover_of(image: &ImageId) -> AlbumChange {
    set_cover(AlbumCover::Image(image.to_string()))
}

pub(crate) async fn a_chosen_cover_is_shown_while_it_is_visible(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..4).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "Mine", &ids[..3]).await;
    let newest = Some(ids[2].clone());
    let AlbumWrite::Done(seen) = change(seed, ann, &id, cover_of(&ids[0]), 5).await else { panic!() };
    assert_eq!((seen.cover.as_ref(), seen.is_cover_chosen), (Some(&ids[0]), true));
    assert_eq!((seen.updated_at, album(seed, ann, &id).await), (second(5), seen.clone()));
    change(seed, ann, &id, cover_of(&ids[0]), 6).await;
    assert_eq!(album(seed, ann, &id).await.updated_at, second(5), "the same cover");

    delete(seed, ann, &ids[0], second(9)).await;
    let seen = album(seed, ann, &id).await;
    assert_eq!((&seen.cover, seen.is_cover_chosen), (&newest, false), "it is deleted");
    seed.store().restore_image(ann.account, &ids[0]).await.unwrap();
    assert_eq!(album(seed, ann, &id).await.cover, Some(ids[0].clone()));
    change(seed, ann, &id, remove(id_strings(&ids[..1])), 7).await;
    change(seed, ann, &id, add(id_strings(&ids[..1])), 8).await;
    assert_eq!(album(seed, ann, &id).await.cover, newest, "removing the cover forgets the choice");

    change(seed, ann, &id, cover_of(&ids[1]), 9).await;
    change(seed, ann, &id, set_cover(AlbumCover::Newest), 10).await;
    assert_eq!(album(seed, ann, &id).await.cover, newest);
    let ben = seed.account(Plan::Paid).await;
    let foreign = seed.image(ben.account, Photo::at_second(1)).await;
    for other in [ids[3].clone(), foreign, seed.image_id()] {
        assert_eq!(change(seed, ann, &id, cover_of(&other), 11).await, AlbumWrite::UnknownImage);
    }
    delete(seed, ann, &ids[1], second(12)).await;
    assert_eq!(change(seed, ann, &id, cover_of(&ids[1]), 13).await, AlbumWrite::UnknownImage);
    assert_eq!(album(seed, ann, &id).await.updated_at, second(10), "nothing changed");
}

pub(crate) async fn a_cover_outside_the_free_window_is_not_shown(seed: &Seed) {
    let ann = seed.account(Plan::Free).await;
    let ids = seed.images(ann.account, (0..5).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "Mine", &ids).await;
    change(seed, ann, &id, cover_of(&ids[0]), 5).await;
    assert_eq!(album(seed, ann, &id).await.cover, Some(ids[0].clone()));
    seed.image(ann.account, Photo::at_second(9)).await;
    assert_eq!(album(seed, ann, &id).await.cover, Some(ids[4].clone()));
    assert_eq!(change(seed, ann, &id, cover_of(&ids[0]), 6).await, AlbumWrite::UnknownImage);
}

pub(crate) async fn an_album_is_paged_in_both_orders(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, (0..6).map(Photo::at_second).collect()).await;
    let id = seed.album(ann, "Mine", &ids).await;
    delete(seed, ann, &ids[4], second(9)).await;
    assert_eq!(album(seed, ann, &id).await.order, AlbumOrder::NewestFirst);
    let oldest_first = AlbumChange { order: Some(AlbumOrder::OldestFirst), ..AlbumChange::default() };
    for (at, updated) in [(3, 3), (4, 3)] {
        change(seed, ann, &id, oldest_first.clone(), at).await;
        let seen = album(seed, ann, &id).await;
        assert_eq!((seen.order, seen.updated_at), (AlbumOrder::OldestFirst, second(updated)));
    }
    let page = async |range, order, size| {
        let page = seed.store().album_images(ann, &id, range, order, limit(size)).await.unwrap().unwrap();
        page.into_iter().map(|image| ids.iter().position(|id| *id == image.id).unwrap()).collect::<Vec<_>>()
    };
    let all = DateRange::default();
    assert_eq!(page(all, TimelineOrder::NewestFirst, 3).await, [5, 3, 2]);
    assert_eq!(page(all, TimelineOrder::OldestFirst, 3).await, [0, 1, 2]);
    assert_eq!(page(seconds(2, 4), TimelineOrder::OldestFirst, 100).await, [2, 3]);
    assert_eq!(page(seconds(2, 4), TimelineOrder::NewestFirst, 1).await, [3]);
    let foreign =
        seed.store().album_images(ben, &id, all, TimelineOrder::NewestFirst, limit(3)).await.unwrap();
    assert_eq!(foreign, None);
}

pub(crate) async fn the_albums_of_an_image_are_listed(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, (0..2).map(Photo::at_second).collect()).await;
    let first = seed.album(ann, "First", &ids).await;
    seed.album(ann, "Empty", &[]).await;
    let second_album = seed.album(ann, "Second", &ids[..1]).await;
    let names = async |viewer, image| {
        let albums = seed.store().albums_of_image(viewer, image).await.unwrap();
        albums.into_iter().map(|album| (album.id, album.title)).collect::<Vec<_>>()
    };
    let first = (first, "First".to_owned());
    assert_eq!(names(ann, &ids[0]).await, [(second_album, "Second".to_owned()), first.clone()]);
    assert_eq!(names(ann, &ids[1]).await, [first]);
    assert_eq!(names(ben, &ids[0]).await, []);
    delete(seed, ann, &ids[0], second(9)).await;
    assert_eq!(names(ann, &ids[0]).await, []);
}
