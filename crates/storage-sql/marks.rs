//! The marks of images, and the facets that filter lists of images.

use std::collections::HashMap;

use diesel::{
    OptionalExtension, QueryResult, QueryableByName,
    expression::{Expression, SelectableExpression, ValidGrouping, is_aggregate},
    prelude::*,
    query_builder::{AstPass, QueryFragment, QueryId},
    sql_types::{BigInt, Bool, Nullable, Text},
};
use domain::{AccountId, Keyword, Marks};
use storage::NameKind;

use crate::{
    Backend, SqlConnection,
    error::SqlError,
    sql::{
        schema::{facets, image_facets, image_marks},
        statement,
        value::{RowReader, json_text},
    },
};

/// What a list can be filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FacetKind {
    Favorite,
    Archived,
    Keyword,
    /// Only a name: the images have it in `images.place`.
    Place,
    /// Only a name: the images have it in `images.camera`.
    Camera,
    /// A region or a country.
    Region,
}

impl FacetKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Favorite => "favorite",
            Self::Archived => "archived",
            Self::Keyword => "keyword",
            Self::Place => "place",
            Self::Camera => "camera",
            Self::Region => "region",
        }
    }

    /// The form in which equal names are equal.
    pub(crate) fn key(self, name: &str) -> String {
        match self {
            Self::Keyword => name.to_lowercase(),
            _ => name.to_owned(),
        }
    }

    /// The name as searches compare it: each part folded and followed by a tab. `None` for a facet without a name, and for a camera.
    fn folded(self, name: &str) -> Option<String> {
        match self {
            Self::Favorite | Self::Archived | Self::Camera => None,
            Self::Keyword => Some(format!("{}\t", words::fold(name))),
            Self::Place | Self::Region => Some(format!("{}\t", words::fold_parts(name))),
        }
    }
}

impl From<NameKind> for FacetKind {
    fn from(kind: NameKind) -> Self {
        match kind {
            NameKind::Camera => Self::Camera,
            NameKind::Place => Self::Place,
            NameKind::Keyword => Self::Keyword,
            NameKind::Region => Self::Region,
        }
    }
}

/// An image as its facets copy it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkedImage {
    pub(crate) seq: i64,
    pub(crate) account: i64,
    /// `None` before it is indexed.
    pub(crate) captured_at_ms: Option<i64>,
    pub(crate) live: bool,
}

/// Defines an expression on a row of `images`. It may look the row's marks up: selecting marks so costs a look-up per image, and
/// no query.
macro_rules! of_image {
    ($(#[$doc:meta])* $name:ident, $type:ty, $sql:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, QueryId)]
        pub(crate) struct $name;

        impl QueryFragment<Backend> for $name {
            fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
                pass.push_sql($sql);
                Ok(())
            }
        }

        impl Expression for $name {
            type SqlType = $type;
        }

        impl<Table> AppearsOnTable<Table> for $name {}
        impl<Table> SelectableExpression<Table> for $name {}

        impl ValidGrouping<()> for $name {
            type IsAggregate = is_aggregate::Never;
        }
    };
}

pub(crate) use of_image;

of_image!(
    /// The marks of an image as JSON; NULL for none.
    MarksOfImage,
    Nullable<Text>,
    "(SELECT m.marks FROM image_marks AS m WHERE m.image_seq = images.seq)"
);

of_image!(
    /// The keywords of an image, separated by commas; NULL for none.
    KeywordsOfImage,
    Nullable<Text>,
    "(SELECT m.keywords FROM image_marks AS m WHERE m.image_seq = images.seq)"
);

of_image!(
    /// Whether an image is not archived.
    IsNotArchived,
    Bool,
    "NOT EXISTS (SELECT 1 FROM image_marks AS m WHERE m.image_seq = images.seq AND m.archived)"
);

