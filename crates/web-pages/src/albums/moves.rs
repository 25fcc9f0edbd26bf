//! `/albums/{id}/move`: moves photos of an album in its own order.
//!
//! Scripts send JSON with the photos and where they go. The form of the page has buttons that move the selected photos by a step,
//! or to an end.

use std::net::IpAddr;

use domain::{AlbumId, AlbumMove, ImageId, Limit, checked_moves};
use http::{StatusCode, request::Parts};
use http_server::{
    Query,
    body::{BodyKind, RequestBody},
    reply::{Reply, error, json, see_other},
};
use library::{AlbumMoved, PhotoContext, Positions, StorageError};
use serde::{Deserialize, Serialize};
use tracing::Instrument as _;

use super::{
    album, no_album,
    shown::{PAGE, from_position, position_of},
};
use crate::{
    Site,
    layout::Icon,
    messages, paths,
    return_to::ReturnTo,
    selection::{self, Signed},
    session::Person,
};

/// Photos that are moved together.
#[derive(Debug, Serialize, Deserialize)]
struct Move {
    ids: Vec<String>,
    /// The photo that they are put before; the end of the album without one.
    before: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Moves {
    token: String,
    moves: Vec<Move>,
    /// The first photo of the page then, whose position the answer has.
    first: Option<String>,
}

impl Signed for Moves {
    fn token(&self) -> &str {
        &self.token
    }
}

/// The moves that put the photos back.
#[derive(Serialize)]
struct Moved {
    undo: Vec<Move>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<i64>,
}

/// Where a button of the form moves the selected photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Earlier,
    Later,
    Start,
    End,
}

impl Step {
    pub(super) const ALL: [Self; 4] = [Self::Start, Self::Earlier, Self::Later, Self::End];

    /// Its name in the form.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Earlier => "earlier",
            Self::Later => "later",
            Self::Start => "start",
            Self::End => "end",
        }
    }

    /// What its button shows.
    pub(super) const fn icon(self) -> Icon {
        match self {
            Self::Earlier => Icon::Back,
            Self::Later => Icon::Later,
            Self::Start => Icon::ToStart,
            Self::End => Icon::ToEnd,
        }
    }

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Earlier => "Move earlier",
            Self::Later => "Move later",
            Self::Start => "Move to the start",
            Self::End => "Move to the end",
        }
    }
}

const NOT_BY_HAND: &str =
    "This album is no longer in your own order. Choose “My order” again, then move the photos.";
const CHANGED: &str = "The album has changed meanwhile. Reload the page and try again.";

pub(super) async fn submit(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    id: &AlbumId,
) -> Result<Reply, Reply> {
    if BodyKind::of(&parts.headers) == Some(BodyKind::Json) {
        let (person, Moves { moves, first, .. }) = selection::read_json(site, parts, body, address).await?;
        return by_script(site, &person, id, moves, first).await;
    }
    let (person, input) = selection::read_form(site, parts, body, address).await?;
    let step = Step::ALL.into_iter().find(|step| input.get("step") == Some(step.name()));
    let back = ReturnTo::parse(input.return_to.as_deref());
    let back_query = back.as_str().split_once('?').map_or("", |(_, query)| query);
    let problem = match (step, input.ids.is_empty()) {
        (Some(step), false) => match by_step(site, &person, id, (step, &input.ids), &back).await? {
            Ok(address) => return Ok(see_other(&address)),
            Err(problem) => problem,
        },
        _ => "Select photos, then move them.",
    };
    // The page and the selection stay.
    let ids: Vec<&str> =
        input.ids.iter().map(String::as_str).filter(|id| ImageId::parse(*id).is_some()).collect();
    let query = format!("{back_query}&moved={}", ids.join(","));
    album::page(site, &person, id, &Query::parse(Some(&query)), Some(problem)).await
}

async fn by_script(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    moves: Vec<Move>,
    first: Option<String>,
) -> Result<Reply, Reply> {
    let unavailable = |error: StorageError| messages::data_unavailable(&error);
    let moves = moves.into_iter().map(|Move { ids, before }| AlbumMove { images: ids, before }).collect();
    let moves = checked_moves(moves).map_err(|invalid| {
        error(StatusCode::BAD_REQUEST, &format!("{} {}", invalid.field, invalid.reason))
    })?;
    match apply(site, person, id, moves).await.map_err(unavailable)? {
        AlbumMoved::Done(undo) => {
            let from = match first.and_then(ImageId::parse) {
                None => None,
                Some(first) => {
                    let (catalogue, caller) = (&site.library.catalogue, person.caller());
                    let context = catalogue.photo_context(&caller, &first, Some(id)).await;
                    context.map_err(unavailable)?.position
                }
            };
            let undo = undo.into_iter().map(|AlbumMove { images, before }| Move { ids: images, before });
            Ok(json(StatusCode::OK, &Moved { undo: undo.collect(), from }))
        }
        AlbumMoved::NoAlbum => Err(error(StatusCode::NOT_FOUND, "There is no such album.")),
        AlbumMoved::NotByHand => Err(error(StatusCode::CONFLICT, NOT_BY_HAND)),
        AlbumMoved::UnknownImage => Err(error(StatusCode::CONFLICT, CHANGED)),
    }
}

