//! Photos in words: when and where they were taken.

use domain::{Image, Timestamp, UtcOffset};
use jiff::civil;

use crate::layout::format_wall;

/// When a photo was taken, by the clocks at its place.
pub(crate) fn wall_time(image: &Image) -> civil::DateTime {
    image.captured_at.wall(image.utc_offset.map_or(0, UtcOffset::minutes))
}

/// When a photo was taken, by the clocks at its place, such as `14 July 2026, 15:04`.
pub(crate) fn wall_clock(image: &Image) -> String {
    format_wall(wall_time(image))
}

/// The day of photos and where they were taken, such as `Fri 12 June · Berlin and Potsdam`. The script of the timeline writes
/// the same texts.
pub(crate) fn day_text(images: &[Image]) -> String {
    let mut places: Vec<&str> = Vec::new();
    for place in images.iter().filter_map(|image| image.place.as_deref()) {
        let city = place.split(", ").next().unwrap_or_default();
        if !places.contains(&city) {
            places.push(city);
        }
    }
    let day =
        images.first().map_or_else(String::new, |image| wall_time(image).strftime("%a %-d %B").to_string());
    match places.as_slice() {
        [] => day,
        [place] => format!("{day} · {place}"),
        [first, second] => format!("{day} · {first} and {second}"),
        [first, others @ ..] => format!("{day} · {first} and {} more places", others.len()),
    }
}

/// A date in UTC, such as `14 July 2026`.
pub(crate) fn date_of(at: Timestamp) -> String {
    let text = format_wall(at.wall(0));
    text.split_once(',').map_or(text.clone(), |(date, _)| date.to_owned())
}

/// A photo for people who do not see it: its description, or when and where it was taken.
pub(crate) fn described(image: &Image) -> String {
    if let Some(description) = &image.details.description {
        return shortened(description);
    }
    let at = wall_clock(image);
    match &image.place {
        Some(place) => format!("Photo, {at}, {place}"),
        None => format!("Photo, {at}"),
    }
}

/// Upper bound on the description of a photo in a list, in characters.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// A text on one line, cut after [`MAX_DESCRIPTION_CHARS`] characters.
pub(crate) fn shortened(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        chars += word.chars().count() + 1;
        if chars > MAX_DESCRIPTION_CHARS {
            break;
        }
        words.push(word);
    }
    if words.is_empty() {
        return text.chars().take(MAX_DESCRIPTION_CHARS).collect();
    }
    words.join(" ")
}
