//! The index of places: a B-tree by account, band of latitude, and longitude.

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Double, Integer},
};
use domain::{LatLonBox, Position};

use crate::{
    SqlConnection,
    sql::{SqlError, statement},
};

/// The height of a band: 0.05 degrees, about 5.6 km. A search reads one range of longitudes in each band, so the whole
/// world is 3,600 ranges, and a circle of one kilometre at most two.
const BANDS_PER_DEGREE: f64 = 20.0;

diesel::table! {
    image_places (seq) {
        seq -> BigInt,
        account_id -> BigInt,
        band -> Integer,
        latitude -> Double,
        longitude -> Double,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "between -1800 and 1800")]
fn band(latitude: f64) -> i32 {
    (latitude * BANDS_PER_DEGREE).floor() as i32
}

/// Adds an image.
pub(crate) fn add(c: &mut SqlConnection, seq: i64, account: i64, position: Position) -> Result<(), SqlError> {
    diesel::insert_into(image_places::table)
        .values((
            image_places::seq.eq(seq),
            image_places::account_id.eq(account),
            image_places::band.eq(band(position.latitude())),
            image_places::latitude.eq(position.latitude()),
            image_places::longitude.eq(position.longitude()),
        ))
        .execute(c)?;
    Ok(())
}

/// Removes an image.
pub(crate) fn remove(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    diesel::delete(image_places::table.find(seq)).execute(c)?;
    Ok(())
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

const IN_BOX: &str = "
SELECT found.seq
FROM generate_series($1, $2) AS bands (band) CROSS JOIN LATERAL (
    SELECT p.seq FROM image_places AS p
    WHERE p.account_id = $3 AND p.band = bands.band AND p.longitude BETWEEN $4 AND $5
        AND p.latitude BETWEEN $6 AND $7
    LIMIT $8
) AS found
LIMIT $8";

/// Up to `limit` images of the account in an area.
pub(crate) fn in_box(
    c: &mut SqlConnection,
    account: i64,
    area: LatLonBox,
    limit: i64,
) -> Result<Vec<i64>, SqlError> {
    let found: Vec<Found> = statement(IN_BOX)
        .bind::<Integer, _>(band(area.south))
        .bind::<Integer, _>(band(area.north))
        .bind::<BigInt, _>(account)
        .bind::<Double, _>(area.west)
        .bind::<Double, _>(area.east)
        .bind::<Double, _>(area.south)
        .bind::<Double, _>(area.north)
        .bind::<BigInt, _>(limit)
        .load(c)?;
    Ok(found.into_iter().map(|row| row.seq).collect())
}

/// Whether the entry `p` differs from its image `i`.
macro_rules! place_differs {
    () => {
        "p.account_id <> i.account_id OR p.latitude <> i.latitude OR p.longitude <> i.longitude"
    };
}
pub(crate) use place_differs;
