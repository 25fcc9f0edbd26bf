//! The pages for people: the photo library, sign-in, set-up, consent and account.
//!
//! One module per page or group of pages; `layout` is the frame around all of them. Every page works without JavaScript.
//! Every form is bound to the browser's session by a token (`forms`).
//!
//! This crate knows no SQL, no files and no image formats.
//!
//! The most common change is a new page: a module with a function that returns a [`Reply`], and its path in [`handle`].

mod account;
mod albums;
mod app_guides;
mod archive;
mod assets;
mod authorize;
mod browser_choice;
mod connect_device;
mod consent;
mod directories;
mod error_pages;
mod examples;
mod form_reader;
mod form_rejected;
mod forms;
mod gallery;
mod installed_app;
mod layout;
mod map;
mod marks;
mod messages;
mod on_this_day;
mod origin;
mod other_address;
mod paths;
mod photo;
mod photo_text;
mod pictures;
mod problems;
mod qr_code;
mod return_to;
mod search;
mod selection;
mod session;
mod set_up;
mod sign_in;
mod sign_out;
mod sign_out_button;
mod theme;
mod tiles;
mod trash;

use std::{net::IpAddr, sync::Arc};

use http::request::Parts;
use http_server::{
    BaseUrl, UploadSlots,
    body::RequestBody,
    reply::{Reply, not_found},
};
use keys::{FormSigner, Secret};
use library::Library;
use web_auth::{AUTHORIZE_PATH, Authorization};

use crate::{forms::Form, theme::Theme};

pub use app_guides::{ConnectionGuide, McpApp, UnknownApp, connecting_document};
pub use directories::registry_entry;
pub use error_pages::ErrorPages;
pub use other_address::other_address;

/// The pages of a library.
pub struct Site {
    library: Library,
    base_url: BaseUrl,
    forms: FormSigner,
    authorization: Arc<Authorization>,
    slots: Arc<UploadSlots>,
}

impl Site {
    /// The pages of a library. Forms are signed with a key derived from `secret`. `slots` are those for uploads.
    pub fn new(
        library: Library,
        secret: &Secret,
        base_url: BaseUrl,
        authorization: Arc<Authorization>,
        slots: Arc<UploadSlots>,
    ) -> Self {
        Self { library, base_url, forms: FormSigner::new(secret), authorization, slots }
    }
}

/// Handles a request to a page. `address` is the address of the client.
pub async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let theme = Theme::of(&site.base_url, &parts.headers);
    theme.during(reply(site, parts, body, address)).await
}

async fn reply(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    match parts.uri.path() {
        "/setup" => set_up::handle(site, parts, body, address).await,
        "/sign-in" => sign_in::handle(site, parts, body, address).await,
        paths::SIGN_OUT => sign_out::handle(site, parts, body, address).await,
        path @ paths::ON_THIS_DAY => {
            let cookie = |form: &Form| on_this_day::cookie(&site.base_url, form);
            browser_choice::handle(site, parts, body, address, path, cookie).await
        }
        path @ paths::THEME => {
            let cookie = |form: &Form| Theme::parse(form.get(theme::NAME)).cookie(&site.base_url);
            browser_choice::handle(site, parts, body, address, path, cookie).await
        }
        AUTHORIZE_PATH => authorize::handle(site, parts, body, address).await,
        path if path.starts_with(assets::PREFIX) => assets::handle(parts).await,
        paths::SEARCH | paths::EXPLORE | paths::SUGGEST => search::handle(site, parts).await,
        paths::EXAMPLES => examples::handle(site, parts, body, address).await,
        paths::ARCHIVE => archive::handle(site, parts).await,
        path if trash::is_path(path) => trash::handle(site, parts, body, address).await,
        path if problems::is_path(path) => problems::handle(site, parts, body, address).await,
        path if albums::is_path(path) => albums::handle(site, parts, body, address).await,
        path if selection::is_path(path) => selection::handle(site, parts, body, address).await,
        path if gallery::is_path(path) => gallery::handle(site, parts).await,
        path if map::is_path(path) => map::handle(site, parts).await,
        path if connect_device::is_path(path) => connect_device::handle(site, parts, body, address).await,
        path if photo::is_path(path) => photo::handle(site, parts, body, address).await,
        path if account::is_path(path) => account::handle(site, parts, body, address).await,
        _ => not_found(),
    }
}
