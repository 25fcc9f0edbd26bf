//! The lists of the account pages.

use data_encoding::HEXLOWER;
use domain::{EditedField, SecurityEventKind, Timestamp};
use library::{KeyInfo, ListedEdit, SecurityEvent, SessionInfo};
use maud::{Markup, html};
use oauth_core::{Connection, UnixMillis};
use web_auth::{McpResource, app_name, display_name};

use super::{AccountPage, AccountSection, BEFORE, PAGE, Person, actions::Action, browser_name::browser_name};
use crate::{
    Site,
    consent::scope_description,
    forms::csrf_field,
    layout::{day, minute},
    selection::photos,
};

/// Number of events on the overview.
const OVERVIEW_EVENTS: usize = 6;

/// Renders the sections of one person.
pub(super) struct Sections<'a> {
    pub(super) site: &'a Site,
    pub(super) person: &'a Person,
    /// The page that shows the sections.
    pub(super) page: AccountPage,
    /// The invalid name of a new key or device, so that it can be corrected.
    pub(super) typed_name: &'a str,
    /// The time before which the list of changes to photos begins.
    pub(super) before: Timestamp,
}

impl Sections<'_> {
    pub(super) fn form(&self, action: Action, content: &Markup) -> Markup {
        html! {
            form method="post" action=(action.path()) {
                (csrf_field(&self.site.forms, &self.person.token_parts(action.path())))
                @if let AccountPage::Section(section) = self.page {
                    input type="hidden" name=(PAGE) value=(section.id());
                }
                (content)
            }
        }
    }

    /// A hidden field that tells password managers which account a password belongs to.
    pub(super) fn username(&self) -> Markup {
        html! {
            input type="text" name="username" value=(self.person.holder.account.email) autocomplete="username" hidden;
        }
    }

    /// A form with one button; `object` completes its label for screen readers.
    pub(super) fn button(
        &self,
        action: Action,
        field: (&str, &str),
        label: &str,
        object: &str,
        class: &str,
    ) -> Markup {
        self.form(
            action,
            &html! {
                input type="hidden" name=(field.0) value=(field.1);
                button class=(class) type="submit" aria-label=(format!("{label} {object}")) { (label) }
            },
        )
    }

    /// The connected apps; `editing` are the ids of the grants whose apps may edit the details of photos.
    pub(super) fn apps(&self, apps: &[Connection], editing: &[String]) -> Markup {
        html! {
            @if apps.is_empty() {
                p { "No apps are connected." }
            } @else {
                ul.entries { @for (index, app) in apps.iter().enumerate() { (self.app(index, app, editing.contains(&app.grant.id))) } }
            }
        }
    }

    fn app(&self, index: usize, app: &Connection, may_edit: bool) -> Markup {
        let name = app_label(app);
        let id = format!("app-{index}");
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
                        ". Can "
                        @for (index, scope) in app.grant.scopes.iter().enumerate() {
                            @if index > 0 { "; " }
                            (scope_description(scope))
                        }
                        "."
                    }
                    (self.edits_of_app(app, &name, may_edit))
                    p.facts { "Access was given to " (app.redirect_host()) @if app.redirect_stays_on_device() { " on your device" } "." }
                }
                (confirmation("Disconnect", &id, &html! {
                    p { (name) " will have no access to your photos until you connect it again." }
                    (disconnect)
                }))
            }
        }
    }

    pub(super) fn keys(&self, keys: &[KeyInfo]) -> Markup {
        let mut active = keys.iter().filter(|key| key.revoked_at.is_none()).enumerate().peekable();
        html! {
            p { "API keys give your own scripts full access to your photos and albums. A key works until you revoke it." }
            @if active.peek().is_some() {
                ul.entries { @for (index, key) in active { (self.key(index, key)) } }
            }
            (self.form(Action::CreateKey, &html! {
                div.beside {
                    div {
                        label for="key-name" { "Name of the new key" }
                        input #key-name type="text" name="name" value=(self.typed_name) required maxlength="100"
                            autocomplete="off";
                    }
                    button type="submit" { "Create key" }
                }
            }))
        }
    }

    fn key(&self, index: usize, key: &KeyInfo) -> Markup {
        let name = key.name.to_string();
        let id = format!("key-{index}");
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
                (confirmation("Revoke", &id, &html! {
                    p { "Scripts that use this key will stop working. You cannot restore a revoked key." }
                    (self.button(Action::RevokeKey, ("name", &name), "Revoke", &name, "danger"))
                }))
            }
        }
    }

    pub(super) fn sessions(&self, sessions: &[SessionInfo]) -> Markup {
        let has_others = sessions.iter().any(|session| session.hash != self.person.session);
        html! {
            ul.entries { @for session in sessions { (self.session(session)) } }
            @if has_others {
                (confirmation("Sign out everywhere else", "", &html! {
                    p { "You will have to sign in again in all other browsers. Connected apps and API keys keep working." }
                    (self.form(Action::SignOutEverywhere, &html! {
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

    /// Whether an app may edit the details of photos, with a button that changes it.
    fn edits_of_app(&self, app: &Connection, name: &str, may_edit: bool) -> Markup {
        let (action, state, label) = if may_edit {
            (Action::ForbidEdits, "May edit the details of your photos.", "Do not let it edit")
        } else {
            (Action::AllowEdits, "May not edit the details of your photos.", "Let it edit")
        };
        html! {
            @if McpResource::scopes_have_edits(&app.grant.scopes) {
                div.facts { (state) " " (self.button(action, ("grant", &app.grant.id), label, name, "quiet")) }
            }
        }
    }

    /// The latest changes to photos, at most `max`, and a link to older ones if there are any.
    pub(super) fn changes(&self, changes: &[ListedEdit], max: u32) -> Markup {
        let shown = changes.len().min(usize::try_from(max).unwrap_or(usize::MAX));
        let (shown, others) = changes.split_at(shown);
        let is_latest = self.before == Timestamp::MAX;
        html! {
            @if changes.is_empty() && !is_latest {
                p { "There are no older changes." }
            } @else if changes.is_empty() {
                p { "Nothing was changed in the last 90 days. What you, your apps and your devices change is listed here and can be undone." }
            } @else {
                ul.entries { @for change in shown { (self.change(change)) } }
                @if let Some(next) = others.first() {
                    @if self.page == AccountPage::Overview {
                        p { a href=(AccountSection::Changes.path()) { "All changes" } }
                    } @else {
                        // Includes the time of the next change, which changes on this page may have, too.
                        @let before = next.edit.at.millis() + 1;
                        p { a href=(format!("{}?{BEFORE}={before}", AccountSection::Changes.path())) { "Older changes" } }
                    }
                }
            }
            @if !is_latest { p { a href=(AccountSection::Changes.path()) { "Latest changes" } } }
        }
    }

    fn change(&self, change: &ListedEdit) -> Markup {
        let author = change.edit.author.as_deref().map_or_else(|| "You".to_owned(), display_name);
        let fields: Vec<&str> = change.fields.iter().map(|field| field_text(*field)).collect();
        let what = format!("{} of {}", fields.join(", "), photos(change.images));
        html! {
            li {
                div {
                    p.name { (author) " changed " @if change.images > 0 { (what) } @else { (fields.join(", ")) } }
                    p.facts { (minute(change.edit.at)) "." @if change.images == 0 { " Undone." } }
                }
                @if change.images > 0 {
                    (self.button(Action::UndoChange, ("change", change.edit.id.as_str()), "Undo", &what, "quiet"))
                }
            }
        }
    }

    /// The security events of the account; on the overview only the newest.
    pub(super) fn activity(&self, events: &[SecurityEvent]) -> Markup {
        let is_overview = self.page == AccountPage::Overview;
        let shown = if is_overview { events.len().min(OVERVIEW_EVENTS) } else { events.len() };
        html! {
            p {
                "If you do not recognise something, change your " a href=(AccountSection::Password.path()) { "password" }
                " and remove the " a href=(AccountSection::Apps.path()) { "connected apps" } ", "
                a href=(AccountSection::Keys.path()) { "API keys" } " and " a href=(AccountSection::Sync.path()) { "devices" }
                " that you do not know."
            }
            @if events.is_empty() {
                p { "There is no activity yet." }
            } @else {
                ul.entries { @for event in events.iter().take(shown) { (event_row(event)) } }
            }
            @if shown < events.len() { p { a href=(AccountSection::Activity.path()) { "All activity" } } }
        }
    }
}

/// A button that opens a confirmation step. It works without JavaScript. `object` is the id of the element that names what
/// the step is about; it may be empty.
pub(super) fn confirmation(label: &str, object: &str, content: &Markup) -> Markup {
    let id = (!object.is_empty()).then(|| format!("ask-{object}"));
    let labels = id.as_ref().map(|id| format!("{id} {object}"));
    html! {
        details.ask {
            summary aria-labelledby=[labels] {
                span id=[id] {
                    span.closed { (label) }
                    span.opened { "Cancel" }
                }
            }
            div.asked { (content) }
        }
    }
}

const fn field_text(field: EditedField) -> &'static str {
    match field {
        EditedField::Description => "the description",
        EditedField::Time => "the time",
        EditedField::Place => "the place",
        EditedField::Favorite => "the favourite mark",
        EditedField::Rating => "the rating",
        EditedField::Keywords => "the keywords",
        EditedField::Archived => "the archive",
    }
}

fn event_row(event: &SecurityEvent) -> Markup {
    html! {
        li {
            div {
                p.name { (event_text(event)) }
                p.facts {
                    (minute(event.at))
                    @match &event.address {
                        Some(address) => { ", from " (address) }
                        None => { ", from the command line" }
                    }
                    @if event.count > 1 { ", " (event.count) " times" }
                    "."
                }
            }
        }
    }
}

fn event_text(event: &SecurityEvent) -> String {
    let object = display_name(event.detail.as_deref().unwrap_or_default());
    match event.kind {
        SecurityEventKind::AccountCreated => "Account created".to_owned(),
        SecurityEventKind::SignedIn => "Signed in".to_owned(),
        SecurityEventKind::SignInFailed => "Sign-in failed: incorrect password".to_owned(),
        SecurityEventKind::SignedOutElsewhere => "Signed out in another browser".to_owned(),
        SecurityEventKind::PasswordChanged => "Password changed".to_owned(),
        SecurityEventKind::AppConnected => format!("{object} connected"),
        SecurityEventKind::AppDisconnected => format!("{object} disconnected"),
        SecurityEventKind::AppTokenReplayed => {
            format!("{object} disconnected, because one of its old tokens was used again")
        }
        SecurityEventKind::KeyCreated => format!("API key {object} created"),
        SecurityEventKind::KeyRevoked => format!("API key {object} revoked"),
        SecurityEventKind::SyncPasswordCreated => format!("{object} connected for photo sync"),
        SecurityEventKind::SyncPasswordRevoked => format!("{object} disconnected from photo sync"),
    }
}

pub(super) fn app_label(app: &Connection) -> String {
    app_name(&app.grant.client_id, app.client_name.as_deref().unwrap_or(&app.grant.client_id))
}

fn day_of(at: UnixMillis) -> Markup {
    html! { @if let Some(at) = Timestamp::from_millis(at.0) { (day(at)) } }
}
