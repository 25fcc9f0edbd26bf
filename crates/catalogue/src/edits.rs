use std::sync::Arc;

use accounts::{Caller, Unavailable};
use domain::{
    AccountId, AlbumId, CaptureTime, Correction, EditId, ImageId, Invalid, PhotoEdit, Position, Selection,
    TimeEdit, Timestamp, Zone,
};
use jiff::civil;
use keys::new_id;
pub use places::FoundCity;
use storage::{
    ChangeImage, ChangedPlace, ChangedTime, Edit, EditableImage, EditedImages, ImageChange, ImageEdits,
    ImageToChange, ImagesToEdit, ListedEdit, Lookup, PhotoContext, StorageError, UndoCursor,
};

use crate::Catalogue;

/// Number of images that one write changes. A write takes some hundredths of a second, and other writes wait for it.
const BATCH: u32 = 100;

/// The result of correcting many photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditTotals {
    /// How many photos changed.
    pub changed: u64,
    /// How many photos stayed as they were, because their time would lie outside the years 0001 to 9999.
    pub refused: u64,
}

impl EditTotals {
    fn add(&mut self, edited: &EditedImages) {
        self.changed += u64::try_from(edited.changed.len()).unwrap_or(u64::MAX);
        self.refused += u64::from(edited.refused);
    }
}

/// An edit that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEdit {
    pub id: EditId,
    /// The name of the app or key that makes it; `None` for the person.
    pub author: Option<String>,
}

impl NewEdit {
    /// An edit that the person makes on a page.
    pub const fn by_person(id: EditId) -> Self {
        Self { id, author: None }
    }
}

