//! What can be done with selected photos.
//!
//! `/web/selection` takes JSON from the scripts, and the forms of pages without scripts. Both carry the token of the form.

mod input;
mod perform;
mod steps;

use std::net::IpAddr;

use domain::EditId;
use http::{Method, StatusCode, request::Parts};
use http_server::{
    body::{BodyKind, MAX_BODY_BYTES, ReadBodyError, RequestBody},
    reply::{Reply, error, json, method_not_allowed, not_found, see_other},
};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Serialize, de::DeserializeOwned};
use tracing::Instrument as _;
use web_auth::{is_same_origin, security_log};

use crate::{
    Site,
    form_rejected::form_rejected,
    forms::FormError,
    layout::Link,
    marks::Mark,
    messages::{self, message_with_link, unauthorized},
    return_to::ReturnTo,
    session::Person,
};
pub(crate) use input::Input;
use perform::{Action, Done, Refusal};
pub(crate) use steps::{nothing_selected, photos, selected};

/// The path of the form with the selected photos.
pub(crate) const PATH: &str = "/web/selection";

/// What the token of such a form is bound to. A page of an earlier version, whose ranges were in UTC, has another one, so that it
/// does not change other photos than it shows.
pub(crate) const PURPOSE: &str = "/web/selection local";

const COUNT_PATH: &str = "/web/selection/count";
const ALBUMS_PATH: &str = "/web/albums";

/// The page that edits many photos.
pub(crate) const BULK_PATH: &str = "/photos/edit";

/// The name of the field with the id of an edit.
pub(crate) const EDIT: &str = "edit";

pub(crate) const RETURN_TO: &str = "return_to";
pub(crate) const MARK: &str = "mark";

/// The page with the outcome of an edit: the numbers of photos that changed and of those that could not be changed, and the mark
/// that was changed, if it was one by itself.
pub(crate) fn changed_many(
    edit: &str,
    (changed, refused): (u32, u32),
    mark: Option<Mark>,
    return_to: &ReturnTo,
) -> String {
    let mark = mark.map(|mark| format!("&{MARK}={}", mark.name())).unwrap_or_default();
    let return_to = in_query(return_to);
    format!("{BULK_PATH}?{EDIT}={edit}&changed={changed}&refused={refused}{mark}&{RETURN_TO}={return_to}")
}

pub(crate) fn in_query(return_to: &ReturnTo) -> String {
    utf8_percent_encode(return_to.as_str(), NON_ALPHANUMERIC).to_string()
}

/// Undoes an edit of any number of photos; returns how many changed.
pub(crate) async fn undo_edit(site: &Site, person: &Person, edit: &EditId) -> Result<u64, Reply> {
    let (library, caller, edit) = (site.library.clone(), person.caller(), edit.clone());
    // In a task of its own, which continues if the browser closes the connection.
    let undo = async move { library.catalogue.undo_edit(&caller, &edit).await };
    match tokio::spawn(undo.in_current_span()).await {
        Ok(undone) => undone.map_err(|error| messages::unavailable(&error)),
        Err(error) => Err(messages::unavailable(&error)),
    }
}

/// The buttons of a form with selected photos, with those that change these marks.
pub(crate) fn actions(marks: &[Mark]) -> Markup {
    html! {
        div.actions {
            label { "Album " input type="text" name="title" maxlength="100" placeholder="New album"; }
            button.quiet type="submit" name="action" value="add_to_album" { "Add to album" }
            button.quiet type="submit" formaction="/photos/edit" { "Edit" }
            (mark_buttons(marks))
            button.danger type="submit" name="action" value="delete" { "Delete" }
        }
    }
}

/// The buttons of a form with selected photos that change marks.
pub(crate) fn mark_buttons(marks: &[Mark]) -> Markup {
    html! {
        @for mark in marks { button.quiet type="submit" name="action" value=(mark.name()) { (mark.label()) } }
    }
}

/// Whether a path belongs to this module.
pub(crate) fn is_path(path: &str) -> bool {
    matches!(path, PATH | COUNT_PATH | ALBUMS_PATH)
}

