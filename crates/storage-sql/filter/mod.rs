//! Which images a search considers.

pub(crate) mod cameras;
pub(crate) mod places;

use diesel::{OptionalExtension, prelude::*};
use domain::{AlbumId, Circle, DateRange};
use storage::{SearchFilter, Viewer};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{image_rows::Visibility, schema::albums},
};

/// A [`SearchFilter`] that can be sent to another thread.
pub(crate) struct OwnedFilter {
    album: Option<AlbumId>,
    circle: Option<Circle>,
    camera: Option<String>,
    range: DateRange,
}

impl From<SearchFilter<'_>> for OwnedFilter {
    fn from(filter: SearchFilter<'_>) -> Self {
        Self {
            album: filter.album.cloned(),
            circle: filter.circle,
            camera: filter.camera.map(str::to_owned),
            range: filter.range,
        }
    }
}

/// A search filter with the store's internal ids and the visible range.
pub(crate) struct ResolvedFilter {
    pub(crate) account: i64,
    pub(crate) album_seq: Option<i64>,
    pub(crate) circle: Option<Circle>,
    pub(crate) camera: Option<String>,
    pub(crate) start_ms: i64,
    pub(crate) end_ms: i64,
}

impl OwnedFilter {
    /// `None` when nothing can match, because the account or the album does not exist.
    pub(crate) fn resolve(
        &self,
        c: &mut SqlConnection,
        viewer: Viewer,
    ) -> Result<Option<ResolvedFilter>, SqlError> {
        let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(None) };
        let album_seq = match &self.album {
            None => None,
            Some(id) => {
                let album = albums::table
                    .filter(albums::id.eq(id.as_str()))
                    .filter(albums::account_id.eq(visibility.account))
                    .select(albums::seq)
                    .get_result::<i64>(c)
                    .optional()?;
                let Some(seq) = album else { return Ok(None) };
                Some(seq)
            }
        };
        let (start_ms, end_ms) = visibility.range_ms(self.range);
        Ok(Some(ResolvedFilter {
            account: visibility.account,
            album_seq,
            circle: self.circle,
            camera: self.camera.clone(),
            start_ms,
            end_ms,
        }))
    }
}
