use domain::{Circle, Filter, ImageId, MAX_RADIUS_M, Plan, Position};
use fastrand::Rng;
use storage::Viewer;

use crate::{
    NOW, Photo, Seed,
    queries::{circle, delete, filtered, limit, newest_first, second, seconds},
    random::between,
    random_photos,
};

async fn at_places(seed: &Seed, viewer: Viewer, places: &[(f64, f64)]) -> Vec<ImageId> {
    let photos =
        (0..).zip(places).map(|(at, (lat, lon))| Photo::at_second(at).position(*lat, *lon)).collect();
    seed.images(viewer.account, photos).await
}

async fn inside(seed: &Seed, viewer: Viewer, circle: Circle) -> Vec<ImageId> {
    filtered(seed, viewer, Filter { circle: Some(circle), ..Default::default() }).await
}

pub(crate) async fn a_circle_includes_its_boundary(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = at_places(seed, ann, &[(10.0, 20.0), (10.5, 20.0)]).await;
    let from = Position::new(10.0, 20.0).unwrap();
    let rim_m = from.distance_m(Position::new(10.5, 20.0).unwrap());
    assert_eq!(inside(seed, ann, circle(10.0, 20.0, rim_m)).await, newest_first(&ids));
    assert_eq!(inside(seed, ann, circle(10.0, 20.0, rim_m - 0.001)).await, ids[..1]);
}

pub(crate) async fn an_image_without_a_position_is_in_no_circle(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    seed.image(ann.account, Photo::at_second(1)).await;
    assert_eq!(inside(seed, ann, circle(0.0, 0.0, MAX_RADIUS_M)).await, []);
}

pub(crate) async fn a_circle_may_cross_the_antimeridian(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let places = [(-17.0, 179.95), (-17.0, -179.95), (-17.0, 180.0), (-17.0, -180.0), (-17.0, 178.0)];
    let ids = at_places(seed, ann, &places).await;
    for centre in [179.99, -179.99, 180.0, -180.0] {
        let found = inside(seed, ann, circle(-17.0, centre, 20_000.0)).await;
        assert_eq!(found, newest_first(&ids[..4]), "{centre}");
    }
}

pub(crate) async fn a_circle_may_include_a_pole(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let places = [(89.9, 0.0), (89.9, 120.0), (89.9, -120.0), (90.0, 77.0), (89.0, 0.0), (-89.9, 0.0)];
    let ids = at_places(seed, ann, &places).await;
    assert_eq!(inside(seed, ann, circle(90.0, 0.0, 20_000.0)).await, newest_first(&ids[..4]));
    assert_eq!(inside(seed, ann, circle(89.95, 60.0, 20_000.0)).await, newest_first(&ids[..4]));
    assert_eq!(inside(seed, ann, circle(-90.0, 0.0, 20_000.0)).await, ids[5..]);
}

pub(crate) async fn the_largest_circle_includes_every_place(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let places = [(0.0, 0.0), (90.0, 0.0), (-90.0, 0.0), (0.0, 180.0), (-33.0, -151.0)];
    let ids = at_places(seed, ann, &places).await;
    assert_eq!(inside(seed, ann, circle(0.0, 0.0, MAX_RADIUS_M)).await, newest_first(&ids));
}

pub(crate) async fn a_circle_contains_own_images_only(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let anns = at_places(seed, ann, &[(10.0, 20.0)]).await;
    let bens = at_places(seed, ben, &[(10.0, 20.0)]).await;
    assert_eq!(inside(seed, ann, circle(10.0, 20.0, 10.0)).await, anns);
    assert_eq!(inside(seed, ben, circle(10.0, 20.0, 10.0)).await, bens);
}

