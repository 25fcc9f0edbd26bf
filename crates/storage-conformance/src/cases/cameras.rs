use domain::{DateRange, Filter, ImageId, Plan};
use storage::{IndexedImage, NameKind, TextColumns, Viewer};

use super::{
    reindex::{outdated_job, reindexed},
    vectors::{add_vectors, all, ids_of, visible},
};
use crate::{
    DECODERS, Photo, Seed,
    queries::{circle, delete, filtered, matches_in, newest_first, second, seconds},
};

const CANON: &str = "Canon EOS R5";
const PIXEL: &str = "Google Pixel 8";

fn canon(at: i64) -> Photo {
    Photo::at_second(at).camera(Some("Canon"), Some(CANON)).description("sea").position(10.0, 20.0)
}

fn pixel(at: i64) -> Photo {
    Photo::at_second(at).camera(Some("Google"), Some("Pixel 8")).description("sea").position(10.0, 20.0)
}

fn of(camera: &str) -> Filter {
    Filter { cameras: Some(vec![camera.to_owned()]), ..Filter::default() }
}

async fn with_sea(seed: &Seed, viewer: Viewer, filter: &Filter) -> Vec<ImageId> {
    let found = matches_in(seed, viewer, &["sea"], TextColumns::ContentAndContext, filter).await;
    found.into_iter().map(|found| found.id).collect()
}

async fn cameras(seed: &Seed, viewer: Viewer, max: u32) -> Vec<String> {
    seed.store().names(viewer, NameKind::Camera, max).await.unwrap()
}

/// The number of images of a camera, if there are at most `max`.
async fn count(seed: &Seed, viewer: Viewer, camera: &str, range: DateRange, max: u32) -> Option<usize> {
    let filter = Filter { range, ..of(camera) };
    let keys = seed.store().candidate_image_keys(viewer, &filter, max).await.unwrap();
    keys.map(|keys| keys.len())
}

pub(crate) async fn a_camera_narrows_every_search(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let without = Photo::at_second(6).camera(None, None).description("sea").position(10.0, 20.0);
    let far = canon(5).position(50.0, 20.0);
    let ids = seed.images(ann.account, vec![canon(1), pixel(2), canon(3), pixel(4), far, without]).await;
    let album = seed.album(ann, "Some", &[&ids[1..3], &ids[4..]].concat()).await;
    let near = Some(circle(10.0, 20.0, 100.0));
    let eye = add_vectors(seed, "eye").await;
    let vectors = ids_of(&all(seed, ann, eye).await);
    let cases = [
        (of(CANON), vec![5, 3, 1]),
        (of(PIXEL), vec![4, 2]),
        (Filter { range: seconds(2, 4), ..of(CANON) }, vec![3]),
        (Filter { circle: near, ..of(CANON) }, vec![3, 1]),
        (Filter { circle: near, range: seconds(2, 9), ..of(CANON) }, vec![3]),
        (Filter { album: Some(album.clone()), ..of(CANON) }, vec![5, 3]),
        (Filter { album: Some(album.clone()), circle: near, ..of(CANON) }, vec![3]),
        (of("Canon"), vec![]),
        (of("EOS R5"), vec![]),
        (of(""), vec![]),
    ];
    for (filter, expect) in cases {
        let expected: Vec<ImageId> =
            expect.iter().map(|second: &u8| ids[usize::from(*second) - 1].clone()).collect();
        assert_eq!(filtered(seed, ann, &filter).await, expected, "{filter:?}");
        assert_eq!(with_sea(seed, ann, &filter).await, expected, "{filter:?}");
        let mut numbers = expect;
        numbers.reverse();
        assert_eq!(visible(seed, ann, eye, &vectors, &filter).await, numbers, "{filter:?}");
    }
}

pub(crate) async fn only_visible_images_of_a_camera_are_found(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let ids = seed.images(ann.account, vec![canon(1), canon(2), canon(3), pixel(4)]).await;
    let bens = seed.images(ben.account, vec![canon(9)]).await;
    assert_eq!(filtered(seed, ben, of(CANON)).await, bens);
    let range = DateRange::default();
    assert_eq!(count(seed, ann, CANON, range, 3).await, Some(3));
    assert_eq!(count(seed, ann, CANON, range, 2).await, None);
    assert_eq!(count(seed, ann, CANON, seconds(2, 3), 2).await, Some(2));
    delete(seed, ann, &ids[1], second(9)).await;
    assert_eq!(filtered(seed, ann, of(CANON)).await, [ids[2].clone(), ids[0].clone()]);
    assert_eq!(count(seed, ann, CANON, range, 2).await, Some(2));
    let free = Viewer { free_window: 2, plan: Plan::Free, ..ann };
    assert_eq!(filtered(seed, free, of(CANON)).await, ids[2..3]);
    assert_eq!(with_sea(seed, free, &of(CANON)).await, ids[2..3]);
    assert_eq!(count(seed, free, CANON, range, 2).await, Some(1));
    seed.store().restore_image(ann.account, &ids[1]).await.unwrap();
    assert_eq!(filtered(seed, ann, of(CANON)).await, newest_first(&ids[..3]));
}

/// Other cameras have more images than the number of index hits that a search checks.
pub(crate) async fn a_camera_of_many_images_is_searched_by_words(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let old = (0..3).map(canon);
    let rest = (3..5200).map(|at| Photo::at_second(at).description("sea"));
    let ids = seed.images(ann.account, old.chain(rest).collect()).await;
    assert_eq!(with_sea(seed, ann, &of(CANON)).await, newest_first(&ids[..3]));
    let newest: Vec<ImageId> = newest_first(&ids[5100..]);
    assert_eq!(with_sea(seed, ann, &of("Acme Pinhole 1")).await, newest);
}

pub(crate) async fn cameras_are_listed_by_their_newest_image(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    assert_eq!(cameras(seed, ann, 10).await, [""; 0]);
    let zorki = Photo::at_second(3).camera(Some("Zorki"), None);
    let umlaut = Photo::at_second(2).camera(None, Some("Ähnlich"));
    let ids = seed
        .images(
            ann.account,
            vec![canon(1), umlaut, zorki, pixel(4), canon(5), Photo::at_second(6).camera(None, None)],
        )
        .await;
    seed.images(ben.account, vec![Photo::at_second(7)]).await;
    assert_eq!(cameras(seed, ann, 10).await, [CANON, PIXEL, "Zorki", "Ähnlich"]);
    assert_eq!(cameras(seed, ann, 2).await, [CANON, PIXEL], "the first ones by name");
    assert_eq!(cameras(seed, ben, 10).await, ["Acme Pinhole 1"]);
    delete(seed, ann, &ids[4], second(9)).await;
    delete(seed, ann, &ids[2], second(9)).await;
    assert_eq!(cameras(seed, ann, 10).await, [PIXEL, "Ähnlich", CANON]);
    let free = Viewer { free_window: 3, plan: Plan::Free, ..ann };
    assert_eq!(cameras(seed, free, 10).await, [PIXEL, "Ähnlich"], "the window has three images");
}

pub(crate) async fn the_camera_follows_the_file(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, canon(1)).await;
    let job = outdated_job(seed, "w", &id).await;
    let found = IndexedImage { decoder_version: DECODERS + 1, ..reindexed(&pixel(1)) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    assert_eq!(cameras(seed, ann, 10).await, [PIXEL]);
    assert_eq!(filtered(seed, ann, of(CANON)).await, []);
    assert_eq!(filtered(seed, ann, of(PIXEL)).await, [id]);
}
