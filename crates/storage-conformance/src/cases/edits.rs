use std::sync::Arc;

use domain::{
    AlbumId, CameraSettings, CaptureTime, EditId, EditedField, Filter, Image, ImageId, LocalRange, Plan,
    Position, Selection, Timestamp, UtcOffset,
};
use storage::{
    ChangeImage, ChangedPlace, ChangedTime, Edit, EditedImages, ImageChange, ImageEdits, ImageToChange,
    ImagesToEdit, IndexedImage, Lookup, PhotoContext, UndoCursor, Viewer,
};

use crate::{
    DECODERS, Photo, Seed,
    cases::{
        integrity::assert_sound,
        reindex::{outdated_job, reindexed},
    },
    queries::{circle, delete, filtered, is_missing, matching, places, second, timeline, visible_image},
};

fn edit_id(name: &str) -> EditId {
    EditId::parse(name).unwrap()
}

pub(super) fn edit(name: &str) -> Edit {
    Edit { id: edit_id(name), at: second(0), author: None }
}

/// A change that gives every image the same new values.
pub(super) fn values(change: ImageChange) -> ChangeImage {
    Arc::new(move |_| Some(change.clone()))
}

fn described(text: &str) -> ImageChange {
    ImageChange { description: Some(Some(text.to_owned())), ..ImageChange::default() }
}

fn placed(latitude: f64, longitude: f64, place: &str) -> ImageChange {
    let place =
        ChangedPlace { position: Position::new(latitude, longitude).ok(), place: Some(place.to_owned()) };
    ImageChange { place: Some(place), ..ImageChange::default() }
}

pub(super) fn time_of(capture: CaptureTime, follows_position: bool) -> ImageChange {
    ImageChange { time: Some(ChangedTime { capture, follows_position }), ..ImageChange::default() }
}

/// A shift of capture times.
fn shifted(by_ms: i64) -> ChangeImage {
    Arc::new(move |image: &ImageToChange| {
        let capture = image.present.capture;
        let at = Timestamp::from_millis(capture.at.millis() + by_ms)?;
        Some(time_of(CaptureTime { at, ..capture }, false))
    })
}

/// Makes an edit of one image; returns how many images changed and how many were refused.
pub(super) async fn change(
    seed: &Seed,
    viewer: Viewer,
    name: &str,
    id: &ImageId,
    change: ChangeImage,
) -> (usize, u32) {
    let images = ImagesToEdit::Visible(vec![id.clone()]);
    let edited = edited(seed.store().edit_images(viewer, &edit(name), images, change, false).await.unwrap());
    (edited.changed.len(), edited.refused)
}

fn edited(found: Lookup<EditedImages>) -> EditedImages {
    let Lookup::Found(edited) = found else { panic!("{found:?}") };
    edited
}

/// Takes corrections of fields back.
async fn revert(seed: &Seed, viewer: Viewer, id: &ImageId, fields: &[EditedField]) {
    let fields = fields.to_vec();
    let revert: ChangeImage = Arc::new(move |image: &ImageToChange| {
        let file = image.of_file.clone();
        let mut change = ImageChange::default();
        if fields.contains(&EditedField::Description) {
            change.description = Some(file.description);
        }
        if fields.contains(&EditedField::Place) {
            change.place = Some(ChangedPlace { position: file.position, place: file.place });
            let capture = image.time_without_place;
            change.time = Some(ChangedTime { capture, follows_position: true });
        }
        if fields.contains(&EditedField::Time) {
            change.time = Some(ChangedTime { capture: file.capture, follows_position: false });
        }
        Some(change)
    });
    let name = format!("revert-{}", seed.number());
    assert_eq!(change(seed, viewer, &name, id, revert).await, (1, 0));
}

/// Applies a change to all images of a range in batches of 2; returns how many changed.
async fn change_range(
    seed: &Seed,
    viewer: Viewer,
    name: &str,
    range: LocalRange,
    newest_first: bool,
    except: &[ImageId],
    change: &ChangeImage,
) -> usize {
    let except = except.iter().map(|id| id.as_str().to_owned()).collect();
    let selection = Selection::new(Vec::new(), vec![range], except).unwrap();
    let (mut changed, mut left) = (0, Some(range));
    while let Some(range) = left {
        let images = ImagesToEdit::Range { range, newest_first, selection: selection.clone(), max: 2 };
        let found =
            seed.store().edit_images(viewer, &edit(name), images, change.clone(), false).await.unwrap();
        let edited = edited(found);
        changed += edited.changed.len();
        left = edited.rest;
    }
    changed
}