pub(crate) fn read(reader: RowReader<'_>, json: Option<&str>) -> Result<Marks, SqlError> {
    json.map_or(Ok(Marks::default()), |json| reader.required("marks", serde_json::from_str(json).ok()))
}

pub(crate) fn json(marks: &Marks) -> Result<String, SqlError> {
    serde_json::to_string(marks).map_err(|error| SqlError::Refused(format!("marks: {error}")))
}

/// Whether the image `i` is not archived.
macro_rules! is_not_archived {
    () => {
        "NOT EXISTS (SELECT 1 FROM image_marks AS m WHERE m.image_seq = i.seq AND m.archived)"
    };
}
pub(crate) use is_not_archived;

/// The stored marks of an image.
pub(crate) fn of(c: &mut SqlConnection, seq: i64) -> Result<Marks, SqlError> {
    let json: Option<String> =
        image_marks::table.find(seq).select(image_marks::marks).get_result(c).optional()?;
    read(RowReader::new("image_marks", &seq), json.as_deref())
}

/// Replaces the marks of an image. The months of the timeline and the indexed words are the caller's.
pub(crate) fn replace(
    c: &mut SqlConnection,
    image: MarkedImage,
    before: &Marks,
    after: &Marks,
) -> Result<(), SqlError> {
    if before == after {
        return Ok(());
    }
    if *after == Marks::default() {
        diesel::delete(image_marks::table.find(image.seq)).execute(c)?;
    } else {
        let keywords: Vec<&str> = after.keywords.iter().map(Keyword::as_str).collect();
        let keywords = (!keywords.is_empty()).then(|| keywords.join(", "));
        let row = (
            image_marks::marks.eq(json(after)?),
            image_marks::archived.eq(after.archived),
            image_marks::keywords.eq(keywords),
        );
        diesel::insert_into(image_marks::table)
            .values((image_marks::image_seq.eq(image.seq), row.clone()))
            .on_conflict(image_marks::image_seq)
            .do_update()
            .set(row)
            .execute(c)?;
    }
    let (old, new) = (facets_of(before), facets_of(after));
    for (kind, _, name) in old.iter().filter(|facet| !has(&new, facet)) {
        remove_facet(c, image, *kind, name)?;
    }
    for (kind, _, name) in new.iter().filter(|facet| !has(&old, facet)) {
        add_facet(c, image, *kind, name)?;
    }
    Ok(())
}

/// Kind, key and name.
type Facet<'a> = (FacetKind, String, &'a str);

fn has(facets: &[Facet<'_>], facet: &Facet<'_>) -> bool {
    facets.iter().any(|(kind, key, _)| (*kind, key) == (facet.0, &facet.1))
}

fn facets_of(marks: &Marks) -> Vec<Facet<'_>> {
    let flags = [(marks.favorite, FacetKind::Favorite), (marks.archived, FacetKind::Archived)];
    let flags = flags.into_iter().filter(|(is, _)| *is).map(|(_, kind)| (kind, ""));
    let keywords = marks.keywords.iter().map(|word| (FacetKind::Keyword, word.as_str()));
    flags.chain(keywords).map(|(kind, name)| (kind, kind.key(name), name)).collect()
}

/// The id of a facet of an account; `None` if no image ever had it.
pub(crate) fn facet_id(
    c: &mut SqlConnection,
    account: i64,
    kind: FacetKind,
    name: &str,
) -> Result<Option<i64>, SqlError> {
    Ok(facets::table
        .filter(facets::account_id.eq(account))
        .filter(facets::kind.eq(kind.name()))
        .filter(facets::key.eq(kind.key(name)))
        .select(facets::id)
        .get_result(c)
        .optional()?)
}

/// The ids of facets of an account, by the names of their kinds and their keys.
pub(crate) struct FacetIds(HashMap<(String, String), i64>);

#[derive(QueryableByName)]
struct FacetRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    key: String,
}

