//! The header of every page, and the bar at the bottom of the window of a phone.

use keys::{FormSigner, session_hash};
use library::PhotoFormat;
use maud::{Markup, html};

use super::{Icon, LibraryTab, logo};
use crate::{assets::Asset, installed_app::NAME, paths, sign_out_button::sign_out_button, theme::Theme};

/// The controls in the header of a page, beside the link to the start page.
pub(crate) enum PageHeader<'a> {
    /// None: the page is a step of signing in, or an error.
    Plain,
    /// A link to sign in, which leads back to this path.
    SignedOut { here: &'a str },
    /// The parts of the library, a search field, a link to the upload, and the menu of the account.
    SignedIn(SignedInHeader<'a>),
}

/// A signed-in person on a page.
pub(crate) struct SignedInHeader<'a> {
    pub(crate) forms: &'a FormSigner,
    pub(crate) session_token: &'a str,
    pub(crate) email: &'a str,
    /// The path of the page, which its forms lead back to.
    pub(crate) here: &'a str,
    pub(crate) upload: UploadButton<'a>,
}

/// The link to the upload. With the script it is a button that opens a file picker, and photos can be dropped on the page.
pub(crate) struct UploadButton<'a> {
    /// Where the link leads.
    pub(crate) href: &'a str,
    /// The account, to continue interrupted uploads of its own only.
    pub(crate) account: &'a str,
    pub(crate) max_bytes: u64,
}

impl PageHeader<'_> {
    /// The path of the page, if it is known.
    pub(super) fn here(&self) -> &str {
        match self {
            Self::Plain => "",
            Self::SignedOut { here } | Self::SignedIn(SignedInHeader { here, .. }) => here,
        }
    }

    /// With the upload on the page itself, as this fragment.
    pub(crate) fn with_upload(mut self, fragment: &'static str) -> Self {
        if let Self::SignedIn(header) = &mut self {
            header.upload.href = fragment;
        }
        self
    }

    /// The header; `tab` is the part of the library that the page belongs to.
    pub(super) fn markup(&self, tab: Option<LibraryTab>) -> Markup {
        html! {
            header.top {
                div {
                    a.brand href="/" {
                        (logo())
                        span { (NAME) }
                    }
                    @match self {
                        Self::Plain => {}
                        Self::SignedOut { here } => {
                            nav aria-label="Session" { a href={ "/sign-in?return_to=" (here) } { "Sign in" } }
                        }
                        Self::SignedIn(header) => {
                            (LibraryTab::links(&LibraryTab::IN_HEADER, tab, header.here, "Library"))
                            (search(tab, header.here))
                            (header.upload.markup(header.here))
                            (header.menu(tab))
                        }
                    }
                }
            }
        }
    }

    /// The bar at the bottom of the window of a phone, in place of the links in the header.
    pub(super) fn dock(&self, tab: Option<LibraryTab>) -> Markup {
        html! {
            @if matches!(self, Self::SignedIn(_)) {
                div.dock { (LibraryTab::links(&LibraryTab::IN_DOCK, tab, self.here(), "Main parts")) }
            }
        }
    }
}

/// The value of `aria-current` of a link to the part of the service that the page `here` belongs to.
pub(super) fn current(here: &str, href: &str) -> &'static str {
    let is_same = here == href || here.split_once('?').is_some_and(|(path, _)| path == href);
    if is_same { "page" } else { "true" }
}

/// The search field. The search page has its own field.
fn search(tab: Option<LibraryTab>, here: &str) -> Markup {
    if here != paths::EXPLORE && matches!(tab, Some(LibraryTab::Search | LibraryTab::Favorites)) {
        return html! {};
    }
    html! {
        form.find action=(paths::SEARCH) role="search" {
            button type="submit" aria-label="Search" { (Icon::Search.markup()) }
            input #q type="search" name="q" maxlength="2000" placeholder="Search your photos" aria-label="Search your photos"
                autocomplete="off" spellcheck="false" data-suggest=(Asset::Suggest.path());
        }
    }
}

impl UploadButton<'_> {
    fn markup(&self, here: &str) -> Markup {
        html! {
            a.upload.button href=(self.href) aria-current=[(here == self.href).then_some("page")]
                data-script=(Asset::Upload.path()) data-accept=(accepted_files()) data-account=(self.account) data-max-bytes=(self.max_bytes) {
                (Icon::Upload.markup())
                span { "Upload" }
            }
        }
    }
}

/// The formats that a file picker offers. Some systems know no media type for the newer formats.
pub(crate) fn accepted_files() -> String {
    let extensions = PhotoFormat::ALL.into_iter().flat_map(PhotoFormat::extensions);
    extensions.fold("image/*".to_owned(), |accepted, extension| format!("{accepted},.{extension}"))
}

impl SignedInHeader<'_> {
    fn menu(&self, tab: Option<LibraryTab>) -> Markup {
        let is_in_account = self.here.starts_with("/account");
        let initial = self.email.chars().next().unwrap_or('?').to_uppercase();
        html! {
            details.menu {
                summary {
                    span.avatar aria-hidden="true" { (initial) }
                    span.unseen { "Account menu" }
                }
                div {
                    p { (self.email) }
                    div {
                        a href="/account" aria-current=[is_in_account.then(|| current(self.here, "/account"))] {
                            (Icon::Person.markup()) "Account"
                        }
                        a href=(paths::UPLOAD) { (Icon::Phone.markup()) "Photo sync" }
                    }
                    (LibraryTab::links(&LibraryTab::IN_MENU, tab, self.here, "All parts of the library"))
                    (Theme::chosen().form(self.forms, &session_hash(self.session_token), self.here))
                    (sign_out_button(self.forms, self.session_token, self.here, html! { (Icon::SignOut.markup()) "Sign out" }))
                }
            }
        }
    }
}
