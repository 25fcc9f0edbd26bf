//! The scripts and the style of the library's pages, put together from their sources.
//!
//! A script consists of parts that are joined in order when the program starts, because a request per part would delay the
//! first photos.

use std::collections::HashMap;

const STYLES: [&str; 5] = [
    include_str!("../layout/style.css"),
    include_str!("../gallery/gallery.css"),
    include_str!("../gallery/timeline.css"),
    include_str!("../albums/albums.css"),
    include_str!("../photo/photo.css"),
];

const VIEWER_STYLES: [&str; 2] = [include_str!("../photo/stage.css"), include_str!("../map/map.css")];

/// A classic script, so that the module below sees what it declares.
const FIRST: [&str; 4] = [
    include_str!("../gallery/scripts/layout.js"),
    include_str!("../gallery/scripts/movement.js"),
    include_str!("../gallery/scripts/opening.js"),
    include_str!("../gallery/scripts/first.js"),
];

/// What other pages with photos and the photo page run before they are painted: classic scripts, too.
const OPENING: [&str; 2] =
    [include_str!("../gallery/scripts/movement.js"), include_str!("../gallery/scripts/opening.js")];
const PHOTO_FIRST: [&str; 2] =
    [include_str!("../gallery/scripts/movement.js"), include_str!("../photo/scripts/first.js")];

/// The module of all pages of the library, which the others import.
const SHARED: [&str; 8] = [
    include_str!("../layout/menu.js"),
    include_str!("../layout/find.js"),
    include_str!("../layout/theme.js"),
    include_str!("../upload/drop.js"),
    include_str!("../gallery/scripts/status.js"),
    include_str!("../gallery/scripts/letters.js"),
    include_str!("../gallery/scripts/range.js"),
    include_str!("../layout/shared.js"),
];

/// A module that the timeline imports.
const ACTIONS: [&str; 1] = [include_str!("../gallery/scripts/actions.js")];

/// A module that the timeline imports.
const PREVIEW: [&str; 1] = [include_str!("../gallery/scripts/preview.js")];

/// A module that the photo page imports.
const STRIP: [&str; 1] = [include_str!("../photo/scripts/strip.js")];

/// The module of the timeline, of other pages with photos, and of forms.
const LIBRARY: [&str; 10] = [
    include_str!("../gallery/scripts/library.js"),
    include_str!("../gallery/scripts/selection.js"),
    include_str!("../gallery/scripts/scroller.js"),
    include_str!("../gallery/scripts/thumbhash.js"),
    include_str!("../gallery/scripts/tiles.js"),
    include_str!("../gallery/scripts/timeline.js"),
    include_str!("../gallery/scripts/changes.js"),
    include_str!("../gallery/scripts/scrubber.js"),
    include_str!("../gallery/scripts/keys.js"),
    include_str!("../gallery/scripts/list_pages.js"),
];

/// The module of the photo page and of the map, which also has a list of photos.
const VIEWER: [&str; 8] = [
    include_str!("../../../web-scripts/gestures.js"),
    include_str!("../../../web-scripts/zoom.js"),
    include_str!("../map/map.js"),
    include_str!("../photo/scripts/swipes.js"),
    include_str!("../photo/scripts/controls.js"),
    include_str!("../photo/scripts/slideshow.js"),
    include_str!("../photo/scripts/photo.js"),
    include_str!("../gallery/scripts/viewer_pages.js"),
];

/// The module of the upload. Its last part starts it.
const UPLOAD: [&str; 13] = [
    include_str!("../upload/sha256.js"),
    include_str!("../upload/bell.js"),
    include_str!("../upload/choice.js"),
    include_str!("../upload/known.js"),
    include_str!("../upload/memory.js"),
    include_str!("../upload/sender.js"),
    include_str!("../upload/queue.js"),
    include_str!("../upload/elements.js"),
    include_str!("../upload/words.js"),
    include_str!("../upload/thumbnails.js"),
    include_str!("../upload/tray.js"),
    include_str!("../upload/arrivals.js"),
    include_str!("../upload/main.js"),
];

pub(crate) fn style() -> String {
    joined(&STYLES)
}

pub(crate) fn viewer_style() -> String {
    joined(&VIEWER_STYLES)
}

pub(crate) fn upload_style() -> String {
    joined(&[include_str!("../upload/upload.css")])
}

fn joined(styles: &[&str]) -> String {
    styles.iter().copied().flat_map(code).map(|line| format!("{line}\n")).collect()
}

pub(crate) fn first() -> String {
    script(&FIRST)
}

pub(crate) fn library() -> String {
    script(&LIBRARY)
}

pub(crate) fn opening() -> String {
    script(&OPENING)
}

pub(crate) fn photo_first() -> String {
    script(&PHOTO_FIRST)
}

pub(crate) fn shared() -> String {
    script(&SHARED)
}

pub(crate) fn actions() -> String {
    script(&ACTIONS)
}

pub(crate) fn preview() -> String {
    script(&PREVIEW)
}

pub(crate) fn strip() -> String {
    script(&STRIP)
}

pub(crate) fn viewer() -> String {
    script(&VIEWER)
}

pub(crate) fn suggest() -> String {
    script(&[include_str!("../search/suggest.js")])
}

pub(crate) fn albums() -> String {
    script(&[include_str!("../albums/albums.js")])
}