/// Why photos were not corrected.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// A value is invalid. Nothing was changed.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The service is unavailable. Some photos of a selection may be changed; repeating the call changes the others.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<StorageError> for EditError {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl Catalogue {
    /// An id for a correction. The form of a correction contains its id, so that a form that is sent twice is applied
    /// once.
    ///
    /// # Errors
    /// The random source failed.
    pub fn new_edit_id(&self) -> Result<EditId, Unavailable> {
        let id = EditId::parse(new_id(self.random())?);
        id.ok_or_else(|| StorageError::Unavailable("a new id is malformed".to_owned()).into())
    }

    /// The fields of a photo that can be corrected, with its corrections.
    pub async fn photo_edits(
        &self,
        caller: &Caller,
        id: &ImageId,
    ) -> Result<Lookup<(EditableImage, Option<ImageEdits>)>, StorageError> {
        self.parts.store.image_edits(self.viewer(caller), id).await
    }

    /// The albums of a photo, and its neighbours in the timeline or in an album.
    pub async fn photo_context(
        &self,
        caller: &Caller,
        id: &ImageId,
        album: Option<&AlbumId>,
    ) -> Result<PhotoContext, StorageError> {
        self.parts.store.photo_context(self.viewer(caller), id, album).await
    }

    /// Corrects all of some photos, at most 100, or none of them if one is not visible. Returns those that changed, with their
    /// values before and after. With `is_trial`, nothing changes.
    pub async fn edit_images(
        &self,
        caller: &Caller,
        ids: Vec<ImageId>,
        edit: NewEdit,
        change: PhotoEdit,
        is_trial: bool,
    ) -> Result<Lookup<Vec<(ImageId, EditableImage, EditableImage)>>, EditError> {
        let change = prepared(change).await?;
        let (images, edit) = (ImagesToEdit::Every(ids), self.edit(edit));
        let found =
            self.parts.store.edit_images(self.viewer(caller), &edit, images, change, is_trial).await?;
        Ok(match found {
            Lookup::Found(edited) if edited.refused > 0 => {
                return Err(Invalid::new("time", "would lie outside the years 0001 to 9999").into());
            }
            Lookup::Found(edited) => Lookup::Found(edited.changed),
            Lookup::Foreign => Lookup::Foreign,
            Lookup::Missing => Lookup::Missing,
        })
    }

    fn edit(&self, NewEdit { id, author }: NewEdit) -> Edit {
        Edit { id, at: self.parts.clock.now(), author }
    }

    /// Corrects all photos of a selection in batches. The same call with the same id continues an interrupted one, and
    /// shifts no photo twice.
    pub async fn edit_photos(
        &self,
        caller: &Caller,
        selection: &Selection,
        edit: NewEdit,
        change: PhotoEdit,
    ) -> Result<EditTotals, EditError> {
        // When photos move to later times, a pass from the newest to the oldest meets no photo twice.
        let newest_first = !matches!(&change.time, Some(TimeEdit::Shift(shift)) if shift.seconds() < 0);
        let change = prepared(change).await?;
        let (store, viewer, edit) = (&self.parts.store, self.viewer(caller), self.edit(edit));
        let mut totals = EditTotals::default();
        for range in selection.ranges() {
            let mut rest = Some(*range);
            while let Some(range) = rest {
                let selection = selection.clone();
                let images = ImagesToEdit::Range { range, newest_first, selection, max: BATCH };
                let edited = store.edit_images(viewer, &edit, images, change.clone(), false).await?;
                let Lookup::Found(edited) = edited else { break };
                totals.add(&edited);
                rest = edited.rest;
            }
        }
        for ids in selection.ids().chunks(usize::try_from(BATCH).unwrap_or(1)) {
            let images = ImagesToEdit::Visible(ids.to_vec());
            let edited = store.edit_images(viewer, &edit, images, change.clone(), false).await?;
            if let Lookup::Found(edited) = edited {
                totals.add(&edited);
            }
        }
        Ok(totals)
    }

    /// Corrects imported photos as their export says. Photos that have corrections stay as they are.
    pub async fn restore_corrections(
        &self,
        account: AccountId,
        corrections: Vec<(ImageId, PhotoEdit)>,
    ) -> Result<(), Unavailable> {
        let viewer = self.full_viewer(account);
        if corrections.is_empty() {
            return Ok(());
        }
        let edit = self.edit(NewEdit { id: self.new_edit_id()?, author: Some("Import".to_owned()) });
        for (id, correction) in corrections {
            let Lookup::Found((_, None)) = self.parts.store.image_edits(viewer, &id).await? else { continue };
            let change = match prepared(correction).await {
                Ok(change) => change,
                Err(EditError::Unavailable(error)) => return Err(error),
                // Only names of time zones can be invalid, and sidecars have offsets.
                Err(EditError::Invalid(error)) => {
                    tracing::warn!(%error, "a correction in an export is invalid");
                    continue;
                }
            };
            let images = ImagesToEdit::Visible(vec![id]);
            self.parts.store.edit_images(viewer, &edit, images, change, false).await?;
        }
        Ok(())
    }

    /// Undoes an edit; returns the number of photos. A field that was changed again later stays as it is.
    pub async fn undo_edit(&self, caller: &Caller, edit: &EditId) -> Result<u64, StorageError> {
        let (mut undone, mut cursor) = (0, UndoCursor::default());
        loop {
            let step = self.parts.store.undo_edit(self.viewer(caller), edit, cursor, BATCH).await?;
            undone += u64::from(step.undone);
            match step.next {
                Some(next) => cursor = next,
                None => return Ok(undone),
            }
        }
    }

    /// The edits of the account, the latest first: up to `max` from before a time.
    pub async fn edits(
        &self,
        caller: &Caller,
        before: Timestamp,
        max: u32,
    ) -> Result<Vec<ListedEdit>, StorageError> {
        self.parts.store.edits(caller.account.id, before, max).await
    }

    /// The cities whose names begin with a text, the most populous first.
    pub async fn find_cities(&self, text: &str) -> Vec<FoundCity> {
        let text: String = text.chars().take(MAX_CITY_CHARS).collect();
        tokio::task::spawn_blocking(move || places::find(&text)).await.unwrap_or_default()
    }
}

/// The text of a look-up is cut to this many characters. No name of a city with its country is longer.
const MAX_CITY_CHARS: usize = 200;