async fn edits(seed: &Seed, viewer: Viewer, id: &ImageId) -> Option<ImageEdits> {
    match seed.store().image_edits(viewer, id).await.unwrap() {
        Lookup::Found((_, edits)) => edits,
        other => panic!("{id} is not visible but {other:?}"),
    }
}

pub(super) async fn undo(seed: &Seed, viewer: Viewer, name: &str) -> u32 {
    let (mut undone, mut cursor) = (0, UndoCursor::default());
    loop {
        let step = seed.store().undo_edit(viewer, &edit_id(name), cursor, 2).await.unwrap();
        undone += step.undone;
        match step.next {
            Some(next) => cursor = next,
            None => return undone,
        }
    }
}

async fn capture_times(seed: &Seed, viewer: Viewer, ids: &[ImageId]) -> Vec<i64> {
    let images = seed.store().images(viewer, ids).await.unwrap();
    images.iter().map(|image| image.captured_at.millis() - second(0).millis()).collect()
}

async fn reindex(seed: &Seed, id: &ImageId, found: IndexedImage) {
    let job = outdated_job(seed, "w", id).await;
    let found = IndexedImage { decoder_version: DECODERS, ..found };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    seed.store().release_leases("w").await.unwrap();
}

pub(crate) async fn corrected_values_are_used_everywhere(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo =
        |at| Photo::at_second(at).description("a harbour").position(10.0, 20.0).place("Here, Nowhere");
    let ids = seed.images(ann.account, vec![photo(1), photo(2), photo(3)]).await;
    let album = seed.album(ann, "All", &ids).await;
    let before = visible_image(seed, ann, &ids[0]).await;
    assert_eq!(edits(seed, ann, &ids[0]).await, None);

    let capture = CaptureTime {
        at: second(9),
        wall: Some("2026-01-01T02:00:09".parse().unwrap()),
        offset_minutes: Some(120),
        source: domain::CaptureSource::Added,
    };
    let all = ImageChange {
        description: Some(Some("a lighthouse".to_owned())),
        ..placed(-30.0, 40.0, "There, Nowhere")
    };
    let all = ImageChange { time: time_of(capture, false).time, ..all };
    assert_eq!(change(seed, ann, "one", &ids[0], values(all.clone())).await, (1, 0));
    let mut expected = Image {
        captured_at: second(9),
        utc_offset: UtcOffset::from_minutes(120),
        place: Some("There, Nowhere".to_owned()),
        ..before.clone()
    };
    expected.details.description = Some("a lighthouse".to_owned());
    expected.details.position = Position::new(-30.0, 40.0).ok();
    assert_eq!(visible_image(seed, ann, &ids[0]).await, expected);
    assert_eq!(matching(seed, ann, &["lighthouse"]).await, [ids[0].clone()]);
    assert_eq!(matching(seed, ann, &["there"]).await, [ids[0].clone()]);
    assert_eq!(matching(seed, ann, &["harbour"]).await.len(), 2);
    for (place, finds) in [(circle(10.0, 20.0, 1000.0), 2), (circle(-30.0, 40.0, 1000.0), 1)] {
        let filter = Filter { circle: Some(place), ..Filter::default() };
        assert_eq!(filtered(seed, ann, filter).await.len(), finds, "{place:?}");
    }
    assert_eq!(timeline(seed, ann).await[0], ids[0]);
    let stored = seed.store().album(ann, &album).await.unwrap().unwrap();
    assert_eq!(stored.cover, Some(ids[0].clone()));
    assert_sound(seed).await;

    let found = edits(seed, ann, &ids[0]).await.unwrap();
    assert_eq!(found.fields, [EditedField::Description, EditedField::Time, EditedField::Place]);
    assert_eq!(found.last, Some(edit_id("one")));
    assert_eq!(found.of_file.description.as_deref(), Some("a harbour"));
    assert_eq!(found.of_file.capture.at, second(1));
    // Setting the same values again is not a change.
    assert_eq!(change(seed, ann, "two", &ids[0], values(all)).await, (0, 0));
    assert_eq!(edits(seed, ann, &ids[0]).await, Some(found));

    for (field, left) in [
        (EditedField::Time, vec![EditedField::Description, EditedField::Place]),
        (EditedField::Description, vec![EditedField::Place]),
    ] {
        revert(seed, ann, &ids[0], &[field]).await;
        assert_eq!(edits(seed, ann, &ids[0]).await.unwrap().fields, left);
        assert_sound(seed).await;
    }
    revert(seed, ann, &ids[0], &[EditedField::Place]).await;
    assert_eq!(visible_image(seed, ann, &ids[0]).await, before);
    assert_eq!(edits(seed, ann, &ids[0]).await.unwrap().fields, []);
    assert_eq!(matching(seed, ann, &["lighthouse"]).await, []);
    assert_sound(seed).await;
}

