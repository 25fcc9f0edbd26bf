//! The own order of an album.
//!
//! Each image has a position. Between those of neighbours there is room for others, so moving an image changes only its own. When
//! there is no room, all images of the album get new positions. Images that are not visible have positions, too, and keep them.
//!
//! Images that an older program adds have position zero. They are placed when the album is changed or read next.

use std::collections::{BTreeMap, HashMap, HashSet};

use diesel::{
    QueryableByName,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use domain::{AlbumId, AlbumMove, AlbumOrder, ImageId, Timestamp};
use storage::{AlbumMoved, StorageError, Viewer};

use super::{
    rows::{self, AlbumRow},
    writes::set_updated,
};
use crate::{
    Lock, SqlConnection, SqlStore,
    error::SqlError,
    sql::{
        image_rows::Visibility,
        schema::{album_images, albums},
        statement,
        value::{json_array, json_text},
    },
};

/// The distance between new positions.
pub(super) const STEP: i64 = 1 << 20;

/// The place after all images.
const END: i64 = i64::MAX;

/// The highest position in an album; zero if it has none.
pub(super) fn last_position(c: &mut SqlConnection, album_seq: i64) -> Result<i64, SqlError> {
    let last: Option<i64> = album_images::table
        .filter(album_images::album_seq.eq(album_seq))
        .order(album_images::position.desc())
        .select(album_images::position)
        .first(c)
        .optional()?;
    Ok(last.unwrap_or(0))
}

macro_rules! number {
    ($among:literal, $order:literal) => {
        concat!(
            "UPDATE album_images SET position = numbered.position
            FROM (
                SELECT n.image_seq, $1 + $2 * row_number() OVER (ORDER BY ",
            $order,
            ") AS position
                FROM album_images AS n WHERE n.album_seq = $3 AND ",
            $among,
            "
            ) AS numbered
            WHERE album_images.album_seq = $3 AND album_images.image_seq = numbered.image_seq"
        )
    };
}

const NUMBER_NEWEST_FIRST: &str = number!("n.position = 0", "n.captured_at_ms DESC, n.image_seq DESC");
const NUMBER_OLDEST_FIRST: &str = number!("n.position = 0", "n.captured_at_ms, n.image_seq");
const NUMBER_AGAIN: &str = number!("TRUE", "n.position, n.image_seq");

fn number(c: &mut SqlConnection, sql: &'static str, album_seq: i64, after: i64) -> Result<(), SqlError> {
    statement(sql)
        .bind::<BigInt, _>(after)
        .bind::<BigInt, _>(STEP)
        .bind::<BigInt, _>(album_seq)
        .execute(c)?;
    Ok(())
}

/// Gives positions to the images that have none. They follow the others, in the order in which the album shows them.
pub(super) fn place_the_rest(c: &mut SqlConnection, album: &AlbumRow) -> Result<(), SqlError> {
    let numbered = match album.order() {
        AlbumOrder::OldestFirst => NUMBER_OLDEST_FIRST,
        AlbumOrder::NewestFirst | AlbumOrder::ByHand => NUMBER_NEWEST_FIRST,
    };
    let last = last_position(c, album.seq)?;
    number(c, numbered, album.seq, last)
}

/// Places the images that an older program has added to an album in its own order.
pub(super) fn place_added(c: &mut SqlConnection, album_seq: i64) -> Result<(), SqlError> {
    let last = last_position(c, album_seq)?;
    number(c, NUMBER_NEWEST_FIRST, album_seq, last)
}

/// The internal id of an album in its own order that has images without a position.
fn incomplete(c: &mut SqlConnection, viewer: Viewer, id: &AlbumId) -> Result<Option<i64>, SqlError> {
    Ok(albums::table
        .inner_join(album_images::table.on(album_images::album_seq.eq(albums::seq)))
        .filter(albums::id.eq(id.as_str()))
        .filter(albums::account_id.eq(viewer.account.0))
        .filter(albums::by_hand.eq(true))
        .filter(album_images::position.eq(0))
        .select(albums::seq)
        .first(c)
        .optional()?)
}

impl SqlStore {
    /// Reads an album. If it is in its own order, all its images have positions then.
    pub(crate) async fn read_placed<T, F>(
        &self,
        viewer: Viewer,
        id: &AlbumId,
        read: F,
    ) -> Result<T, StorageError>
    where
        T: Send + 'static,
        F: Fn(&mut SqlConnection, &AlbumId) -> Result<T, SqlError> + Clone + Send + 'static,
    {
        let (read_first, album) = (read.clone(), id.clone());
        let found = self.read(move |c| match incomplete(c, viewer, &album)? {
            Some(_) => Ok(None),
            None => read_first(c, &album).map(Some),
        });
        if let Some(found) = found.await? {
            return Ok(found);
        }
        let album = id.clone();
        self.write(Lock::Account(viewer.account.0), move |c| {
            if let Some(seq) = incomplete(c, viewer, &album)? {
                place_added(c, seq)?;
            }
            read(c, &album)
        })
        .await
    }
}

/// An image of an album.
#[derive(Debug, QueryableByName)]
struct Member {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = BigInt)]
    position: i64,
}

