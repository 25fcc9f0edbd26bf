//! The page as one HTML document.
//!
//! It is a gallery of the pictures, with a larger view, and makes albums of them. Hosts give it a frame without an origin
//! of its own, in which nothing may be loaded but pictures of this service, so that styles and scripts stand in the
//! document. `gallery.html` is the frame, and the scripts are parts of one module, put together here:
//!
//! | part | holds |
//! |---|---|
//! | `bridge.js` | JSON-RPC with the host |
//! | `words.js` | dates, distances, and what is said of a picture |
//! | `listing.js` | the answers of the tools, and the calls for further pages |
//! | `renewal.js` | new addresses of pictures before the old ones end |
//! | `grid.js`, `viewer.js`, `album.js` | what is seen |
//! | `main.js` | what the host says and what people do |

use std::sync::LazyLock;

const FRAME: &str = include_str!("gallery.html");
const STYLE: &str = include_str!("gallery.css");
const SCRIPTS: [&str; 8] = [
    include_str!("bridge.js"),
    include_str!("words.js"),
    include_str!("listing.js"),
    include_str!("renewal.js"),
    include_str!("grid.js"),
    include_str!("viewer.js"),
    include_str!("album.js"),
    include_str!("main.js"),
];

/// The whole document; `albums` says whether the resource has the tools that make them.
pub(super) fn of(albums: bool) -> &'static str {
    static WITH_ALBUMS: LazyLock<String> = LazyLock::new(|| compose(true));
    static WITHOUT_ALBUMS: LazyLock<String> = LazyLock::new(|| compose(false));
    if albums { &WITH_ALBUMS } else { &WITHOUT_ALBUMS }
}

fn compose(albums: bool) -> String {
    FRAME
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

    /// What hosts are asked to take at most.
    const LARGEST: usize = 100 * 1000;

    #[test]
    fn the_document_is_whole_and_small() {
        for albums in [true, false] {
            let text = of(albums);
            assert!(text.len() < LARGEST, "{} bytes", text.len());
            assert!(text.starts_with("<!doctype html>\n"));
            assert!(text.contains(&format!("<html lang=\"en\" data-albums=\"{albums}\">")));
            assert!(text.contains("<meta charset=\"utf-8\">") && text.contains("<title>Photos</title>"));
            for part in SCRIPTS.into_iter().chain([STYLE]) {
                assert!(text.contains(part), "{}", part.lines().next().unwrap());
            }
        }
    }

    #[test]
    fn nothing_ends_a_part_before_its_end() {
        for part in SCRIPTS.into_iter().chain([STYLE]) {
            for end in ["</script", "</style", "<!--"] {
                assert!(!part.to_ascii_lowercase().contains(end), "{end}");
            }
        }
    }

    #[test]
    fn nothing_is_loaded_kept_or_taken_for_html() {
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
