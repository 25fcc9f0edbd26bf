use domain::{MIN_PASSWORD_CHARS, Timestamp};
use http::StatusCode;
use http_server::reply::Reply;
use library::Caller;
use maud::{Markup, html};
use web_auth::mcp_url;

use super::{
    AccountPage, AccountSection, Outcome, PATH, Person,
    actions::{Action, Notice},
    lists::{Sections, confirmation},
    search_progress::search_progress,
    sync::{SyncAddresses, new_device},
};
use crate::{
    Site,
    app_guides::ConnectionGuide,
    layout::{Link, Page, Section, snippet},
    messages,
    sign_out_button::sign_out_button,
};

/// Number of events on the activity page: all that are kept, so that many events of one kind do not hide others.
const ACTIVITY_EVENTS: u32 = 1000;

/// Number of changes to photos on the overview.
const OVERVIEW_CHANGES: u32 = 3;

/// Number of changes to photos on their page.
const LISTED_CHANGES: u32 = 100;

/// Renders a page of the account. Lists of changes to photos begin before a time.
pub(super) async fn page(
    site: &Site,
    person: &Person,
    page: AccountPage,
    status: StatusCode,
    notice: Option<Notice>,
    before: Timestamp,
) -> Reply {
    let account = &person.holder.account;
    let typed_name = match &notice {
        Some(Notice::InvalidName { name, .. }) => name,
        _ => "",
    };
    let renderer = Sections { site, person, page, typed_name, before };
    let sections_shown: Vec<AccountSection> = match page {
        AccountPage::Overview => AccountSection::of_plan(account.plan).collect(),
        AccountPage::Section(section) => vec![section],
    };
    let mut sections = Vec::with_capacity(sections_shown.len());
    for section in sections_shown {
        match renderer.content(section).await {
            Ok(content) => {
                sections.push(Section { id: section.id(), heading: section.heading(), content });
            }
            Err(reply) => return reply,
        }
    }
    let remaining = match notice {
        Some(Notice::Done(Outcome::PasswordChanged) | Notice::NoAccessSelected) => {
            match renderer.remaining_access().await {
                Ok(remaining) => remaining,
                Err(reply) => return reply,
            }
        }
        _ => html! {},
    };
    let title = match page {
        AccountPage::Overview => "Your account",
        AccountPage::Section(section) => section.heading(),
    };
    let above = html! {
        @if page == AccountPage::Overview {
            div.signed-in {
                p { "Signed in as " strong { (account.email) } "." }
                (sign_out_button(&site.forms, &person.token, PATH, "Sign out"))
            }
        }
        @if let Some(notice) = &notice { (notice_markup(notice, SyncAddresses::of(site, person))) }
        (remaining)
    };
    let overview = Link { href: PATH, label: "Overview" };
    let link = |section: AccountSection| Link { href: section.path(), label: section.heading() };
    let links: Vec<Link<'_>> =
        [overview].into_iter().chain(AccountSection::of_plan(account.plan).map(link)).collect();
    let header = person.header(site, page.path());
    Page { title, status, form_targets: &[] }.sections(&header, &links, &above, &sections)
}

fn notice_markup(notice: &Notice, addresses: SyncAddresses<'_>) -> Markup {
    match notice {
        Notice::NewKey { name, key } => html! {
            div.notice role="status" {
                p { "Copy the new API key " strong { (name) } " now. It will not be shown again." }
                (snippet("the API key", key))
            }
        },
        Notice::NewDevice(device) => new_device(device, addresses),
        Notice::Problem(text) | Notice::InvalidName { text, .. } => problem(text),
        Notice::NoAccessSelected => problem("Nothing was selected, so everything keeps its access."),
        Notice::Done(outcome) => html! { div.notice role="status" { p { (outcome.text()) } } },
    }
}

fn problem(text: &str) -> Markup {
    html! { div.notice.warn role="alert" { p { (text) } } }
}

