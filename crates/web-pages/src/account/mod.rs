//! What a person sees and changes of their own account: connected apps, API keys, password, sessions, activity.
//!
//! `/account` shows all sections, and each section has a page of its own. Every form is bound to the session and to its
//! purpose, and leads back to the page that showed it. Only a new key is shown by the answer itself, once.

mod actions;
mod browser_name;
mod done;
mod page;
mod search_progress;
mod sections;
mod topic;

use std::net::IpAddr;

use domain::Plan;
use http::{HeaderMap, Method, StatusCode, request::Parts};
use keys::session_hash;
use library::SessionHolder;

use actions::{Action, Notice, Sent};
use done::Done;
use topic::{AccountPage, Topic};

use http_server::{Query, body::RequestBody, reply::{Reply, error, found, method_not_allowed}};

use web_api::security_log;

use crate::{Site, layout::{self, PageHeader}, sign_in::{ReturnTo, form_refused, read_form, session, session_token}};

pub(crate) const PATH: &str = "/account";
pub(crate) const PREFIX: &str = "/account/";

/// The name of the field in which a form names the page that shows it.
const PAGE: &str = "page";

/// A signed-in person, and the hash of the session that they are signed in by.
struct Person {
    holder: SessionHolder,
    token: String,
    session: [u8; 32],
}

impl Person {
    /// The signed-in person who sent a request; `None` without a session.
    async fn of(site: &Site, headers: &HeaderMap) -> Result<Option<Self>, Reply> {
        let token = session_token(&site.base_url, headers).unwrap_or_default();
        let holder = session(site, headers).await?;
        Ok(holder.map(|holder| Self { holder, session: session_hash(&token), token }))
    }

    /// What a form of theirs is bound to.
    fn bound_to<'a>(&'a self, purpose: &'a str) -> [&'a [u8]; 2] {
        [purpose.as_bytes(), &self.session]
    }
}

/// Answers `/account`, the pages of its sections, and what their forms post to.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let path = parts.uri.path();
    match (&parts.method, AccountPage::at(path), Action::at(path)) {
        (_, None, None) => not_found(),
        (&Method::GET | &Method::HEAD, Some(page), _) => shown(site, parts, page).await,
        // Where the address bar points after a form that was refused.
        (&Method::GET | &Method::HEAD, None, Some(action)) => found(action.topic().path()),
        (&Method::POST, _, Some(action)) => match sent(site, parts, body, address, action).await {
            Ok(sent) => sent.run(action).await,
            Err(reply) => reply,
        },
        (_, _, Some(_)) => method_not_allowed("GET, HEAD, POST"),
        (_, _, None) => method_not_allowed("GET, HEAD"),
    }
}

fn not_found() -> Reply {
    error(StatusCode::NOT_FOUND, "there is nothing at this path")
}

async fn shown(site: &Site, parts: &Parts, page: AccountPage) -> Reply {
    let person = match Person::of(site, &parts.headers).await {
        Ok(Some(person)) => person,
        // Apps send people here who have not signed in yet.
        Ok(None) if page == AccountPage::Section(Topic::Sync) => {
            return pages::sync(&PageHeader::SignedOut { here: page.path() });
        }
        Ok(None) => return found(&ReturnTo::here(page.path()).by_way_of_sign_in()),
        Err(reply) => return reply,
    };
    if page == AccountPage::Section(Topic::Plan) && person.holder.account.plan != Plan::Free {
        return not_found();
    }
    let query = Query::parse(parts.uri.query());
    let done = query.get("done").and_then(Done::parse).map(Notice::Done);
    page::page(site, &person, page, StatusCode::OK, done).await
}

/// The form that came, from whom it was shown to.
async fn sent<'a>(
    site: &'a Site,
    parts: &'a Parts,
    body: RequestBody,
    address: IpAddr,
    action: Action,
) -> Result<Sent<'a>, Reply> {
    let form = read_form(site, parts, body, address).await?;
    let person = Person::of(site, &parts.headers).await?;
    let forms = &site.forms;
    // Without a session no token is valid.
    let person = person.filter(|person| form.has_token(forms, &person.bound_to(action.path())));
    let Some(person) = person else {
        security_log::form_refused(address, "account form without its token");
        let page = action.topic().path();
        return Err(form_refused(&site.base_url, &parts.headers, page));
    };
    let page = AccountPage::named(form.get(PAGE));
    Ok(Sent { site, headers: &parts.headers, person, page, form, address })
}
