//! The frame of the pages for people, and the pages that belong to no other module.
//!
//! Every page works without JavaScript and loads nothing. The pages of somebody who is signed in run one script, which
//! adds copy buttons and shows times in the browser's time zone.

mod errors;
mod moment;
mod start;

use std::sync::LazyLock;

use data_encoding::BASE64;
use http::{HeaderValue, StatusCode, header};
use keys::FormSigner;
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(crate) use errors::{page_for_error, prefers_html, wants_page};
pub(crate) use moment::{day, minute};
pub(crate) use start::{start, sync, sync_steps};

use http_server::{body::full, reply::{Reply, WithHeader as _, with_body}};

use crate::sign_in::sign_out_button;

const STYLE: &str = include_str!("pages/style.css");
const SCRIPT: &str = include_str!("pages/page.js");

/// The frame around every page.
pub(crate) struct Page<'a> {
    /// Its title and heading.
    pub(crate) title: &'a str,
    pub(crate) status: StatusCode,
    /// Where its forms may lead beside this site, as sources of a Content-Security-Policy: browsers hold the
    /// redirects that follow a form against it, too.
    pub(crate) form_targets: &'a [String],
}

/// What the header of a page offers beside the way to the start page.
pub(crate) enum PageHeader<'a> {
    /// Nothing: the page is a step of signing in, or an error.
    Plain,
    /// Signing in, which leads back to this path.
    SignedOut { here: &'a str },
    /// The account, and signing out, which leads back to this path.
    SignedIn { forms: &'a FormSigner, session_token: &'a str, here: &'a str },
}

/// A link to another page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link<'a> {
    pub(crate) href: &'a str,
    pub(crate) label: &'a str,
}

impl Page<'_> {
    /// The page as one card with this content: a form or a message.
    pub(crate) fn reply(&self, content: &Markup) -> Reply {
        self.framed(
            &PageHeader::Plain,
            &html! {
                main #content .card {
                    h1 { (self.title) }
                    (content)
                }
            },
        )
    }

    /// The page as one column of text.
    pub(crate) fn text(&self, header: &PageHeader<'_>, content: &Markup) -> Reply {
        self.framed(
            header,
            &html! {
                main #content .card.reading {
                    h1 { (self.title) }
                    (content)
                }
            },
        )
    }

    /// The page as sections beside the navigation among `links`, one of which leads to the page itself.
    pub(crate) fn sections(
        &self,
        header: &PageHeader<'_>,
        links: &[Link<'_>],
        above: &Markup,
        sections: &[Section],
    ) -> Reply {
        let here = header.here();
        let is_alone = sections.len() == 1;
        self.framed(
            header,
            &html! {
                div.wide {
                    nav.contents aria-label="Account" {
                        ul {
                            @for link in links {
                                li { a href=(link.href) aria-current=[(here == link.href).then_some("page")] { (link.label) } }
                            }
                        }
                    }
                    main #content {
                        h1 #title { (self.title) }
                        (above)
                        div.sections {
                            @for section in sections {
                                @let heading = if is_alone { "title".to_owned() } else { format!("{}-heading", section.id) };
                                section id=(section.id) aria-labelledby=(heading) {
                                    @if !is_alone { h2 id=(heading) { (section.heading) } }
                                    (section.content)
                                }
                            }
                        }
                    }
                }
            },
        )
    }

    /// No other page can frame it, and no cache keeps it.
    fn framed(&self, header: &PageHeader<'_>, main: &Markup) -> Reply {
        let has_script = matches!(header, PageHeader::SignedIn { .. });
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) @if self.title != NAME { " · " (NAME) } }
                    link rel="icon" href="data:,";
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.top {
                        a.brand href="/" {
                            (mark())
                            span { (NAME) }
                        }
                        (header.controls())
                    }
                    (main)
                    @if has_script { script { (PreEscaped(SCRIPT)) } }
                }
            }
        };
        let policy = HeaderValue::try_from(self.policy(has_script));
        let policy = policy.unwrap_or(HeaderValue::from_static(NOTHING));
        with_body(self.status, full(markup.into_string()))
            .with(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with(header::CONTENT_SECURITY_POLICY, policy)
            .with(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
            .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            // Without it browsers would send forms with the origin `null`.
            .with(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
    }

    fn policy(&self, has_script: bool) -> String {
        let script = if has_script { format!(" script-src '{}';", *SCRIPT_HASH) } else { String::new() };
        let targets: String = self.form_targets.iter().map(|target| format!(" {target}")).collect();
        format!(
            "default-src 'none'; style-src '{}';{script} img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'{targets}",
            *STYLE_HASH
        )
    }
}

impl PageHeader<'_> {
    /// The path of the page.
    fn here(&self) -> &str {
        match self {
            Self::Plain => "",
            Self::SignedOut { here } | Self::SignedIn { here, .. } => here,
        }
    }

    fn controls(&self) -> Markup {
        match self {
            Self::Plain => html! {},
            Self::SignedOut { here } => html! {
                nav aria-label="Pages" { a href={ "/sign-in?return_to=" (here) } { "Sign in" } }
            },
            Self::SignedIn { forms, session_token, here } => html! {
                nav aria-label="Pages" {
                    @if !here.starts_with("/account") { a href="/account" { "Account" } }
                    (sign_out_button(forms, session_token, here, "Sign out"))
                }
            },
        }
    }
}