pub(crate) async fn a_circle_combines_with_range_album_and_deletion(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids =
        at_places(seed, ann, &[(10.0, 20.0), (10.0, 20.0), (10.0, 20.0), (10.0, 20.0), (50.0, 20.0)]).await;
    let album = seed.album(ann, "Some", &[ids[1].clone(), ids[2].clone(), ids[4].clone()]).await;
    let near = Some(circle(10.0, 20.0, 10.0));
    let range = seconds(1, 2);
    let filter = Filter { circle: near, range, ..Default::default() };
    assert_eq!(filtered(seed, ann, filter).await, newest_first(&ids[1..3]));
    let filter = Filter { circle: near, album: Some(album.clone()), ..Default::default() };
    assert_eq!(filtered(seed, ann, filter).await, newest_first(&ids[1..3]));
    let filter =
        Filter { circle: near, album: Some(album.clone()), range: seconds(2, 9), ..Filter::default() };
    assert_eq!(filtered(seed, ann, &filter).await, ids[2..3]);
    delete(seed, ann, &ids[2], second(99)).await;
    assert_eq!(filtered(seed, ann, filter).await, []);
    assert_eq!(inside(seed, ann, circle(10.0, 20.0, 10.0)).await, [3, 1, 0].map(|at| ids[at].clone()));
}

/// The expected result: the newest `count` photos in the circle, or of a camera model, found by checking every photo.
fn model(
    photos: &[(Photo, ImageId)],
    circle: Circle,
    camera_model: Option<&str>,
    count: usize,
) -> Vec<ImageId> {
    let inside = |photo: &Photo| {
        photo.position.is_some_and(|position| circle.contains(position))
            && (camera_model.is_none() || photo.camera[1] == camera_model)
    };
    let inside = photos.iter().rev().filter(|(photo, _)| inside(photo));
    inside.take(count).map(|(_, id)| id.clone()).collect()
}

async fn check_circle(seed: &Seed, viewer: Viewer, photos: &[(Photo, ImageId)], circle: Circle) {
    let counts_and_cameras =
        [(1, None), (20, None), (100, None), (50, Some("NIKON D750")), (1, Some("no camera"))];
    for (count, camera) in counts_and_cameras {
        let filter = Filter {
            circle: Some(circle),
            cameras: camera.map(|name| vec![name.to_owned()]),
            ..Default::default()
        };
        let found = seed.store().filter_images(viewer, &filter, limit(count)).await.unwrap();
        let found: Vec<ImageId> = found.into_iter().map(|found| found.image.id).collect();
        assert_eq!(found, model(photos, circle, camera, usize::try_from(count).unwrap()), "{circle:?}");
    }
}

/// Seeds photos with distinct capture times and returns them with their ids.
async fn seed_apart(seed: &Seed, viewer: Viewer, mut photos: Vec<Photo>) -> Vec<(Photo, ImageId)> {
    for (at, photo) in (0..).zip(&mut photos) {
        photo.captured_at = second(at);
    }
    let ids = seed.images(viewer.account, photos.clone()).await;
    photos.into_iter().zip(ids).collect()
}

pub(crate) async fn circles_in_a_random_library_agree_with_a_model(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = seed_apart(seed, ann, random_photos(600, NOW, 5)).await;
    let mut random = Rng::with_seed(17);
    for _ in 0..60 {
        let centre =
            random.choice(&photos).unwrap().0.position.unwrap_or(Position::new(-18.0, 180.0).unwrap());
        let radius_m = 10_f64.powf(between(&mut random, 2.0, 7.3));
        check_circle(seed, ann, &photos, Circle::new(centre, radius_m).unwrap()).await;
    }
}

pub(crate) async fn huge_circles_in_a_large_library_agree_with_a_model(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let mut random = Rng::with_seed(29);
    let mut photos = random_photos(5400, NOW, 6);
    for photo in photos.iter_mut().filter(|photo| photo.position.is_none()) {
        let place = Position::new(between(&mut random, -90.0, 90.0), between(&mut random, -180.0, 180.0));
        photo.position = Some(place.unwrap());
    }
    let photos = seed_apart(seed, ann, photos).await;
    for radius_m in [30_000.0, 500_000.0, 4_000_000.0, 12_000_000.0, MAX_RADIUS_M] {
        for (latitude, longitude) in [(52.52, 13.4), (-18.14, 178.44), (88.0, 0.0), (-1.3, 36.8)] {
            check_circle(seed, ann, &photos, circle(latitude, longitude, radius_m)).await;
        }
    }
}