/// Moves photos to the end, also if the browser closes the connection.
async fn apply(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    moves: Vec<AlbumMove>,
) -> Result<AlbumMoved, StorageError> {
    let (library, caller, id) = (site.library.clone(), person.caller(), id.clone());
    let moving = async move { library.catalogue.move_images(&caller, &id, moves).await };
    match tokio::spawn(moving.in_current_span()).await {
        Ok(moved) => moved,
        Err(error) => Err(StorageError::Unavailable(error.to_string())),
    }
}

/// Moves the selected photos together. Returns the address of the page that shows them, or a problem for the person.
async fn by_step(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    (step, selected): (Step, &[String]),
    back: &ReturnTo,
) -> Result<Result<String, &'static str>, Reply> {
    let unavailable = |error: StorageError| messages::unavailable(&error);
    let images: Vec<ImageId> = selected.iter().filter_map(|image| ImageId::parse(&**image)).collect();
    let (Some(first), Some(last)) = (images.first(), images.last()) else { return Ok(Err(CHANGED)) };
    let before = target(site, person, id, step, (first, last)).await.map_err(unavailable)?;
    let images: Vec<String> = images.iter().map(ToString::to_string).collect();
    let one = AlbumMove { images, before: before.map(|before| before.to_string()) };
    let Ok(moves) = checked_moves(vec![one]) else { return Ok(Err("Select at most 100 photos.")) };
    match apply(site, person, id, moves).await.map_err(unavailable)? {
        AlbumMoved::Done(_) => {
            Ok(Ok(page_of(site, person, id, (first, selected), back).await.map_err(unavailable)?))
        }
        AlbumMoved::NoAlbum => Err(no_album()),
        AlbumMoved::NotByHand => Ok(Err(NOT_BY_HAND)),
        AlbumMoved::UnknownImage => Ok(Err(CHANGED)),
    }
}

/// The photo that a step puts the selected photos before.
async fn target(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    step: Step,
    (first, last): (&ImageId, &ImageId),
) -> Result<Option<ImageId>, StorageError> {
    let (catalogue, caller) = (&site.library.catalogue, &person.caller());
    let beside = async |image: &ImageId| catalogue.photo_context(caller, image, Some(id)).await;
    Ok(match step {
        Step::Earlier => Some(beside(first).await?.previous.unwrap_or_else(|| first.clone())),
        Step::Later => {
            let PhotoContext { next, position, .. } = beside(last).await?;
            match next {
                Some(next) => beside(&next).await?.next,
                // It is no longer in the album. Being put before it, the photos stay where they are, or the move is refused.
                None if position.is_none() => Some(last.clone()),
                None => None,
            }
        }
        Step::Start => {
            let limit = Limit::new(1).unwrap_or_default();
            let found = catalogue.positioned_images(caller, id, Positions::From(i64::MIN), limit).await?;
            found.unwrap_or_default().into_iter().next().map(|found| found.image.id)
        }
        Step::End => None,
    })
}

/// The address of the page with photos that were moved, which selects them again: the page of the form if it shows them.
async fn page_of(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    (first, selected): (&ImageId, &[String]),
    back: &ReturnTo,
) -> Result<String, StorageError> {
    let (catalogue, caller) = (&site.library.catalogue, person.caller());
    let from = position_of(&Query::parse(back.as_str().split_once('?').map(|(_, query)| query)));
    let limit = Limit::new(PAGE).unwrap_or_default();
    let positions = Positions::From(from.unwrap_or(i64::MIN));
    let shown = catalogue.positioned_images(&caller, id, positions, limit).await?.unwrap_or_default();
    let from = if shown.iter().any(|found| found.image.id == *first) {
        from
    } else {
        catalogue.photo_context(&caller, first, Some(id)).await?.position
    };
    let page = from.map_or_else(|| format!("{}?", paths::album(id)), |from| from_position(id, from) + "&");
    Ok(format!("{page}moved={}#selected-photo", selected.join(",")))
}