/// A part of a long page.
pub(crate) struct Section {
    /// What a link to it names.
    pub(crate) id: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) content: Markup,
}

/// What the pages call the site.
const NAME: &str = "Photo library";

/// The policy of a page whose own cannot be written.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

/// The one style that a page may have (CSP level 3, section 6.7.3.3).
static STYLE_HASH: LazyLock<String> =
    LazyLock::new(|| format!("sha256-{}", BASE64.encode(&keys::sha256(STYLE.as_bytes()))));

/// The one script that a page may run.
static SCRIPT_HASH: LazyLock<String> =
    LazyLock::new(|| format!("sha256-{}", BASE64.encode(&keys::sha256(SCRIPT.as_bytes()))));

/// A text to paste elsewhere. The page's script adds a button that copies it; `name` says what is copied.
pub(crate) fn snippet(name: &str, text: &str) -> Markup {
    html! { div.copy data-copy=(name) { pre { code { (text) } } } }
}

/// A picture of hills under a sun, for the eye only.
fn mark() -> Markup {
    html! {
        svg viewBox="0 0 24 24" aria-hidden="true" {
            rect x="2.5" y="3.5" width="19" height="17" rx="3" {}
            circle cx="8.5" cy="9" r="1.75" {}
            path d="M3 18l5.5-5 3.5 3 4.5-5.5 4.5 5.5" {}
        }
    }
}

/// What went wrong, and what to do about it.
pub(crate) fn problem(status: StatusCode, title: &str, words: &str) -> Reply {
    problem_with_link(status, title, words, Link { href: "/account", label: "Go to your account" })
}

/// The same, with the link that helps.
pub(crate) fn problem_with_link(status: StatusCode, title: &str, words: &str, link: Link<'_>) -> Reply {
    let content = html! {
        p { (words) }
        p { a href=(link.href) { (link.label) } }
    };
    Page { title, status, form_targets: &[] }.reply(&content)
}

/// The account is deleted.
pub(crate) fn gone() -> Reply {
    let content = html! {
        p { "Its connected apps, API keys and sessions no longer work. Its photos are being removed." }
    };
    Page { title: "Your account is deleted", status: StatusCode::OK, form_targets: &[] }.reply(&content)
}

/// The service cannot answer now.
pub(crate) fn unavailable(error: &dyn std::fmt::Display) -> Reply {
    tracing::error!(%error, "a page cannot be shown");
    let words = "The photo library cannot answer right now. Nothing was changed. Try again in a minute.";
    retry_after(problem(StatusCode::SERVICE_UNAVAILABLE, "Try again soon", words), 5)
}

/// Adds how many seconds there are to wait.
pub(crate) fn retry_after(reply: Reply, seconds: u64) -> Reply {
    reply.with(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
}
