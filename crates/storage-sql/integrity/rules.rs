use std::collections::HashMap;

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{ImageId, Rendition};
use storage::{CheckedRows, ImageReference, RuleRow, StoreRule, Violation};

use super::files;
use crate::{
    SqlConnection,
    error::SqlError,
    place_index::place_differs,
    sql::{
        map, months,
        originals::WRONG_STORED_BYTES,
        regions,
        schema::{accounts, images},
        statement,
        text::outdated_words,
        value::{RowReader, json_text},
    },
};

/// The rows that a rule is checked for, and those that break it.
struct RuleQuery {
    /// The last of up to `$2` rows after `$1`, and their number.
    range: &'static str,
    /// The rows after `$1` up to `$2` that break the rule. `$3` has the names of the renditions of every image.
    find: Find,
}

enum Find {
    Rows(&'static str),
    /// Words are compared by the program.
    Words,
    /// The images that break the rule are found by the program.
    Images(fn(&mut SqlConnection, i64, i64) -> Result<Vec<i64>, SqlError>),
    /// Squares of the map are added up by the program.
    MapCells,
}

#[derive(QueryableByName)]
struct Range {
    #[diesel(sql_type = Nullable<BigInt>)]
    last: Option<i64>,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// A row that breaks a rule.
#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = BigInt)]
    key: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    image: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    detail: Option<String>,
}

macro_rules! range {
    ($table:literal, $key:literal) => {
        concat!(
            "SELECT max(key) AS last, count(*) AS number FROM (SELECT ",
            $key,
            " AS key FROM ",
            $table,
            " WHERE ",
            $key,
            " > $1 ORDER BY ",
            $key,
            " LIMIT $2) AS rows_in_range"
        )
    };
}

/// The images `i` in the range for which the condition is true. Images of deleted accounts are left out.
macro_rules! images_with {
    ($($condition:expr),+ $(,)?) => {
        concat!(
            "SELECT i.seq AS key, i.seq AS image, CAST(NULL AS TEXT) AS detail
            FROM images AS i JOIN accounts AS a ON a.id = i.account_id
            WHERE i.seq > $1 AND i.seq <= $2 AND a.deleted_at_ms IS NULL AND $3 IS NOT NULL AND (",
            $($condition,)+
            ")"
        )
    };
}

const IMAGES: &str = range!("images", "seq");
const FILES: &str = range!("files", "id");
const ACCOUNTS: &str = range!("accounts", "id");

const fn query(rule: StoreRule) -> RuleQuery {
    let (range, find) = match rule {
        StoreRule::OriginalIsKept => (IMAGES, Find::Rows(ORIGINAL_IS_KEPT)),
        StoreRule::PartialOriginalIsKept => (FILES, Find::Rows(files::PARTIAL_ORIGINAL_IS_KEPT)),
        StoreRule::StoredBytes => (ACCOUNTS, Find::Rows(WRONG_STORED_BYTES)),
        StoreRule::RootFolder => (ACCOUNTS, Find::Rows(files::ROOT_FOLDER)),
        StoreRule::FileParent => (FILES, Find::Rows(files::FILE_PARENT)),
        StoreRule::FileImage => (FILES, Find::Rows(files::FILE_IMAGE)),
        StoreRule::PhotoFileHasImage => (FILES, Find::Rows(files::PHOTO_FILE_HAS_IMAGE)),
        StoreRule::DeletedWithFiles => (IMAGES, Find::Rows(DELETED_WITH_FILES)),
        StoreRule::FolderBytes => (FILES, Find::Rows(files::FOLDER_BYTES)),
        StoreRule::RenditionsExistOrQueued => (IMAGES, Find::Rows(RENDITIONS_EXIST_OR_QUEUED)),
        StoreRule::RenditionsExist => (IMAGES, Find::Rows(RENDITIONS_EXIST)),
        StoreRule::RenditionsAreKept => (IMAGES, Find::Rows(RENDITIONS_ARE_KEPT)),
        StoreRule::PendingImageHasJob => (IMAGES, Find::Rows(PENDING_IMAGE_HAS_JOB)),
        StoreRule::ImageCount => (ACCOUNTS, Find::Rows(IMAGE_COUNT)),
        StoreRule::TimelineMonths => (ACCOUNTS, Find::Rows(months::WRONG_MONTHS)),
        StoreRule::AlbumCopies => (IMAGES, Find::Rows(ALBUM_COPIES)),
        StoreRule::Regions => (IMAGES, Find::Images(regions::wrong)),
        StoreRule::PlaceIndex => (IMAGES, Find::Rows(PLACE_INDEX)),
        StoreRule::MapPoint => (IMAGES, Find::Images(map::wrong_points)),
        StoreRule::MapCells => (ACCOUNTS, Find::MapCells),
        StoreRule::WordIndex => (IMAGES, Find::Words),
        StoreRule::WordsHaveImage => (range!("indexed_words", "image_seq"), Find::Rows(WORDS_HAVE_IMAGE)),
        StoreRule::VectorsHaveImage => (range!("image_vectors", "id"), Find::Rows(VECTORS_HAVE_IMAGE)),
    };
    RuleQuery { range, find }
}

const ORIGINAL_IS_KEPT: &str = images_with!(
    "NOT EXISTS (
        SELECT 1 FROM blobs AS b
        WHERE b.kind = 'original' AND b.hash = i.original AND b.state = 'kept' AND b.bytes = i.original_bytes
    )"
);

const RENDITIONS_EXIST: &str = images_with!(
    "i.state = 'ready' AND EXISTS (
        SELECT 1 FROM ",
    strings!("$3"),
    " AS name
        WHERE NOT EXISTS (SELECT 1 FROM renditions AS r WHERE r.original = i.original AND r.name = name.value)
    )"
);

