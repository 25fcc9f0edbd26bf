use std::collections::BTreeMap;

use domain::{
    DateRange, ImageId, MAX_MAP_CLUSTERS, MAX_MAP_LEVEL, MapArea, MapCell, MapPoint, Plan, Position,
};
use fastrand::Rng;
use storage::{MapCluster, StoreRule, Viewer};

use crate::{
    NOW, Photo, Seed, indexed,
    queries::{delete, limit, newest_first, second, seconds},
    random::between,
    random_photos,
};

/// A visible photo with a position: its second, its id and its point.
type Placed = (i64, ImageId, MapPoint);

fn area(west: f64, south: f64, east: f64, north: f64) -> MapArea {
    MapArea::new(west, south, east, north).unwrap()
}

/// Seeds photos at these places, one each second.
async fn at_places(seed: &Seed, viewer: Viewer, places: &[(f64, f64)]) -> Vec<Placed> {
    let photos =
        (0..).zip(places).map(|(at, (lat, lon))| Photo::at_second(at).position(*lat, *lon)).collect();
    let ids = seed.images(viewer.account, photos).await;
    (0..)
        .zip(ids)
        .zip(places)
        .map(|((at, id), (lat, lon))| (at, id, MapPoint::of(Position::new(*lat, *lon).unwrap())))
        .collect()
}

/// Some photos at random places, most of them close together.
async fn random_places(seed: &Seed, viewer: Viewer, count: usize, random: &mut Rng) -> Vec<Placed> {
    let mut places = Vec::with_capacity(count);
    for _ in 0..count {
        places.push(match random.u32(0..8) {
            0 => (between(random, -90.0, 90.0), between(random, -180.0, 180.0)),
            1 | 2 => (-16.85 + between(random, -0.1, 0.1), 179.95 + between(random, -0.2, 0.05)),
            3 => (48.8584, 2.2945),
            4 => (38.72 + between(random, -1e-4, 1e-4), -9.14 + between(random, -1e-4, 1e-4)),
            _ => (38.72 + between(random, -0.5, 0.5), -9.14 + between(random, -0.5, 0.5)),
        });
    }
    at_places(seed, viewer, &places).await
}

/// The values of a cluster that are compared.
#[derive(Debug, PartialEq)]
struct Summary {
    cell: MapCell,
    photos: usize,
    cover: ImageId,
    newest_second: i64,
    extent: MapCell,
}

fn summary(cluster: &MapCluster) -> Summary {
    Summary {
        cell: cluster.cell,
        photos: usize::try_from(cluster.photos).unwrap(),
        cover: cluster.cover.clone(),
        newest_second: (cluster.newest.millis() - NOW.millis()) / 1000,
        extent: cluster.extent,
    }
}

/// The clusters, found by looking at every photo.
fn model(photos: &[Placed], area: &MapArea, level: u8) -> Vec<Summary> {
    let cells = area.cells(level, MAX_MAP_CLUSTERS);
    let level = cells[0].level();
    let mut members: BTreeMap<MapCell, Vec<&Placed>> = BTreeMap::new();
    for photo in photos {
        let cell = MapCell::at(level, photo.2.code());
        if cells.contains(&cell) {
            members.entry(cell).or_default().push(photo);
        }
    }
    members
        .into_iter()
        .map(|(cell, photos)| {
            let newest = photos.iter().max_by_key(|photo| photo.0).unwrap();
            let codes = photos.iter().map(|photo| photo.2.code());
            Summary {
                cell,
                photos: photos.len(),
                cover: newest.1.clone(),
                newest_second: newest.0,
                extent: MapCell::enclosing(codes.clone().min().unwrap(), codes.max().unwrap()),
            }
        })
        .collect()
}

async fn check_clusters(seed: &Seed, viewer: Viewer, photos: &[Placed], area: &MapArea, level: u8) {
    let found = seed.store().map_clusters(viewer, *area, level).await.unwrap();
    assert!(found.len() <= MAX_MAP_CLUSTERS);
    assert_eq!(
        found.iter().map(summary).collect::<Vec<_>>(),
        model(photos, area, level),
        "{area:?}, level {level}"
    );
    for cluster in &found {
        let centre = MapCell::at(MAX_MAP_LEVEL, MapPoint::of(cluster.centre).code());
        assert!(
            (cluster.cell.codes().0..=cluster.cell.codes().1).contains(&centre.codes().0),
            "the centre is in the square"
        );
    }
}

