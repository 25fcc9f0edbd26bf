use std::collections::HashSet;

use domain::{AlbumId, DateRange, Filter, ListQuery, Plan, Timestamp};
use fastrand::Rng;

use crate::{
    NOW, Photo, Seed,
    queries::{
        circle, delete, filtered, ids, limit, list_all, newest_first, page, second, seconds, timeline,
    },
    random_photos,
};

pub(crate) async fn images_are_listed_newest_first(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, [3, 1, 2].map(Photo::at_second).to_vec()).await;
    let expected = [0, 2, 1].map(|at| ids[at].clone());
    assert_eq!(timeline(seed, ann).await, expected);
    assert_eq!(filtered(seed, ann, Filter::default()).await, expected);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 3);
}

pub(crate) async fn a_page_is_no_longer_than_its_limit(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..120).map(Photo::at_second).collect()).await;
    let newest = newest_first(&ids);
    for count in [1, 2, 50, 100] {
        let query = ListQuery { limit: limit(count), ..ListQuery::default() };
        assert_eq!(page(seed, ann, query).await, newest[..usize::try_from(count).unwrap()]);
    }
}

pub(crate) async fn an_empty_library_has_empty_pages(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    assert_eq!(timeline(seed, ann).await, []);
    assert_eq!(filtered(seed, ann, Filter::default()).await, []);
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 0);
}

/// A library with bursts of equal capture times, some longer than a page.
async fn bursts(seed: &Seed, account: domain::AccountId) -> HashSet<domain::ImageId> {
    let mut random = Rng::with_seed(11);
    let mut photos = Vec::new();
    while photos.len() < 400 {
        let moment = second(random.i64(0..20));
        let length = random.usize(0..60);
        photos.extend(vec![Photo::at(moment); length]);
    }
    seed.images(account, photos).await.into_iter().collect()
}

pub(crate) async fn paging_by_end_date_reaches_every_image(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = bursts(seed, ann.account).await;
    for page_size in [2, 37, 100] {
        let images = list_all(seed, ann, page_size).await;
        assert!(images.is_sorted_by(|a, b| a.captured_at > b.captured_at), "pages of {page_size}");
        assert_eq!(images.into_iter().map(|image| image.id).collect::<HashSet<_>>(), ids);
    }
}

pub(crate) async fn a_range_includes_both_ends(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..10).map(Photo::at_second).collect()).await;
    let album = seed.album(ann, "All", &ids).await;
    let ranges = [
        (seconds(3, 6), 3..7),
        (seconds(4, 4), 4..5),
        (DateRange::new(Some(second(8)), None).unwrap(), 8..10),
        (DateRange::new(None, Some(second(1))).unwrap(), 0..2),
        (DateRange::new(Some(second(3).plus_millis(1)), Some(second(4).plus_millis(-1))).unwrap(), 0..0),
        (DateRange::new(Some(second(10)), Some(Timestamp::MAX)).unwrap(), 0..0),
    ];
    for (range, expected) in ranges {
        let expected = newest_first(&ids[expected]);
        let filter = Filter { range, ..Filter::default() };
        let query = ListQuery { filter: filter.clone(), ..ListQuery::default() };
        assert_eq!(page(seed, ann, query).await, expected, "{range:?}");
        assert_eq!(filtered(seed, ann, filter).await, expected, "{range:?}");
        let filter = Filter { range, album: Some(album.clone()), ..Default::default() };
        assert_eq!(filtered(seed, ann, filter).await, expected, "{range:?}");
    }
}

pub(crate) async fn lists_contain_own_images_only(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let anns = seed.images(ann.account, (0..3).map(Photo::at_second).collect()).await;
    let bens = seed.images(ben.account, (0..3).map(Photo::at_second).collect()).await;
    assert_eq!(timeline(seed, ann).await, newest_first(&anns));
    assert_eq!(timeline(seed, ben).await, newest_first(&bens));
}

pub(crate) async fn a_listed_circle_filters_the_newest_thousand(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let oldest = seed.image(ann.account, Photo::at_second(0).position(10.0, 10.0)).await;
    let older = seed.image(ann.account, Photo::at_second(1).position(10.0, 10.0)).await;
    seed.images(ann.account, (2..1001).map(Photo::at_second).collect()).await;
    let filter = Filter { circle: Some(circle(10.0, 10.0, 100.0)), ..Filter::default() };
    let query = ListQuery { limit: limit(5), filter: filter.clone(), ..ListQuery::default() };
    let found = seed.store().page_images(ann, &query).await.unwrap();
    assert_eq!(found.len(), 1, "one of the two is the thousandth image, the other is older");
    assert_eq!((&found[0].image.id, found[0].distance_m), (&older, Some(0.0)));
    assert_eq!(filtered(seed, ann, &filter).await, [older, oldest.clone()], "a search checks all images");
    let ranged = ListQuery { filter: Filter { range: seconds(0, 0), ..filter }, ..query };
    assert_eq!(page(seed, ann, ranged).await, [oldest], "the thousand newest are those of the range");
}