pub(crate) async fn corrections_survive_indexing(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = Photo::at_second(1).description("a harbour").position(10.0, 20.0).place("Here, Nowhere");
    let id = seed.image(ann.account, photo.clone()).await;
    change(seed, ann, "one", &id, values(described("a lighthouse"))).await;
    change(seed, ann, "two", &id, shifted(8000)).await;
    let newer = Photo::at_second(5).description("a pier").position(-30.0, 40.0).place("There, Nowhere");
    let mut found = reindexed(&newer);
    let settings =
        CameraSettings { lens: Some("Prime".to_owned()), f_number: Some(1.8), ..Default::default() };
    found.metadata.settings = Some(settings.clone());
    reindex(seed, &id, found.clone()).await;
    let settings_of_id = async || seed.store().photo_context(ann, &id, None).await.unwrap().settings;
    assert_eq!(settings_of_id().await, Some(settings));
    let shown = visible_image(seed, ann, &id).await;
    assert_eq!(shown.captured_at, second(9));
    assert_eq!(shown.details.description.as_deref(), Some("a lighthouse"));
    assert_eq!(shown.place.as_deref(), Some("There, Nowhere"), "a field without a correction is read again");
    assert_eq!(matching(seed, ann, &["lighthouse"]).await, std::slice::from_ref(&id));
    assert_eq!(matching(seed, ann, &["pier"]).await, []);
    let of_file = edits(seed, ann, &id).await.unwrap().of_file;
    assert_eq!(of_file.description.as_deref(), Some("a pier"));
    assert_eq!((of_file.capture.at, of_file.place.as_deref()), (second(5), Some("There, Nowhere")));
    assert_sound(seed).await;
    revert(seed, ann, &id, &EditedField::ALL).await;
    let shown = visible_image(seed, ann, &id).await;
    assert_eq!(
        (shown.captured_at, shown.details.description.as_deref()),
        (second(5), Some("a pier")),
        "what the file says now"
    );
    // A cleared field stays empty.
    let cleared = ImageChange {
        description: Some(None),
        place: Some(ChangedPlace { position: None, place: None }),
        ..ImageChange::default()
    };
    change(seed, ann, "three", &id, values(cleared)).await;
    reindex(seed, &id, reindexed(&photo)).await;
    let shown = visible_image(seed, ann, &id).await;
    assert_eq!((shown.details.description, shown.details.position, shown.place), (None, None, None));
    assert_eq!(shown.captured_at, second(1));
    assert_eq!(settings_of_id().await, None);
    reindex(seed, &id, found).await;
    assert!(settings_of_id().await.is_some());
    assert_sound(seed).await;
}

pub(crate) async fn corrections_survive_deletion(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, vec![Photo::at_second(1), Photo::at_second(2)]).await;
    for id in &ids {
        change(seed, ann, "one", id, values(described("a lighthouse"))).await;
        delete(seed, ann, id, second(5)).await;
    }
    assert_sound(seed).await;
    assert!(seed.store().restore_image(ann.account, &ids[0]).await.unwrap());
    assert_eq!(matching(seed, ann, &["lighthouse"]).await, [ids[0].clone()]);
    assert_eq!(undo(seed, ann, "one").await, 2, "deleted images are undone, too");
    assert!(seed.store().restore_image(ann.account, &ids[1]).await.unwrap());
    assert_eq!(matching(seed, ann, &["lighthouse"]).await, []);
    change(seed, ann, "two", &ids[1], values(described("a pier"))).await;
    delete(seed, ann, &ids[1], second(5)).await;
    while seed.store().purge_images(second(9), 4).await.unwrap() > 0 {}
    assert_sound(seed).await;
}