/// Handles a request to `/web/selection`, `/web/selection/count` or `/web/albums`.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let result = match parts.uri.path() {
        ALBUMS_PATH if matches!(parts.method, Method::GET | Method::HEAD) => albums(site, parts).await,
        ALBUMS_PATH => Ok(method_not_allowed("GET, HEAD")),
        _ if parts.method != Method::POST => Ok(method_not_allowed("POST")),
        PATH if BodyKind::of(&parts.headers) == Some(BodyKind::Json) => {
            run_json(site, parts, body, address).await
        }
        PATH => run_form(site, parts, body, address).await,
        COUNT_PATH => count(site, parts, body, address).await,
        _ => Ok(not_found()),
    };
    result.unwrap_or_else(|reply| reply)
}

async fn run_json(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Result<Reply, Reply> {
    let (person, input) = read_json::<Input>(site, parts, body, address).await?;
    let refused = |invalid: domain::Invalid| error(StatusCode::BAD_REQUEST, &invalid.to_string());
    let action = Action::of(&input).map_err(refused)?;
    let selection = input.selection().map_err(refused)?;
    match action.run(&site.library, person.caller(), selection).await {
        Ok(done) => Ok(json(StatusCode::OK, &done)),
        Err(Refusal::NoAlbum) => Err(error(StatusCode::NOT_FOUND, &Refusal::NoAlbum.to_string())),
        Err(refusal @ (Refusal::Invalid(_) | Refusal::TooManyAlbums)) => {
            Err(error(StatusCode::BAD_REQUEST, &refusal.to_string()))
        }
        Err(Refusal::Storage(error)) => Err(messages::data_unavailable(&error)),
        Err(Refusal::Unavailable(error)) => Err(messages::data_unavailable(&error)),
    }
}

/// The photos of a selection.
#[derive(Serialize)]
struct Count {
    count: u32,
    /// The local times of the newest and the oldest in milliseconds.
    newest: Option<i64>,
    oldest: Option<i64>,
}

async fn count(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Result<Reply, Reply> {
    let (person, input) = read_json::<Input>(site, parts, body, address).await?;
    let selection =
        input.selection().map_err(|invalid| error(StatusCode::BAD_REQUEST, &invalid.to_string()))?;
    let found = site
        .library
        .catalogue
        .count_selection(&person.caller(), &selection)
        .await
        .map_err(|error| messages::data_unavailable(&error))?;
    let millis = |place: Option<domain::LocalTime>| place.map(|place| place.clock().millis());
    let reply = Count { count: found.count, newest: millis(found.newest), oldest: millis(found.oldest) };
    Ok(json(StatusCode::OK, &reply))
}

/// What a script sends, with the token of its page.
pub(crate) trait Signed {
    fn token(&self) -> &str;
}

impl Signed for Input {
    fn token(&self) -> &str {
        &self.token
    }
}

/// Reads the JSON of a signed-in person, with the token of the form.
pub(crate) async fn read_json<T: DeserializeOwned + Signed>(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Result<(Person, T), Reply> {
    let person = Person::of(site, &parts.headers).await?.ok_or_else(unauthorized)?;
    let forbidden = |reason| {
        security_log::form_refused(address, reason);
        error(StatusCode::FORBIDDEN, "the page is out of date; reload it and try again")
    };
    if !is_same_origin(&site.base_url, &parts.headers) {
        return Err(forbidden("another origin"));
    }
    if BodyKind::of(&parts.headers) != Some(BodyKind::Json) {
        return Err(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be JSON"));
    }
    let bytes = body.read(MAX_BODY_BYTES).await.map_err(|problem| match problem {
        ReadBodyError::TooLarge => error(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body exceeds 512,000 bytes; select ranges of time instead",
        ),
        ReadBodyError::TooSlow => error(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"),
        ReadBodyError::Broken => error(StatusCode::BAD_REQUEST, "the body was cut off"),
        ReadBodyError::Encoded => {
            error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must not have a content encoding")
        }
    })?;
    let input: T = serde_json::from_slice(&bytes)
        .map_err(|problem| error(StatusCode::BAD_REQUEST, &format!("invalid JSON: {problem}")))?;
    if !site.forms.verify(&person.token_parts(PURPOSE), input.token()) {
        return Err(forbidden("selection without the token of its page"));
    }
    Ok((person, input))
}

async fn run_form(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Result<Reply, Reply> {
    let (person, input) = read_form(site, parts, body, address).await?;
    let unavailable = |error| messages::unavailable(&error);
    match &*input.action {
        "delete" if !input.is_confirmed => return Ok(steps::confirm_delete(site, &person, &input).await),
        "delete_forever" if !input.is_confirmed => {
            return Ok(steps::confirm_delete_forever(site, &person, &input));
        }
        "add_to_album" | "choose_album"
            if input.action == "choose_album" || (input.album.is_none() && input.title.is_none()) =>
        {
            return steps::choose_album(site, &person, &input).await.map_err(unavailable);
        }
        _ => {}
    }
    let back = ReturnTo::parse(input.return_to.as_deref());
    let refused = |status, text: &str| {
        let link = Link { href: back.as_str(), label: "Go back" };
        message_with_link(status, "Nothing was changed", &sentence(text), link)
    };
    let bad_request = |text: &str| refused(StatusCode::BAD_REQUEST, text);
    let Ok(selection) = input.selection() else { return Ok(nothing_selected(site, &person, &input)) };
    let action = Action::of(&input).map_err(|invalid| bad_request(&invalid.to_string()))?;
    let mark = action.mark();
    match action.run(&site.library, person.caller(), selection).await {
        Ok(Done { edit: Some(edit), count, .. }) => {
            Ok(see_other(&changed_many(&edit, (count, 0), mark, &back)))
        }
        Ok(_) => Ok(see_other(back.as_str())),
        Err(Refusal::Storage(error)) => Err(unavailable(error)),
        Err(Refusal::Unavailable(error)) => Err(messages::unavailable(&error)),
        Err(Refusal::NoAlbum) => Err(refused(StatusCode::NOT_FOUND, &Refusal::NoAlbum.to_string())),
        Err(refusal @ (Refusal::Invalid(_) | Refusal::TooManyAlbums)) => {
            Err(bad_request(&refusal.to_string()))
        }
    }
}

/// Reads the form with selected photos of a signed-in person. It may be longer than other forms.
pub(crate) async fn read_form(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Result<(Person, Input), Reply> {
    let reject = |reason| {
        security_log::form_refused(address, reason);
        form_rejected(&site.base_url, &parts.headers, "/")
    };
    if !is_same_origin(&site.base_url, &parts.headers) {
        return Err(reject("another origin"));
    }
    if BodyKind::of(&parts.headers) != Some(BodyKind::Form) {
        return Err(reject(FormError::NotAForm.reason()));
    }
    let bytes = body.read(MAX_BODY_BYTES).await.map_err(|error| reject(FormError::from(error).reason()))?;
    let input = Input::from_form(&bytes).map_err(|error| reject(error.reason()))?;
    let person = Person::of(site, &parts.headers).await?;
    match person.filter(|person| site.forms.verify(&person.token_parts(PURPOSE), &input.token)) {
        Some(person) => Ok((person, input)),
        None => Err(reject("selection without its token")),
    }
}

/// A message as a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// Albums in a menu.
#[derive(Serialize)]
struct Menu<'a> {
    albums: Vec<MenuAlbum<'a>>,
}

#[derive(Serialize)]
struct MenuAlbum<'a> {
    id: &'a str,
    title: &'a str,
    count: u32,
}

/// `/web/albums`: all albums.
async fn albums(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::of(site, &parts.headers).await?.ok_or_else(unauthorized)?;
    let albums = site.library.catalogue.all_albums(&person.caller()).await;
    let albums = albums.map_err(|error| messages::data_unavailable(&error))?;
    let albums = albums
        .iter()
        .map(|album| MenuAlbum { id: album.id.as_str(), title: &album.title, count: album.image_count })
        .collect();
    Ok(json(StatusCode::OK, &Menu { albums }))
}
