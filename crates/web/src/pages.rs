//! The frame of the pages for people, and those that belong to nothing else. They need no script and load nothing.

mod moment;
mod start;

use std::sync::LazyLock;

use data_encoding::BASE64;
use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

pub(crate) use moment::{day, minute};
pub(crate) use start::{start, sync};

use crate::{
    body::full,
    reply::{Reply, WithHeader as _, with_body},
};

const STYLE: &str = include_str!("pages/style.css");

/// The frame around every page.
pub(crate) struct Page<'a> {
    /// Its title and heading.
    pub(crate) title: &'a str,
    pub(crate) status: StatusCode,
    /// Where its forms may lead beside this service, as sources of a Content-Security-Policy: browsers hold the
    /// redirects that follow a form against it, too.
    pub(crate) form_targets: &'a [String],
}

impl Page<'_> {
    /// The page as one card with this content: a form, or something to be told.
    pub(crate) fn reply(&self, content: &Markup) -> Reply {
        self.framed(
            &html! {},
            &html! {
                main #content .card {
                    h1 { (self.title) }
                    (content)
                }
            },
        )
    }

    /// The page as one column of text.
    pub(crate) fn text(&self, content: &Markup) -> Reply {
        self.framed(
            &nav(),
            &html! {
                main #content .card.reading {
                    h1 { (self.title) }
                    (content)
                }
            },
        )
    }

    /// The page as sections, each with an id and a heading, under what stands above them.
    pub(crate) fn sections(&self, above: &Markup, sections: &[Section]) -> Reply {
        self.framed(
            &nav(),
            &html! {
                main #content .wide {
                    header {
                        h1 { (self.title) }
                        (above)
                    }
                    div.with-contents {
                        nav.contents aria-label="On this page" {
                            ul {
                                @for section in sections {
                                    li { a href={ "#" (section.id) } { (section.heading) } }
                                }
                            }
                        }
                        div.sections {
                            @for section in sections {
                                section id=(section.id) aria-labelledby={ (section.id) "-heading" } {
                                    h2 id={ (section.id) "-heading" } { (section.heading) }
                                    (section.content)
                                }
                            }
                        }
                    }
                }
            },
        )
    }

    /// It can be framed by no other, and no cache keeps it.
    fn framed(&self, nav: &Markup, main: &Markup) -> Reply {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Photo library" }
                    link rel="icon" href="data:,";
                    style { (maud::PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.top {
                        a.brand href="/" {
                            (mark())
                            span { "Photo library" }
                        }
                        (nav)
                    }
                    (main)
                }
            }
        };
        let policy = HeaderValue::try_from(self.policy()).unwrap_or(HeaderValue::from_static(NOTHING));
        with_body(self.status, full(markup.into_string()))
            .with(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with(header::CONTENT_SECURITY_POLICY, policy)
            .with(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
            .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            // Without it browsers would send forms with the origin `null`.
            .with(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
    }

    fn policy(&self) -> String {
        let targets: String = self.form_targets.iter().map(|target| format!(" {target}")).collect();
        format!(
            "default-src 'none'; style-src '{}'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'{targets}",
            *STYLE_HASH
        )
    }
}

/// A part of a long page.
pub(crate) struct Section {
    /// What a link to it names.
    pub(crate) id: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) content: Markup,
}

/// The policy of a page whose own cannot be written.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

/// The one style that a page may have (CSP level 3, section 6.7.3.3).
static STYLE_HASH: LazyLock<String> =
    LazyLock::new(|| format!("sha256-{}", BASE64.encode(&keys::sha256(STYLE.as_bytes()))));

/// The ways between the pages of somebody who is signed in, or may be.
fn nav() -> Markup {
    html! {
        nav aria-label="Pages" {
            a href="/account" { "Account" }
            a href="/account/sync" { "Bring photos in" }
        }
    }
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
    let content = html! {
        p { (words) }
        p { a href="/account" { "Go to your account" } }
    };
    Page { title, status, form_targets: &[] }.reply(&content)
}

/// The account is deleted.
pub(crate) fn gone() -> Reply {
    let content = html! {
        p { "Your account is deleted. Its apps, keys and sessions have ended; its photos are being removed." }
    };
    Page { title: "Your account is deleted", status: StatusCode::OK, form_targets: &[] }.reply(&content)
}

/// The service cannot answer now.
pub(crate) fn unavailable(error: &dyn std::fmt::Display) -> Reply {
    tracing::error!(%error, "a page cannot be shown");
    let words =
        "The photo library cannot answer at the moment. Nothing was changed; try again in a little while.";
    retry_after(problem(StatusCode::SERVICE_UNAVAILABLE, "Try again soon", words), 5)
}

/// Adds how many seconds there are to wait.
pub(crate) fn retry_after(reply: Reply, seconds: u64) -> Reply {
    reply.with(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
}