/// Checks a correction, and computes what is the same for all photos.
async fn prepared(edit: PhotoEdit) -> Result<ChangeImage, EditError> {
    // On a blocking thread, because the first look-up of a time zone unpacks the data.
    let prepared = tokio::task::spawn_blocking(move || prepare(edit)).await;
    match prepared {
        Ok(change) => Ok(change?),
        Err(error) => Err(StorageError::Unavailable(format!("a correction: {error}")).into()),
    }
}

fn prepare(edit: PhotoEdit) -> Result<ChangeImage, Invalid> {
    let zone = match &edit.time {
        Some(TimeEdit::Zone(zone)) => Some(zone),
        Some(TimeEdit::Set { zone, .. }) => zone.as_ref(),
        Some(TimeEdit::Shift(_) | TimeEdit::Moment { .. } | TimeEdit::Revert) | None => None,
    };
    if let Some(Zone::Named(name)) = zone
        && !places::is_zone(name)
    {
        let reason =
            "is not the name of a time zone; try one such as Europe/Lisbon, or an offset such as +01:00";
        return Err(Invalid::new("zone", reason));
    }
    let named = match edit.position {
        Correction::Set(position) => {
            // Looked up here, so that the first look-up, which unpacks the data, is not made in a transaction.
            places::time_zone(position);
            places::place(position)
        }
        Correction::Keep | Correction::Revert | Correction::Clear => None,
    };
    Ok(Arc::new(move |image| {
        let file = &image.of_file;
        let place = match edit.position {
            Correction::Keep => None,
            Correction::Revert => Some(ChangedPlace { position: file.position, place: file.place.clone() }),
            Correction::Clear => Some(ChangedPlace { position: None, place: None }),
            Correction::Set(position) => {
                Some(ChangedPlace { position: Some(position), place: named.clone() })
            }
        };
        let marks = edit.marks.applied(&image.present.marks, &file.marks);
        Some(ImageChange {
            description: edit.description.new_value(&file.description),
            time: changed_time(edit.time.as_ref(), place.as_ref(), image)?,
            place,
            marks: (marks != image.present.marks).then_some(marks),
        })
    }))
}

/// The new capture time of a photo; `Some(None)` if it stays, `None` if the corrected time is impossible.
#[expect(clippy::option_option, reason = "the outer one is the result of a closure that may refuse")]
fn changed_time(
    edit: Option<&TimeEdit>,
    place: Option<&ChangedPlace>,
    image: &ImageToChange,
) -> Option<Option<ChangedTime>> {
    let position = place.map_or(image.present.position, |place| place.position);
    if let Some(edit) = edit {
        let capture = corrected_time(edit, image, position)?;
        return Some(Some(ChangedTime { capture, follows_position: false }));
    }
    let Some(place) = place else { return Some(None) };
    let capture = indexer::locate(image.time_without_place, place.position).capture;
    Some((capture != image.present.capture).then_some(ChangedTime { capture, follows_position: true }))
}

fn corrected_time(edit: &TimeEdit, image: &ImageToChange, position: Option<Position>) -> Option<CaptureTime> {
    let (capture, of_file) = (image.present.capture, image.of_file.capture);
    let offset_of = |zone: &Zone, wall: civil::DateTime| match zone {
        Zone::Offset(offset) => Some(offset.minutes()),
        Zone::Named(name) => places::zone_offset_minutes(name, wall),
    };
    let corrected = edit.applied(capture, of_file, offset_of)?;
    let (TimeEdit::Set { wall, zone: None }, Some(position)) = (edit, position) else {
        return Some(corrected);
    };
    // If the clock showed the local time of its place at the old time, it did so at the corrected time, too. The offset
    // may differ then because of summer time.
    let had_time_of_place = capture.offset_minutes.is_none()
        || capture.offset_minutes == places::offset_minutes(position, capture.wall_clock());
    if !had_time_of_place {
        return Some(corrected);
    }
    let offset = places::offset_minutes(position, *wall);
    let zone = offset.and_then(domain::UtcOffset::from_minutes).map(Zone::Offset);
    TimeEdit::Set { wall: *wall, zone }.applied(capture, of_file, offset_of)
}

#[cfg(test)]
mod tests {
    use domain::{CaptureSource, ShiftNumbers, TimeShift, Timestamp, parse_wall_time};

