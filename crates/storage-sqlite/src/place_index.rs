//! The index of places: an R*Tree with the account as third dimension.

use diesel::prelude::*;
use domain::{LatLonBox, Position};

use crate::{SqlConnection, error::SqlError};

diesel::table! {
    image_places (seq) {
        seq -> BigInt,
        min_latitude -> Double,
        max_latitude -> Double,
        min_longitude -> Double,
        max_longitude -> Double,
        min_account -> Double,
        max_account -> Double,
    }
}

/// Adds an image.
pub(crate) fn add(c: &mut SqlConnection, seq: i64, account: i64, position: Position) -> Result<(), SqlError> {
    let account = account_coordinate(account)?;
    diesel::insert_into(image_places::table)
        .values((
            image_places::seq.eq(seq),
            image_places::min_latitude.eq(position.latitude()),
            image_places::max_latitude.eq(position.latitude()),
            image_places::min_longitude.eq(position.longitude()),
            image_places::max_longitude.eq(position.longitude()),
            image_places::min_account.eq(account),
            image_places::max_account.eq(account),
        ))
        .execute(c)?;
    Ok(())
}

/// Removes an image.
pub(crate) fn remove(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    diesel::delete(image_places::table.find(seq)).execute(c)?;
    Ok(())
}

/// The account as a coordinate. The place index rounds to 32-bit floats, which represent integers below 2^24 exactly.
fn account_coordinate(account: i64) -> Result<f64, SqlError> {
    i32::try_from(account).ok().filter(|account| (0..1 << 24).contains(account)).map(f64::from).ok_or_else(
        || SqlError::Refused(format!("account id {account} exceeds the range of the place index")),
    )
}

/// Up to `limit` images of the account in an area.
pub(crate) fn in_box(
    c: &mut SqlConnection,
    account: i64,
    area: LatLonBox,
    limit: i64,
) -> Result<Vec<i64>, SqlError> {
    let account = account_coordinate(account)?;
    Ok(image_places::table
        .filter(image_places::min_account.le(account))
        .filter(image_places::max_account.ge(account))
        .filter(image_places::min_latitude.le(area.north))
        .filter(image_places::max_latitude.ge(area.south))
        .filter(image_places::min_longitude.le(area.east))
        .filter(image_places::max_longitude.ge(area.west))
        .limit(limit)
        .select(image_places::seq)
        .load(c)?)
}

/// Whether the entry `p` differs from its image `i`. The index rounds to 32-bit floats, by less than 0.0001 degrees.
macro_rules! place_differs {
    () => {
        "p.min_account <> i.account_id
            OR abs(p.min_latitude - i.latitude) > 0.0001
            OR abs(p.min_longitude - i.longitude) > 0.0001"
    };
}
pub(crate) use place_differs;
