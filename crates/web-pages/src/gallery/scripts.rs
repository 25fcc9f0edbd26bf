//! The scripts and the style of the library's pages, put together from their sources.
//!
//! A script consists of parts that are joined in order when the program starts, because a request per part would delay the
//! first photos.

const STYLES: [&str; 5] = [
    include_str!("../layout/style.css"),
    include_str!("gallery.css"),
    include_str!("timeline.css"),
    include_str!("../photo/photo.css"),
    include_str!("../map/map.css"),
];

/// A classic script, so that the modules below see what it declares.
const FIRST: [&str; 2] = [include_str!("scripts/layout.js"), include_str!("scripts/first.js")];

const TIMELINE: [&str; 11] = [
    include_str!("scripts/status.js"),
    include_str!("scripts/letters.js"),
    include_str!("scripts/library.js"),
    include_str!("scripts/thumbhash.js"),
    include_str!("scripts/tiles.js"),
    include_str!("scripts/selection.js"),
    include_str!("scripts/scroller.js"),
    include_str!("scripts/scrubber.js"),
    include_str!("scripts/actions.js"),
    include_str!("scripts/keys.js"),
    include_str!("scripts/timeline.js"),
];

const PHOTO: [&str; 3] = [
    include_str!("scripts/letters.js"),
    include_str!("../../../web-scripts/zoom.js"),
    include_str!("scripts/photo.js"),
];

pub(crate) fn style() -> String {
    join(&STYLES)
}

pub(crate) fn first() -> String {
    join(&FIRST)
}

pub(crate) fn timeline() -> String {
    join(&TIMELINE)
}

pub(crate) fn photo() -> String {
    join(&PHOTO)
}

fn join(parts: &[&str]) -> String {
    parts.iter().map(|part| compact(part)).collect()
}

pub(crate) fn map() -> String {
    compact(include_str!("../map/map.js"))
}

/// Leaves out comments that begin a line, and the spaces at the start of lines. No source has a text of several lines.
fn compact(source: &str) -> String {
    let mut compacted = String::with_capacity(source.len());
    let mut is_comment = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("/*") {
            is_comment = true;
        }
        if !is_comment && !line.is_empty() && !line.starts_with("//") {
            compacted.push_str(line);
            compacted.push('\n');
        }
        if is_comment && line.ends_with("*/") {
            is_comment = false;
        }
    }
    compacted
}