const RENDITIONS_EXIST_OR_QUEUED: &str = images_with!(
    "i.state = 'ready'
    AND NOT EXISTS (SELECT 1 FROM index_jobs AS j WHERE j.image_seq = i.seq)
    AND EXISTS (
        SELECT 1 FROM ",
    strings!("$3"),
    " AS name
        WHERE NOT EXISTS (SELECT 1 FROM renditions AS r WHERE r.original = i.original AND r.name = name.value)
    )"
);

const RENDITIONS_ARE_KEPT: &str = images_with!(
    "EXISTS (
        SELECT 1 FROM renditions AS r
        WHERE r.original = i.original AND NOT EXISTS (
            SELECT 1 FROM blobs AS b
            WHERE b.kind = 'rendition' AND b.hash = r.blob AND b.state = 'kept' AND b.bytes = r.bytes
        )
    )"
);

const PENDING_IMAGE_HAS_JOB: &str = images_with!(
    "i.state = 'pending' AND NOT EXISTS (SELECT 1 FROM index_jobs AS j WHERE j.image_seq = i.seq)"
);

const DELETED_WITH_FILES: &str = images_with!(
    "i.deleted_with_files = TRUE
    AND (i.deleted_at_ms IS NULL OR EXISTS (SELECT 1 FROM files AS f WHERE f.image_seq = i.seq))"
);

const IMAGE_COUNT: &str = "
SELECT id AS key, CAST(NULL AS BIGINT) AS image, email || ': ' || live_images || ' stored, ' || counted || ' counted' AS detail
FROM (
    SELECT a.id, a.email, a.live_images,
        (SELECT count(*) FROM images AS i WHERE i.account_id = a.id AND i.live = TRUE) AS counted
    FROM accounts AS a
    WHERE a.id > $1 AND a.id <= $2 AND a.deleted_at_ms IS NULL AND $3 IS NOT NULL
) AS counts
WHERE live_images <> counted";

const ALBUM_COPIES: &str = images_with!(
    "EXISTS (
        SELECT 1 FROM album_images AS m
        WHERE m.image_seq = i.seq AND (i.captured_at_ms IS NULL OR m.captured_at_ms <> i.captured_at_ms OR m.live <> i.live)
    ) OR EXISTS (
        SELECT 1 FROM image_facets AS f
        WHERE f.image_seq = i.seq AND (i.captured_at_ms IS NULL OR f.captured_at_ms <> i.captured_at_ms OR f.live <> i.live)
    )"
);