impl Sections<'_> {
    async fn content(&self, section: AccountSection) -> Result<Markup, Reply> {
        let unavailable = |error: &dyn std::fmt::Display| messages::unavailable(error);
        let (library, account) = (&self.site.library, &self.person.holder.account);
        let is_overview = self.page == AccountPage::Overview;
        Ok(match section {
            AccountSection::Apps => {
                let apps = library.accounts.grants().connections(&account.id.0.to_string()).await;
                let apps = apps.map_err(|error| unavailable(&error))?;
                let editing = library.accounts.grants_with_edits(account.id).await;
                let editing = editing.map_err(|error| unavailable(&error))?;
                html! {
                    (self.apps(&apps, &editing))
                    (self.connect(is_overview))
                }
            }
            AccountSection::Keys => {
                let keys =
                    library.accounts.keys(&account.email).await.map_err(|error| unavailable(&error))?;
                html! {
                    (self.keys(&keys))
                    @if !is_overview { (self.key_use()) }
                }
            }
            AccountSection::Sync if is_overview => self.sync_summary().await?,
            AccountSection::Sync => self.sync().await?,
            AccountSection::Search => {
                let progress = library.indexer.search_progress(Some(account.id)).await;
                let info =
                    library.catalogue.info(&Caller::signed_in(account.clone(), &self.person.token)).await;
                let info = info.map_err(|error| unavailable(&error))?;
                let can_run_models = info.has_vision_model || library.indexer.can_run_models().await;
                search_progress(&progress.map_err(|error| unavailable(&error))?, &info, can_run_models)
            }
            AccountSection::Plan => free_plan(library.settings().free_window),
            AccountSection::Password => self.password(),
            AccountSection::Sessions => {
                let sessions =
                    library.accounts.sessions(account.id).await.map_err(|error| unavailable(&error))?;
                self.sessions(&sessions)
            }
            AccountSection::Changes => {
                let max = if is_overview { OVERVIEW_CHANGES } else { LISTED_CHANGES };
                let changes = library.catalogue.edits(&self.person.caller(), self.before, max + 1).await;
                self.changes(&changes.map_err(|error| unavailable(&error))?, max)
            }
            AccountSection::Activity => {
                let events = library.accounts.security_events(account.id, ACTIVITY_EVENTS).await;
                self.activity(&events.map_err(|error| unavailable(&error))?)
            }
            AccountSection::Delete => self.delete(),
        })
    }

    fn connect(&self, is_overview: bool) -> Markup {
        let base_url = &self.site.base_url;
        let address = html! {
            p { "Paste this address into the app. The app then asks you to sign in and allow access." }
            (snippet("the address", &mcp_url(base_url)))
        };
        html! {
            @if is_overview {
                h3 { "Connect an app" }
                (address)
                p { a href=(AccountSection::Apps.path()) { "Steps for Claude, ChatGPT, VS Code and other apps" } }
            } @else {
                h2.further { "Connect an app" }
                (address)
                @for guide in ConnectionGuide::all(base_url) {
                    details {
                        summary { (guide.app.title()) }
                        @if let Some(obstacle) = &guide.obstacle { p.notice.warn { (obstacle) } }
                        ol { @for step in &guide.steps { li { (step) } } }
                        (snippet(&format!("the text for {}", guide.app.title()), guide.snippet.trim_end()))
                    }
                }
            }
        }
    }

    fn key_use(&self) -> Markup {
        let base_url = self.site.base_url.as_str();
        let command = format!("curl -H \"Authorization: Bearer KEY\" {base_url}/api/ext/v2/images");
        html! {
            h2.further { "Use a key" }
            p { "This command lists your newest photos. Replace KEY with your key:" }
            (snippet("the command", &command))
            p { a href="/api/ext/v2/openapi.json" { "API reference (OpenAPI)" } }
        }
    }

    fn password(&self) -> Markup {
        html! {
            p { "Changing your password signs you out in all other browsers and ends QR codes that no device has used. Connected apps, devices and API keys keep working; you can end them afterwards." }
            (self.form(Action::ChangePassword, &html! {
                (self.username())
                div.beside.two {
                    div {
                        label for="current" { "Current password" }
                        input #current type="password" name="current" required autocomplete="current-password";
                    }
                    div {
                        label for="new" { "New password" }
                        input #new type="password" name="new" required minlength=(MIN_PASSWORD_CHARS)
                            autocomplete="new-password" aria-describedby="new-hint";
                    }
                }
                p #new-hint .hint { "At least " (MIN_PASSWORD_CHARS) " characters. Several words are easy to remember." }
                button type="submit" { "Change password" }
            }))
        }
    }

    fn delete(&self) -> Markup {
        html! {
            p { "This deletes your photos, albums, API keys, connected apps and devices. You cannot undo it." }
            (confirmation("Delete my account", "", &self.form(Action::DeleteAccount, &html! {
                (self.username())
                label for="delete-password" { "Your password" }
                input #delete-password type="password" name="password" required autocomplete="current-password";
                label.check {
                    input type="checkbox" name="sure" value="yes" required;
                    span { "Delete my account and everything in it." }
                }
                button.danger type="submit" { "Delete my account" }
            })))
        }
    }
}

fn free_plan(free_window: u32) -> Markup {
    html! {
        p {
            strong { "Free plan" } ": you and your connected apps can see your newest " (free_window) " photos."
        }
        p { "Older photos are kept. They become visible again when the operator of this server puts you on the paid plan." }
    }
}
