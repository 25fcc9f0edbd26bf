//! What a person sees and changes of their own account: connected apps, API keys, password, sessions, activity.
//!
//! Every form is bound to the session and to what it is for, and leads back to the page; only a new key is shown by
//! the answer itself, once.

mod actions;
mod browser_name;
mod done;
mod page;
mod search_progress;
mod sections;

use std::net::IpAddr;

use http::{HeaderMap, Method, StatusCode, request::Parts};
use keys::session_hash;
use library::SessionHolder;

use actions::{Action, Notice, Sent};
use done::Done;

use crate::{
    app::Service,
    body::RequestBody,
    query::Query,
    reply::{Reply, error, found, method_not_allowed},
    security_log,
    sign_in::{ReturnTo, form_refused, read_form, session, session_token},
};

pub(crate) const PATH: &str = "/account";
pub(crate) const PREFIX: &str = "/account/";

/// A signed-in person, and the hash of the session that they are signed in by.
struct Person {
    holder: SessionHolder,
    token: String,
    session: [u8; 32],
}

impl Person {
    /// Who sends a request. Without a session the answer is what `without` makes of the path of the sign-in page.
    async fn of(service: &Service, headers: &HeaderMap, without: fn(&str) -> Reply) -> Result<Self, Reply> {
        let token = session_token(&service.config.base_url, headers).unwrap_or_default();
        match session(service, headers).await? {
            Some(holder) => Ok(Self { holder, session: session_hash(&token), token }),
            None => Err(without(&ReturnTo::here(PATH).by_way_of_sign_in())),
        }
    }

    /// What a form of theirs is bound to.
    fn bound_to<'a>(&'a self, purpose: &'a str) -> [&'a [u8]; 2] {
        [purpose.as_bytes(), &self.session]
    }
}

/// Answers `/account` and what its forms post to.
pub(crate) async fn handle(service: &Service, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let path = parts.uri.path();
    if path == PATH {
        return match parts.method {
            Method::GET | Method::HEAD => shown(service, parts).await,
            _ => method_not_allowed("GET, HEAD"),
        };
    }
    let Some(action) = Action::at(path) else {
        return error(StatusCode::NOT_FOUND, "there is nothing at this path");
    };
    match parts.method {
        Method::POST => {}
        // Where the address bar points after a form that was refused.
        Method::GET | Method::HEAD => return found(PATH),
        _ => return method_not_allowed("GET, HEAD, POST"),
    }
    match sent(service, parts, body, address, action).await {
        Ok(sent) => sent.run(action).await,
        Err(reply) => reply,
    }
}

async fn shown(service: &Service, parts: &Parts) -> Reply {
    match Person::of(service, &parts.headers, found).await {
        Ok(person) => {
            let query = Query::parse(parts.uri.query());
            let done = query.get("done").and_then(Done::parse).map(Notice::Done);
            page::page(service, &person, StatusCode::OK, done).await
        }
        Err(reply) => reply,
    }
}

/// The form that came, from whom it was shown to.
async fn sent<'a>(
    service: &'a Service,
    parts: &'a Parts,
    body: RequestBody,
    address: IpAddr,
    action: Action,
) -> Result<Sent<'a>, Reply> {
    let form = read_form(service, parts, body, address).await?;
    // Without a session no token is valid.
    let person = Person::of(service, &parts.headers, |_| form_refused()).await?;
    if form.has_token(&service.authorization.forms, &person.bound_to(action.path())) {
        return Ok(Sent { service, headers: &parts.headers, person, form, address });
    }
    security_log::form_refused(address, "account form without its token");
    Err(form_refused())
}
