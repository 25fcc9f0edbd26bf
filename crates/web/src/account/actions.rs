use std::net::IpAddr;

use domain::KeyName;
use http::{StatusCode, header, request::Parts};
use library::{AccountError, KeyError, SignInError, SignInFrom};
use oauth_core::UnixMillis;

use super::{PATH, Person, page};
use crate::{
    app::Service,
    pages,
    reply::{Reply, WithHeader as _, see_other},
    security_log,
    sign_in::{Form, session_cookie},
};

/// The fewest characters of a password that somebody chooses.
const MIN_PASSWORD_CHARS: usize = 10;

/// What a form of the account page does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Disconnect,
    CreateKey,
    RevokeKey,
    ChangePassword,
    SignOutEverywhere,
}

/// What the page says about what was just done.
pub(super) enum Notice {
    /// A new key, which is shown this once.
    NewKey { name: KeyName, key: String },
    /// What went wrong.
    Problem(String),
    /// What went well.
    Done(&'static str),
}

impl Action {
    const ALL: [Self; 5] =
        [Self::Disconnect, Self::CreateKey, Self::RevokeKey, Self::ChangePassword, Self::SignOutEverywhere];

    pub(super) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.path() == path)
    }

    /// Where its form is sent; also what the form's token is bound to.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Disconnect => "/account/apps/disconnect",
            Self::CreateKey => "/account/keys/create",
            Self::RevokeKey => "/account/keys/revoke",
            Self::ChangePassword => "/account/password",
            Self::SignOutEverywhere => "/account/sign-out-everywhere",
        }
    }

    pub(super) async fn run(
        self,
        service: &Service,
        parts: &Parts,
        person: &Person,
        form: &Form,
        address: IpAddr,
    ) -> Reply {
        match self {
            Self::Disconnect => disconnect(service, person, form, address).await,
            Self::CreateKey => create_key(service, person, form, address).await,
            Self::RevokeKey => revoke_key(service, person, form, address).await,
            Self::ChangePassword => change_password(service, parts, person, form, address).await,
            Self::SignOutEverywhere => sign_out_everywhere(service, person, address).await,
        }
    }
}

async fn disconnect(service: &Service, person: &Person, form: &Form, address: IpAddr) -> Reply {
    let grants = service.library.grants();
    let id = form.get("grant").unwrap_or_default();
    let subject = person.holder.account.id.0.to_string();
    let at = UnixMillis(service.library.clock().now().millis());
    let ended = async {
        match grants.grant(id).await? {
            Some(grant) if grant.subject == subject => grants.revoke_grant(id, at).await,
            _ => Ok(false),
        }
    };
    match ended.await {
        Ok(true) => security_log::grant_revoked(address, id),
        // It had ended already, which is what was wanted.
        Ok(false) => {}
        Err(error) => return pages::unavailable(&error),
    }
    see_other(PATH)
}

async fn create_key(service: &Service, person: &Person, form: &Form, address: IpAddr) -> Reply {
    let name = match KeyName::parse(form.get("name").unwrap_or_default()) {
        Ok(name) => name,
        Err(invalid) => return refused(service, person, invalid.to_string()).await,
    };
    match service.library.create_key(&person.holder.account.email, name.clone()).await {
        Ok(key) => {
            security_log::key_changed(address, person.holder.account.id, "key_created");
            page::page(service, person, StatusCode::OK, Some(Notice::NewKey { name, key })).await
        }
        Err(KeyError::Unavailable(error)) => pages::unavailable(&error),
        Err(error) => refused(service, person, error.to_string()).await,
    }
}

async fn revoke_key(service: &Service, person: &Person, form: &Form, address: IpAddr) -> Reply {
    let Ok(name) = KeyName::parse(form.get("name").unwrap_or_default()) else { return see_other(PATH) };
    match service.library.revoke_key(&person.holder.account.email, &name).await {
        Ok(true) => security_log::key_changed(address, person.holder.account.id, "key_revoked"),
        Ok(false) => {}
        Err(error) => return pages::unavailable(&error),
    }
    see_other(PATH)
}

/// A new password ends every session, so this browser gets a new one.
async fn change_password(
    service: &Service,
    parts: &Parts,
    person: &Person,
    form: &Form,
    address: IpAddr,
) -> Reply {
    let account = &person.holder.account;
    let (current, new) = (form.get("current").unwrap_or_default(), form.get("new").unwrap_or_default());
    if new.chars().count() < MIN_PASSWORD_CHARS {
        let words = format!("The new password must have at least {MIN_PASSWORD_CHARS} characters.");
        return refused(service, person, words).await;
    }
    let user_agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    let from = || SignInFrom { address, user_agent: user_agent.map(str::to_owned) };
    if let Err(error) = service.library.sign_in(account.email.as_str(), current, from()).await {
        return wrong_password(service, person, error, address).await;
    }
    match service.library.set_password(&account.email, Some(new.to_owned())).await {
        Ok(_) => security_log::password_changed(address, account.id),
        Err(AccountError::Unavailable(error)) => return pages::unavailable(&error),
        Err(error) => return refused(service, person, error.to_string()).await,
    }
    let reply = see_other(PATH);
    match service.library.sign_in(account.email.as_str(), new, from()).await {
        Ok(signed_in) => match session_cookie(&service.config.base_url, &signed_in.token) {
            Some(cookie) => reply.with(header::SET_COOKIE, cookie),
            None => reply,
        },
        // The password is changed all the same; the page asks for it.
        Err(_) => reply,
    }
}

async fn wrong_password(service: &Service, person: &Person, error: SignInError, address: IpAddr) -> Reply {
    match error {
        SignInError::Unavailable(error) => pages::unavailable(&error),
        SignInError::Wrong => {
            security_log::sign_in_failed(address, "wrong password at its change");
            refused(service, person, "The current password is wrong.".to_owned()).await
        }
        SignInError::LockedOut { retry_after_s } | SignInError::Busy { retry_after_s } => {
            let notice = Notice::Problem("Too many tries. Wait a while, then try again.".to_owned());
            let page = page::page(service, person, StatusCode::TOO_MANY_REQUESTS, Some(notice)).await;
            pages::retry_after(page, retry_after_s)
        }
    }
}

/// Ends all other sessions.
async fn sign_out_everywhere(service: &Service, person: &Person, address: IpAddr) -> Reply {
    match service.library.end_sessions(person.holder.account.id, Some(&person.token)).await {
        Ok(_) => {
            security_log::signed_out(address);
            let notice = Notice::Done("Every other browser is signed out.");
            page::page(service, person, StatusCode::OK, Some(notice)).await
        }
        Err(error) => pages::unavailable(&error),
    }
}

async fn refused(service: &Service, person: &Person, words: String) -> Reply {
    page::page(service, person, StatusCode::BAD_REQUEST, Some(Notice::Problem(words))).await
}
