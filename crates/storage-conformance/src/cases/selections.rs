use domain::{AlbumId, Filter, ImageId, Plan, Selection, Timestamp};
use storage::{SelectionCount, SelectionCursor, SelectionStep, Viewer};

use crate::{
    Photo, Seed,
    queries::{delete, filtered, id_strings, matching, newest_first, place, places, second, timeline},
};

fn selection(ids: &[ImageId], ranges: &[(i64, i64)], except: &[ImageId]) -> Selection {
    let ranges = ranges.iter().map(|(first, last)| places(*first, *last)).collect();
    Selection::new(id_strings(ids), ranges, id_strings(except)).unwrap()
}

fn count_of(count: u32, newest: i64, oldest: i64) -> SelectionCount {
    SelectionCount { count, newest: Some(place(newest)), oldest: Some(place(oldest)) }
}

async fn count(seed: &Seed, viewer: Viewer, selection: &Selection) -> SelectionCount {
    seed.store().count_selection(viewer, selection).await.unwrap()
}

/// Deletes a selection in batches of `max`; returns the number of images.
async fn delete_all(seed: &Seed, viewer: Viewer, selection: &Selection, at: Timestamp, max: u32) -> u32 {
    let (mut changed, mut next) = (0, Some(SelectionCursor::default()));
    while let Some(cursor) = next {
        let step = seed.store().delete_selection(viewer, selection, at, cursor, max).await.unwrap();
        assert!(step.changed <= max);
        changed += step.changed;
        next = step.next;
    }
    changed
}

async fn restore_all(seed: &Seed, viewer: Viewer, selection: &Selection, at: Option<Timestamp>) -> u32 {
    let (mut changed, mut next) = (0, Some(SelectionCursor::default()));
    while let Some(cursor) = next {
        let step = seed.store().restore_selection(viewer.account, selection, at, cursor, 3).await.unwrap();
        changed += step.changed;
        next = step.next;
    }
    changed
}

pub(crate) async fn a_selection_counts_each_visible_image_once(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..20).map(Photo::at_second).collect()).await;
    delete(seed, ann, &ids[5], second(99)).await;
    let cases = [
        (selection(&ids[2..4], &[], &[]), count_of(2, 3, 2)),
        (selection(&ids[4..7], &[], &[]), count_of(2, 6, 4)),
        (selection(&[], &[(0, 19)], &[]), count_of(19, 19, 0)),
        (selection(&[], &[(-5, 3), (10, 12), (11, 13)], &[]), count_of(8, 13, 0)),
        (selection(&ids[2..9], &[(7, 10)], &[]), count_of(8, 10, 2)),
        (selection(&ids[..1], &[(7, 10)], &ids[9..]), count_of(3, 8, 0)),
        (selection(&ids[..4], &[(0, 3)], &ids[..4]), SelectionCount::default()),
        (selection(&[], &[(50, 60)], &[]), SelectionCount::default()),
    ];
    for (selection, expected) in cases {
        assert_eq!(count(seed, ann, &selection).await, expected, "{selection:?}");
    }
}

pub(crate) async fn a_selection_is_visited_in_batches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..20).map(Photo::at_second).collect()).await;
    let chosen = selection(&ids[..10], &[(8, 14), (18, 30)], &[ids[1].clone(), ids[13].clone()]);
    let mut expected: Vec<ImageId> = ids[..8].to_vec();
    expected.remove(1);
    expected.extend([19, 18, 14, 12, 11, 10, 9, 8].map(|at| ids[at].clone()));
    for max in [1, 3, 4, 100] {
        let (mut seen, mut next) = (Vec::new(), Some(SelectionCursor::default()));
        while let Some(cursor) = next {
            let (page, after) = seed.store().selected_images(ann, &chosen, cursor, max).await.unwrap();
            assert!(page.len() <= usize::try_from(max).unwrap());
            seen.extend(page.into_iter().map(|image| image.id));
            next = after;
        }
        let (by_id, by_time) = seen.split_at(7);
        let mut by_id = by_id.to_vec();
        by_id.sort_by_key(|id| ids.iter().position(|other| other == id));
        assert_eq!((&by_id[..], by_time), expected.split_at(7), "batches of {max}");
    }
}

pub(crate) async fn a_deleted_selection_is_restored_exactly(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = (0..12).map(|at| Photo::at_second(at).description("red sea")).collect();
    let ids = seed.images(ann.account, photos).await;
    let album = seed.album(ann, "Sea", &ids).await;
    delete(seed, ann, &ids[3], second(50)).await;
    let jobs = seed.store().queue_length().await.unwrap().renditions;
    let chosen = selection(&ids[10..], &[(0, 5)], &ids[..1]);
    assert_eq!(delete_all(seed, ann, &chosen, second(60), 2).await, 6);
    assert_eq!(delete_all(seed, ann, &chosen, second(61), 2).await, 0, "they are deleted already");
    let left: Vec<ImageId> = [9, 8, 7, 6, 0].map(|at| ids[at].clone()).into();
    assert_eq!(timeline(seed, ann).await, left);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 5);
    assert_eq!(matching(seed, ann, &["sea"]).await, left);
    assert_eq!(seed.store().album(ann, &album).await.unwrap().unwrap().image_count, 5);
    assert_eq!(seed.store().queue_length().await.unwrap().renditions, jobs - 6);

    assert_eq!(restore_all(seed, ann, &chosen, Some(second(61))).await, 0);
    assert_eq!(restore_all(seed, ann, &chosen, Some(second(60))).await, 6);
    let mut all = newest_first(&ids);
    all.retain(|id| *id != ids[3]);
    assert_eq!(timeline(seed, ann).await, all, "the one that was deleted before stays deleted");
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 11);
    assert_eq!(matching(seed, ann, &["sea"]).await, all);
    assert_eq!(seed.store().album(ann, &album).await.unwrap().unwrap().image_count, 11);
    assert_eq!(seed.store().queue_length().await.unwrap().renditions, jobs);
    assert_eq!(restore_all(seed, ann, &chosen, None).await, 1);
}

