//! Which images a search considers.
//!
//! A new filter is a field of [`Filter`] and its condition in [`Conditions`]. One that leaves few images of a large library
//! may also be a way to these, in [`newest`].

use diesel::{
    OptionalExtension, QueryResult,
    prelude::*,
    query_builder::{AstPass, QueryFragment},
    sql_types::{BigInt, Double, Text},
};
use domain::{Circle, Filter, Media};
use storage::Viewer;

use crate::{
    Backend, SqlConnection,
    error::SqlError,
    sql::{
        image_rows::Visibility,
        marks::{FacetIds, FacetKind},
        schema::albums,
    },
};

mod newest;
mod places;

pub(crate) use newest::{candidate_images, images_to_scan, newest_images, newest_of_each, newest_seqs};

/// A filter with the store's internal ids and the visible range.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedFilter {
    pub(crate) account: i64,
    pub(crate) album_seq: Option<i64>,
    pub(crate) start_ms: i64,
    pub(crate) end_ms: i64,
    cameras: Option<Vec<String>>,
    places: Option<Vec<String>>,
    /// The facets of regions and countries; images must have one of them.
    regions: Option<Vec<i64>>,
    /// The facets that images must have.
    facets: Vec<i64>,
    /// The facets that images must not have.
    without: Vec<i64>,
    /// The first and the last time on the clock, as if it were UTC.
    wall_ms: Option<(i64, i64)>,
    area: Option<Area>,
}

/// The facets of marks in a filter, and whether images must or must not have them. The rarest first: lists of filters with several
/// facets follow the first with few images.
fn marks_of(filter: &Filter) -> Vec<(FacetKind, &str, bool)> {
    let keyword = filter.keyword.iter().map(|keyword| (FacetKind::Keyword, keyword.as_str(), true));
    let flags = [(filter.archived, FacetKind::Archived), (filter.favorite, FacetKind::Favorite)];
    let flags = flags.into_iter().filter_map(|(wanted, kind)| Some((kind, "", wanted?)));
    keyword.chain(flags).collect()
}

fn regions_of(filter: &Filter) -> impl Iterator<Item = (FacetKind, &str)> {
    filter.regions.iter().flatten().map(|name| (FacetKind::Region, name.as_str()))
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
    /// `None` when nothing can match, because the account, the album or something else does not exist.
    pub(crate) fn resolve(
        c: &mut SqlConnection,
        viewer: Viewer,
        filter: &Filter,
    ) -> Result<Option<Self>, SqlError> {
        Ok(Self::resolve_each(c, viewer, std::slice::from_ref(filter))?.pop().flatten())
    }

    /// Resolves several filters of a viewer, each as [`resolve`](Self::resolve) does. The facets of all are looked up at once.
    pub(crate) fn resolve_each(
        c: &mut SqlConnection,
        viewer: Viewer,
        filters: &[Filter],
    ) -> Result<Vec<Option<Self>>, SqlError> {
        let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(vec![None; filters.len()]) };
        let wanted = filters.iter().flat_map(|filter| {
            let of_marks = marks_of(filter).into_iter().map(|(kind, name, _)| (kind, name));
            of_marks.chain(regions_of(filter))
        });
        let ids = FacetIds::find(c, visibility.account, wanted)?;
        filters.iter().map(|filter| Self::resolve_with(c, visibility, &ids, filter)).collect()
    }

    fn resolve_with(
        c: &mut SqlConnection,
        visibility: Visibility,
        ids: &FacetIds,
        filter: &Filter,
    ) -> Result<Option<Self>, SqlError> {
        let account = visibility.account;
        let album_seq = match &filter.album {
            None => None,
            Some(id) => {
                let album = albums::table
                    .filter(albums::id.eq(id.as_str()))
                    .filter(albums::account_id.eq(account))
                    .select(albums::seq)
                    .get_result::<i64>(c)
                    .optional()?;
                let Some(seq) = album else { return Ok(None) };
                Some(seq)
            }
        };
        if filter.media == Some(Media::Video) || filter.people.is_some() {
            return Ok(None);
        }
        let is_empty = |names: &Option<Vec<String>>| names.as_ref().is_some_and(Vec::is_empty);
        if is_empty(&filter.cameras) || is_empty(&filter.places) {
            return Ok(None);
        }
        let (mut facets, mut without) = (Vec::new(), Vec::new());
        for (kind, name, wanted) in marks_of(filter) {
            match (ids.get(kind, name), wanted) {
                (Some(facet), true) => facets.push(facet),
                (Some(facet), false) => without.push(facet),
                (None, true) => return Ok(None),
                (None, false) => {}
            }
        }
        let found = || regions_of(filter).filter_map(|(kind, name)| ids.get(kind, name)).collect();
        let regions: Option<Vec<i64>> = filter.regions.is_some().then(found);
        if regions.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        let Some(moments) = filter.moments() else { return Ok(None) };
        let (start_ms, end_ms) = visibility.range_ms(moments);
        let wall_ms = filter.wall.map(|wall| (wall.start().millis(), wall.end().millis()));
        Ok(Some(Self {
            account,
            wall_ms,
            album_seq,
            start_ms,
            end_ms,
            cameras: filter.cameras.clone(),
            places: filter.places.clone(),
            regions,
            facets,
            without,
            area: filter.circle.map(Area::from),
        }))
    }

    pub(crate) fn circle(&self) -> Option<Circle> {
        self.area.map(|area| area.circle)
    }

    /// The conditions on a row of `images`.
    pub(crate) const fn conditions(&self) -> Conditions<'_> {
        Conditions { filter: self, is_in_album: false, is_in_range: false }
    }

    /// As [`conditions`](Self::conditions), for a row that is known to be in the album, if there is one.
    pub(crate) fn conditions_within_album(&self) -> Conditions<'_> {
        Conditions { filter: self, is_in_album: true, is_in_range: false }
    }

    /// As [`conditions`](Self::conditions), for a row that is known to be visible and in the range, and perhaps in the album.
    const fn conditions_within_range(&self, is_in_album: bool) -> Conditions<'_> {
        Conditions { filter: self, is_in_album, is_in_range: true }
    }
}

