use domain::{DateRange, Image, Month, PixelSize, Plan, Thumbhash, Timestamp};
use storage::{IndexedImage, MonthTotal, TimelineOrder, TimelineState, Viewer};

use crate::{
    DECODERS, NOW, Photo, Seed,
    cases::reindex::{outdated_job, reindexed},
    queries::{delete, second, seconds, visible_image},
    random_photos,
};

async fn months(seed: &Seed, viewer: Viewer) -> Vec<MonthTotal> {
    seed.store().timeline_months(viewer).await.unwrap()
}

async fn page(seed: &Seed, viewer: Viewer, range: DateRange, order: TimelineOrder, max: u32) -> Vec<Image> {
    seed.store().timeline_page(viewer, range, order, max).await.unwrap()
}

async fn all(seed: &Seed, viewer: Viewer) -> Vec<Image> {
    page(seed, viewer, DateRange::default(), TimelineOrder::NewestFirst, 10_000).await
}

/// The months, counted from the visible images.
async fn counted(seed: &Seed, viewer: Viewer) -> Vec<MonthTotal> {
    let mut months: Vec<MonthTotal> = Vec::new();
    for image in all(seed, viewer).await {
        let month = Month::of(image.captured_at);
        let PixelSize { width, height } = image.size;
        let ratio = (u64::from(width) * 1000 / u64::from(height)).clamp(400, 2600);
        match months.last_mut().filter(|total| total.month == month) {
            Some(total) => {
                total.photos += 1;
                total.ratio_sum += ratio;
            }
            None => months.push(MonthTotal { month, photos: 1, ratio_sum: ratio }),
        }
    }
    months
}

/// Photos of many months, before 1970 too, and of many sizes.
fn photos() -> Vec<Photo> {
    let mut photos = random_photos(60, Timestamp::from_millis(-40_000_000_000).unwrap(), 3);
    for (number, photo) in photos.iter_mut().enumerate() {
        let number = i64::try_from(number).unwrap();
        photo.captured_at = photo.captured_at.plus_millis(number * 1_000_000_007);
        let side = |factor: i64| u32::try_from(1 + number * factor % 4001).unwrap();
        photo.size = PixelSize { width: side(997), height: side(1499) };
    }
    photos
}

pub(crate) async fn months_are_counted(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    assert_eq!(months(seed, ann).await, []);
    seed.images(ann.account, photos()).await;
    seed.waiting(ann.account, 2).await;
    let edges = [0, -1, 1_704_067_200_000, 1_704_067_199_999, 1_709_251_199_999, 1_709_251_200_000];
    let at = |ms| Photo::at(Timestamp::from_millis(ms).unwrap());
    seed.images(ann.account, edges.map(at).into()).await;
    let found = months(seed, ann).await;
    assert_eq!(found, counted(seed, ann).await);
    assert!(found.len() > 12, "{}", found.len());
    assert_eq!(months(seed, ben).await, []);
}

pub(crate) async fn the_state_has_the_months_and_the_waiting_photos(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let state = async |viewer| seed.store().timeline_state(viewer).await.unwrap();
    assert_eq!(state(ann).await, TimelineState::default());
    seed.waiting(ann.account, 3).await;
    seed.waiting(ben.account, 1).await;
    assert_eq!((state(ann).await.waiting, state(ben).await.waiting), (3, 1));
    assert_eq!(state(ann).await.months, []);
    seed.images(ann.account, photos()).await;
    let found = state(ann).await;
    assert_eq!((found.months, found.waiting), (counted(seed, ann).await, 3));
}

pub(crate) async fn months_follow_every_change(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, photos()).await;
    for id in &ids[..20] {
        delete(seed, ann, id, second(5)).await;
    }
    assert_eq!(months(seed, ann).await, counted(seed, ann).await);
    for id in &ids[..5] {
        assert!(seed.store().restore_image(ann.account, id).await.unwrap());
    }
    assert_eq!(months(seed, ann).await, counted(seed, ann).await);
    let moved = Photo { size: PixelSize { width: 10, height: 10 }, ..Photo::at(second(-90_000_000)) };
    let job = outdated_job(seed, "w", &ids[30]).await;
    let found = IndexedImage { decoder_version: DECODERS, ..reindexed(&moved) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    assert_eq!(visible_image(seed, ann, &ids[30]).await.captured_at, moved.captured_at);
    // A deleted image that is indexed again does not come back.
    let deleted = seed.images(ann.account, vec![Photo::at(NOW)]).await.remove(0);
    let job = outdated_job(seed, "v", &deleted).await;
    delete(seed, ann, &deleted, second(6)).await;
    let again = IndexedImage { decoder_version: DECODERS, ..reindexed(&moved) };
    assert!(seed.store().complete_job(job.id, "v", again).await.unwrap());
    assert_eq!(months(seed, ann).await, counted(seed, ann).await);
    while seed.store().purge_images(second(9), 4).await.unwrap() > 0 {}
    assert_eq!(months(seed, ann).await, counted(seed, ann).await);
}

pub(crate) async fn the_free_window_cuts_a_month(seed: &Seed) {
    let ann = seed.account(Plan::Free).await;
    seed.images(ann.account, photos()).await;
    for free_window in [0, 1, 2, 17, 59, 60, 61] {
        let viewer = Viewer { free_window, ..ann };
        let found = months(seed, viewer).await;
        assert_eq!(found, counted(seed, viewer).await, "{free_window}");
        assert_eq!(found.iter().map(|month| month.photos).sum::<u32>(), free_window.min(60));
    }
}

pub(crate) async fn pages_start_at_either_end(seed: &Seed) {
    let ann = Viewer { free_window: 6, ..seed.account(Plan::Free).await };
    let ids = seed.images(ann.account, (0..8).map(Photo::at_second).collect()).await;
    let found = async |range, order, max| -> Vec<usize> {
        let images = page(seed, ann, range, order, max).await;
        images.iter().map(|image| ids.iter().position(|id| *id == image.id).unwrap()).collect()
    };
    let all = DateRange::default();
    assert_eq!(found(all, TimelineOrder::NewestFirst, 3).await, [7, 6, 5]);
    assert_eq!(found(all, TimelineOrder::OldestFirst, 3).await, [2, 3, 4]);
    assert_eq!(found(seconds(3, 5), TimelineOrder::NewestFirst, 9).await, [5, 4, 3]);
    assert_eq!(found(seconds(0, 3), TimelineOrder::OldestFirst, 9).await, [2, 3]);
}

pub(crate) async fn a_preview_is_kept(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at(NOW)).await;
    assert_eq!(visible_image(seed, ann, &id).await.thumbhash, None);
    for (made, stored) in
        [(Some(vec![1; 25]), vec![1; 25]), (None, vec![1; 25]), (Some(vec![2; 5]), vec![2; 5])]
    {
        let job = outdated_job(seed, "w", &id).await;
        let thumbhash = made.and_then(Thumbhash::new);
        let found = IndexedImage { decoder_version: DECODERS, thumbhash, ..reindexed(&Photo::at(NOW)) };
        assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
        let image = visible_image(seed, ann, &id).await;
        assert_eq!((image.thumbhash, image.picture_version), (Thumbhash::new(stored), DECODERS));
    }
}