pub(crate) async fn deleting_a_selection_stays_in_the_free_window(seed: &Seed) {
    let ann = seed.account(Plan::Free).await;
    let ids = seed.images(ann.account, (0..12).map(Photo::at_second).collect()).await;
    let chosen = selection(&[ids[0].clone(), ids[11].clone(), ids[6].clone()], &[(0, 20)], &[]);
    assert_eq!(count(seed, ann, &chosen).await, count_of(5, 11, 7));
    assert_eq!(
        delete_all(seed, ann, &chosen, second(60), 1).await,
        5,
        "no image that became visible meanwhile"
    );
    assert_eq!(timeline(seed, ann).await, newest_first(&ids[2..7]));
}

pub(crate) async fn deleted_images_are_selected_by_id_and_by_time(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..6).map(Photo::at_second).collect()).await;
    for id in &ids[..5] {
        delete(seed, ann, id, second(40)).await;
    }
    assert_eq!(restore_all(seed, ann, &selection(&ids[..1], &[], &[]), None).await, 1);
    assert_eq!(restore_all(seed, ann, &selection(&[], &[(0, 2)], &[]), None).await, 2);
    assert_eq!(restore_all(seed, ann, &Selection::everything(), None).await, 2);
    assert_eq!(timeline(seed, ann).await, newest_first(&ids));
    seed.store().delete_account(ann.account, second(50)).await.unwrap();
    assert_eq!(restore_all(seed, ann, &Selection::everything(), None).await, 0);
    assert_eq!(count(seed, ann, &Selection::everything()).await, SelectionCount::default());
}

async fn add(seed: &Seed, viewer: Viewer, chosen: &Selection, album: &AlbumId) -> Option<SelectionStep> {
    let cursor = SelectionCursor::default();
    seed.store().add_selection_to_album(viewer, chosen, album, second(70), cursor, 100).await.unwrap()
}

async fn remove(seed: &Seed, viewer: Viewer, chosen: &Selection, album: &AlbumId) -> Option<SelectionStep> {
    let cursor = SelectionCursor::default();
    seed.store().remove_selection_from_album(viewer, chosen, album, second(80), cursor, 100).await.unwrap()
}

pub(crate) async fn a_selection_is_added_to_and_removed_from_an_album(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..8).map(Photo::at_second).collect()).await;
    delete(seed, ann, &ids[2], second(9)).await;
    let album = seed.album(ann, "Mine", &ids[..1]).await;
    let changed = |changed| Some(SelectionStep { changed, next: None });
    let chosen = selection(&[], &[(0, 4)], &[]);
    assert_eq!(add(seed, ann, &chosen, &album).await, changed(3));
    assert_eq!(seed.store().album(ann, &album).await.unwrap().unwrap().updated_at, second(70));
    assert_eq!(add(seed, ann, &chosen, &album).await, changed(0));
    let filter = Filter { album: Some(album.clone()), ..Default::default() };
    let expected: Vec<ImageId> = [4, 3, 1, 0].map(|at| ids[at].clone()).into();
    assert_eq!(filtered(seed, ann, filter).await, expected);
    assert_eq!(remove(seed, ann, &selection(&[], &[(3, 9)], &[]), &album).await, changed(2));
    let seen = seed.store().album(ann, &album).await.unwrap().unwrap();
    assert_eq!((seen.image_count, seen.updated_at), (2, second(80)));
    assert_eq!(add(seed, ann, &chosen, &seed.album_id()).await, None);
}

pub(crate) async fn a_selection_excludes_images_of_other_accounts(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let anns = seed.images(ann.account, (0..3).map(Photo::at_second).collect()).await;
    let bens = seed.images(ben.account, (0..3).map(Photo::at_second).collect()).await;
    let chosen = selection(&bens, &[(1, 2)], &[]);
    assert_eq!(count(seed, ann, &chosen).await, count_of(2, 2, 1));
    let bens_album = seed.album(ben, "Ben's", &bens).await;
    assert_eq!(add(seed, ann, &chosen, &bens_album).await, None);
    assert_eq!(remove(seed, ann, &chosen, &bens_album).await, None);
    assert_eq!(delete_all(seed, ann, &chosen, second(60), 2).await, 2);
    assert_eq!(timeline(seed, ben).await, newest_first(&bens));
    assert_eq!(timeline(seed, ann).await, anns[..1]);
    delete(seed, ben, &bens[0], second(60)).await;
    assert_eq!(restore_all(seed, ann, &chosen, Some(second(60))).await, 2);
    assert_eq!(timeline(seed, ben).await, newest_first(&bens[1..]));
}
