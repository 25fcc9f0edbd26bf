use domain::{MIN_PASSWORD_CHARS, Plan};
use http::StatusCode;
use maud::{Markup, html};

use super::{
    PATH, Person,
    actions::{Action, Notice},
    search_progress::search_progress,
    sections::Forms,
};
use crate::{
    Connecting,
    app::Service,
    connecting::mcp_url,
    pages::{self, Page, Section},
    reply::Reply,
    sign_in::sign_out_button,
};

/// How many events the page tells of: as many as are kept, so that a flood of one kind hides no other.
const SHOWN_EVENTS: u32 = 1000;

/// The account page.
pub(super) async fn page(
    service: &Service,
    person: &Person,
    status: StatusCode,
    notice: Option<Notice>,
) -> Reply {
    let account = &person.holder.account;
    let loaded = async {
        let unavailable = |error: &dyn std::fmt::Display| pages::unavailable(error);
        let apps = service.library.grants().connections(&account.id.0.to_string()).await;
        let keys = service.library.keys(&account.email).await;
        let sessions = service.library.sessions(account.id).await;
        let events = service.library.security_events(account.id, SHOWN_EVENTS).await;
        let progress = service.library.search_progress(Some(account.id)).await;
        let has_model = service.library.has_vision_model().await;
        Ok::<_, Reply>((
            apps.map_err(|error| unavailable(&error))?,
            keys.map_err(|error| unavailable(&error))?,
            sessions.map_err(|error| unavailable(&error))?,
            events.map_err(|error| unavailable(&error))?,
            (progress.map_err(|error| unavailable(&error))?, has_model),
        ))
    };
    let (apps, keys, sessions, events, (progress, has_model)) = match loaded.await {
        Ok(loaded) => loaded,
        Err(reply) => return reply,
    };
    let forms = Forms { service, person };
    let above = html! {
        p { "Signed in as " strong { (account.email) } "." }
        @if let Some(notice) = &notice { (shown(notice)) }
    };
    let section = |id, heading, content| Section { id, heading, content };
    let sections = [
        section("apps", "Connected apps", forms.apps(&apps)),
        section("connect", "Connect an app", connect(service)),
        section("keys", "API keys", forms.keys(&keys)),
        section("sync", "Photo sync", html! { p { a href="/account/sync" { "How photos come in" } } }),
        section("search", "Search", search_progress(&progress, has_model)),
        section("plan", "Plan", plan(service, account.plan)),
        section("password", "Password", password(&forms)),
        section("sessions", "Where you are signed in", forms.sessions(&sessions)),
        section("activity", "Recent activity", super::sections::activity(&events)),
        section("leave", "Leave", leave(&forms, service, person)),
    ];
    Page { title: "Your account", status, form_targets: &[] }.sections(&above, &sections)
}

fn shown(notice: &Notice) -> Markup {
    match notice {
        Notice::NewKey { name, key } => html! {
            div.notice role="status" {
                p { "This is the key " strong { (name) } ". Copy it now: it is not shown again." }
                pre { code { (key) } }
            }
        },
        Notice::Problem(words) => html! { div.notice.warn role="alert" { p { (words) } } },
        Notice::Done(done) => html! { div.notice role="status" { p { (done.words()) } } },
    }
}

fn connect(service: &Service) -> Markup {
    let base_url = &service.config.base_url;
    html! {
        p { "Give an app this address, and it asks you to sign in and to allow it:" }
        pre { code { (mcp_url(base_url)) } }
        @for connecting in Connecting::all(base_url) {
            details {
                summary { (connecting.app.title()) }
                @if let Some(obstacle) = &connecting.obstacle { p.notice.warn { (obstacle) } }
                ol { @for step in &connecting.steps { li { (step) } } }
                pre { code { (connecting.snippet.trim_end()) } }
            }
        }
    }
}

fn plan(service: &Service, plan: Plan) -> Markup {
    html! {
        p {
            @match plan {
                Plan::Free => {
                    strong { "Free" } ": apps see the newest " (service.library.settings().free_window)
                    " photos. Older ones are kept and come back with the paid plan."
                }
                Plan::Paid => { strong { "Paid" } ": apps see all your photos." }
            }
        }
    }
}

fn password(forms: &Forms<'_>) -> Markup {
    html! {
        p { "A new password signs you out everywhere else. Apps stay connected, and API keys work on." }
        (forms.of(Action::ChangePassword, &html! {
            (forms.username())
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
            p #new-hint .hint { "At least " (MIN_PASSWORD_CHARS) " characters; a few words are easy to remember." }
            button type="submit" { "Change the password" }
        }))
    }
}

fn leave(forms: &Forms<'_>, service: &Service, person: &Person) -> Markup {
    html! {
        (sign_out_button(&service.authorization.forms, &person.token, PATH, "Sign out of this browser"))
        details {
            summary { "Delete my account" }
            p { "Everything in it goes for good: photos, albums, API keys, connected apps." }
            (forms.of(Action::DeleteAccount, &html! {
                (forms.username())
                label for="delete-password" { "Your password" }
                input #delete-password type="password" name="password" required autocomplete="current-password";
                label.check {
                    input type="checkbox" name="sure" value="yes" required;
                    span { "Delete my account and everything in it." }
                }
                button.danger type="submit" { "Delete my account" }
            }))
        }
    }
}