impl FacetIds {
    /// Looks up the facets of these kinds and names at once.
    pub(crate) fn find<'a>(
        c: &mut SqlConnection,
        account: i64,
        wanted: impl Iterator<Item = (FacetKind, &'a str)>,
    ) -> Result<Self, SqlError> {
        let keys: Vec<(&str, String)> = wanted.map(|(kind, name)| (kind.name(), kind.key(name))).collect();
        if keys.is_empty() {
            return Ok(Self(HashMap::new()));
        }
        let rows: Vec<FacetRow> = statement(concat!(
            "SELECT f.id AS id, f.kind AS kind, f.key AS key FROM ",
            string_pairs!("$1"),
            " AS wanted ",
            join_after!(
                "facets",
                "f",
                "f.account_id = $2 AND f.kind = wanted.first AND f.key = wanted.second"
            )
        ))
        .bind::<Text, _>(json_text(&keys))
        .bind::<BigInt, _>(account)
        .load(c)?;
        Ok(Self(rows.into_iter().map(|row| ((row.kind, row.key), row.id)).collect()))
    }

    pub(crate) fn get(&self, kind: FacetKind, name: &str) -> Option<i64> {
        self.0.get(&(kind.name().to_owned(), kind.key(name))).copied()
    }
}

/// The id of a facet of an account, which is added if it is new.
fn ensure_facet(c: &mut SqlConnection, account: i64, kind: FacetKind, name: &str) -> Result<i64, SqlError> {
    if let Some(facet) = facet_id(c, account, kind, name)? {
        return Ok(facet);
    }
    Ok(diesel::insert_into(facets::table)
        .values((
            facets::account_id.eq(account),
            facets::kind.eq(kind.name()),
            facets::key.eq(kind.key(name)),
            facets::name.eq(name),
            facets::folded.eq(kind.folded(name)),
        ))
        .returning(facets::id)
        .get_result(c)?)
}

/// Remembers the name of an image's place or camera, so that filters by name find it.
pub(crate) fn remember_name(
    c: &mut SqlConnection,
    account: i64,
    kind: NameKind,
    name: Option<&str>,
) -> Result<(), SqlError> {
    if let Some(name) = name {
        ensure_facet(c, account, kind.into(), name)?;
    }
    Ok(())
}

/// The names of a kind that images of an account have, or had before they were deleted.
pub(crate) fn known_names(
    c: &mut SqlConnection,
    account: AccountId,
    kind: NameKind,
    max: u32,
) -> Result<Vec<String>, SqlError> {
    Ok(facets::table
        .filter(facets::account_id.eq(account.0))
        .filter(facets::kind.eq(FacetKind::from(kind).name()))
        .order(facets::key)
        .limit(i64::from(max))
        .select(facets::name)
        .load(c)?)
}

#[derive(QueryableByName)]
struct LikeRow {
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    name: String,
}

/// Folds the names of all accounts, as this version of the program does.
pub(crate) fn fold_names(c: &mut SqlConnection) -> Result<(), SqlError> {
    for kind in [FacetKind::Keyword, FacetKind::Place, FacetKind::Region] {
        let names: Vec<(i64, String, Option<String>)> = facets::table
            .filter(facets::kind.eq(kind.name()))
            .select((facets::id, facets::name, facets::folded))
            .load(c)?;
        for (id, name, present) in names {
            let folded = kind.folded(&name);
            if folded != present {
                diesel::update(facets::table.find(id)).set(facets::folded.eq(folded)).execute(c)?;
            }
        }
    }
    Ok(())
}

/// The names of the sought kinds and texts whose facets `f` meet a condition, each once and in alphabetical order.
macro_rules! names_where {
    ($condition:literal) => {
        concat!(
            "SELECT DISTINCT f.kind AS kind, f.name AS name, f.key AS key FROM ",
            string_pairs!("$1"),
            " AS sought ",
            join_after!("facets", "f", $condition),
            " ORDER BY 1, 3 LIMIT $3"
        )
    };
}