    use super::*;

    fn image(wall: &str, offset_minutes: Option<i32>, position: Option<Position>) -> ImageToChange {
        let wall: civil::DateTime = wall.parse().unwrap();
        let at = Timestamp::from_wall(wall, offset_minutes.unwrap_or(0)).unwrap();
        let source = CaptureSource::ExifOriginal;
        let capture = CaptureTime { at, wall: Some(wall), offset_minutes, source };
        let marks = domain::Marks::default();
        let present = EditableImage { capture, position, place: None, description: None, marks };
        ImageToChange { of_file: present.clone(), present, time_without_place: capture }
    }

    fn changed(edit: PhotoEdit, image: &ImageToChange) -> ImageChange {
        prepare(edit).unwrap()(image).unwrap()
    }

    fn at(change: &ImageChange) -> (String, Option<i32>, bool) {
        let time = change.time.unwrap();
        (time.capture.at.to_string(), time.capture.offset_minutes, time.follows_position)
    }

    #[test]
    fn a_time_is_set_in_the_zone_of_the_place() {
        let paris = Position::new(48.8566, 2.3522).ok();
        let set = |zone: Option<&str>| PhotoEdit {
            time: Some(TimeEdit::Set {
                wall: parse_wall_time("2024-01-15T12:00").unwrap(),
                zone: zone.map(|zone| Zone::parse(zone).unwrap()),
            }),
            ..PhotoEdit::default()
        };
        let check = |zone, photo: &ImageToChange, expect: &str, offset| {
            assert_eq!(at(&changed(set(zone), photo)), (expect.to_owned(), offset, false), "{photo:?}");
        };
        let summer = "2024-07-15T12:00:00";
        check(None, &image(summer, Some(120), paris), "2024-01-15T11:00:00.000Z", Some(60));
        check(None, &image(summer, None, paris), "2024-01-15T11:00:00.000Z", Some(60));
        check(None, &image(summer, Some(-300), paris), "2024-01-15T17:00:00.000Z", Some(-300));
        check(None, &image(summer, Some(120), None), "2024-01-15T10:00:00.000Z", Some(120));
        check(None, &image(summer, None, None), "2024-01-15T12:00:00.000Z", None);
        check(Some("Asia/Tokyo"), &image(summer, Some(120), paris), "2024-01-15T03:00:00.000Z", Some(540));
        let invalid = prepare(set(Some("Mars/Olympus"))).err().unwrap();
        assert_eq!(invalid.field, "zone");
    }

    #[test]
    fn a_position_gives_the_place_and_a_missing_zone() {
        let lisbon = Position::new(38.7223, -9.1393).unwrap();
        let edit = || PhotoEdit { position: Correction::Set(lisbon), ..PhotoEdit::default() };
        let change = changed(edit(), &image("2024-07-15T12:00:00", None, None));
        assert_eq!(change.place.as_ref().unwrap().place.as_deref(), Some("Lisbon, Portugal"));
        assert_eq!(at(&change), ("2024-07-15T11:00:00.000Z".to_owned(), Some(60), true));
        let known = changed(edit(), &image("2024-07-15T12:00:00", Some(-300), None));
        assert_eq!(known.time, None);
        // The new position replaces another one, whose zone no longer counts.
        let placed = ImageToChange {
            present: image("2024-07-15T12:00:00", Some(540), None).present,
            ..image("2024-07-15T12:00:00", None, None)
        };
        assert_eq!(at(&changed(edit(), &placed)).1, Some(60));
        let cleared = PhotoEdit { position: Correction::Clear, ..PhotoEdit::default() };
        assert_eq!(at(&changed(cleared, &placed)).1, None);
    }

    #[test]
    fn an_impossible_time_is_refused() {
        let numbers = ShiftNumbers { days: "3000000", ..ShiftNumbers::default() };
        let shift = TimeEdit::Shift(TimeShift::parse(true, numbers).unwrap());
        let edit = PhotoEdit { time: Some(shift), ..PhotoEdit::default() };
        assert_eq!(prepare(edit).unwrap()(&image("2024-07-15T12:00:00", None, None)), None);
    }
}
