//! The page as one HTML document.
//!
//! It shows photos in a gallery with a larger view, and creates albums. A host runs it in a sandboxed frame that loads only
//! images of this service, so styles and scripts are part of the document. `gallery.html` is the document without them. The
//! scripts are parts of one module:
//!
//! | part | contents |
//! |---|---|
//! | `bridge.js` | JSON-RPC with the host |
//! | `words.js` | dates, distances and descriptions of photos |
//! | `listing.js` | results of the tools, and the calls for further pages |
//! | `renewal.js` | new image URLs before the old ones expire |
//! | `gestures.js`, `zoom.js` | drags, zoom and swipes, shared with the photo page |
//! | `grid.js`, `viewer.js`, `album.js` | the visible parts |
//! | `main.js` | messages of the host and actions of the user |

use std::sync::LazyLock;

const TEMPLATE: &str = include_str!("gallery.html");
const STYLE: &str = include_str!("gallery.css");
const SCRIPTS: [&str; 10] = [
    include_str!("bridge.js"),
    include_str!("words.js"),
    include_str!("listing.js"),
    include_str!("renewal.js"),
    include_str!("grid.js"),
    include_str!("../../../../web-scripts/gestures.js"),
    include_str!("../../../../web-scripts/zoom.js"),
    include_str!("viewer.js"),
    include_str!("album.js"),
    include_str!("main.js"),
];

/// The whole document; `albums` says whether the resource has the album tools.
pub(super) fn of(albums: bool) -> &'static str {
    static WITH_ALBUMS: LazyLock<String> = LazyLock::new(|| compose(true));
    static WITHOUT_ALBUMS: LazyLock<String> = LazyLock::new(|| compose(false));
    if albums { &WITH_ALBUMS } else { &WITHOUT_ALBUMS }
}

fn compose(albums: bool) -> String {
    TEMPLATE
        .replacen("<html lang=\"en\">", &format!("<html lang=\"en\" data-albums=\"{albums}\">"), 1)
        .replacen("<style></style>", &format!("<style>\n{STYLE}</style>"), 1)
        .replacen(
            "<script type=\"module\"></script>",
            &format!("<script type=\"module\">\n{}</script>", SCRIPTS.join("\n")),
            1,
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upper bound on the document, for hosts with limits.
    const MAX_BYTES: usize = 100 * 1000;

    #[test]
    fn the_document_is_complete_and_small() {
        for albums in [true, false] {
            let text = of(albums);
            assert!(text.len() < MAX_BYTES, "{} bytes", text.len());
            assert!(text.starts_with("<!doctype html>\n"));
            assert!(text.contains(&format!("<html lang=\"en\" data-albums=\"{albums}\">")));
            assert!(text.contains("<meta charset=\"utf-8\">") && text.contains("<title>Photos</title>"));
            for part in SCRIPTS.into_iter().chain([STYLE]) {
                assert!(text.contains(part), "{}", part.lines().next().unwrap());
            }
        }
    }

    #[test]
    fn no_part_contains_an_end_tag() {
        for part in SCRIPTS.into_iter().chain([STYLE]) {
            for end in ["</script", "</style", "<!--"] {
                assert!(!part.to_ascii_lowercase().contains(end), "{end}");
            }
        }
    }

    #[test]
    fn the_document_uses_no_network_no_storage_and_no_dynamic_code() {
        let text = of(true);
        for forbidden in [
            "src=\"",
            "href=",
            "url(",
            "@import",
            " import ",
            "fetch(",
            "XMLHttpRequest",
            "WebSocket",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "localStorage",
            "sessionStorage",
            "document.cookie",
            " onclick=",
            " onload=",
            " style=",
            "<form",
        ] {
            assert!(!text.contains(forbidden), "{forbidden}");
        }
    }
}