/// The conditions of a filter on a row of `images`, as a part of a statement. It has only those that the filter has, so that
/// the planner can use them and each combination stays prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conditions<'a> {
    filter: &'a ResolvedFilter,
    /// Whether each row is known to be in the album, if there is one.
    is_in_album: bool,
    /// Whether each row is known to be visible and in the range.
    is_in_range: bool,
}

/// The values of a list, filled up to a power of two, so that few statements stay prepared.
fn filled_up<T>(list: &[T]) -> impl Iterator<Item = &T> {
    let filling = list.last().into_iter().cycle().take(list.len().next_power_of_two() - list.len());
    list.iter().chain(filling)
}

impl QueryFragment<Backend> for Conditions<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        let filter = self.filter;
        if self.is_in_range {
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
        if let Some(album_seq) = filter.album_seq.as_ref().filter(|_| !self.is_in_album) {
            pass.push_sql(" AND EXISTS (SELECT 1 FROM album_images AS a WHERE a.album_seq = ");
            pass.push_bind_param::<BigInt, _>(album_seq)?;
            pass.push_sql(" AND a.image_seq = images.seq)");
        }
        for (column, names) in [("camera", &filter.cameras), ("place", &filter.places)] {
            let Some(names) = names else { continue };
            pass.push_sql(if column == "camera" { " AND images.camera" } else { " AND images.place" });
            if let [name] = names.as_slice() {
                pass.push_sql(" = ");
                pass.push_bind_param::<Text, _>(name)?;
                continue;
            }
            for (number, name) in filled_up(names).enumerate() {
                pass.push_sql(if number == 0 { " IN (" } else { ", " });
                pass.push_bind_param::<Text, _>(name)?;
            }
            pass.push_sql(")");
        }
        if let Some(regions) = &filter.regions {
            pass.push_sql(
                " AND EXISTS (SELECT 1 FROM image_facets AS f WHERE f.image_seq = images.seq AND f.facet_id",
            );
            for (number, region) in filled_up(regions).enumerate() {
                pass.push_sql(if number == 0 { " IN (" } else { ", " });
                pass.push_bind_param::<BigInt, _>(region)?;
            }
            pass.push_sql("))");
        }
        for (facets, exists) in [(&filter.facets, " AND EXISTS"), (&filter.without, " AND NOT EXISTS")] {
            for facet in facets {
                pass.push_sql(exists);
                pass.push_sql(" (SELECT 1 FROM image_facets AS f WHERE f.facet_id = ");
                pass.push_bind_param::<BigInt, _>(facet)?;
                pass.push_sql(" AND f.image_seq = images.seq)");
            }
        }
        if let Some((first, last)) = &filter.wall_ms {
            pass.push_sql(
                " AND images.captured_at_ms + 60000 * coalesce(images.capture_offset_min, 0) BETWEEN ",
            );
            pass.push_bind_param::<BigInt, _>(first)?;
            pass.push_sql(" AND ");
            pass.push_bind_param::<BigInt, _>(last)?;
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

/// Makes a part of statements a condition on a row of `images`.
macro_rules! condition {
    ($type:ty) => {
        /// Prepared statements are found by their text.
        impl diesel::query_builder::QueryId for $type {
            type QueryId = ();

            const HAS_STATIC_QUERY_ID: bool = false;
        }

        impl diesel::expression::Expression for $type {
            type SqlType = diesel::sql_types::Bool;
        }

        impl<Table> diesel::AppearsOnTable<Table> for $type {}

        impl diesel::expression::ValidGrouping<()> for $type {
            type IsAggregate = diesel::expression::is_aggregate::Never;
        }
    };
}
use condition;

condition!(Conditions<'_>);