pub(crate) fn album_order() -> String {
    script(&[include_str!("../albums/order.js")])
}

/// A module that the photo page imports.
pub(crate) fn edit() -> String {
    script(&[include_str!("../photo/scripts/edit.js")])
}

/// A module that the one above imports.
pub(crate) fn pin() -> String {
    script(&[include_str!("../photo/scripts/pin.js")])
}

pub(crate) fn edit_style() -> String {
    joined(&[include_str!("../photo/edit.css")])
}

pub(crate) fn upload() -> String {
    script(&UPLOAD)
}

/// The lines of a source without the comments that begin a line and without indentation. No source has a text of several lines.
fn code(source: &str) -> impl Iterator<Item = &str> {
    let mut is_comment = false;
    source.lines().map(str::trim).filter(move |line| {
        let is_code = !is_comment && !line.starts_with("/*") && !line.starts_with("//") && !line.is_empty();
        is_comment = (is_comment || line.starts_with("/*")) && !line.ends_with("*/");
        is_code
    })
}

fn script(parts: &[&str]) -> String {
    let mut script = String::new();
    let mut names = HashMap::new();
    for line in parts.iter().copied().flat_map(code) {
        script.push_str(&with_short_names(&without_spaces(line), &mut names));
        // Elsewhere the end of a line may be the end of a statement.
        if !line.ends_with(['{', '(', '[', ',', ';']) {
            script.push('\n');
        }
    }
    script
}

/// A line of a script in which the private members of classes have numbers as names: `this.#_0`. They stand after a full stop,
/// or at the beginning of a line that declares them.
fn with_short_names(line: &str, names: &mut HashMap<String, usize>) -> String {
    let mut short = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('#') {
        let (before, after) = rest.split_at(at + 1);
        short.push_str(before);
        let end = after.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(after.len());
        let (name, next) = after.split_at(end);
        let is_member = short.ends_with(".#")
            || matches!(short.as_str(), "#" | "async #" | "get #" | "set #" | "static #");
        if is_member && !name.is_empty() {
            let count = names.len();
            let number = names.entry(name.to_owned()).or_insert(count);
            short.push_str(&format!("_{number}"));
        } else {
            short.push_str(name);
        }
        rest = next;
    }
    short.push_str(rest);
    short
}

/// A line of a script without the spaces beside punctuation. Texts in quotes and templates stay as they are, and so does a line
/// with a slash outside of them, which may begin a regular expression.
fn without_spaces(line: &str) -> String {
    const PUNCTUATION: &str = ",;:=(){}[]<>?&|*!+-%";
    let is_sign = |char: char| matches!(char, '+' | '-');
    let mut short = String::with_capacity(line.len());
    let mut quote = None;
    let mut previous = ' ';
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(open), _) if open == char => quote = None,
            (Some(_), _) => {}
            (None, '/') => return line.to_owned(),
            (None, '\'' | '"' | '`') => quote = Some(char),
            (None, ' ') => {
                let next = chars.peek().copied().unwrap_or(' ');
                let is_beside = PUNCTUATION.contains(previous) || PUNCTUATION.contains(next);
                // `a - -b` is not `a--b`.
                if is_beside && !(is_sign(previous) && is_sign(next)) {
                    continue;
                }
            }
            (None, _) => {}
        }
        short.push(char);
        previous = char;
    }
    short
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    /// Upper bound on the scripts of the timeline, compressed, and on those of all pages.
    const MAX_TIMELINE_BYTES: usize = 20 * 1024;
    const MAX_BYTES: usize = 52 * 1024;

    fn compressed(text: &str) -> usize {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap().len()
    }

    #[test]
    fn all_scripts_together_are_small() {
        let timeline = [first(), shared(), library()].map(|script| compressed(&script));
        assert!(timeline.iter().sum::<usize>() <= MAX_TIMELINE_BYTES, "{timeline:?} bytes");
        let others = [
            actions(),
            preview(),
            viewer(),
            opening(),
            photo_first(),
            strip(),
            suggest(),
            albums(),
            album_order(),
            edit(),
            pin(),
            upload(),
        ]
        .map(|script| compressed(&script));
        let all = timeline.iter().chain(&others).sum::<usize>();
        assert!(all <= MAX_BYTES, "{timeline:?} + {others:?} bytes");
    }

    #[test]
    fn comments_and_spaces_are_left_out_but_texts_stay() {
        for (source, expected) in [
            ("// A comment.\n\n  const a = 1;\n", "const a=1;"),
            ("/** One line. */\n/*\n * More.\n */\nclass A {\n  #b;\n}\n", "class A{#_0;}\n"),
            (
                "async #load() {\nfind('#load', this.#load, `${this.#at}`);",
                "async #_0(){find('#load',this.#_0,`${this.#_1}`);",
            ),
            ("make('a, b', { c: d });", "make('a, b',{c:d});"),
            ("const text = `a, ${b} / c`;", "const text=`a, ${b} / c`;"),
            ("if (/[a, b]/.test(c)) d += 1;", "if (/[a, b]/.test(c)) d += 1;"),
            ("a - -b", "a- -b\n"),
            ("x ? y : z", "x?y:z\n"),
        ] {
            assert_eq!(script(&[source]), expected, "{source}");
        }
    }
}