const MEMBERS: &str = concat!(
    "SELECT i.id AS id, i.seq AS seq, n.position AS position FROM ",
    strings!("$1"),
    " AS chosen ",
    join_after!("images", "i", "i.id = chosen.value"),
    " JOIN album_images AS n ON n.image_seq = i.seq AND n.album_seq = $2"
);

fn members(
    c: &mut SqlConnection,
    album_seq: i64,
    moves: &[AlbumMove],
) -> Result<HashMap<String, Member>, SqlError> {
    let ids: HashSet<&String> = moves.iter().flat_map(|one| one.images.iter().chain(&one.before)).collect();
    // Others belong to no image, and Postgres accepts no text with NUL.
    let ids: Vec<&String> = ids.into_iter().filter(|id| ImageId::parse(id.as_str()).is_some()).collect();
    let found: Vec<Member> =
        statement(MEMBERS).bind::<Text, _>(json_text(&ids)).bind::<BigInt, _>(album_seq).load(c)?;
    Ok(found.into_iter().map(|member| (member.id.clone(), member)).collect())
}

/// The room before an image that stays.
#[derive(Debug, Clone, Copy, QueryableByName)]
struct Gap {
    #[diesel(sql_type = BigInt)]
    asked: i64,
    /// The position of the image.
    #[diesel(sql_type = Nullable<BigInt>)]
    end: Option<i64>,
    /// The position of the image before it that stays.
    #[diesel(sql_type = Nullable<BigInt>)]
    start: Option<i64>,
}

macro_rules! staying {
    ($position:literal) => {
        concat!(
            "SELECT n.position FROM album_images AS n
            WHERE n.album_seq = $1 AND n.position ",
            $position,
            " AND n.image_seq NOT IN (SELECT value FROM ",
            integers!("$2"),
            " AS moved)"
        )
    };
}

const GAPS: &str = concat!(
    "SELECT found.asked AS asked, found.gap_end AS \"end\", (",
    staying!("< coalesce(found.gap_end, 9223372036854775807)"),
    " ORDER BY n.position DESC LIMIT 1) AS start
    FROM (SELECT asked.value AS asked, (",
    staying!(">= asked.value"),
    " ORDER BY n.position LIMIT 1) AS gap_end FROM ",
    integers!("$3"),
    " AS asked) AS found"
);

/// The gaps at which images are put, by position.
fn gaps(c: &mut SqlConnection, album_seq: i64, at: &[i64], moved: &[i64]) -> Result<Vec<Gap>, SqlError> {
    Ok(statement(GAPS)
        .bind::<BigInt, _>(album_seq)
        .bind::<Text, _>(json_array(moved))
        .bind::<Text, _>(json_array(at))
        .load(c)?)
}

/// A moved image, and the image that follows it and stays, whether visible or not.
#[derive(Debug, QueryableByName)]
struct Follower {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Nullable<Text>)]
    before: Option<String>,
}

