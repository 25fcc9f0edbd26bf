//! The photos of this day in earlier years, at the top of the timeline. A browser can do without them.

use domain::{Rendition, UtcOffset};
use http::{HeaderMap, HeaderValue};
use http_server::{BaseUrl, cookies};
use library::{DayInYear, MonthTotal, StorageError};
use maud::{Markup, html};

use crate::{
    Site,
    forms::{Form, csrf_field},
    paths::{self, ON_THIS_DAY},
    pictures::picture_path,
    session::Person,
};

/// The cookie of a browser that does not show them.
const COOKIE: &str = "photos_on_this_day";
const OFF: &str = "off";
/// Lifetime of the cookie: the longest that browsers allow.
const MAX_AGE_S: u32 = 400 * 24 * 3600;

/// The name of the button of the form, and its values.
const SHOW: &str = "show";
const YES: &str = "yes";
const NO: &str = "no";

/// Maximum number of years on the timeline.
const YEARS: usize = 8;

/// Whether the timeline of this browser has them.
pub(crate) fn is_shown(base_url: &BaseUrl, headers: &HeaderMap) -> bool {
    cookies::value(base_url, headers, COOKIE).as_deref() != Some(OFF)
}

/// The newest photo of this day in each year, where it was taken on a clock at this offset.
pub(crate) async fn load(
    site: &Site,
    person: &Person,
    months: &[MonthTotal],
    offset: Option<UtcOffset>,
) -> Result<Vec<DayInYear>, StorageError> {
    let mut days = site.library.catalogue.on_this_day(&person.caller(), months, offset).await?;
    days.truncate(YEARS);
    Ok(days)
}

/// `3 years ago`.
pub(crate) fn ago(day: &DayInYear) -> String {
    match day.years_ago {
        1 => "1 year ago".to_owned(),
        years => format!("{years} years ago"),
    }
}

/// The strip above the timeline; nothing without photos.
pub(crate) fn strip(site: &Site, person: &Person, days: &[DayInYear]) -> Markup {
    html! {
        @if !days.is_empty() {
            section.this-day aria-labelledby="this-day" {
                div {
                    h2 #this-day { "On this day" }
                    (switch(site, person, NO, "Hide"))
                }
                ul {
                    @for day in days {
                        @let size = day.image.size.fit_within(Rendition::Preview.longest_side_px());
                        li {
                            a href=(paths::search_for(&day.day)) {
                                img src=(picture_path(&day.image, Rendition::Preview)) width=(size.width) height=(size.height)
                                    alt="" loading="lazy" decoding="async";
                                span { (ago(day)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The button that shows the strip again, on a browser that does not.
pub(crate) fn switch_on(site: &Site, person: &Person, headers: &HeaderMap) -> Markup {
    html! {
        @if !is_shown(&site.base_url, headers) { (switch(site, person, YES, "Show “On this day” on the timeline")) }
    }
}

fn switch(site: &Site, person: &Person, value: &str, label: &str) -> Markup {
    html! {
        form method="post" action=(ON_THIS_DAY) {
            (csrf_field(&site.forms, &person.token_parts(ON_THIS_DAY)))
            input type="hidden" name="return_to" value=(if value == NO { "/" } else { paths::EXPLORE });
            button.quiet type="submit" name=(SHOW) value=(value) aria-label=[(value == NO).then_some("Hide: On this day")] {
                (label)
            }
        }
    }
}

/// The cookie of the choice in the form.
pub(crate) fn cookie(base_url: &BaseUrl, form: &Form) -> Option<HeaderValue> {
    match form.get(SHOW) {
        Some(NO) => cookies::set(base_url, COOKIE, OFF, Some(MAX_AGE_S)),
        _ => cookies::set(base_url, COOKIE, "", Some(0)),
    }
}
