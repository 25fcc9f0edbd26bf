use domain::{Plan, Timestamp};
use http::StatusCode;
use library::KeyInfo;
use maud::{Markup, html};
use oauth_core::{Connection, UnixMillis};

use super::{
    PATH, Person,
    actions::{Action, Notice},
};
use crate::{
    app::Service,
    oauth::{scope_in_words, shown_name},
    pages::{self, Page},
    reply::Reply,
    sign_in::{csrf_field, sign_out_button},
};

/// The account page.
pub(super) async fn page(
    service: &Service,
    person: &Person,
    status: StatusCode,
    notice: Option<Notice>,
) -> Reply {
    let account = &person.holder.account;
    let apps = match service.library.grants().connections(&account.id.0.to_string()).await {
        Ok(apps) => apps,
        Err(error) => return pages::unavailable(&error),
    };
    let keys = match service.library.keys(&account.email).await {
        Ok(keys) => keys,
        Err(error) => return pages::unavailable(&error),
    };
    let plan = match account.plan {
        Plan::Free => format!("Free: the newest {} photos", service.library.settings().free_window),
        Plan::Paid => "Paid: all photos".to_owned(),
    };
    let forms = Forms { service, person };
    let content = html! {
        p { "Signed in as " strong { (account.email) } "." }
        @if let Some(notice) = &notice { (shown(notice)) }
        section {
            h2 { "Connected apps" }
            @if apps.is_empty() {
                p { "No app is connected. Give an app this address, and it asks you to sign in:" }
            } @else {
                @for app in &apps { (forms.app(app)) }
                p { "To connect another app, give it this address:" }
            }
            pre { code { (service.config.base_url.as_str()) "/api/mcp/v1" } }
        }
        section {
            h2 { "API keys" }
            p { "For scripts of your own. A key can do everything that you can; it works until you revoke it." }
            @for key in keys.iter().filter(|key| key.revoked_at.is_none()) { (forms.key(key)) }
            (forms.of(Action::CreateKey, &html! {
                label for="key-name" { "Name of a new key" }
                input #key-name type="text" name="name" required maxlength="100" autocomplete="off";
                button type="submit" { "Make a key" }
            }))
        }
        section {
            h2 { "Photo sync" }
            p { a href="/account/sync" { "How photos come in" } }
        }
        section { h2 { "Plan" } p { (plan) } }
        section {
            h2 { "Password" }
            p { "A new password signs every other browser out. Apps stay connected." }
            (forms.of(Action::ChangePassword, &html! {
                label for="current" { "Current password" }
                input #current type="password" name="current" required autocomplete="current-password";
                label for="new" { "New password" }
                input #new type="password" name="new" required minlength="10" autocomplete="new-password";
                button type="submit" { "Change it" }
            }))
        }
        section {
            h2 { "Sessions" }
            (forms.of(Action::SignOutEverywhere, &html! {
                button.quiet type="submit" { "Sign out everywhere else" }
            }))
            (sign_out_button(&service.authorization.forms, &person.token, PATH, "Sign out"))
        }
    };
    Page { title: "Your account", status, form_targets: &[] }.reply(&content)
}

fn shown(notice: &Notice) -> Markup {
    html! {
        div.notice role="status" {
            @match notice {
                Notice::NewKey { name, key } => {
                    p { "This is the key " strong { (name) } ". Copy it now: it is not shown again." }
                    pre { code { (key) } }
                }
                Notice::Problem(words) => p { (words) },
                Notice::Done(words) => p { (words) },
            }
        }
    }
}

/// The forms of one person.
struct Forms<'a> {
    service: &'a Service,
    person: &'a Person,
}

impl Forms<'_> {
    fn of(&self, action: Action, content: &Markup) -> Markup {
        html! {
            form method="post" action=(action.path()) {
                (csrf_field(&self.service.authorization.forms, &self.person.bound_to(action.path())))
                (content)
            }
        }
    }

    fn app(&self, app: &Connection) -> Markup {
        let name = shown_name(app.client_name.as_deref().unwrap_or(&app.grant.client_id));
        html! {
            article {
                h3 { (name) }
                p.facts {
                    "Connected " (day(app.grant.created_at)) ", "
                    @match app.last_used_at {
                        Some(at) => { "last used " (day(at)) }
                        None => { "not used yet" }
                    }
                    ". It may "
                    @for (place, scope) in app.grant.scopes.iter().enumerate() {
                        @if place > 0 { "; " }
                        (scope_in_words(scope))
                    }
                    "."
                }
                (self.of(Action::Disconnect, &html! {
                    input type="hidden" name="grant" value=(app.grant.id);
                    button.quiet type="submit" aria-label=(format!("Disconnect {name}")) { "Disconnect" }
                }))
            }
        }
    }

    fn key(&self, key: &KeyInfo) -> Markup {
        let name = &key.name;
        html! {
            article {
                h3 { (name) }
                p.facts {
                    "Made " (date(key.created_at)) ", "
                    @match key.last_used_at {
                        Some(at) => { "last used " (date(at)) }
                        None => { "not used yet" }
                    }
                    "."
                }
                (self.of(Action::RevokeKey, &html! {
                    input type="hidden" name="name" value=(name);
                    button.quiet type="submit" aria-label=(format!("Revoke {name}")) { "Revoke" }
                }))
            }
        }
    }
}

/// A day, in UTC.
fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn day(at: UnixMillis) -> String {
    Timestamp::from_millis(at.0).map(date).unwrap_or_default()
}
