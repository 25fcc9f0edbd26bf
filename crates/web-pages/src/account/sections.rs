//! The lists of the account page.

use data_encoding::HEXLOWER;
use domain::{SecurityEventKind, Timestamp};
use library::{KeyInfo, SecurityEvent, SessionInfo};
use maud::{Markup, html};
use oauth_core::{Connection, UnixMillis};

use super::{AccountPage, PAGE, Person, Topic, actions::Action, browser_name::browser_name};
use crate::{Site, layout::{day, minute}, oauth::{app_name, scope_in_words, shown_name}, sign_in::csrf_field};

/// How many events the overview shows.
const NEWEST_EVENTS: usize = 6;

/// The forms of one person.
pub(super) struct Forms<'a> {
    pub(super) site: &'a Site,
    pub(super) person: &'a Person,
    /// The page that shows them.
    pub(super) page: AccountPage,
    /// The name of a key that was refused, to be mended.
    pub(super) typed_key_name: &'a str,
}

impl Forms<'_> {
    pub(super) fn of(&self, action: Action, content: &Markup) -> Markup {
        html! {
            form method="post" action=(action.path()) {
                (csrf_field(&self.site.forms, &self.person.bound_to(action.path())))
                @if let AccountPage::Section(topic) = self.page {
                    input type="hidden" name=(PAGE) value=(topic.id());
                }
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
    fn button(&self, action: Action, field: (&str, &str), words: &str, thing: &str, class: &str) -> Markup {
        self.of(
            action,
            &html! {
                input type="hidden" name=(field.0) value=(field.1);
                button class=(class) type="submit" aria-label=(format!("{words} {thing}")) { (words) }
            },
        )
    }

    pub(super) fn apps(&self, apps: &[Connection]) -> Markup {
        html! {
            @if apps.is_empty() {
                p { "No app is connected." }
            } @else {
                ul.rows { @for (place, app) in apps.iter().enumerate() { (self.app(place, app)) } }
            }
        }
    }

    fn app(&self, place: usize, app: &Connection) -> Markup {
        let name = name_of(app);
        let id = format!("app-{place}");
        let disconnect =
            self.button(Action::Disconnect, ("grant", &app.grant.id), "Disconnect", &name, "danger");
        html! {
            li.asking {
                div {
                    p.name { span id=(id) { (name) } " " span.unverified { "(name not verified)" } }
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
                (asking("Disconnect", &id, &html! {
                    p { (name) " loses access to your photos until you connect it again." }
                    (disconnect)
                }))
            }
        }
    }

    pub(super) fn keys(&self, keys: &[KeyInfo]) -> Markup {
        let mut in_force = keys.iter().filter(|key| key.revoked_at.is_none()).enumerate().peekable();
        html! {
            p { "API keys are for your own scripts. A key can do everything that you can. It works until you revoke it." }
            @if in_force.peek().is_some() {
                ul.rows { @for (place, key) in in_force { (self.key(place, key)) } }
            }
            (self.of(Action::CreateKey, &html! {
                div.beside {
                    div {
                        label for="key-name" { "Name of the new key" }
                        input #key-name type="text" name="name" value=(self.typed_key_name) required maxlength="100"
                            autocomplete="off";
                    }
                    button type="submit" { "Create key" }
                }
            }))
        }
    }

    fn key(&self, place: usize, key: &KeyInfo) -> Markup {
        let name = key.name.to_string();
        let id = format!("key-{place}");
        html! {
            li.asking {
                div {
                    p.name id=(id) { (name) }
                    p.facts {
                        "Created " (day(key.created_at)) ", "
                        @match key.last_used_at {
                            Some(at) => { "last used " (day(at)) }
                            None => { "not used yet" }
                        }
                        "."
                    }
                }
                (asking("Revoke", &id, &html! {
                    p { "Every script that uses this key stops working. A revoked key cannot be restored." }
                    (self.button(Action::RevokeKey, ("name", &name), "Revoke", &name, "danger"))
                }))
            }
        }
    }

    pub(super) fn sessions(&self, sessions: &[SessionInfo]) -> Markup {
        let has_others = sessions.iter().any(|session| session.hash != self.person.session);
        html! {
            ul.rows { @for session in sessions { (self.session(session)) } }
            @if has_others {
                (asking("Sign out everywhere else", "", &html! {
                    p { "All other browsers have to sign in again. This one stays signed in. Connected apps and API keys keep working." }
                    (self.of(Action::SignOutEverywhere, &html! {
                        button.danger type="submit" { "Sign out everywhere else" }
                    }))
                }))
            } @else {
                p { "You are not signed in anywhere else." }
            }
        }
    }

    fn session(&self, session: &SessionInfo) -> Markup {
        let name = browser_name(session.user_agent.as_deref());
        let is_here = session.hash == self.person.session;
        let hash = HEXLOWER.encode(&session.hash);
        html! {
            li {
                div {
                    p.name { (name) " " @if is_here { span.badge { "this browser" } } }
                    p.facts {
                        "Signed in " (minute(session.created_at)) " from " (session.address)
                        ", last used " (day(session.last_seen_at)) "."
                    }
                }
                @if !is_here {
                    (self.button(
                        Action::EndSession,
                        ("session", &hash),
                        "Sign out",
                        &format!("{name}, {}", session.address),
                        "quiet",
                    ))
                }
            }
        }
    }

    /// What happened to the account: on the overview, the newest events.
    pub(super) fn activity(&self, events: &[SecurityEvent]) -> Markup {
        let is_overview = self.page == AccountPage::Overview;
        let shown = if is_overview { events.len().min(NEWEST_EVENTS) } else { events.len() };
        html! {
            p {
                "If something here was not you, change your " a href=(Topic::Password.path()) { "password" }
                ", and remove the " a href=(Topic::Apps.path()) { "connected apps" } " and "
                a href=(Topic::Keys.path()) { "API keys" } " that you do not know."
            }
            @if events.is_empty() {
                p { "Nothing has happened yet." }
            } @else {
                ul.rows { @for event in events.iter().take(shown) { (event_row(event)) } }
            }
            @if shown < events.len() { p { a href=(Topic::Activity.path()) { "All activity" } } }
        }
    }
}

/// A step that asks before its form is sent. It works without JavaScript. `about` is the id of the name of the thing.
pub(super) fn asking(words: &str, about: &str, asked: &Markup) -> Markup {
    let id = (!about.is_empty()).then(|| format!("ask-{about}"));
    let labels = id.as_ref().map(|id| format!("{id} {about}"));
    html! {
        details.ask {
            summary aria-labelledby=[labels] {
                span id=[id] {
                    span.closed { (words) }
                    span.opened { "Cancel" }
                }
            }
            div.asked { (asked) }
        }
    }
}

fn event_row(event: &SecurityEvent) -> Markup {
    html! {
        li {
            div {
                p.name { (in_words(event)) }
                p.facts {
                    (minute(event.at))
                    @match &event.address {
                        Some(address) => { ", from " (address) }
                        None => { ", by a command on the machine of the library" }
                    }
                    @if event.count > 1 { ", " (event.count) " times" }
                    "."
                }
            }
        }
    }
}

fn in_words(event: &SecurityEvent) -> String {
    let thing = shown_name(event.detail.as_deref().unwrap_or_default());
    match event.kind {
        SecurityEventKind::AccountCreated => "The account was created".to_owned(),
        SecurityEventKind::SignedIn => "Signed in".to_owned(),
        SecurityEventKind::SignInFailed => "A wrong password was tried".to_owned(),
        SecurityEventKind::SignedOutElsewhere => "Signed out from another browser".to_owned(),
        SecurityEventKind::PasswordChanged => "The password was changed".to_owned(),
        SecurityEventKind::AppConnected => format!("{thing} was connected"),
        SecurityEventKind::AppDisconnected => format!("{thing} was disconnected"),
        SecurityEventKind::AppTokenReplayed => {
            format!("{thing} was disconnected, because an old token of it was used again")
        }
        SecurityEventKind::KeyCreated => format!("The API key {thing} was created"),
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