pub(crate) async fn distances_are_returned_with_a_circle_only(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.image(ann.account, Photo::at_second(0).position(0.0, 1.0)).await;
    let list = |circle| {
        let filter = Filter { circle, ..Filter::default() };
        ListQuery { filter, ..ListQuery::default() }
    };
    let store = seed.store();
    assert_eq!(store.page_images(ann, &list(None)).await.unwrap()[0].distance_m, None);
    let near = Some(circle(0.0, 0.0, 200_000.0));
    let listed = store.page_images(ann, &list(near)).await.unwrap()[0].distance_m.unwrap();
    assert!((listed - 111_195.0).abs() < 1.0, "{listed}");
    let filter = Filter { circle: near, ..Filter::default() };
    let searched = store.filter_images(ann, &filter, limit(5)).await.unwrap()[0].distance_m;
    assert_eq!(searched, Some(listed));
}

pub(crate) async fn a_random_library_is_listed_in_order(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = random_photos(500, NOW, 3);
    let ids = seed.images(ann.account, photos).await;
    let images = list_all(seed, ann, 100).await;
    assert_eq!(images.len(), ids.len());
    assert_eq!(seed.store().count_images(ann).await.unwrap(), 500);
}

pub(crate) async fn several_filters_have_their_newest_images(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let mut photos = Vec::new();
    for at in 0..24_i64 {
        let photo = Photo::at_second(at).place(if at % 2 == 0 { "There, Nowhere" } else { "Here, Nowhere" });
        photos.push(if at % 3 == 0 { photo.camera(Some("Canon"), Some("EOS R5")) } else { photo });
    }
    seed.images(ann.account, photos).await;
    seed.image(ben.account, Photo::at_second(99).place("Here, Nowhere")).await;
    let of_place = |name: &str| Filter { places: Some(vec![name.to_owned()]), ..Filter::default() };
    let of_cameras = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Filter { cameras: Some(names), ..Filter::default() }
    };
    let within = |range| Filter { range, ..Filter::default() };
    let mut filters = vec![
        of_place("Here, Nowhere"),
        of_place("Far, Away"),
        of_cameras(&["Canon EOS R5", "Other"]),
        within(seconds(3, 5)),
        within(seconds(50, 60)),
        Filter { favorite: Some(true), ..Filter::default() },
        Filter { archived: Some(false), ..of_place("There, Nowhere") },
        Filter { album: AlbumId::parse("0123456789abcdef"), ..Filter::default() },
    ];
    // More than one statement has.
    filters.extend((0..24).map(|at| within(seconds(at, at))));
    for viewer in [ann, ben] {
        for each in [1, 2, 100] {
            let found = seed.store().newest_of_each(viewer, &filters, limit(each)).await.unwrap();
            assert_eq!(found.len(), filters.len());
            for (images, filter) in found.iter().zip(&filters) {
                let alone = seed.store().filter_images(viewer, filter, limit(each)).await.unwrap();
                assert_eq!(
                    images.iter().map(|image| &image.id).collect::<Vec<_>>(),
                    ids(&alone).iter().collect::<Vec<_>>()
                );
            }
        }
    }
    assert_eq!(seed.store().newest_of_each(ann, &[], limit(1)).await.unwrap(), [[]; 0]);
}

pub(crate) async fn images_that_were_added_last_come_first(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Free).await);
    let added = seed.images(ann.account, [5, 3, 9, 1].map(Photo::at_second).into()).await;
    seed.image(ben.account, Photo::at_second(7)).await;
    let last = async |viewer, max| {
        let images = seed.store().added_last(viewer, max).await.unwrap();
        images.into_iter().map(|image| image.id).collect::<Vec<_>>()
    };
    assert_eq!(last(ann, 10).await, newest_first(&added));
    assert_eq!(last(ann, 2).await, newest_first(&added)[..2]);
    delete(seed, ann, &added[3], second(20)).await;
    assert_eq!(last(ann, 1).await, [added[2].clone()]);
    assert_eq!(last(ben, 10).await.len(), 1);
}