/// The names of these kinds that begin with one of the folded texts as whole parts, in alphabetical order.
pub(crate) fn names_like(
    c: &mut SqlConnection,
    account: AccountId,
    kinds: &[NameKind],
    folded: &[String],
    max: u32,
) -> Result<Vec<(NameKind, String)>, SqlError> {
    let query = names_where!(
        "f.account_id = $2 AND f.kind = sought.first
            AND f.folded >= sought.second || '\t' AND f.folded < sought.second || '\n'"
    );
    load_names(c, query, account, kinds, folded, max)
}

/// The names of these kinds that begin with one of the folded texts, in alphabetical order.
pub(crate) fn names_from(
    c: &mut SqlConnection,
    account: AccountId,
    kinds: &[NameKind],
    folded: &[String],
    max: u32,
) -> Result<Vec<(NameKind, String)>, SqlError> {
    let query = names_where!(
        "f.account_id = $2 AND f.kind = sought.first
            AND f.folded >= sought.second AND f.folded < sought.second || '\u{10FFFF}'"
    );
    load_names(c, query, account, kinds, folded, max)
}

fn load_names(
    c: &mut SqlConnection,
    sql: &'static str,
    account: AccountId,
    kinds: &[NameKind],
    folded: &[String],
    max: u32,
) -> Result<Vec<(NameKind, String)>, SqlError> {
    let kind_name = |kind: &NameKind| FacetKind::from(*kind).name();
    let sought: Vec<(&str, &String)> =
        kinds.iter().flat_map(|kind| folded.iter().map(move |text| (kind_name(kind), text))).collect();
    let rows: Vec<LikeRow> = statement(sql)
        .bind::<Text, _>(json_text(&sought))
        .bind::<BigInt, _>(account.0)
        .bind::<BigInt, _>(i64::from(max))
        .load(c)?;
    let kind_of = |name: &str| kinds.iter().find(|kind| kind_name(kind) == name).copied();
    Ok(rows.into_iter().filter_map(|row| Some((kind_of(&row.kind)?, row.name))).collect())
}

fn remove_facet(
    c: &mut SqlConnection,
    image: MarkedImage,
    kind: FacetKind,
    name: &str,
) -> Result<(), SqlError> {
    if let Some(facet) = facet_id(c, image.account, kind, name)? {
        diesel::delete(image_facets::table.find((facet, image.seq))).execute(c)?;
    }
    Ok(())
}

pub(super) fn add_facet(
    c: &mut SqlConnection,
    image: MarkedImage,
    kind: FacetKind,
    name: &str,
) -> Result<(), SqlError> {
    let Some(captured_at_ms) = image.captured_at_ms else { return Ok(()) };
    let facet = ensure_facet(c, image.account, kind, name)?;
    diesel::insert_into(image_facets::table)
        .values((
            image_facets::facet_id.eq(facet),
            image_facets::image_seq.eq(image.seq),
            image_facets::captured_at_ms.eq(captured_at_ms),
            image_facets::live.eq(image.live),
        ))
        .on_conflict_do_nothing()
        .execute(c)?;
    Ok(())
}

/// The names of a kind of facet that an account's images have: `$1` is the account, `$2` the maximum number, `$3` the time from
/// which images count.
macro_rules! names_of_facets {
    ($kind:literal) => {
        concat!(
            "SELECT used.name AS name FROM (
                SELECT f.name AS name, (
                    SELECT max(i.captured_at_ms) FROM image_facets AS i WHERE i.facet_id = f.id AND i.live = TRUE
                ) AS newest_ms
                FROM facets AS f WHERE f.account_id = $1 AND f.kind = '",
            $kind,
            "' ORDER BY f.key LIMIT $2
            ) AS used
            WHERE used.newest_ms >= $3 ORDER BY used.newest_ms DESC"
        )
    };
}
pub(crate) use names_of_facets;
