//! The newest images that pass a filter, and all of them if they are few.

use std::cmp::Reverse;

use diesel::{
    QueryResult, QueryableByName,
    prelude::*,
    query_builder::{AstPass, QueryFragment},
    sql_types::{BigInt, Text},
};
use domain::Limit;

use super::{
    Conditions, ResolvedFilter, condition, filled_up,
    places::{in_bounding_boxes, newest_in_circle},
};
use crate::{
    Backend, SqlConnection,
    error::SqlError,
    sql::{
        image_rows::{ImageRow, load_in_order},
        schema::{album_images, images},
        statement,
    },
};

/// The newest images that pass a filter.
pub(crate) fn newest_images(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    limit: Limit,
) -> Result<Vec<ImageRow>, SqlError> {
    if let Some(circle) = filter.circle() {
        let seqs = newest_in_circle(c, filter, circle, limit)?;
        return load_in_order(c, &seqs);
    }
    let limit = i64::from(limit.get());
    Ok(match filter.lists(c)?.as_slice() {
        [List::Timeline] => images::table
            .filter(filter.conditions())
            .order(images::captured_at_ms.desc())
            .limit(limit)
            .select(ImageRow::as_select())
            .load(c)?,
        [list] => images::table
            .filter(IsAmong(Newest::new(filter, *list, limit)))
            .order(images::captured_at_ms.desc())
            .select(ImageRow::as_select())
            .load(c)?,
        lists => {
            let seqs = newest_of_lists(c, filter, lists, limit)?;
            load_in_order(c, &seqs)?
        }
    })
}

/// A list of images in the order of their capture times, which an index has.
#[derive(Debug, Clone, Copy)]
enum List<'a> {
    Album(i64),
    Facet(i64),
    Place(&'a str),
    Camera(&'a str),
    Timeline,
}

/// Maximum number of lists that are merged. Images of more places or cameras are a large part of the timeline.
const MAX_LISTS: usize = 64;

/// Numbers of images up to which the lists of the conditions are counted, one condition after the other, until one has fewer. Longer
/// lists are long enough for a page of images that pass all conditions, unless those rarely meet.
const COUNTED: [i64; 2] = [256, 4096];

impl ResolvedFilter {
    /// Lists that together have all images that pass the filter, for each condition that has such lists. The first are usually
    /// the shortest.
    fn choices(&self) -> Vec<Vec<List<'_>>> {
        if let Some(album_seq) = self.album_seq {
            return vec![vec![List::Album(album_seq)]];
        }
        let mut choices: Vec<Vec<List<'_>>> = Vec::new();
        choices
            .extend(self.places.as_ref().map(|names| names.iter().map(|name| List::Place(name)).collect()));
        choices.extend(self.regions.as_ref().map(|ids| ids.iter().map(|id| List::Facet(*id)).collect()));
        choices.extend(self.facets.iter().map(|id| vec![List::Facet(*id)]));
        choices
            .extend(self.cameras.as_ref().map(|names| names.iter().map(|name| List::Camera(name)).collect()));
        choices.retain(|lists| lists.len() <= MAX_LISTS);
        choices.truncate(THEN.len());
        if choices.is_empty() {
            choices.push(vec![List::Timeline]);
        }
        choices
    }

    /// Lists that together have all images that pass the filter: those of the first condition with few images.
    fn lists(&self, c: &mut SqlConnection) -> Result<Vec<List<'_>>, SqlError> {
        let mut choices = self.choices();
        if choices.len() == 1 {
            return Ok(choices.swap_remove(0));
        }
        let Choice { choice } =
            statement("SELECT ").then(FirstShort { filter: self, choices: &choices }).get_result(c)?;
        let choice = usize::try_from(choice).unwrap_or(0).min(choices.len() - 1);
        Ok(choices.swap_remove(choice))
    }
}

#[derive(QueryableByName)]
struct Choice {
    #[diesel(sql_type = BigInt)]
    choice: i64,
}

