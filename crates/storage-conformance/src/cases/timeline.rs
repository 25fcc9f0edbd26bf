use domain::{
    CaptureTime, Filter, Image, ImageId, LocalRange, LocalTime, Month, PixelSize, Plan, Selection, Thumbhash,
    Timestamp,
};
use storage::{
    ChangeImage, ImageToChange, IndexedImage, MonthTotal, SelectionCursor, TimelineOrder, TimelineState,
    Viewer,
};

use crate::{
    DECODERS, NOW, Photo, Seed,
    cases::{
        edits::{change, time_of, undo},
        integrity::assert_sound,
        reindex::{outdated_job, reindexed},
    },
    queries::{delete, filtered, newest_first, places, second, visible_image},
    random_photos,
};

async fn months(seed: &Seed, viewer: Viewer) -> Vec<MonthTotal> {
    seed.store().timeline_months(viewer).await.unwrap()
}

async fn page(seed: &Seed, viewer: Viewer, range: LocalRange, order: TimelineOrder, max: u32) -> Vec<Image> {
    seed.store().timeline_page(viewer, range, order, max).await.unwrap()
}

async fn all(seed: &Seed, viewer: Viewer) -> Vec<Image> {
    page(seed, viewer, LocalRange::ALL, TimelineOrder::NewestFirst, 10_000).await
}

