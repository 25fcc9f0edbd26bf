use std::collections::HashMap;

use diesel::{OptionalExtension, prelude::*};
use domain::{AccountId, Image, ImageId, Plan};
use storage::{Lookup, Viewer};

use super::{
    row::{ImageRow, ImageRowWithOwner},
    visibility::Visibility,
};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{accounts, images},
        value::RowReader,
    },
};

/// An image with the data that decides its visibility.
#[derive(Queryable)]
pub(super) struct ImageWithOwner {
    pub(super) seq: i64,
    live: bool,
    captured_at_ms: Option<i64>,
    pub(super) account: i64,
    plan: String,
    deleted_at_ms: Option<i64>,
    live_images: i64,
}

/// The image of that id, whether visible or not.
pub(super) fn image_with_owner(c: &mut SqlConnection, id: &str) -> Result<Option<ImageWithOwner>, SqlError> {
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

/// The capture time of an image that is visible apart from the free window.
fn live_capture_ms(image: &ImageWithOwner) -> Option<i64> {
    image.captured_at_ms.filter(|_| image.live && image.deleted_at_ms.is_none())
}

/// The visibility of images to the owner of this one.
fn owner_visibility(
    c: &mut SqlConnection,
    image: &ImageWithOwner,
    free_window: u32,
) -> Result<Visibility, SqlError> {
    let plan: Plan =
        image.plan.parse().map_err(|_| RowReader::new("accounts", &image.account).unreadable("plan"))?;
    let owner = Viewer { account: AccountId(image.account), plan, free_window };
    Visibility::within(c, image.account, image.live_images, owner.window())
}

/// The image of that id, if it is visible to its owner.
pub(super) fn visible_to_owner(
    c: &mut SqlConnection,
    id: &ImageId,
    free_window: u32,
) -> Result<Option<ImageWithOwner>, SqlError> {
    let Some(image) = image_with_owner(c, id.as_str())? else { return Ok(None) };
    let Some(moment) = live_capture_ms(&image) else { return Ok(None) };
    let visibility = owner_visibility(c, &image, free_window)?;
    Ok(visibility.includes(moment).then_some(image))
}

/// An image that is visible to the viewer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisibleImage {
    pub(crate) seq: i64,
    pub(crate) captured_at_ms: i64,
}

/// Looks up ids for one viewer. The free window of each account is read once.
pub(crate) struct ImageResolver {
    viewer: Viewer,
    by_account: HashMap<i64, Visibility>,
}

impl ImageResolver {
    pub(crate) fn new(viewer: Viewer) -> Self {
        Self { viewer, by_account: HashMap::new() }
    }

    pub(crate) fn resolve(
        &mut self,
        c: &mut SqlConnection,
        id: &str,
    ) -> Result<Lookup<VisibleImage>, SqlError> {
        // Postgres cannot even be asked for some texts that are no ids.
        if ImageId::parse(id).is_none() {
            return Ok(Lookup::Missing);
        }
        let Some(image) = image_with_owner(c, id)? else { return Ok(Lookup::Missing) };
        let Some(captured_at_ms) = live_capture_ms(&image) else { return Ok(Lookup::Missing) };
        let own = image.account == self.viewer.account.0;
        let visibility = match self.by_account.get(&image.account) {
            Some(visibility) => *visibility,
            None if own => Visibility::within(c, image.account, image.live_images, self.viewer.window())?,
            None => owner_visibility(c, &image, self.viewer.free_window)?,
        };
        self.by_account.insert(image.account, visibility);
        Ok(match (visibility.includes(captured_at_ms), own) {
            (true, true) => Lookup::Found(VisibleImage { seq: image.seq, captured_at_ms }),
            (true, false) => Lookup::Foreign,
            (false, _) => Lookup::Missing,
        })
    }
}

/// One image.
pub(super) fn image(c: &mut SqlConnection, viewer: Viewer, id: &ImageId) -> Result<Lookup<Image>, SqlError> {
    let found = match ImageResolver::new(viewer).resolve(c, id.as_str())? {
        Lookup::Found(found) => found,
        Lookup::Foreign => return Ok(Lookup::Foreign),
        Lookup::Missing => return Ok(Lookup::Missing),
    };
    let row = images::table.find(found.seq).select(ImageRow::as_select()).get_result(c)?;
    Ok(Lookup::Found(Image::try_from(row)?))
}

/// The visible images among these, in the order of the ids.
pub(super) fn visible_images(
    c: &mut SqlConnection,
    viewer: Viewer,
    ids: &[ImageId],
) -> Result<Vec<Image>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let rows: Vec<ImageRowWithOwner> = images::table
        .filter(images::id.eq_any(ids.iter().map(ImageId::as_str)))
        .select(ImageRowWithOwner::as_select())
        .load(c)?;
    let visible = rows.into_iter().filter_map(|row| row.if_visible(visibility));
    let found = visible.map(Image::try_from).collect::<Result<Vec<_>, _>>()?;
    let mut by_id: HashMap<ImageId, Image> =
        found.into_iter().map(|image| (image.id.clone(), image)).collect();
    Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
}