/// The number of the first choice that is shorter than the first or else the second of [`COUNTED`]; 0 if none is.
#[derive(Debug, Clone, Copy)]
struct FirstShort<'a> {
    filter: &'a ResolvedFilter,
    choices: &'a [Vec<List<'a>>],
}

impl QueryFragment<Backend> for FirstShort<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        // The parts of a CASE are evaluated one after the other.
        pass.push_sql("CAST(CASE");
        for most in &COUNTED {
            for (then, lists) in THEN.iter().zip(self.choices) {
                pass.push_sql(" WHEN (SELECT count(*) FROM (SELECT 1 FROM ");
                self.push_images_of(lists, &mut pass)?;
                pass.push_sql(" LIMIT ");
                pass.push_bind_param::<BigInt, _>(most)?;
                pass.push_sql(") AS counted) < ");
                pass.push_bind_param::<BigInt, _>(most)?;
                pass.push_sql(then);
            }
        }
        pass.push_sql(" ELSE 0 END AS BIGINT) AS choice");
        Ok(())
    }
}

/// What [`FirstShort`] returns for each choice. A filter has at most six.
const THEN: [&str; 6] = [" THEN 0", " THEN 1", " THEN 2", " THEN 3", " THEN 4", " THEN 5"];

impl<'a> FirstShort<'a> {
    fn push_images_of<'b>(
        &'b self,
        lists: &'b [List<'a>],
        pass: &mut AstPass<'_, 'b, Backend>,
    ) -> QueryResult<()> {
        let (is_of_places, is_of_cameras) =
            (matches!(lists, [List::Place(_), ..]), matches!(lists, [List::Camera(_), ..]));
        // The album and the timeline are never one of several choices.
        pass.push_sql(match (is_of_places, is_of_cameras) {
            (true, _) => concat!("images AS a ", by_index!("images_place"), " WHERE a.place IN ("),
            (_, true) => concat!("images AS a ", by_index!("images_camera"), " WHERE a.camera IN ("),
            _ => concat!("image_facets AS a ", by_index!("image_facets_timeline"), " WHERE a.facet_id IN ("),
        });
        for (number, list) in filled_up(lists).enumerate() {
            pass.push_sql(if number == 0 { "" } else { ", " });
            match list {
                List::Album(key) | List::Facet(key) => pass.push_bind_param::<BigInt, _>(key)?,
                List::Place(name) | List::Camera(name) => pass.push_bind_param::<Text, _>(name)?,
                List::Timeline => {}
            }
        }
        pass.push_sql(")");
        if is_of_places || is_of_cameras {
            pass.push_sql(" AND a.account_id = ");
            pass.push_bind_param::<BigInt, _>(&self.filter.account)?;
        }
        pass.push_sql(" AND a.live = TRUE AND a.captured_at_ms BETWEEN ");
        pass.push_bind_param::<BigInt, _>(&self.filter.start_ms)?;
        pass.push_sql(" AND ");
        pass.push_bind_param::<BigInt, _>(&self.filter.end_ms)
    }
}

#[derive(QueryableByName)]
struct Listed {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = BigInt)]
    at_ms: i64,
}

macro_rules! from_copies {
    ($table:literal, $index:literal, $key:literal) => {
        concat!(
            "SELECT images.seq AS seq, a.captured_at_ms AS at_ms FROM ",
            $table,
            " AS a ",
            by_index!($index),
            " ",
            join_after!("images", "images", "images.seq = a.image_seq"),
            " WHERE a.",
            $key,
            " = "
        )
    };
}

macro_rules! from_images {
    ($index:literal) => {
        concat!(
            "SELECT images.seq AS seq, images.captured_at_ms AS at_ms FROM images ",
            by_index!($index),
            " WHERE "
        )
    };
}