async fn check_newest(seed: &Seed, viewer: Viewer, photos: &[Placed], area: &MapArea) {
    let mut inside: Vec<&Placed> = photos.iter().filter(|photo| area.contains(photo.2)).collect();
    inside.sort_unstable_by_key(|photo| -photo.0);
    let expected: Vec<&ImageId> = inside.iter().map(|photo| &photo.1).take(20).collect();
    let found = seed.store().map_images(viewer, *area, DateRange::default(), limit(20)).await.unwrap();
    assert_eq!(found.iter().map(|image| &image.id).collect::<Vec<_>>(), expected, "{area:?}");
}

/// Compares the map with a model in random areas, and checks the rows.
async fn check_map(seed: &Seed, viewer: Viewer, photos: &[Placed], random: &mut Rng) {
    for level in 0..=MAX_MAP_LEVEL {
        check_clusters(seed, viewer, photos, &MapArea::WORLD, level).await;
    }
    check_newest(seed, viewer, photos, &MapArea::WORLD).await;
    for _ in 0..12 {
        let size = 10_f64.powf(between(random, -4.0, 2.0));
        let Some((_, _, point)) = random.choice(photos) else { return };
        let centre = point.position();
        let wrap = |longitude: f64| (longitude + 180.0).rem_euclid(360.0) - 180.0;
        let area = area(
            wrap(centre.longitude() - size),
            (centre.latitude() - size).max(-90.0),
            wrap(centre.longitude() + size * 0.8),
            (centre.latitude() + size).min(90.0),
        );
        check_clusters(seed, viewer, photos, &area, random.u8(0..=MAX_MAP_LEVEL)).await;
        check_newest(seed, viewer, photos, &area).await;
    }
    assert_rules(seed).await;
}

async fn assert_rules(seed: &Seed) {
    for rule in [StoreRule::MapPoint, StoreRule::MapCells] {
        let checked = seed.store().check_rule(rule, None, 100_000).await.unwrap();
        assert_eq!(checked.violations, [], "{rule:?}");
    }
}

pub(crate) async fn a_random_map_agrees_with_a_model(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let mut random = Rng::with_seed(3);
    seed.images(ben.account, random_photos(100, NOW, 5)).await;
    let mut photos = random_places(seed, ann, 500, &mut random).await;
    check_map(seed, ann, &photos, &mut random).await;
    let mut deleted = Vec::new();
    // Often deletes the newest photo, because it is a cover.
    for _ in 0..200 {
        let index = if random.bool() { photos.len() - 1 } else { random.usize(0..photos.len()) };
        let photo = photos.remove(index);
        delete(seed, ann, &photo.1, second(2000)).await;
        deleted.push(photo);
    }
    check_map(seed, ann, &photos, &mut random).await;
    for photo in deleted.split_off(120) {
        assert!(seed.store().restore_image(ann.account, &photo.1).await.unwrap());
        photos.push(photo);
    }
    check_map(seed, ann, &photos, &mut random).await;
    while seed.store().purge_images(second(3000), 70).await.unwrap() > 0 {}
    check_map(seed, ann, &photos, &mut random).await;
    for photo in photos.drain(..) {
        delete(seed, ann, &photo.1, second(2000)).await;
    }
    check_map(seed, ann, &photos, &mut random).await;
}

pub(crate) async fn many_photos_at_one_spot_are_one_cluster(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let mut photos = at_places(seed, ann, &[(48.8584, 2.2945); 200]).await;
    let spot = area(2.29, 48.85, 2.3, 48.86);
    for level in [0, 10, MAX_MAP_LEVEL] {
        check_clusters(seed, ann, &photos, &spot, level).await;
    }
    while photos.len() > 60 {
        let newest = photos.pop().unwrap();
        delete(seed, ann, &newest.1, second(900)).await;
    }
    for level in [0, 10, MAX_MAP_LEVEL] {
        check_clusters(seed, ann, &photos, &spot, level).await;
    }
    assert_rules(seed).await;
}

