//! The lists of the account page.

use data_encoding::HEXLOWER;
use domain::{SecurityEventKind, Timestamp};
use library::{KeyInfo, SecurityEvent, SessionInfo};
use maud::{Markup, html};
use oauth_core::{Connection, UnixMillis};

use super::{Person, actions::Action, browser_name::browser_name};
use crate::{
    app::Service,
    oauth::{app_name, scope_in_words, shown_name},
    pages::{day, minute},
    sign_in::csrf_field,
};

/// How many events are shown at first.
const NEWEST_EVENTS: usize = 6;

/// The forms of one person.
pub(super) struct Forms<'a> {
    pub(super) service: &'a Service,
    pub(super) person: &'a Person,
}

impl Forms<'_> {
    pub(super) fn of(&self, action: Action, content: &Markup) -> Markup {
        html! {
            form method="post" action=(action.path()) {
                (csrf_field(&self.service.authorization.forms, &self.person.bound_to(action.path())))
                (content)
            }
        }
    }

    /// Tells password managers whose password a form is about.
    pub(super) fn username(&self) -> Markup {
        html! {
            input type="text" name="username" value=(self.person.holder.account.email) autocomplete="username" hidden;
        }
    }

    /// A form of one button about one thing.
    fn button(&self, action: Action, field: (&str, &str), words: &str, thing: &str) -> Markup {
        self.of(
            action,
            &html! {
                input type="hidden" name=(field.0) value=(field.1);
                button.quiet type="submit" aria-label=(format!("{words} {thing}")) { (words) }
            },
        )
    }

    pub(super) fn apps(&self, apps: &[Connection]) -> Markup {
        html! {
            @if apps.is_empty() {
                p { "No app is connected." }
            } @else {
                ul.rows { @for app in apps { (self.app(app)) } }
            }
        }
    }

    fn app(&self, app: &Connection) -> Markup {
        let name = name_of(app);
        html! {
            li {
                div {
                    h3 { (name) }
                    p.facts {
                        "Connected " (day_of(app.grant.created_at)) ", "
                        @match app.last_used_at {
                            Some(at) => { "last used " (day_of(at)) }
                            None => { "not used yet" }
                        }
                        ". It may "
                        @for (place, scope) in app.grant.scopes.iter().enumerate() {
                            @if place > 0 { "; " }
                            (scope_in_words(scope))
                        }
                        "."
                    }
                    p.facts { "Access was given to " (app.redirect_host()) @if app.redirect_stays_on_device() { " on your own device" } "." }
                }
                (self.button(Action::Disconnect, ("grant", &app.grant.id), "Disconnect", &name))
            }
        }
    }

    pub(super) fn keys(&self, keys: &[KeyInfo]) -> Markup {
        let mut in_force = keys.iter().filter(|key| key.revoked_at.is_none()).peekable();
        html! {
            p { "For scripts of your own. A key can do everything that you can, and works until you revoke it." }
            @if in_force.peek().is_some() {
                ul.rows { @for key in in_force { (self.key(key)) } }
            }
            (self.of(Action::CreateKey, &html! {
                div.beside {
                    div {
                        label for="key-name" { "Name of a new key" }
                        input #key-name type="text" name="name" required maxlength="100" autocomplete="off";
                    }
                    button type="submit" { "Make a key" }
                }
            }))
        }
    }

    fn key(&self, key: &KeyInfo) -> Markup {
        let name = key.name.to_string();
        html! {
            li {
                div {
                    h3 { (name) }
                    p.facts {
                        "Made " (day(key.created_at)) ", "
                        @match key.last_used_at {
                            Some(at) => { "last used " (day(at)) }
                            None => { "not used yet" }
                        }
                        "."
                    }
                }
                (self.button(Action::RevokeKey, ("name", &name), "Revoke", &name))
            }
        }
    }

    pub(super) fn sessions(&self, sessions: &[SessionInfo]) -> Markup {
        let has_others = sessions.iter().any(|session| session.hash != self.person.session);
        html! {
            ul.rows { @for session in sessions { (self.session(session)) } }
            @if has_others {
                (self.of(Action::SignOutEverywhere, &html! {
                    button.quiet type="submit" { "Sign out everywhere else" }
                }))
            }
        }
    }

    fn session(&self, session: &SessionInfo) -> Markup {
        let name = browser_name(session.user_agent.as_deref());
        let is_here = session.hash == self.person.session;
        html! {
            li {
                div {
                    h3 { (name) " " @if is_here { span.badge { "this browser" } } }
                    p.facts {
                        "Signed in " (minute(session.created_at)) " from " (session.address)
                        ", last used " (day(session.last_seen_at)) "."
                    }
                }
                @if !is_here {
                    (self.button(
                        Action::EndSession,
                        ("session", &HEXLOWER.encode(&session.hash)),
                        "Sign out",
                        &format!("{name}, {}", session.address),
                    ))
                }
            }
        }
    }
}

/// What happened to the account lately.
pub(super) fn activity(events: &[SecurityEvent]) -> Markup {
    let (newest, older) = events.split_at(events.len().min(NEWEST_EVENTS));
    html! {
        p { "If something here was not you, change your password, disconnect the apps and revoke the API keys that you do not know." }
        @if events.is_empty() { p { "Nothing yet." } }
        (event_rows(newest))
        @if !older.is_empty() {
            details {
                summary { "What was before" }
                (event_rows(older))
            }
        }
    }
}

fn event_rows(events: &[SecurityEvent]) -> Markup {
    html! {
        ul.rows {
            @for event in events {
                li {
                    div {
                        h3 { (in_words(event)) }
                        p.facts {
                            (minute(event.at))
                            @match &event.address {
                                Some(address) => { ", from " (address) }
                                None => { ", on the machine of the library" }
                            }
                            @if event.times > 1 { ", " (event.times) " times" }
                            "."
                        }
                    }
                }
            }
        }
    }
}

fn in_words(event: &SecurityEvent) -> String {
    let thing = shown_name(event.detail.as_deref().unwrap_or_default());
    match event.kind {
        SecurityEventKind::AccountCreated => "The account was made".to_owned(),
        SecurityEventKind::SignedIn => "Signed in".to_owned(),
        SecurityEventKind::SignInFailed => "A wrong password was tried".to_owned(),
        SecurityEventKind::SignedOutElsewhere => "Signed out from another browser".to_owned(),
        SecurityEventKind::PasswordChanged => "The password was changed".to_owned(),
        SecurityEventKind::AppConnected => format!("{thing} was connected"),
        SecurityEventKind::AppDisconnected => format!("{thing} was disconnected"),
        SecurityEventKind::AppTokenReplayed => {
            format!("{thing} was disconnected, because an old token of it was used again")
        }
        SecurityEventKind::KeyCreated => format!("The API key {thing} was made"),
        SecurityEventKind::KeyRevoked => format!("The API key {thing} was revoked"),
    }
}

/// What an app calls itself.
pub(super) fn name_of(app: &Connection) -> String {
    app_name(&app.grant.client_id, app.client_name.as_deref().unwrap_or(&app.grant.client_id))
}

fn day_of(at: UnixMillis) -> Markup {
    html! { @if let Some(at) = Timestamp::from_millis(at.0) { (day(at)) } }
}
