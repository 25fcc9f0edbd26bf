//! The page of a photo, and the forms that correct photos.
//!
//! Each form is bound to the session and to its purpose, and contains the id of its correction, so that a form that is sent
//! twice counts once.

mod bulk;
mod cover;
mod delete;
mod edit;
mod edit_form;
mod facts;
mod marks;
mod marks_fields;
mod undo;
mod view;

use std::net::IpAddr;

use domain::{EditId, Image, ImageId};
use http::{Method, StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, found, method_not_allowed, not_found},
};
use library::Lookup;
use web_auth::security_log;

use crate::{
    Site,
    assets::Asset,
    form_reader::read_form,
    form_rejected::form_rejected,
    forms::Form,
    layout::{LibraryPage, LibraryTab, Link},
    messages::{self, message_with_link},
    origin::Origin,
    paths,
    selection::{BULK_PATH, EDIT},
    session::Person,
};

/// Whether a path belongs to the pages of photos.
pub(crate) fn is_path(path: &str) -> bool {
    path.starts_with(paths::PHOTOS)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Edit,
    Marks,
    Undo,
    Delete,
}

impl Purpose {
    const fn name(self) -> &'static str {
        match self {
            Self::Edit => "correct photos",
            Self::Marks => "mark a photo",
            Self::Undo => "undo a correction",
            Self::Delete => "delete a photo",
        }
    }
}

/// Handles a request to `/photos/…`.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let path = parts.uri.path();
    if path == BULK_PATH {
        return bulk::handle(site, parts, body, address).await;
    }
    let rest = path.strip_prefix(paths::PHOTOS).unwrap_or_default();
    let (id, action) = rest.split_once('/').unwrap_or((rest, ""));
    let Some(id) = ImageId::parse(id) else { return not_found() };
    let opened = Opened { origin: Origin::parse(&Query::parse(parts.uri.query())), id };
    let is_get = matches!(parts.method, Method::GET | Method::HEAD);
    let is_post = parts.method == Method::POST;
    let result = match (action, is_get, is_post) {
        ("", true, _) => show(site, parts, &opened).await,
        ("edit", true, _) => edit::show(site, parts, &opened).await,
        ("edit", _, true) => edit::submit(site, parts, body, address, &opened).await,
        ("marks", _, true) => marks::submit(site, parts, body, address, &opened).await,
        ("undo", _, true) => undo::submit(site, parts, body, address, &opened).await,
        ("delete", _, true) => delete::submit(site, parts, body, address, &opened).await,
        // After a form was rejected, the address bar shows its path, so a browser may request the path by GET.
        ("marks" | "undo" | "delete", true, _) => lead_to_page(site, parts, &opened).await,
        ("", ..) => Ok(method_not_allowed("GET, HEAD")),
        ("edit" | "marks" | "undo" | "delete", ..) => Ok(method_not_allowed("GET, HEAD, POST")),
        _ => Ok(not_found()),
    };
    result.unwrap_or_else(|reply| reply)
}

/// A photo of an address, and where it was opened.
struct Opened {
    id: ImageId,
    origin: Origin,
}

impl Opened {
    /// The address of its page.
    fn page(&self) -> String {
        self.origin.link(&self.id)
    }

    /// The address of its page with the outcome of a form.
    fn page_with(&self, outcome: &[(&str, &str)]) -> String {
        self.origin.address(&paths::photo(&self.id), outcome)
    }

    /// The address of the page or form that performs an action.
    fn action(&self, action: &str) -> String {
        self.origin.address(&format!("{}/{action}", paths::photo(&self.id)), &[])
    }
}

async fn show(site: &Site, parts: &Parts, opened: &Opened) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let query = Query::parse(parts.uri.query());
    let request = view::Request {
        done: query.get("done").and_then(view::Done::parse),
        edit: query.get(EDIT).and_then(EditId::parse),
        invalid: None,
    };
    view::page(site, &person, opened, &request).await
}

/// Redirects to the page of a photo.
async fn lead_to_page(site: &Site, parts: &Parts, opened: &Opened) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    visible_image(site, &person, &opened.id).await?;
    Ok(found(&opened.page()))
}

/// The photo, if the person can see it.
async fn visible_image(site: &Site, person: &Person, id: &ImageId) -> Result<Image, Reply> {
    let found = site.library.catalogue.image(&person.caller(), id.as_str()).await;
    match found.map_err(|error| messages::unavailable(&error))? {
        Lookup::Found(image) => Ok(image),
        Lookup::Foreign | Lookup::Missing => Err(no_photo()),
    }
}

/// Reads a form and checks that it belongs to the person who sent it.
async fn submission(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    purpose: Purpose,
    page: &str,
) -> Result<(Person, Form), Reply> {
    let form = read_form(site, parts, body, address).await?;
    let person = Person::of(site, &parts.headers).await?;
    // Without a session no token is valid.
    match person.filter(|person| form.has_token(&site.forms, &person.token_parts(purpose.name()))) {
        Some(person) => Ok((person, form)),
        None => {
            security_log::form_refused(address, "photo form without its token");
            Err(form_rejected(&site.base_url, &parts.headers, page))
        }
    }
}

/// A page of the library for one or many photos.
fn frame(title: &str) -> LibraryPage<'_> {
    LibraryPage {
        title,
        tab: Some(LibraryTab::Photos),
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: false,
    }
}

/// The reply for a photo that the person cannot see.
fn no_photo() -> Reply {
    let text = "There is no photo at this address. It may have been deleted: look in the trash.";
    message_with_link(
        StatusCode::NOT_FOUND,
        "Photo not found",
        text,
        Link { href: "/", label: "Go to your photos" },
    )
}
