use std::collections::HashMap;

use diesel::{OptionalExtension, SqliteConnection, prelude::*};
use domain::{Image, ImageId, Plan};
use storage::{Lookup, Viewer};

use super::{
    row::{ImageRow, KeyedRow},
    sight::{Sight, window_of},
};
use crate::{
    error::Failure,
    schema::{accounts, images},
    value::RowName,
};

/// An image with what decides who sees it.
#[derive(Queryable)]
pub(super) struct OwnedImage {
    pub(super) seq: i64,
    live: bool,
    captured_at_ms: Option<i64>,
    pub(super) account: i64,
    plan: String,
    deleted_at_ms: Option<i64>,
    live_images: i64,
}

/// The image of that id, whoever may see it.
pub(super) fn owned_image(c: &mut SqliteConnection, id: &str) -> Result<Option<OwnedImage>, Failure> {
    Ok(images::table
        .inner_join(accounts::table)
        .filter(images::id.eq(id))
        .select((
            images::seq,
            images::live,
            images::captured_at_ms,
            accounts::id,
            accounts::plan,
            accounts::deleted_at_ms,
            accounts::live_images,
        ))
        .get_result(c)
        .optional()?)
}

/// The capture time of an image that would be seen without a window.
fn live_moment(image: &OwnedImage) -> Option<i64> {
    image.captured_at_ms.filter(|_| image.live && image.deleted_at_ms.is_none())
}

/// What the image's owner sees.
fn owner_sight(c: &mut SqliteConnection, image: &OwnedImage, free_window: u32) -> Result<Sight, Failure> {
    let plan: Plan =
        image.plan.parse().map_err(|_| RowName::new("accounts", &image.account).unreadable("plan"))?;
    Sight::within(c, image.account, image.live_images, window_of(plan, free_window))
}

/// The image of that id if its owner sees it.
pub(super) fn seen_by_owner(
    c: &mut SqliteConnection,
    id: &ImageId,
    free_window: u32,
) -> Result<Option<OwnedImage>, Failure> {
    let Some(image) = owned_image(c, id.as_str())? else { return Ok(None) };
    let Some(moment) = live_moment(&image) else { return Ok(None) };
    let sight = owner_sight(c, &image, free_window)?;
    Ok(sight.reaches(moment).then_some(image))
}

/// An image that the viewer sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) seq: i64,
    pub(crate) captured_at_ms: i64,
}

/// Tells what ids stand for in the eyes of one viewer. Each account's window is looked up once.
pub(crate) struct Resolver {
    viewer: Viewer,
    sights: HashMap<i64, Sight>,
}

impl Resolver {
    pub(crate) fn new(viewer: Viewer) -> Self {
        Self { viewer, sights: HashMap::new() }
    }

    pub(crate) fn resolve(&mut self, c: &mut SqliteConnection, id: &str) -> Result<Lookup<Seen>, Failure> {
        let Some(image) = owned_image(c, id)? else { return Ok(Lookup::Missing) };
        let Some(captured_at_ms) = live_moment(&image) else { return Ok(Lookup::Missing) };
        let own = image.account == self.viewer.account.0;
        let sight = match self.sights.get(&image.account) {
            Some(sight) => *sight,
            None if own => Sight::within(c, image.account, image.live_images, self.viewer.window())?,
            None => owner_sight(c, &image, self.viewer.free_window)?,
        };
        self.sights.insert(image.account, sight);
        Ok(match (sight.reaches(captured_at_ms), own) {
            (true, true) => Lookup::Found(Seen { seq: image.seq, captured_at_ms }),
            (true, false) => Lookup::Foreign,
            (false, _) => Lookup::Missing,
        })
    }
}

/// One image.
pub(super) fn image(
    c: &mut SqliteConnection,
    viewer: Viewer,
    id: &ImageId,
) -> Result<Lookup<Image>, Failure> {
    let seen = match Resolver::new(viewer).resolve(c, id.as_str())? {
        Lookup::Found(seen) => seen,
        Lookup::Foreign => return Ok(Lookup::Foreign),
        Lookup::Missing => return Ok(Lookup::Missing),
    };
    let row = images::table.find(seen.seq).select(ImageRow::as_select()).get_result(c)?;
    Ok(Lookup::Found(Image::try_from(row)?))
}

/// Those of the images that the viewer sees, in the order of the ids.
pub(super) fn own_images(
    c: &mut SqliteConnection,
    viewer: Viewer,
    ids: &[ImageId],
) -> Result<Vec<Image>, Failure> {
    let Some(sight) = Sight::of(c, viewer)? else { return Ok(Vec::new()) };
    let rows: Vec<KeyedRow> = images::table
        .filter(images::id.eq_any(ids.iter().map(ImageId::as_str)))
        .select(KeyedRow::as_select())
        .load(c)?;
    let seen = rows.into_iter().filter_map(|row| row.seen(sight));
    let found = seen.map(Image::try_from).collect::<Result<Vec<_>, _>>()?;
    let mut by_id: HashMap<ImageId, Image> =
        found.into_iter().map(|image| (image.id.clone(), image)).collect();
    Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
}