/// A query of the rows of the newest images of a list that pass a filter.
#[derive(Debug, Clone, Copy)]
struct Newest<'a> {
    list: List<'a>,
    conditions: Conditions<'a>,
    limit: i64,
}

impl<'a> Newest<'a> {
    const fn new(filter: &'a ResolvedFilter, list: List<'a>, limit: i64) -> Self {
        let conditions = match list {
            List::Album(_) => filter.conditions_within_range(true),
            List::Facet(_) => filter.conditions_within_range(false),
            List::Place(_) | List::Camera(_) | List::Timeline => filter.conditions(),
        };
        Self { list, conditions, limit }
    }
}

impl QueryFragment<Backend> for Newest<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        pass.push_sql(match self.list {
            List::Album(_) => from_copies!("album_images", "album_images_timeline", "album_seq"),
            List::Facet(_) => from_copies!("image_facets", "image_facets_timeline", "facet_id"),
            List::Place(_) => concat!(from_images!("images_place"), "images.place = "),
            List::Camera(_) => concat!(from_images!("images_camera"), "images.camera = "),
            List::Timeline => from_images!("images_timeline"),
        });
        let mut order = " ORDER BY images.captured_at_ms DESC LIMIT ";
        match &self.list {
            List::Album(key) | List::Facet(key) => {
                pass.push_bind_param::<BigInt, _>(key)?;
                pass.push_sql(" AND a.live = TRUE AND a.captured_at_ms BETWEEN ");
                pass.push_bind_param::<BigInt, _>(&self.conditions.filter.start_ms)?;
                pass.push_sql(" AND ");
                pass.push_bind_param::<BigInt, _>(&self.conditions.filter.end_ms)?;
                pass.push_sql(" AND ");
                order = " ORDER BY a.captured_at_ms DESC LIMIT ";
            }
            List::Place(name) | List::Camera(name) => {
                pass.push_bind_param::<Text, _>(name)?;
                pass.push_sql(" AND ");
            }
            List::Timeline => {}
        }
        self.conditions.walk_ast(pass.reborrow())?;
        pass.push_sql(order);
        pass.push_bind_param::<BigInt, _>(&self.limit)
    }
}

/// That an image is among these.
#[derive(Debug, Clone, Copy)]
struct IsAmong<'a>(Newest<'a>);

impl QueryFragment<Backend> for IsAmong<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        pass.push_sql("images.seq IN (SELECT newest.seq FROM (");
        self.0.walk_ast(pass.reborrow())?;
        pass.push_sql(") AS newest)");
        Ok(())
    }
}

condition!(IsAmong<'_>);

#[derive(QueryableByName)]
struct ListedFor {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = BigInt)]
    at_ms: i64,
}

/// Lists of several filters in one statement, each with the number of its filter.
#[derive(Debug, Clone)]
struct Union<'a>(&'a [(i64, Newest<'a>)]);

impl QueryFragment<Backend> for Union<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        for (place, (number, list)) in self.0.iter().enumerate() {
            pass.push_sql(if place == 0 { "" } else { " UNION ALL " });
            pass.push_sql("SELECT CAST(");
            pass.push_bind_param::<BigInt, _>(number)?;
            pass.push_sql(" AS BIGINT) AS number, listed.seq AS seq, listed.at_ms AS at_ms FROM (");
            list.walk_ast(pass.reborrow())?;
            pass.push_sql(") AS listed");
        }
        Ok(())
    }
}

/// Maximum number of lists in one statement.
const MAX_UNITED: usize = 16;

