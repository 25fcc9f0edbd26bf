//! The account pages: connected apps, API keys, photo sync, password, sessions, activity.
//!
//! `/account` shows all sections, and each section also has a page of its own. Every form is bound to the session and to
//! its purpose, and redirects to the page that showed it. Only a new API key, sync password or QR code is shown in the reply itself, once.
//!
//! To add a section, add a variant to `AccountSection` in `section.rs`; the compiler names the other places.

mod access;
mod actions;
mod browser_name;
mod form_stream;
mod lists;
mod outcome;
mod page;
mod search_progress;
mod section;
mod sync;
mod sync_upload;

use std::net::IpAddr;

use domain::{Plan, Timestamp};
use http::{Method, StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, found, method_not_allowed, not_found},
};
use web_auth::security_log;

use crate::{
    Site, form_reader::read_form, form_rejected::form_rejected, layout::PageHeader, paths,
    return_to::ReturnTo, session::Person,
};

pub(crate) use sync::home_network_command;
pub(crate) use sync_upload::upload_area;

use actions::{Action, Notice, Submission};
use outcome::Outcome;
use section::{AccountPage, AccountSection};

const PATH: &str = "/account";
const PREFIX: &str = "/account/";

/// The name of the field with the page that shows a form.
const PAGE: &str = "page";
/// The name of the parameter with the time before which the list of changes to photos begins, in milliseconds.
const BEFORE: &str = "before";

/// Whether a path belongs to the account pages, or takes photos for one of them.
pub(crate) fn is_path(path: &str) -> bool {
    path == PATH || path == paths::SHARE || path.starts_with(PREFIX)
}

/// Handles `/account`, the pages of its sections, and their forms.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let path = parts.uri.path();
    if path == sync_upload::PATH || path == paths::SHARE {
        return sync_upload::handle(site, parts, body, address).await;
    }
    match (&parts.method, AccountPage::at(path), Action::at(path)) {
        (_, None, None) => not_found(),
        (&Method::GET | &Method::HEAD, Some(page), _) => show(site, parts, page).await,
        // After a form was rejected, the address bar shows its path, so a browser may request the path by GET.
        (&Method::GET | &Method::HEAD, None, Some(action)) => found(action.section().path()),
        (&Method::POST, _, Some(action)) => match submission(site, parts, body, address, action).await {
            Ok(submission) => submission.run(action).await,
            Err(reply) => reply,
        },
        (_, _, Some(_)) => method_not_allowed("GET, HEAD, POST"),
        (_, _, None) => method_not_allowed("GET, HEAD"),
    }
}

async fn show(site: &Site, parts: &Parts, page: AccountPage) -> Reply {
    let person = match Person::of(site, &parts.headers).await {
        Ok(Some(person)) => person,
        // Apps send people here before they have signed in.
        Ok(None) if page == AccountPage::Section(AccountSection::Sync) => {
            return sync::page_for_visitors(site, &PageHeader::SignedOut { here: page.path() });
        }
        Ok(None) => return found(&ReturnTo::here(page.path()).via_sign_in()),
        Err(reply) => return reply,
    };
    if page == AccountPage::Section(AccountSection::Plan) && person.holder.account.plan != Plan::Free {
        return not_found();
    }
    let query = Query::parse(parts.uri.query());
    let notice = query.get("done").and_then(Outcome::parse).map(Notice::Done);
    let before = query.get(BEFORE).and_then(|text| text.parse().ok()).and_then(Timestamp::from_millis);
    page::page(site, &person, page, StatusCode::OK, notice, before.unwrap_or(Timestamp::MAX)).await
}

/// Reads a form and checks that it belongs to the person who sent it.
async fn submission<'a>(
    site: &'a Site,
    parts: &'a Parts,
    body: RequestBody,
    address: IpAddr,
    action: Action,
) -> Result<Submission<'a>, Reply> {
    let form = read_form(site, parts, body, address).await?;
    let person = Person::of(site, &parts.headers).await?;
    // Without a session no token is valid.
    let person = person.filter(|person| form.has_token(&site.forms, &person.token_parts(action.path())));
    let Some(person) = person else {
        security_log::form_refused(address, "account form without its token");
        return Err(form_rejected(&site.base_url, &parts.headers, action.section().path()));
    };
    let page = AccountPage::from_id(form.get(PAGE));
    Ok(Submission { site, headers: &parts.headers, person, page, form, address })
}