const PLACE_INDEX: &str = images_with!(
    "EXISTS (
        SELECT 1 FROM (SELECT 1) AS one LEFT JOIN image_places AS p ON p.seq = i.seq
        WHERE (p.seq IS NULL) <> (i.latitude IS NULL)
            OR ",
    place_differs!(),
    "
    )"
);

const WORDS_HAVE_IMAGE: &str = "
SELECT w.image_seq AS key, CAST(NULL AS BIGINT) AS image, 'words of image number ' || w.image_seq AS detail
FROM indexed_words AS w
WHERE w.image_seq > $1 AND w.image_seq <= $2 AND $3 IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM images AS i WHERE i.seq = w.image_seq)";

const VECTORS_HAVE_IMAGE: &str = "
SELECT v.id AS key, i.seq AS image, 'vector number ' || v.id AS detail
FROM image_vectors AS v LEFT JOIN images AS i ON i.seq = v.image_seq
WHERE v.id > $1 AND v.id <= $2 AND $3 IS NOT NULL
    AND (i.seq IS NULL OR i.state <> 'ready' OR i.account_id <> v.account_id)";

/// Checks a rule for up to `max` rows.
pub(super) fn check(
    c: &mut SqlConnection,
    rule: StoreRule,
    after: Option<RuleRow>,
    max: u32,
) -> Result<CheckedRows, SqlError> {
    let query = query(rule);
    let after = after.map_or(0, |row| row.0);
    let range: Range =
        statement(query.range).bind::<BigInt, _>(after).bind::<BigInt, _>(i64::from(max)).get_result(c)?;
    let Some(last) = range.last else {
        return Ok(CheckedRows { violations: Vec::new(), checked: 0, last: None });
    };
    let found: Vec<Found> = match query.find {
        Find::Rows(sql) => statement(sql)
            .bind::<BigInt, _>(after)
            .bind::<BigInt, _>(last)
            .bind::<Text, _>(json_text(&Rendition::of_every_image().map(Rendition::name).collect::<Vec<_>>()))
            .load(c)?,
        Find::Words => {
            let image = |(seq, detail): (i64, &str)| Found {
                key: seq,
                image: Some(seq),
                detail: Some(detail.to_owned()),
            };
            outdated_words(c, after, last)?.into_iter().map(image).collect()
        }
        Find::Images(wrong) => {
            let image = |seq| Found { key: seq, image: Some(seq), detail: None };
            wrong(c, after, last)?.into_iter().map(image).collect()
        }
        Find::MapCells => {
            let account = |(id, email)| Found { key: id, image: None, detail: email };
            map::wrong_accounts(c, after, last)?.into_iter().map(account).collect()
        }
    };
    Ok(CheckedRows {
        violations: violations(c, found)?,
        checked: RowReader::new("rows", &last).unsigned("number", range.number)?,
        last: Some(RuleRow(last)),
    })
}

fn violations(c: &mut SqlConnection, found: Vec<Found>) -> Result<Vec<Violation>, SqlError> {
    let mut references = references(c, found.iter().filter_map(|row| row.image))?;
    let violation = |row: Found| Violation {
        row: RuleRow(row.key),
        image: row.image.and_then(|seq| references.remove(&seq)),
        detail: row.detail,
    };
    Ok(found.into_iter().map(violation).collect())
}

/// What an operator needs to find these images.
pub(super) fn references(
    c: &mut SqlConnection,
    seqs: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, ImageReference>, SqlError> {
    type Row = (i64, String, Option<String>, Option<String>);
    let rows: Vec<Row> = images::table
        .inner_join(accounts::table)
        .filter(images::seq.eq_any(seqs))
        .select((images::seq, images::id, accounts::email, images::file_name))
        .load(c)?;
    rows.into_iter()
        .map(|(seq, id, account, file_name)| {
            let id = RowReader::new("images", &seq).required("id", ImageId::parse(id))?;
            Ok((seq, ImageReference { id, account, file_name }))
        })
        .collect()
}
