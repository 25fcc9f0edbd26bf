//! The frame around every page.
//!
//! Most pages load no further resources. Those for signed-in people contain one script, which adds copy buttons, shows times in
//! the browser's time zone, and loads the upload and the suggestions of the search field from this service with their first use. The pages of the library load
//! styles, scripts and images from this service.

mod header;
mod icons;
mod library;
mod time;

use std::sync::LazyLock;

use data_encoding::BASE64;
use http::{HeaderValue, StatusCode, header as names};
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(crate) use header::{PageHeader, SignedInHeader, UploadButton, accepted_files};
pub(crate) use icons::Icon;
pub(crate) use library::{LibraryPage, LibraryTab};
pub(crate) use time::{day, format_date, format_wall, minute};

use http_server::{
    reply::{Reply, WithHeader as _, with_body},
    response_body::full,
};

use crate::{
    installed_app::{LOGO, NAME, icon},
    theme::Theme,
};

const STYLE: &str = include_str!("layout/style.css");
const SCRIPT: &str = include_str!("assets/scripts/page.js");

/// A page without its content.
pub(crate) struct Page<'a> {
    /// The title and main heading.
    pub(crate) title: &'a str,
    pub(crate) status: StatusCode,
    /// Further origins that its forms may lead to, as sources for the Content-Security-Policy. Browsers apply the policy to
    /// the redirects after a form too.
    pub(crate) form_targets: &'a [String],
}

/// A link to another page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link<'a> {
    pub(crate) href: &'a str,
    pub(crate) label: &'a str,
}

impl Page<'_> {
    /// A page with one card: a form or a message.
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

    /// A page with one column of text.
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

    /// A page with sections beside a navigation of `links`, one of which leads to the page itself.
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

    /// No other page can frame the reply, and no cache keeps it. Scripts run on pages for signed-in people only.
    fn framed(&self, header: &PageHeader<'_>, main: &Markup) -> Reply {
        let has_script = matches!(header, PageHeader::SignedIn { .. });
        let markup = html! {
            (DOCTYPE)
            html lang="en" data-theme=[Theme::chosen().attribute()] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
                    (Theme::chosen().meta())
                    title { (self.title) @if self.title != NAME { " · " (NAME) } }
                    (icon())
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "Skip to content" }
                    (header.markup(None))
                    (main)
                    (header.dock(None))
                    @if has_script { script { (PreEscaped(SCRIPT)) } }
                }
            }
        };
        let policy = HeaderValue::try_from(self.policy(has_script));
        let policy = policy.unwrap_or(HeaderValue::from_static(CLOSED_POLICY));
        with_body(self.status, full(markup.into_string()))
            .with(names::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))
            .with(names::CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with(names::CONTENT_SECURITY_POLICY, policy)
            .with(names::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
            .with(names::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            // Without it browsers send forms with the origin `null`.
            .with(names::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
    }

    fn policy(&self, has_script: bool) -> String {
        // The upload and the suggestions have scripts and styles of their own. The first sends photos, the second shows them.
        let (own, script) = if has_script {
            (" 'self'", format!(" script-src '{}' 'self'; connect-src 'self';", *SCRIPT_HASH))
        } else {
            ("", String::new())
        };
        let targets: String = self.form_targets.iter().map(|target| format!(" {target}")).collect();
        format!(
            "default-src 'none'; style-src '{}'{own};{script} img-src data:{own}; base-uri 'none'; frame-ancestors 'none'; form-action 'self'{targets}",
            *STYLE_HASH
        )
    }
}

pub(crate) struct Section {
    /// The id of its element.
    pub(crate) id: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) content: Markup,
}

/// The policy for a page whose own policy is not a valid header value.
const CLOSED_POLICY: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

/// The hash of the only style that a page may have (CSP level 3, section 6.7.3.3).
static STYLE_HASH: LazyLock<String> = LazyLock::new(|| source_hash(STYLE));

/// The hash of the script of every page for signed-in people.
static SCRIPT_HASH: LazyLock<String> = LazyLock::new(|| source_hash(SCRIPT));

fn source_hash(source: &str) -> String {
    format!("sha256-{}", BASE64.encode(&keys::sha256(source.as_bytes())))
}

/// A text to copy. The page's script adds a button that copies it; `name` completes the label “Copy …”.
pub(crate) fn snippet(name: &str, text: &str) -> Markup {
    html! { div.copy data-copy=(name) { pre { code { (text) } } } }
}

/// What is shown in place of photos or albums: that there are none, and what to do next.
pub(crate) fn empty_state(icon: Icon, what: &str, next: &Markup) -> Markup {
    html! {
        div.empty-state {
            (icon.markup())
            p.lead { (what) }
            (next)
        }
    }
}

/// The logo of the service: the sun over water.
fn logo() -> Markup {
    html! {
        svg.logo viewBox="0 0 24 24" aria-hidden="true" {
            rect width="24" height="24" rx="6" {}
            path d=(LOGO) {}
        }
    }
}
