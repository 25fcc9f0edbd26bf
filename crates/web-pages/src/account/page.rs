use domain::MIN_PASSWORD_CHARS;
use http::StatusCode;
use library::Caller;
use maud::{Markup, html};

use super::{
    AccountPage, PATH, Person, Topic,
    actions::{Action, Notice},
    search_progress::search_progress,
    sections::{Forms, asking},
};
use http_server::reply::Reply;
use crate::{Site, app_guides::{ConnectionGuide, mcp_url}, layout::{self, Link, Page, PageHeader, Section, snippet, sync_steps}};

/// How many events the page of activity shows: as many as are kept, so that a flood of one kind hides no other.
const SHOWN_EVENTS: u32 = 1000;

/// A page of the account.
pub(super) async fn page(
    site: &Site,
    person: &Person,
    page: AccountPage,
    status: StatusCode,
    notice: Option<Notice>,
) -> Reply {
    let account = &person.holder.account;
    let typed_key_name = match &notice {
        Some(Notice::KeyRefused { name, .. }) => name,
        _ => "",
    };
    let forms = Forms { site, person, page, typed_key_name };
    let topics: Vec<Topic> = match page {
        AccountPage::Overview => Topic::of_plan(account.plan).collect(),
        AccountPage::Section(topic) => vec![topic],
    };
    let mut sections = Vec::with_capacity(topics.len());
    for topic in topics {
        match forms.content(topic).await {
            Ok(content) => sections.push(Section { id: topic.id(), heading: topic.heading(), content }),
            Err(reply) => return reply,
        }
    }
    let title = match page {
        AccountPage::Overview => "Your account",
        AccountPage::Section(topic) => topic.heading(),
    };
    let above = html! {
        @if page == AccountPage::Overview { p { "Signed in as " strong { (account.email) } "." } }
        @if let Some(notice) = &notice { (shown(notice)) }
    };
    let overview = Link { href: PATH, label: "Overview" };
    let link = |topic: Topic| Link { href: topic.path(), label: topic.heading() };
    let links: Vec<Link<'_>> = [overview].into_iter().chain(Topic::of_plan(account.plan).map(link)).collect();
    let header = PageHeader::SignedIn {
        forms: &site.forms,
        session_token: &person.token,
        here: page.path(),
    };
    Page { title, status, form_targets: &[] }.sections(&header, &links, &above, &sections)
}

fn shown(notice: &Notice) -> Markup {
    match notice {
        Notice::NewKey { name, key } => html! {
            div.notice role="status" {
                p { "This is the API key " strong { (name) } ". Copy it now. It is not shown again." }
                (snippet("the API key", key))
            }
        },
        Notice::Problem(words) | Notice::KeyRefused { words, .. } => {
            html! { div.notice.warn role="alert" { p { (words) } } }
        }
        Notice::Done(done) => html! { div.notice role="status" { p { (done.words()) } } },
    }
}

impl Forms<'_> {
    async fn content(&self, topic: Topic) -> Result<Markup, Reply> {
        let unavailable = |error: &dyn std::fmt::Display| pages::unavailable(error);
        let (library, account) = (&self.site.library, &self.person.holder.account);
        let is_overview = self.page == AccountPage::Overview;
        Ok(match topic {
            Topic::Apps => {
                let apps = library.grants().connections(&account.id.0.to_string()).await;
                let apps = apps.map_err(|error| unavailable(&error))?;
                html! {
                    (self.apps(&apps))
                    (self.connect(is_overview))
                }
            }
            Topic::Keys => {
                let keys = library.keys(&account.email).await.map_err(|error| unavailable(&error))?;
                html! {
                    (self.keys(&keys))
                    @if !is_overview { (self.key_use()) }
                }
            }
            Topic::Sync if is_overview => html! {
                p { "Photos come into the library by import: a command on the machine that runs the library." }
                p { a href=(Topic::Sync.path()) { "How to import photos" } }
            },
            Topic::Sync => sync_steps(account.email.as_str()),
            Topic::Search => {
                let progress = library.search_progress(Some(account.id)).await;
                let info = library.info(&Caller::of(account.clone())).await;
                let info = info.map_err(|error| unavailable(&error))?;
                search_progress(&progress.map_err(|error| unavailable(&error))?, &info)
            }
            Topic::Plan => free_plan(library.settings().free_window),
            Topic::Password => self.password(),
            Topic::Sessions => {
                let sessions = library.sessions(account.id).await.map_err(|error| unavailable(&error))?;
                self.sessions(&sessions)
            }
            Topic::Activity => {
                let events = library.security_events(account.id, SHOWN_EVENTS).await;
                self.activity(&events.map_err(|error| unavailable(&error))?)
            }
            Topic::Delete => self.delete(),
        })
    }

    fn connect(&self, is_overview: bool) -> Markup {
        let base_url = &self.site.base_url;
        let address = html! {
            p { "Give the app this address. The app then asks you to sign in and to allow access." }
            (snippet("the address", &mcp_url(base_url)))
        };
        html! {
            @if is_overview {
                h3 { "Connect an app" }
                (address)
                p { a href=(Topic::Apps.path()) { "Steps for Claude, ChatGPT, VS Code and other apps" } }
            } @else {
                h2.further { "Connect an app" }
                (address)
                @for connecting in ConnectionGuide::all(base_url) {
                    details {
                        summary { (connecting.app.title()) }
                        @if let Some(obstacle) = &connecting.obstacle { p.notice.warn { (obstacle) } }
                        ol { @for step in &connecting.steps { li { (step) } } }
                        (snippet(&format!("the text for {}", connecting.app.title()), connecting.snippet.trim_end()))
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
            p { "Put the key in the place of KEY. This command lists your newest photos:" }
            (snippet("the command", &command))
            p { a href="/api/ext/v2/openapi.json" { "API description (OpenAPI)" } }
        }
    }

    fn password(&self) -> Markup {
        html! {
            p { "A new password signs you out in all other browsers. Connected apps and API keys keep working." }
            (self.of(Action::ChangePassword, &html! {
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
                p #new-hint .hint { "At least " (MIN_PASSWORD_CHARS) " characters. A few words are easy to remember." }
                button type="submit" { "Change password" }
            }))
        }
    }

    fn delete(&self) -> Markup {
        html! {
            p { "This deletes your photos, albums, API keys and connected apps. It cannot be undone." }
            (asking("Delete my account", "", &self.of(Action::DeleteAccount, &html! {
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
            strong { "Free plan" } ": you and your connected apps see the newest " (free_window)
            " photos. This is the free window."
        }
        p { "Older photos are kept. They appear again when the operator of this library changes the plan." }
    }
}
