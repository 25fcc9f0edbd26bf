//! The regions and countries of images, as facets that lists are filtered by. They follow the name of the place and the position.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use diesel::{QueryableByName, dsl::max, prelude::*, sql_types::BigInt};
use domain::Position;
use storage::NameKind;

use super::marks::{self, FacetKind, MarkedImage, add_facet};
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        batch,
        schema::{accounts, facets, image_facets, images},
        statement,
        value::RowReader,
    },
};

/// What decides the regions of an image.
#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
struct PlacedImage {
    seq: i64,
    account_id: i64,
    captured_at_ms: Option<i64>,
    live: bool,
    place: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
}

impl PlacedImage {
    /// The regions that it has to have.
    fn regions(&self) -> Result<BTreeSet<String>, SqlError> {
        let position = RowReader::new("images", &self.seq).position(self.latitude, self.longitude)?;
        Ok(match self.captured_at_ms {
            Some(_) => names(self.place.as_deref(), position),
            None => BTreeSet::new(),
        })
    }

    const fn as_marked(&self) -> MarkedImage {
        MarkedImage {
            seq: self.seq,
            account: self.account_id,
            captured_at_ms: self.captured_at_ms,
            live: self.live,
        }
    }
}

/// The country of a place, and the region of a position with its country: `Germany`, and `Bavaria, Germany`.
fn names(place: Option<&str>, position: Option<Position>) -> BTreeSet<String> {
    let country = place.and_then(|place| place.split_once(", ")).map(|(_, country)| country.to_owned());
    let path = position.and_then(places::path);
    let region = path.and_then(|path| Some(format!("{}, {}", path.region?, path.country)));
    country.into_iter().chain(region).collect()
}

/// The names of an image's regions, with their facets.
type Regions = BTreeMap<String, i64>;

/// The regions that images have, among those with internal ids above `after` up to `last`.
fn stored(c: &mut SqlConnection, after: i64, last: i64) -> Result<HashMap<i64, Regions>, SqlError> {
    let rows: Vec<(i64, String, i64)> = image_facets::table
        .inner_join(facets::table.on(facets::id.eq(image_facets::facet_id)))
        .filter(image_facets::image_seq.gt(after))
        .filter(image_facets::image_seq.le(last))
        .filter(facets::kind.eq(FacetKind::Region.name()))
        .select((image_facets::image_seq, facets::name, facets::id))
        .load(c)?;
    let mut stored: HashMap<i64, Regions> = HashMap::new();
    for (seq, name, facet) in rows {
        stored.entry(seq).or_default().insert(name, facet);
    }
    Ok(stored)
}

/// Brings the regions of an image, if it exists, up to date with its place and its position, and remembers the place's name.
pub(crate) fn update(c: &mut SqlConnection, seq: i64) -> Result<(), SqlError> {
    let image = images::table.find(seq).select(PlacedImage::as_select()).get_result(c).optional()?;
    let Some(image): Option<PlacedImage> = image else { return Ok(()) };
    marks::remember_name(c, image.account_id, NameKind::Place, image.place.as_deref())?;
    let wanted = image.regions()?;
    let present = stored(c, seq - 1, seq)?.remove(&seq).unwrap_or_default();
    for (_, facet) in present.iter().filter(|(name, _)| !wanted.contains(*name)) {
        diesel::delete(image_facets::table.find((facet, seq))).execute(c)?;
    }
    for name in wanted.iter().filter(|name| !present.contains_key(*name)) {
        add_facet(c, image.as_marked(), FacetKind::Region, name)?;
    }
    Ok(())
}

/// The images with wrong regions, among those with internal ids above `after` up to `last`. Images of deleted accounts and those
/// that [`fill`] has yet to check are left out.
pub(crate) fn wrong(c: &mut SqlConnection, after: i64, last: i64) -> Result<Vec<i64>, SqlError> {
    let Progress { version: VERSION, below_seq } = progress(c)? else { return Ok(Vec::new()) };
    let after = after.max(below_seq - 1);
    let images: Vec<PlacedImage> = images::table
        .inner_join(accounts::table)
        .filter(images::seq.gt(after))
        .filter(images::seq.le(last))
        .filter(accounts::deleted_at_ms.is_null())
        .order(images::seq)
        .select(PlacedImage::as_select())
        .load(c)?;
    let mut stored = stored(c, after, last)?;
    let mut wrong = Vec::new();
    for image in images {
        let present = stored.remove(&image.seq).unwrap_or_default();
        if !image.regions()?.iter().eq(present.keys()) {
            wrong.push(image.seq);
        }
    }
    Ok(wrong)
}

/// The progress of [`fill`].
#[derive(QueryableByName)]
struct Progress {
    /// The version of the data from which the regions are.
    #[diesel(sql_type = BigInt)]
    version: i64,
    /// Images from this number on have them.
    #[diesel(sql_type = BigInt)]
    below_seq: i64,
}

fn progress(c: &mut SqlConnection) -> Result<Progress, SqlError> {
    Ok(statement("SELECT version, below_seq FROM region_fill").get_result(c)?)
}

const VERSION: i64 = places::REGIONS_VERSION as i64;

/// Whether all images have their regions, by this or newer data.
pub(crate) fn are_complete(c: &mut SqlConnection) -> Result<bool, SqlError> {
    let Progress { version, below_seq } = progress(c)?;
    Ok(version > VERSION || version == VERSION && below_seq <= 0)
}

/// Brings a batch of images up to date, and with the first one the folded names.
pub(crate) fn fill(c: &mut SqlConnection, most: u32) -> Result<u32, SqlError> {
    let below = match progress(c)? {
        Progress { version, .. } if version > VERSION => return Ok(0),
        Progress { version: VERSION, below_seq } => below_seq,
        _ => {
            marks::fold_names(c)?;
            images::table.select(max(images::seq)).get_result::<Option<i64>>(c)?.map_or(0, |last| last + 1)
        }
    };
    let (count, next) = batch::update_images(c, below, most, update)?;
    statement("UPDATE region_fill SET version = $1, below_seq = $2 WHERE version < $1 OR version = $1 AND below_seq > $2")
        .bind::<BigInt, _>(VERSION)
        .bind::<BigInt, _>(next)
        .execute(c)?;
    Ok(count)
}

/// Makes [`fill`] begin again, because images were copied from a store that may not have filled theirs.
pub(crate) fn begin_again(c: &mut SqlConnection) -> Result<(), SqlError> {
    statement("UPDATE region_fill SET version = 0").execute(c)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_its_country_and_its_region() {
        let check = |place, position: Option<(f64, f64)>, expect: &[&str]| {
            let position = position.map(|(latitude, longitude)| Position::new(latitude, longitude).unwrap());
            assert_eq!(names(place, position).into_iter().collect::<Vec<_>>(), expect);
        };
        check(Some("Munich, Germany"), Some((48.137, 11.575)), &["Bavaria, Germany", "Germany"]);
        check(Some("Munich, Germany"), None, &["Germany"]);
        check(Some("Singapore, Singapore"), Some((1.2834, 103.8607)), &["Singapore"]);
        check(None, Some((30.0, -40.0)), &[]);
        check(None, None, &[]);
    }
}
