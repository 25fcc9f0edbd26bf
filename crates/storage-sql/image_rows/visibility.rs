use diesel::{OptionalExtension, prelude::*};
use domain::DateRange;
use storage::Viewer;

use crate::{
    SqlConnection,
    error::SqlError,
    sql::schema::{accounts, images},
};

/// Which images of an account are visible: the live ones captured at `oldest_ms` or later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visibility {
    pub(crate) account: i64,
    pub(crate) oldest_ms: i64,
}

impl Visibility {
    /// The visibility for a viewer; `None` when the account does not exist.
    pub(crate) fn of(c: &mut SqlConnection, viewer: Viewer) -> Result<Option<Self>, SqlError> {
        let account = viewer.account.0;
        let Some(live_images) = live_images(c, account)? else { return Ok(None) };
        Self::within(c, account, live_images, viewer.window()).map(Some)
    }

    /// The visibility for an existing account with this many live images and this free window.
    pub(super) fn within(
        c: &mut SqlConnection,
        account: i64,
        live_images: i64,
        window: Option<u32>,
    ) -> Result<Self, SqlError> {
        if let Some(simple) = Self::without_query(account, live_images, window) {
            return Ok(simple);
        }
        let oldest_in_window = images::table
            .filter(images::account_id.eq(account))
            .filter(images::live.eq(true))
            .order(images::captured_at_ms.desc())
            .select(images::captured_at_ms.assume_not_null())
            .offset(window.map_or(0, |window| i64::from(window) - 1))
            .first::<i64>(c)
            .optional()?;
        Ok(Self { account, oldest_ms: oldest_in_window.unwrap_or(i64::MIN) })
    }

    /// The visibility if it does not depend on capture times: the window is empty, or contains all images.
    pub(super) fn without_query(account: i64, live_images: i64, window: Option<u32>) -> Option<Self> {
        match window.map(i64::from) {
            Some(0) => Some(Self { account, oldest_ms: i64::MAX }),
            Some(window) if window < live_images => None,
            _ => Some(Self { account, oldest_ms: i64::MIN }),
        }
    }

    /// Whether a live image of the account with that capture time is visible.
    pub(crate) fn includes(self, captured_at_ms: i64) -> bool {
        captured_at_ms >= self.oldest_ms
    }

    /// The visible part of a range.
    pub(crate) fn range_ms(self, range: DateRange) -> (i64, i64) {
        (range.start().millis().max(self.oldest_ms), range.end().millis())
    }
}

fn live_images(c: &mut SqlConnection, account: i64) -> Result<Option<i64>, SqlError> {
    Ok(accounts::table
        .find(account)
        .filter(accounts::deleted_at_ms.is_null())
        .select(accounts::live_images)
        .get_result(c)
        .optional()?)
}

/// The number of images visible to the viewer.
pub(crate) fn count(c: &mut SqlConnection, viewer: Viewer) -> Result<u32, SqlError> {
    let live = live_images(c, viewer.account.0)?.unwrap_or(0);
    let live = u32::try_from(live).unwrap_or(u32::MAX);
    Ok(viewer.window().map_or(live, |window| live.min(window)))
}