/// The months, counted from the visible images.
async fn counted(seed: &Seed, viewer: Viewer) -> Vec<MonthTotal> {
    let mut months: Vec<MonthTotal> = Vec::new();
    for image in all(seed, viewer).await {
        let month = image.local_time().month();
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

/// Photos of many months, before 1970 too, of many sizes and offsets.
fn photos() -> Vec<Photo> {
    let mut photos = random_photos(60, Timestamp::from_millis(-40_000_000_000).unwrap(), 3);
    for (number, photo) in photos.iter_mut().enumerate() {
        let number = i64::try_from(number).unwrap();
        photo.captured_at = photo.captured_at.plus_millis(number * 1_000_000_007);
        photo.offset_minutes =
            [None, Some(-1439), Some(840), Some(0), Some(1439)][usize::try_from(number % 5).unwrap()];
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
    let all = LocalRange::ALL;
    assert_eq!(found(all, TimelineOrder::NewestFirst, 3).await, [7, 6, 5]);
    assert_eq!(found(all, TimelineOrder::OldestFirst, 3).await, [2, 3, 4]);
    assert_eq!(found(places(3, 5), TimelineOrder::NewestFirst, 9).await, [5, 4, 3]);
    assert_eq!(found(places(0, 3), TimelineOrder::OldestFirst, 9).await, [2, 3]);
}

async fn of_month(seed: &Seed, viewer: Viewer, number: u32) -> Vec<ImageId> {
    let range = LocalRange::of_month(Month::from_number(number).unwrap());
    let images = page(seed, viewer, range, TimelineOrder::NewestFirst, 100).await;
    images.into_iter().map(|image| image.id).collect()
}

/// Number and photos of each month.
async fn numbers(seed: &Seed, viewer: Viewer) -> Vec<(u32, u32)> {
    months(seed, viewer).await.iter().map(|total| (total.month.number(), total.photos)).collect()
}

pub(crate) async fn months_are_those_of_the_clocks(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photos = vec![
        Photo::at_clock("2024-06-30T23:59:59.999Z", -720),
        Photo::at_clock("2024-07-01T00:00Z", 840),
        Photo::at_clock("2024-07-01T00:00:00.001Z", -720),
        Photo::at_clock("2024-07-31T22:00Z", -240),
        Photo::at_clock("2024-07-31T23:30Z", 840),
        Photo::at_clock("2024-07-31T23:59:59.998Z", None),
        Photo::at_clock("2024-07-31T23:59:59.999Z", 1439),
        Photo::at_clock("2024-08-01T00:00Z", -1439),
        Photo::at_clock("2024-08-01T00:00Z", None),
        Photo::at_clock("2024-08-01T00:00Z", 1439),
    ];
    let ids = seed.images(ann.account, photos).await;
    assert_eq!(numbers(seed, ann).await, [(202_408, 3), (202_407, 6), (202_406, 1)]);
    assert_eq!(of_month(seed, ann, 202_408).await, newest_first(&ids[7..]));
    assert_eq!(of_month(seed, ann, 202_407).await, newest_first(&ids[1..7]));
    assert_eq!(of_month(seed, ann, 202_406).await, ids[..1]);
    assert_eq!(of_month(seed, ann, 202_405).await, []);

    // Other lists stay in the order of the moments.
    let mut moments: Vec<Image> = all(seed, ann).await;
    moments.sort_by_key(|image| std::cmp::Reverse(image.captured_at));
    let moments: Vec<ImageId> = moments.into_iter().map(|image| image.id).collect();
    assert_eq!(filtered(seed, ann, Filter::default()).await, moments);
    assert_ne!(moments, newest_first(&ids));

    let july = LocalRange::of_month(Month::from_number(202_407).unwrap());
    let chosen = Selection::new(Vec::new(), vec![july], Vec::new()).unwrap();
    let count = seed.store().count_selection(ann, &chosen).await.unwrap();
    assert_eq!(count.count, 6);
    assert_eq!(count.newest.map(|place| place.clock().to_string()).unwrap(), "2024-07-31T23:59:59.999Z");
    assert_eq!(count.oldest.map(|place| place.clock().to_string()).unwrap(), "2024-07-01T00:00:00.000Z");
    let step = seed.store().delete_selection(ann, &chosen, second(5), SelectionCursor::default(), 100).await;
    assert_eq!(step.unwrap().changed, 6);
    assert_eq!(numbers(seed, ann).await, [(202_408, 3), (202_406, 1)]);
    let restored = seed.store().restore_selection(
        ann.account,
        &chosen,
        Some(second(5)),
        SelectionCursor::default(),
        100,
    );
    assert_eq!(restored.await.unwrap().changed, 6);
    assert_eq!(numbers(seed, ann).await, [(202_408, 3), (202_407, 6), (202_406, 1)]);
    assert_sound(seed).await;
}

pub(crate) async fn clocks_may_show_years_without_a_number(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = |at, minutes| Photo { offset_minutes: Some(minutes), ..Photo::at(at) };
    seed.images(ann.account, vec![photo(Timestamp::MAX, 60), photo(Timestamp::MIN, -60)]).await;
    assert_eq!(numbers(seed, ann).await, [(999_912, 1), (101, 1)]);
    assert_eq!(months(seed, ann).await, counted(seed, ann).await);
    assert_sound(seed).await;
}

pub(crate) async fn photos_at_the_same_time_of_their_clocks_have_an_order(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let at = |offset| Photo::at_clock("2024-07-31T23:59:59.999Z", offset);
    let around =
        [Photo::at_clock("2024-07-31T23:59:59.998Z", 720), Photo::at_clock("2024-08-01T00:00Z", -720)];
    let [first, last] = around;
    let photos = vec![
        first,
        at(Some(-1439)),
        at(Some(-240)),
        at(None),
        at(Some(1)),
        at(Some(60)),
        at(Some(1439)),
        last,
    ];
    let ids = seed.images(ann.account, photos).await;
    for order in [TimelineOrder::NewestFirst, TimelineOrder::OldestFirst] {
        for size in [1, 2, 3, 100] {
            let (mut seen, mut range) = (Vec::new(), LocalRange::ALL);
            loop {
                let images = page(seed, ann, range, order, size).await;
                let Some(last) = images.last().map(Image::local_time) else { break };
                // As a script sends it.
                let last = LocalTime::parse(&last.to_string()).unwrap();
                range = match order {
                    TimelineOrder::NewestFirst => LocalRange::before(last),
                    TimelineOrder::OldestFirst => LocalRange::after(last),
                };
                seen.extend(images.into_iter().map(|image| image.id));
            }
            let expected = if order == TimelineOrder::NewestFirst { newest_first(&ids) } else { ids.clone() };
            assert_eq!(seen, expected, "{order:?}, {size} at a time");
        }
    }
    for (index, id) in ids.iter().enumerate() {
        let context = seed.store().photo_context(ann, id, None).await.unwrap();
        let older = index.checked_sub(1).and_then(|index| ids.get(index));
        assert_eq!((context.previous.as_ref(), context.next.as_ref()), (ids.get(index + 1), older));
    }
    // A range ends between them, and is visited one by one.
    let chosen = LocalRange::between(
        visible_image(seed, ann, &ids[2]).await.local_time(),
        visible_image(seed, ann, &ids[4]).await.local_time(),
    );
    let chosen = Selection::new(Vec::new(), vec![chosen], Vec::new()).unwrap();
    let (mut seen, mut next) = (Vec::new(), Some(SelectionCursor::default()));
    while let Some(cursor) = next {
        let (images, after) = seed.store().selected_images(ann, &chosen, cursor, 1).await.unwrap();
        seen.extend(images.into_iter().map(|image| image.id));
        next = after;
    }
    assert_eq!(seen, newest_first(&ids[2..5]));
}

pub(crate) async fn a_correction_of_the_offset_moves_a_photo_to_another_month(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed
        .images(
            ann.account,
            vec![Photo::at_clock("2024-08-01T02:00Z", None), Photo::at_clock("2024-08-02T02:00Z", None)],
        )
        .await;
    assert_eq!(numbers(seed, ann).await, [(202_408, 2)]);
    // The moment stays.
    let zone: ChangeImage = std::sync::Arc::new(|image: &ImageToChange| {
        let capture = CaptureTime { offset_minutes: Some(-240), ..image.present.capture };
        Some(time_of(capture, false))
    });
    assert_eq!(change(seed, ann, "zone", &ids[0], zone).await, (1, 0));
    assert_eq!(numbers(seed, ann).await, [(202_408, 1), (202_407, 1)]);
    assert_eq!(of_month(seed, ann, 202_407).await, ids[..1]);
    assert_sound(seed).await;
    assert_eq!(undo(seed, ann, "zone").await, 1);
    assert_eq!(numbers(seed, ann).await, [(202_408, 2)]);
    assert_sound(seed).await;
}

pub(crate) async fn the_free_window_is_that_of_the_moments(seed: &Seed) {
    let ann = Viewer { free_window: 2, ..seed.account(Plan::Free).await };
    let photos = vec![
        // The newest moment has the oldest clock, and the other way round.
        Photo::at_clock("2024-06-30T20:00Z", -720),
        Photo::at_clock("2024-07-01T01:00Z", None),
        Photo::at_clock("2024-07-01T10:00Z", 840),
    ];
    let ids = seed.images(ann.account, photos).await;
    let visible: Vec<ImageId> = all(seed, ann).await.into_iter().map(|image| image.id).collect();
    assert_eq!(visible, [ids[1].clone(), ids[0].clone()]);
    assert_eq!(numbers(seed, ann).await, [(202_407, 1), (202_406, 1)]);
    let context = seed.store().photo_context(ann, &ids[1], None).await.unwrap();
    assert_eq!((context.previous, context.next.as_ref()), (None, Some(&ids[0])));
    let everything = Selection::everything();
    assert_eq!(seed.store().count_selection(ann, &everything).await.unwrap().count, 2);
    let step = seed.store().delete_selection(ann, &everything, second(5), SelectionCursor::default(), 100);
    assert_eq!(step.await.unwrap().changed, 2);
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