const FOLLOWERS: &str = concat!(
    "SELECT m.image_seq AS seq, (
        SELECT i.id FROM album_images AS n JOIN images AS i ON i.seq = n.image_seq
        WHERE n.album_seq = $1 AND n.position > m.position AND n.image_seq NOT IN (SELECT value FROM ",
    integers!("$2"),
    " AS moved)
        ORDER BY n.position LIMIT 1
    ) AS before
    FROM album_images AS m
    WHERE m.album_seq = $1 AND m.image_seq IN (SELECT value FROM ",
    integers!("$2"),
    " AS moved)
    ORDER BY m.position"
);

/// The moves that put images back where they are.
fn undoing(
    c: &mut SqlConnection,
    album_seq: i64,
    moved: &[i64],
    ids: &HashMap<i64, &str>,
) -> Result<Vec<AlbumMove>, SqlError> {
    let followers: Vec<Follower> =
        statement(FOLLOWERS).bind::<BigInt, _>(album_seq).bind::<Text, _>(json_array(moved)).load(c)?;
    let mut moves: Vec<AlbumMove> = Vec::new();
    for Follower { seq, before } in followers {
        let Some(image) = ids.get(&seq).map(|id| (*id).to_owned()) else { continue };
        match moves.last_mut().filter(|last| last.before == before) {
            Some(last) => last.images.push(image),
            None => moves.push(AlbumMove { images: vec![image], before }),
        }
    }
    Ok(moves)
}

const SET_POSITIONS: &str = concat!(
    "UPDATE album_images SET position = placed.second FROM ",
    integer_pairs!("$1"),
    " AS placed WHERE album_images.album_seq = $2 AND album_images.image_seq = placed.first"
);

/// The new positions of images that are put into gaps, by internal id; `None` if a gap has too little room.
fn placed(targets: &BTreeMap<i64, (Gap, Vec<i64>)>) -> Option<Vec<(i64, i64)>> {
    let mut placed = Vec::new();
    for (gap, images) in targets.values() {
        let start = gap.start.unwrap_or(0);
        let count = i64::try_from(images.len()).ok()?;
        let step = match gap.end {
            None => STEP,
            Some(end) => (end - start) / (count + 1),
        };
        if step < 1 {
            return None;
        }
        placed.extend(images.iter().zip(1..).map(|(image, place)| (*image, start + step * place)));
    }
    Some(placed)
}

/// The images to put into each gap, by its end.
fn targets(
    c: &mut SqlConnection,
    album_seq: i64,
    moves: &[(Vec<i64>, Option<String>)],
    members: &HashMap<String, Member>,
    moved: &[i64],
) -> Result<BTreeMap<i64, (Gap, Vec<i64>)>, SqlError> {
    let asked = |before: &Option<String>| {
        before.as_ref().and_then(|id| members.get(id)).map_or(END, |member| member.position)
    };
    let at: HashSet<i64> = moves.iter().map(|(_, before)| asked(before)).collect();
    let at: Vec<i64> = at.into_iter().collect();
    let found: HashMap<i64, Gap> =
        gaps(c, album_seq, &at, moved)?.into_iter().map(|gap| (gap.asked, gap)).collect();
    let mut targets: BTreeMap<i64, (Gap, Vec<i64>)> = BTreeMap::new();
    for (images, before) in moves {
        let asked = asked(before);
        let gap = found.get(&asked).copied().unwrap_or(Gap { asked, end: None, start: None });
        let (_, put) = targets.entry(gap.end.unwrap_or(END)).or_insert((gap, Vec::new()));
        put.extend(images);
    }
    Ok(targets)
}

/// Whether the images are in these gaps already, in this order.
fn is_same(targets: &BTreeMap<i64, (Gap, Vec<i64>)>, positions: &HashMap<i64, i64>) -> bool {
    targets.values().all(|(gap, images)| {
        let places: Option<Vec<i64>> = images.iter().map(|image| positions.get(image).copied()).collect();
        places.is_some_and(|places| {
            places.is_sorted_by(|one, other| one < other)
                && places.first().is_none_or(|first| gap.start.is_none_or(|start| *first > start))
                && places.last().is_none_or(|last| gap.end.is_none_or(|end| *last < end))
        })
    })
}

/// Moves images of an album. The number of statements does not depend on their number.
pub(super) fn apply(
    c: &mut SqlConnection,
    viewer: Viewer,
    id: &AlbumId,
    moves: &[AlbumMove],
    at: Timestamp,
) -> Result<AlbumMoved, SqlError> {
    let Some(visibility) = Visibility::of(c, viewer)? else { return Ok(AlbumMoved::NoAlbum) };
    let Some(album) = rows::row(c, visibility.account, id)? else { return Ok(AlbumMoved::NoAlbum) };
    if album.order() != AlbumOrder::ByHand {
        return Ok(AlbumMoved::NotByHand);
    }
    place_added(c, album.seq)?;
    let known = members(c, album.seq, moves)?;
    if moves.iter().filter_map(|one| one.before.as_ref()).any(|before| !known.contains_key(before)) {
        return Ok(AlbumMoved::UnknownImage);
    }
    let seq_of = |id: &String| known.get(id).map(|member| member.seq);
    let chosen: Vec<(Vec<i64>, Option<String>)> = moves
        .iter()
        .map(|one| (one.images.iter().filter_map(seq_of).collect(), one.before.clone()))
        .collect();
    let moved: Vec<i64> = chosen.iter().flat_map(|(images, _)| images.iter().copied()).collect();
    let by_gap = targets(c, album.seq, &chosen, &known, &moved)?;
    if is_same(&by_gap, &known.values().map(|member| (member.seq, member.position)).collect()) {
        return Ok(AlbumMoved::Done(Vec::new()));
    }
    let ids: HashMap<i64, &str> = known.values().map(|member| (member.seq, member.id.as_str())).collect();
    let undo = undoing(c, album.seq, &moved, &ids)?;
    let positions = match placed(&by_gap) {
        Some(positions) => positions,
        None => {
            number(c, NUMBER_AGAIN, album.seq, 0)?;
            let known = members(c, album.seq, moves)?;
            // There is room for more images now than may be moved at once.
            placed(&targets(c, album.seq, &chosen, &known, &moved)?).unwrap_or_default()
        }
    };
    statement(SET_POSITIONS)
        .bind::<Text, _>(json_text(&positions))
        .bind::<BigInt, _>(album.seq)
        .execute(c)?;
    set_updated(c, album.seq, at)?;
    Ok(AlbumMoved::Done(undo))
}
