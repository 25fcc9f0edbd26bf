//! Which images a search considers.
//!
//! A new filter is a field of [`Filter`] and its condition in [`Conditions`]. One that leaves few images of a large library
//! may also be a way to these, in [`newest`].

mod newest;
mod places;

use diesel::{
    AppearsOnTable, OptionalExtension, QueryResult,
    expression::{Expression, ValidGrouping, is_aggregate},
    prelude::*,
    query_builder::{AstPass, QueryFragment, QueryId},
    sql_types::{BigInt, Bool, Double, Text},
};
use domain::{Circle, Filter};
use storage::Viewer;

use crate::{
    Backend, SqlConnection,
    error::SqlError,
    sql::{image_rows::Visibility, schema::albums},
};

pub(crate) use newest::{candidate_images, images_to_scan, newest_images};

/// A filter with the store's internal ids and the visible range.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedFilter {
    pub(crate) account: i64,
    pub(crate) album_seq: Option<i64>,
    pub(crate) start_ms: i64,
    pub(crate) end_ms: i64,
    pub(crate) camera: Option<String>,
    area: Option<Area>,
}

/// A circle, with the numbers that conditions on it compare.
#[derive(Debug, Clone, Copy)]
struct Area {
    circle: Circle,
    latitude: f64,
    longitude: f64,
    radius_m: f64,
    /// The lowest and the highest latitude of its bounding boxes.
    south: f64,
    north: f64,
}

impl From<Circle> for Area {
    fn from(circle: Circle) -> Self {
        let (centre, boxes) = (circle.centre(), circle.bounding_boxes());
        Self {
            circle,
            latitude: centre.latitude(),
            longitude: centre.longitude(),
            radius_m: circle.radius_m(),
            south: boxes.iter().fold(90.0, |south, area| area.south.min(south)),
            north: boxes.iter().fold(-90.0, |north, area| area.north.max(north)),
        }
    }
}

impl ResolvedFilter {
    /// `None` when nothing can match, because the account or the album does not exist.
    pub(crate) fn resolve(
        c: &mut SqlConnection,
        viewer: Viewer,
        filter: &Filter,
    ) -> Result<Option<Self>, SqlError> {
        let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(None) };
        let album_seq = match &filter.album {
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
        let (start_ms, end_ms) = visibility.range_ms(filter.range);
        Ok(Some(Self {
            account: visibility.account,
            album_seq,
            start_ms,
            end_ms,
            camera: filter.camera.clone(),
            area: filter.circle.map(Area::from),
        }))
    }

    pub(crate) fn circle(&self) -> Option<Circle> {
        self.area.map(|area| area.circle)
    }

    /// The conditions on a row of `images`.
    pub(crate) fn conditions(&self) -> Conditions<'_> {
        Conditions { filter: self, known: Known::Nothing }
    }

    /// As [`conditions`](Self::conditions), for a row that is known to be in the album, if there is one.
    pub(crate) fn conditions_within_album(&self) -> Conditions<'_> {
        Conditions { filter: self, known: Known::Album }
    }

    /// As [`conditions`](Self::conditions), for a row that is known to be in the album, visible and in the range.
    fn conditions_within_album_range(&self) -> Conditions<'_> {
        Conditions { filter: self, known: Known::AlbumAndRange }
    }
}

/// What is known of a row before its conditions are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    Album,
    AlbumAndRange,
}

/// The conditions of a filter on a row of `images`, as a part of a statement. It has only those that the filter has, so that
/// the planner can use them and each combination stays prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conditions<'a> {
    filter: &'a ResolvedFilter,
    known: Known,
}

impl QueryFragment<Backend> for Conditions<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        let filter = self.filter;
        if self.known == Known::AlbumAndRange {
            pass.push_sql("TRUE");
        } else {
            // BETWEEN: with two comparisons the planner prefers the index that also contains deleted images.
            pass.push_sql("images.account_id = ");
            pass.push_bind_param::<BigInt, _>(&filter.account)?;
            pass.push_sql(" AND images.live = TRUE AND images.captured_at_ms BETWEEN ");
            pass.push_bind_param::<BigInt, _>(&filter.start_ms)?;
            pass.push_sql(" AND ");
            pass.push_bind_param::<BigInt, _>(&filter.end_ms)?;
        }
        if let Some(album_seq) = filter.album_seq.as_ref().filter(|_| self.known == Known::Nothing) {
            pass.push_sql(" AND EXISTS (SELECT 1 FROM album_images AS a WHERE a.album_seq = ");
            pass.push_bind_param::<BigInt, _>(album_seq)?;
            pass.push_sql(" AND a.image_seq = images.seq)");
        }
        if let Some(camera) = &filter.camera {
            pass.push_sql(" AND images.camera = ");
            pass.push_bind_param::<Text, _>(camera)?;
        }
        // Last, and latitudes first, because computing the distance is expensive.
        if let Some(area) = &filter.area {
            pass.push_sql(" AND images.latitude BETWEEN ");
            pass.push_bind_param::<Double, _>(&area.south)?;
            pass.push_sql(" AND ");
            pass.push_bind_param::<Double, _>(&area.north)?;
            pass.push_sql(" AND distance_m(");
            pass.push_bind_param::<Double, _>(&area.latitude)?;
            pass.push_sql(", ");
            pass.push_bind_param::<Double, _>(&area.longitude)?;
            pass.push_sql(", images.latitude, images.longitude) <= ");
            pass.push_bind_param::<Double, _>(&area.radius_m)?;
        }
        Ok(())
    }
}

/// Prepared statements are found by their text.
impl QueryId for Conditions<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Expression for Conditions<'_> {
    type SqlType = Bool;
}

impl<Table> AppearsOnTable<Table> for Conditions<'_> {}

impl ValidGrouping<()> for Conditions<'_> {
    type IsAggregate = is_aggregate::Never;
}
