//! The colours of the pages: those that the system prefers, or always the light or the dark ones.

use http::{HeaderMap, HeaderValue};
use http_server::{BaseUrl, cookies};
use keys::FormSigner;
use maud::{Markup, html};

use crate::{
    forms::csrf_field,
    installed_app::{DARK_PAPER, PAPER},
    paths::THEME,
};

const COOKIE: &str = "photos_theme";

/// The name of the field.
pub(crate) const NAME: &str = "theme";

/// Lifetime of the cookie: the longest that browsers allow.
const MAX_AGE_S: u32 = 400 * 24 * 3600;

domain::listed_enum! {
    /// A choice of colours.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) enum Theme {
        #[default]
        System,
        Light,
        Dark,
    }
}

tokio::task_local! {
    /// The theme of the browser that a reply is for. So all pages have it, also those that say why a request failed.
    static CHOSEN: Theme;
}

impl Theme {
    /// The theme stored in the browser's cookie.
    pub(crate) fn of(base_url: &BaseUrl, headers: &HeaderMap) -> Self {
        Self::parse(cookies::value(base_url, headers, COOKIE).as_deref())
    }

    /// The theme of the page that is being made.
    pub(crate) fn chosen() -> Self {
        CHOSEN.try_with(|theme| *theme).unwrap_or_default()
    }

    /// Makes a reply whose page has this theme.
    pub(crate) async fn during<T>(self, reply: impl Future<Output = T>) -> T {
        CHOSEN.scope(self, reply).await
    }

    /// As [`during`](Self::during), for a reply that waits for nothing.
    pub(crate) fn while_making<T>(self, reply: impl FnOnce() -> T) -> T {
        CHOSEN.sync_scope(self, reply)
    }

    pub(crate) fn parse(name: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|theme| name == Some(theme.name())).unwrap_or_default()
    }

    const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    /// The value of `data-theme`, which the style reads; `None` if the system decides.
    pub(crate) fn attribute(self) -> Option<&'static str> {
        (self != Self::System).then(|| self.name())
    }

    /// The schemes that the page has, and the colour of the browser's frame.
    pub(crate) fn meta(self) -> Markup {
        html! {
            @match self {
                Self::System => {
                    meta name="color-scheme" content="light dark";
                    meta name="theme-color" content=(PAPER) media="(prefers-color-scheme: light)";
                    meta name="theme-color" content=(DARK_PAPER) media="(prefers-color-scheme: dark)";
                }
                Self::Light | Self::Dark => {
                    meta name="color-scheme" content=(self.name());
                    meta name="theme-color" content=(if self == Self::Dark { DARK_PAPER } else { PAPER });
                }
            }
        }
    }

    /// The header that stores the choice in the browser; `None` if it cannot be written.
    pub(crate) fn cookie(self, base_url: &BaseUrl) -> Option<HeaderValue> {
        match self.attribute() {
            Some(name) => cookies::set(base_url, COOKIE, name, Some(MAX_AGE_S)),
            None => cookies::set(base_url, COOKIE, "", Some(0)),
        }
    }

    /// The form that changes the choice and leads back to the path `here`.
    pub(crate) fn form(self, forms: &FormSigner, session: &[u8], here: &str) -> Markup {
        html! {
            form.theme method="post" action=(THEME) {
                (csrf_field(forms, &[THEME.as_bytes(), session]))
                input type="hidden" name="return_to" value=(here);
                fieldset {
                    legend { "Theme" }
                    @for theme in Self::ALL {
                        button type="submit" name=(NAME) value=(theme.name()) aria-pressed=(theme == self) { (theme.label()) }
                    }
                }
            }
        }
    }
}