pub(crate) async fn a_repeated_shift_of_many_images_is_applied_once(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    // Bursts of equal times, and an image after the range whose time a shifted image would get.
    let at = [1, 1, 1, 2, 3, 3, 9].map(Photo::at_second);
    let ids = seed.images(ann.account, at.to_vec()).await;
    let start = [1000, 1001, 1002, 2000, 3000, 3001, 9000];
    assert_eq!(capture_times(seed, ann, &ids).await, start);
    let range = places(0, 8);
    for (name, by_ms, expected) in [
        ("later", 1000, [2000, 2001, 2002, 3000, 4000, 4001, 9000]),
        ("earlier", -1500, [500, 501, 502, 1500, 2500, 2501, 9000]),
        ("far", 6500, [7000, 7001, 7002, 8000, 9002, 9001, 9000]),
    ] {
        let shift = shifted(by_ms);
        let changed = change_range(seed, ann, name, range, by_ms > 0, &[], &shift).await;
        assert_eq!((changed, capture_times(seed, ann, &ids).await), (6, expected.to_vec()), "{name}");
        // Repeats the call, even in the order that visits moved images again.
        for newest_first in [true, false] {
            assert_eq!(
                change_range(seed, ann, name, range, newest_first, &ids[6..], &shift).await,
                0,
                "{name}"
            );
        }
        assert_sound(seed).await;
    }
    assert_eq!(undo(seed, ann, "far").await, 6);
    assert_eq!(capture_times(seed, ann, &ids).await, [500, 501, 502, 1500, 2500, 2501, 9000]);
    assert_eq!(undo(seed, ann, "far").await, 0);
    assert_eq!(undo(seed, ann, "later").await, 0, "a later edit changed these times");
    assert_eq!(undo(seed, ann, "earlier").await, 6);
    assert_eq!(undo(seed, ann, "later").await, 6);
    assert_eq!(capture_times(seed, ann, &ids).await, start);
    let range = places(0, 8);
    assert_eq!(change_range(seed, ann, "again", range, false, &[], &shifted(-500)).await, 6);
    let except = [ids[0].clone(), ids[3].clone()];
    assert_eq!(change_range(seed, ann, "some", range, true, &except, &shifted(100)).await, 4);
    assert_eq!(capture_times(seed, ann, &ids).await, [500, 601, 602, 1500, 2600, 2601, 9000]);
    assert_sound(seed).await;
}

pub(crate) async fn an_edit_is_undone_as_a_whole(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (1..=5).map(Photo::at_second).collect()).await;
    change(seed, ann, "first", &ids[0], values(described("a pier"))).await;
    let before = seed.store().images(ann, &ids).await.unwrap();
    let both = ImageChange {
        description: Some(Some("a lighthouse".to_owned())),
        ..placed(10.0, 20.0, "Here, Nowhere")
    };
    assert_eq!(change_range(seed, ann, "all", places(0, 9), true, &[], &values(both)).await, 5);
    assert_eq!(matching(seed, ann, &["lighthouse"]).await.len(), 5);
    change(seed, ann, "later", &ids[4], values(described("a buoy"))).await;
    assert_eq!(undo(seed, ann, "all").await, 5, "the place of the last one, but not its description");
    assert_eq!(seed.store().images(ann, &ids[..4]).await.unwrap(), before[..4]);
    assert_eq!(matching(seed, ann, &["lighthouse"]).await, []);
    assert_eq!(matching(seed, ann, &["buoy"]).await, [ids[4].clone()]);
    assert_eq!(edits(seed, ann, &ids[0]).await.unwrap().fields, [EditedField::Description]);
    assert_eq!(edits(seed, ann, &ids[1]).await, None);
    assert_sound(seed).await;
    // Once the later edit is undone, the first one can be.
    assert_eq!(undo(seed, ann, "later").await, 1);
    assert_eq!(undo(seed, ann, "all").await, 1);
    assert_eq!(seed.store().images(ann, &ids).await.unwrap(), before);
    assert_sound(seed).await;
}

pub(crate) async fn a_zone_of_a_corrected_position_is_undone_with_it(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, Photo::at_second(7200)).await;
    let with_zone = |capture: CaptureTime| CaptureTime {
        at: capture.at.plus_millis(-3_600_000),
        offset_minutes: Some(60),
        ..capture
    };
    let place: ChangeImage = Arc::new(move |image: &ImageToChange| {
        let time = time_of(with_zone(image.time_without_place), true).time;
        Some(ImageChange { time, ..placed(48.9, 2.4, "Paris, France") })
    });
    change(seed, ann, "place", &id, place.clone()).await;
    // The zone of another position is computed from the time in the file.
    change(seed, ann, "other-place", &id, place.clone()).await;
    assert_eq!(visible_image(seed, ann, &id).await.captured_at, second(3600));
    assert_eq!(edits(seed, ann, &id).await.unwrap().fields, [EditedField::Place]);
    revert(seed, ann, &id, &[EditedField::Place]).await;
    assert_eq!(visible_image(seed, ann, &id).await.captured_at, second(7200));
    assert_eq!(edits(seed, ann, &id).await.unwrap().fields, []);
    // A time that is corrected after the position stays.
    change(seed, ann, "again", &id, place).await;
    change(seed, ann, "shift", &id, shifted(1000)).await;
    revert(seed, ann, &id, &[EditedField::Place]).await;
    assert_eq!(visible_image(seed, ann, &id).await.captured_at, second(3601));
    assert_eq!(edits(seed, ann, &id).await.unwrap().fields, [EditedField::Time]);
    assert_sound(seed).await;
}