/// The newest images that pass each of several filters without circles: the number of the filter, and the image. A statement has
/// the lists of many filters.
pub(crate) fn newest_of_each(
    c: &mut SqlConnection,
    filters: &[Option<ResolvedFilter>],
    limit: i64,
) -> Result<Vec<(usize, i64)>, SqlError> {
    let mut lists = Vec::new();
    for (number, filter) in (0..).zip(filters) {
        let Some(filter) = filter else { continue };
        // Each choice has all images of the filter.
        let choice = filter.choices().swap_remove(0);
        lists.extend(choice.into_iter().map(|list| (number, Newest::new(filter, list, limit))));
    }
    let mut found: Vec<ListedFor> = Vec::new();
    for part in lists.chunks(MAX_UNITED) {
        found.extend(statement("").then(Union(part)).load::<ListedFor>(c)?);
    }
    found.sort_unstable_by_key(|image| (image.number, Reverse(image.at_ms)));
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let of_filters = found.chunk_by(|a, b| a.number == b.number).flat_map(|images| images.iter().take(most));
    Ok(of_filters.map(|image| (usize::try_from(image.number).unwrap_or(0), image.seq)).collect())
}

/// The rows of the newest images that pass a filter, from the filter's lists.
pub(crate) fn newest_seqs(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    limit: i64,
) -> Result<Vec<i64>, SqlError> {
    let lists = filter.lists(c)?;
    newest_of_lists(c, filter, &lists, limit)
}

fn newest_of_lists(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    lists: &[List<'_>],
    limit: i64,
) -> Result<Vec<i64>, SqlError> {
    let mut newest: Vec<Listed> = Vec::new();
    for list in lists {
        newest.extend(newest_of(c, filter, *list, limit)?);
    }
    if lists.len() > 1 {
        newest.sort_unstable_by_key(|image| Reverse(image.at_ms));
        newest.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    Ok(newest.into_iter().map(|image| image.seq).collect())
}

fn newest_of(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    list: List<'_>,
    limit: i64,
) -> Result<Vec<Listed>, SqlError> {
    Ok(statement("").then(Newest::new(filter, list, limit)).load(c)?)
}

/// The newest images of the album, or those that pass the filter's conditions on cameras, places, regions and marks, in its range,
/// at most `max`; of several places, regions or cameras perhaps not the newest; `None` if the filter has none of these. Images of an
/// album may fail the other conditions of the filter.
pub(crate) fn candidate_images(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    max: i64,
) -> Result<Option<Vec<i64>>, SqlError> {
    if let Some(album_seq) = filter.album_seq {
        return newest_of_album(c, filter, album_seq, max).map(Some);
    }
    let anywhere = ResolvedFilter { area: None, ..filter.clone() };
    let lists = anywhere.lists(c)?;
    if let [List::Timeline] = lists.as_slice() {
        return Ok(None);
    }
    let (mut found, most) = (Vec::new(), usize::try_from(max).unwrap_or(usize::MAX));
    for list in lists {
        found.extend(newest_of(c, &anywhere, list, max)?.into_iter().map(|image| image.seq));
        if found.len() >= most {
            break;
        }
    }
    found.truncate(most);
    Ok(Some(found))
}

/// The images of [`candidate_images`], or those in the bounding boxes of the circle; `None` if the filter has neither. If there
/// are more than `max` images, more than `max` of them are returned, perhaps not all: the newest, or any in the boxes. Some may
/// not pass the filter.
pub(crate) fn images_to_scan(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    max: usize,
) -> Result<Option<Vec<i64>>, SqlError> {
    match (filter.album_seq, filter.circle()) {
        (None, Some(circle)) => in_bounding_boxes(c, filter.account, circle, max).map(Some),
        _ => candidate_images(c, filter, i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1)),
    }
}

fn newest_of_album(
    c: &mut SqlConnection,
    filter: &ResolvedFilter,
    album_seq: i64,
    max: i64,
) -> Result<Vec<i64>, SqlError> {
    Ok(album_images::table
        .filter(album_images::album_seq.eq(album_seq))
        .filter(album_images::live.eq(true))
        .filter(album_images::captured_at_ms.between(filter.start_ms, filter.end_ms))
        .order(album_images::captured_at_ms.desc())
        .limit(max)
        .select(album_images::image_seq)
        .load(c)?)
}
