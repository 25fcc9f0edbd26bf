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
pub(crate) struct ImageWithOwner {
    pub(crate) seq: i64,
    live: bool,
    captured_at_ms: Option<i64>,
    pub(crate) account: i64,
    plan: String,
    deleted_at_ms: Option<i64>,
    live_images: i64,
}

macro_rules! owner_columns {
    () => {
        (
            images::seq,
            images::live,
            images::captured_at_ms,
            accounts::id,
            accounts::plan,
            accounts::deleted_at_ms,
            accounts::live_images,
        )
    };
}
pub(crate) use owner_columns;

/// The image of that id, whether visible or not.
pub(crate) fn image_with_owner(c: &mut SqlConnection, id: &str) -> Result<Option<ImageWithOwner>, SqlError> {
    Ok(images::table
        .inner_join(accounts::table)
        .filter(images::id.eq(id))
        .select(owner_columns!())
        .get_result(c)
        .optional()?)
}

impl ImageWithOwner {
    fn owner(&self, free_window: u32) -> Result<Viewer, SqlError> {
        let plan: Plan =
            self.plan.parse().map_err(|_| RowReader::new("accounts", &self.account).unreadable("plan"))?;
        Ok(Viewer { account: AccountId(self.account), plan, free_window })
    }

    /// Whether it is visible to its owner, with this free window of the owner; `None` if that depends on other images.
    pub(crate) fn is_visible(&self, window: Option<u32>) -> Option<bool> {
        let Some(moment) = live_capture_ms(self) else { return Some(false) };
        let visibility = Visibility::without_query(self.account, self.live_images, window)?;
        Some(visibility.includes(moment))
    }

    /// As [`is_visible`](Self::is_visible), for the plan of the owner.
    pub(crate) fn is_visible_to_owner(&self, free_window: u32) -> Result<Option<bool>, SqlError> {
        Ok(self.is_visible(self.owner(free_window)?.window()))
    }
}

/// The capture time of an image that is live, so that only the free window may hide it; `None` for other images.
fn live_capture_ms(image: &ImageWithOwner) -> Option<i64> {
    image.captured_at_ms.filter(|_| image.live && image.deleted_at_ms.is_none())
}

fn owner_visibility(
    c: &mut SqlConnection,
    image: &ImageWithOwner,
    free_window: u32,
) -> Result<Visibility, SqlError> {
    let window = image.owner(free_window)?.window();
    Visibility::within(c, image.account, image.live_images, window)
}

/// The image of that id, if it is visible to its owner.
pub(crate) fn visible_to_owner(
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

/// Looks up ids for a viewer, all in one query; unknown ones are left out. The free window of each account is read once.
pub(crate) fn resolve_images(
    c: &mut SqlConnection,
    viewer: Viewer,
    ids: &[&str],
) -> Result<HashMap<String, Lookup<VisibleImage>>, SqlError> {
    // Postgres returns an error for some texts that are no ids.
    let ids: Vec<&str> = ids.iter().copied().filter(|id| ImageId::parse(*id).is_some()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(String, ImageWithOwner)> = images::table
        .inner_join(accounts::table)
        .filter(images::id.eq_any(ids))
        .select((images::id, owner_columns!()))
        .load(c)?;
    let mut by_account: HashMap<i64, Visibility> = HashMap::new();
    let mut resolved = HashMap::with_capacity(rows.len());
    for (id, image) in rows {
        let own = image.account == viewer.account.0;
        let visibility = match by_account.get(&image.account) {
            Some(visibility) => *visibility,
            None if own => Visibility::within(c, image.account, image.live_images, viewer.window())?,
            None => owner_visibility(c, &image, viewer.free_window)?,
        };
        by_account.insert(image.account, visibility);
        let visible_at = live_capture_ms(&image).filter(|moment| visibility.includes(*moment));
        let found = match (visible_at, own) {
            (Some(captured_at_ms), true) => Lookup::Found(VisibleImage { seq: image.seq, captured_at_ms }),
            (Some(_), false) => Lookup::Foreign,
            (None, _) => Lookup::Missing,
        };
        resolved.insert(id, found);
    }
    Ok(resolved)
}

/// Looks up one id for a viewer.
pub(crate) fn resolve_image(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &ImageId,
) -> Result<Lookup<VisibleImage>, SqlError> {
    let found = resolve_images(c, viewer, &[id.as_str()])?.remove(id.as_str());
    Ok(found.unwrap_or(Lookup::Missing))
}

/// One image by a single query; `None` if its visibility depends on the free window.
pub(crate) fn image_by_one_query(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &ImageId,
) -> Result<Option<Lookup<Image>>, SqlError> {
    let found: Option<(ImageWithOwner, ImageRow)> = images::table
        .inner_join(accounts::table)
        .filter(images::id.eq(id.as_str()))
        .select((owner_columns!(), ImageRow::as_select()))
        .get_result(c)
        .optional()?;
    let Some((image, row)) = found else { return Ok(Some(Lookup::Missing)) };
    let own = image.account == viewer.account.0;
    let visible = if own {
        image.is_visible(viewer.window())
    } else {
        image.is_visible_to_owner(viewer.free_window)?
    };
    Ok(match (visible, own) {
        (None, _) => None,
        (Some(true), true) => Some(Lookup::Found(Image::try_from(row)?)),
        (Some(true), false) => Some(Lookup::Foreign),
        (Some(false), _) => Some(Lookup::Missing),
    })
}

pub(crate) fn image(c: &mut SqlConnection, viewer: Viewer, id: &ImageId) -> Result<Lookup<Image>, SqlError> {
    let found = match resolve_image(c, viewer, id)? {
        Lookup::Found(found) => found,
        Lookup::Foreign => return Ok(Lookup::Foreign),
        Lookup::Missing => return Ok(Lookup::Missing),
    };
    let row = images::table.find(found.seq).select(ImageRow::as_select()).get_result(c)?;
    Ok(Lookup::Found(Image::try_from(row)?))
}

/// The visible images among these, in the order of the ids.
pub(crate) fn visible_images(
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