pub(crate) async fn only_visible_images_are_corrected(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Free).await);
    let of_ann = seed.images(ann.account, (1..=2).map(Photo::at_second).collect()).await;
    // Two images are outside the free window of 5.
    let of_ben = seed.images(ben.account, (1..=7).map(Photo::at_second).collect()).await;
    delete(seed, ann, &of_ann[1], second(5)).await;
    let lighthouse = values(described("a lighthouse"));
    for (viewer, id) in [(ben, &of_ann[0]), (ann, &of_ann[1]), (ben, &of_ben[0])] {
        assert_eq!(change(seed, viewer, "one", id, lighthouse.clone()).await, (0, 0));
        let every = ImagesToEdit::Every(vec![id.clone()]);
        let found =
            seed.store().edit_images(viewer, &edit("one"), every, lighthouse.clone(), false).await.unwrap();
        let is_foreign = viewer.account == ben.account && *id == of_ann[0];
        assert_eq!(found, if is_foreign { Lookup::Foreign } else { Lookup::Missing });
        assert!(!matches!(seed.store().image_edits(viewer, id).await.unwrap(), Lookup::Found(_)));
    }
    assert_eq!(change_range(seed, ben, "all", LocalRange::ALL, true, &[], &lighthouse).await, 5);
    assert_eq!(matching(seed, ann, &["lighthouse"]).await, []);
    assert_eq!(undo(seed, ann, "all").await, 0, "another account's edit");
    // A refused change leaves the image as it is.
    let refused = change(seed, ben, "two", &of_ben[6], Arc::new(|_| None)).await;
    assert_eq!(refused, (0, 1));
    assert!(is_missing(seed, ben, &of_ben[0]).await);
    assert_sound(seed).await;
}

pub(crate) async fn the_neighbours_and_albums_of_a_photo_are_returned(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Free).await);
    let ids = seed.images(ann.account, (1..=5).map(Photo::at_second).collect()).await;
    let odd = seed.album(ann, "Odd", &[ids[0].clone(), ids[2].clone(), ids[4].clone()]).await;
    let all = seed.album(ann, "All", &ids).await;
    delete(seed, ann, &ids[1], second(5)).await;
    let context = async |viewer, index: usize, album: Option<&AlbumId>| {
        seed.store().photo_context(viewer, &ids[index], album).await.unwrap()
    };
    let some = |index: usize| Some(ids[index].clone());
    let albums = |context: &PhotoContext| -> Vec<String> {
        context.albums.iter().map(|(_, title)| title.clone()).collect()
    };
    let third = context(ann, 2, None).await;
    assert_eq!((third.previous.clone(), third.next.clone()), (some(3), some(0)));
    assert_eq!(albums(&third), ["All", "Odd"]);
    let (newest, oldest) = (context(ann, 4, None).await, context(ann, 0, None).await);
    assert_eq!((newest.previous, newest.next), (None, some(3)));
    assert_eq!((oldest.previous, oldest.next), (some(2), None));
    let in_album = context(ann, 2, Some(&odd)).await;
    assert_eq!((in_album.previous, in_album.next), (some(4), some(0)));
    let absent = context(ann, 3, Some(&odd)).await;
    assert_eq!(
        (absent.previous.clone(), absent.next.clone(), albums(&absent)),
        (None, None, vec!["All".to_owned()])
    );
    for (viewer, index) in [(ann, 1), (ben, 2)] {
        assert_eq!(context(viewer, index, Some(&all)).await, PhotoContext::default());
    }
    // Images outside the free window are not neighbours.
    let of_ben = seed.images(ben.account, (1..=7).map(Photo::at_second).collect()).await;
    let last = seed.store().photo_context(ben, &of_ben[2], None).await.unwrap();
    assert_eq!((last.previous, last.next), (Some(of_ben[3].clone()), None));
}
