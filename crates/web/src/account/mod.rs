//! What a person sees and changes of their own account: connected apps, API keys, password, sessions.
//!
//! Every form is bound to the session and to what it is for, and leads back to the page; only a new key is shown by
//! the answer itself, once.

mod actions;
mod page;

use std::net::IpAddr;

use http::{HeaderMap, Method, StatusCode, request::Parts};
use keys::session_hash;
use library::SessionHolder;

use crate::{
    app::Service,
    body::RequestBody,
    reply::{Reply, error, found, method_not_allowed},
    security_log,
    sign_in::{Form, ReturnTo, form_refused, read_form, session, session_token},
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
    /// Who sends a request; else what to answer them.
    async fn of(service: &Service, headers: &HeaderMap) -> Result<Self, Reply> {
        let token = session_token(&service.config.base_url, headers).unwrap_or_default();
        match session(service, headers).await? {
            Some(holder) => Ok(Self { holder, session: session_hash(&token), token }),
            None => Err(found(&ReturnTo::here(PATH).by_way_of_sign_in())),
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
            Method::GET | Method::HEAD => shown(service, &parts.headers).await,
            _ => method_not_allowed("GET, HEAD"),
        };
    }
    let Some(action) = actions::Action::at(path) else {
        return error(StatusCode::NOT_FOUND, "there is nothing at this path");
    };
    if parts.method != Method::POST {
        return method_not_allowed("POST");
    }
    match sent(service, parts, body, address, action).await {
        Ok((person, form)) => action.run(service, parts, &person, &form, address).await,
        Err(reply) => reply,
    }
}

async fn shown(service: &Service, headers: &HeaderMap) -> Reply {
    match Person::of(service, headers).await {
        Ok(person) => page::page(service, &person, StatusCode::OK, None).await,
        Err(reply) => reply,
    }
}

/// The form that came, from whom it was shown to.
async fn sent(
    service: &Service,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    action: actions::Action,
) -> Result<(Person, Form), Reply> {
    let form = read_form(service, parts, body, address).await?;
    let person = Person::of(service, &parts.headers).await?;
    if form.has_token(&service.authorization.forms, &person.bound_to(action.path())) {
        return Ok((person, form));
    }
    security_log::form_refused(address, "account form without its token");
    Err(form_refused())
}