pub(crate) async fn a_map_may_cross_the_180_meridian(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let places = [(-17.0, 179.9), (-17.0, -179.9), (-17.0, 180.0), (-17.0, -180.0), (-17.0, 100.0)];
    let photos = at_places(seed, ann, &places).await;
    let fiji = area(170.0, -30.0, -170.0, 0.0);
    for level in [0, 1, 5, 12] {
        check_clusters(seed, ann, &photos, &fiji, level).await;
    }
    check_newest(seed, ann, &photos, &fiji).await;
    let found = seed.store().map_clusters(ann, fiji, 8).await.unwrap();
    assert_eq!(found.iter().map(|cluster| cluster.photos).sum::<u64>(), 4);
}

pub(crate) async fn a_map_has_own_visible_images_only(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photos = at_places(seed, ann, &[(10.0, 20.0), (11.0, 20.0)]).await;
    seed.image(ann.account, Photo::at_second(50)).await;
    seed.waiting(ann.account, 1).await;
    check_clusters(seed, ann, &photos, &MapArea::WORLD, 4).await;
    check_clusters(seed, ben, &[], &MapArea::WORLD, 4).await;
    check_newest(seed, ben, &[], &MapArea::WORLD).await;
    seed.store().delete_account(ann.account, NOW).await.unwrap();
    check_clusters(seed, ann, &[], &MapArea::WORLD, 4).await;
    while seed.store().purge_images(second(9), 4).await.unwrap() > 0 {}
    assert_rules(seed).await;
}

pub(crate) async fn a_map_follows_the_window(seed: &Seed) {
    let ann = Viewer { free_window: 80, ..seed.account(Plan::Free).await };
    let photos = random_places(seed, ann, 300, &mut Rng::with_seed(4)).await;
    for level in [0, 3, 9, 14, MAX_MAP_LEVEL] {
        check_clusters(seed, ann, &photos[220..], &MapArea::WORLD, level).await;
    }
    check_newest(seed, ann, &photos[220..], &area(-10.0, 38.0, -8.0, 39.5)).await;
    delete(seed, ann, &photos[299].1, second(900)).await;
    check_clusters(seed, ann, &photos[219..299], &MapArea::WORLD, 9).await;
    let paid = Viewer { plan: Plan::Paid, ..ann };
    check_clusters(seed, paid, &photos[..299], &MapArea::WORLD, 9).await;
}

pub(crate) async fn a_photo_moves_on_the_map(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(1).position(10.0, 20.0)).await;
    for (version, place) in [(9, Some((-33.0, 151.0))), (10, None), (11, Some((10.0, 20.0)))] {
        assert_eq!(seed.store().requeue_outdated(version, NOW, 10).await.unwrap(), 1);
        let job = seed.lease("w", NOW).await.remove(0);
        let photo = Photo::at_second(i64::from(version));
        let photo = place.iter().fold(photo, |photo, (lat, lon)| photo.position(*lat, *lon));
        let result = storage::IndexedImage { decoder_version: version, ..indexed(&photo) };
        assert!(seed.store().complete_job(job.id, "w", result).await.unwrap());
        let expected: Vec<Placed> = place
            .iter()
            .map(|(lat, lon)| {
                (i64::from(version), id.clone(), MapPoint::of(Position::new(*lat, *lon).unwrap()))
            })
            .collect();
        check_clusters(seed, ann, &expected, &MapArea::WORLD, 4).await;
        assert_rules(seed).await;
    }
}

pub(crate) async fn newest_photos_of_an_area_are_paged_by_time(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = at_places(seed, ann, &[(10.0, 20.0), (50.0, 20.0), (10.1, 20.1), (10.0, 20.0)]).await;
    let near = area(19.0, 9.0, 21.0, 11.0);
    let ids = async |range| {
        let found = seed.store().map_images(ann, near, range, limit(2)).await.unwrap();
        found.into_iter().map(|image| image.id).collect::<Vec<_>>()
    };
    let inside = [&photos[0], &photos[2], &photos[3]].map(|photo| photo.1.clone());
    assert_eq!(ids(DateRange::default()).await, newest_first(&inside[1..]));
    assert_eq!(ids(seconds(0, 2)).await, newest_first(&inside[..2]));
    assert_eq!(ids(seconds(1, 1)).await, []);
}

pub(crate) async fn a_new_store_needs_no_filling(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    at_places(seed, ann, &[(10.0, 20.0)]).await;
    assert_eq!(seed.store().fill_map(10).await.unwrap(), 0);
}
