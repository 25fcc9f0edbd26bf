use std::collections::{BTreeMap, HashMap};

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{ImageId, MAX_MAP_CLUSTERS, MapArea, MapCell};
use storage::{MapCluster, Viewer};

use super::sums::{PointRow, Sums, points_in, stored};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        image_rows::Visibility,
        schema::map_points,
        statement,
        value::{RowReader, json_array, json_text},
    },
};

/// The visible points of a square.
pub(super) struct Group {
    pub(super) sums: Sums,
    /// The lowest and the highest code of its points.
    codes: (i64, i64),
}

impl Group {
    fn new(cell: MapCell) -> Self {
        Self { sums: Sums::new(cell), codes: (i64::MAX, i64::MIN) }
    }

    fn add(&mut self, row: &PointRow) -> Result<(), SqlError> {
        self.codes = (self.codes.0.min(row.code), self.codes.1.max(row.code));
        self.sums.add(row)
    }
}

pub(super) fn clusters(
    c: &mut SqlConnection,
    viewer: Viewer,
    area: &MapArea,
    level: u8,
) -> Result<Vec<MapCluster>, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(Vec::new()) };
    let cells = area.cells(level, MAX_MAP_CLUSTERS);
    let groups = groups(c, visibility, &cells)?;
    let times: Vec<i64> = groups.iter().map(|group| group.sums.newest_ms).collect();
    let mut covers = covers(c, visibility.account, &times)?;
    groups
        .iter()
        .map(|group| {
            let newest_ms = group.sums.newest_ms;
            let cover = RowReader::new("map_cells", &group.sums.cell)
                .required("newest_ms", covers.remove(&newest_ms))?;
            cluster(group, cover)
        })
        .collect()
}

fn cluster(group: &Group, cover: Cover) -> Result<MapCluster, SqlError> {
    let Sums { cell, photos, newest_ms, .. } = group.sums;
    let reader = RowReader::new("map_cells", &cell);
    Ok(MapCluster {
        cell: group.sums.cell()?,
        photos: reader.unsigned("photos", photos)?,
        centre: group.sums.centre()?,
        extent: MapCell::enclosing(group.codes.0, group.codes.1),
        cover: cover.id,
        cover_version: cover.version,
        newest: reader.timestamp("newest_ms", newest_ms)?,
    })
}

/// The visible points of squares of one level, in the order of their numbers; empty squares are left out.
pub(super) fn groups(
    c: &mut SqlConnection,
    visibility: Visibility,
    cells: &[MapCell],
) -> Result<Vec<Group>, SqlError> {
    let account = visibility.account;
    if visibility.oldest_ms > i64::MIN {
        return group(cells, &points_since(c, account, visibility.oldest_ms)?);
    }
    let sums = stored(c, account, cells)?;
    let mut unstored = cells.to_vec();
    unstored.retain(|cell| sums.binary_search_by_key(&cell.number(), |sums| sums.cell).is_err());
    let mut groups = group(&unstored, &points_in(c, account, &unstored, i64::MAX)?)?;
    let mut codes = ends(c, account, &sums)?;
    groups.extend(sums.into_iter().filter_map(|sums| Some(Group { codes: codes.remove(&sums.cell)?, sums })));
    groups.sort_unstable_by_key(|group| group.sums.cell);
    Ok(groups)
}

/// The points of the newest photos of an account, for accounts with a free window.
fn points_since(c: &mut SqlConnection, account: i64, oldest_ms: i64) -> Result<Vec<PointRow>, SqlError> {
    let rows: Vec<(i64, i64, i64)> = map_points::table
        .filter(map_points::account_id.eq(account))
        .filter(map_points::captured_at_ms.ge(oldest_ms))
        .select((map_points::image_seq, map_points::code, map_points::captured_at_ms))
        .load(c)?;
    let row = |(image_seq, code, captured_at_ms)| PointRow { image_seq, code, captured_at_ms };
    Ok(rows.into_iter().map(row).collect())
}

/// Groups points by squares of one level. Points in none of the squares are left out.
fn group(cells: &[MapCell], points: &[PointRow]) -> Result<Vec<Group>, SqlError> {
    let Some(level) = cells.first().map(|cell| cell.level()) else { return Ok(Vec::new()) };
    let mut groups: BTreeMap<MapCell, Group> = BTreeMap::new();
    for row in points {
        let cell = MapCell::at(level, row.code);
        if cells.binary_search(&cell).is_ok() {
            groups.entry(cell).or_insert_with(|| Group::new(cell)).add(row)?;
        }
    }
    Ok(groups.into_values().collect())
}

#[derive(QueryableByName)]
struct EndsRow {
    #[diesel(sql_type = BigInt)]
    first_code: i64,
    #[diesel(sql_type = BigInt)]
    last_code: i64,
}

const ENDS: &str = concat!(
    "SELECT
        (SELECT p.code FROM map_points AS p WHERE p.account_id = $1 AND p.code >= wanted.first
            ORDER BY p.code LIMIT 1) AS first_code,
        (SELECT p.code FROM map_points AS p WHERE p.account_id = $1 AND p.code <= wanted.second
            ORDER BY p.code DESC LIMIT 1) AS last_code
    FROM ",
    integer_pairs!("$2"),
    " AS wanted"
);

/// The lowest and the highest code of the points of each of these stored squares, which have one level.
fn ends(c: &mut SqlConnection, account: i64, sums: &[Sums]) -> Result<HashMap<i64, (i64, i64)>, SqlError> {
    let cells = sums.iter().map(Sums::cell).collect::<Result<Vec<_>, _>>()?;
    let Some(level) = cells.first().map(|cell| cell.level()) else { return Ok(HashMap::new()) };
    let ranges: Vec<(i64, i64)> = cells.iter().map(|cell| cell.codes()).collect();
    let rows: Vec<EndsRow> =
        statement(ENDS).bind::<BigInt, _>(account).bind::<Text, _>(json_text(&ranges)).load(c)?;
    let ends = |row: EndsRow| {
        let cell = MapCell::at(level, row.first_code);
        (cell.number(), (row.first_code, row.last_code))
    };
    Ok(rows.into_iter().map(ends).collect())
}

#[derive(QueryableByName)]
struct CoverRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = BigInt)]
    captured_at_ms: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    decoder_version: Option<i64>,
}

struct Cover {
    id: ImageId,
    version: u32,
}

const COVERS: &str = concat!(
    "SELECT i.id, i.captured_at_ms, i.decoder_version FROM ",
    integers!("$1"),
    " AS wanted ",
    join_after!("images", "i", "i.account_id = $2 AND i.captured_at_ms = wanted.value")
);

/// The images with these capture times, which are unique in an account.
fn covers(c: &mut SqlConnection, account: i64, times: &[i64]) -> Result<HashMap<i64, Cover>, SqlError> {
    let rows: Vec<CoverRow> =
        statement(COVERS).bind::<Text, _>(json_array(times)).bind::<BigInt, _>(account).load(c)?;
    rows.into_iter()
        .map(|row| {
            let reader = RowReader::new("images", &row.captured_at_ms);
            let version = row.decoder_version.and_then(|version| u32::try_from(version).ok());
            let cover = Cover {
                id: reader.required("id", ImageId::parse(row.id))?,
                version: reader.required("decoder_version", version)?,
            };
            Ok((row.captured_at_ms, cover))
        })
        .collect()
}
