//! The scripts of the library's pages as they are served: the parts of each are joined in order, because a request per part
//! would delay the first photos, and shortened by terser. The results are in the repository, so that a build of the
//! service needs no Node.

use crate::node::{Node, NodeError};
use crate::process::{ProcessError, Runner};
use crate::workspace;

const SOURCES: &str = "crates/web-pages/src";
const SERVED: &str = "crates/web-pages/src/assets/scripts";
const TERSER: &str = "node_modules/terser/bin/terser";

/// How a page loads a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// What it declares is visible to the module of the page, and keeps its name.
    Classic,
    Module,
}

#[derive(Debug)]
struct Script {
    name: &'static str,
    kind: Kind,
    /// Relative to [`SOURCES`].
    parts: &'static [&'static str],
}

const fn classic(name: &'static str, parts: &'static [&'static str]) -> Script {
    Script { name, kind: Kind::Classic, parts }
}

const fn module(name: &'static str, parts: &'static [&'static str]) -> Script {
    Script { name, kind: Kind::Module, parts }
}

const SCRIPTS: [Script; 14] = [
    // The account pages, which load no other script.
    classic(
        "page",
        &["layout/page.js", "layout/menu.js", "layout/find.js", "layout/theme.js", "upload/drop.js"],
    ),
    // Before the timeline, other pages with photos, and the photo page are painted.
    classic(
        "first",
        &[
            "gallery/scripts/layout.js",
            "gallery/scripts/movement.js",
            "gallery/scripts/opening.js",
            "gallery/scripts/first.js",
        ],
    ),
    classic("opening", &["gallery/scripts/movement.js", "gallery/scripts/opening.js"]),
    classic("photo-first", &["gallery/scripts/movement.js", "photo/scripts/first.js"]),
    // All pages of the library. The others import it.
    module(
        "shared",
        &[
            "layout/menu.js",
            "layout/find.js",
            "layout/theme.js",
            "upload/drop.js",
            "gallery/scripts/status.js",
            "gallery/scripts/letters.js",
            "gallery/scripts/range.js",
            "layout/shared.js",
        ],
    ),
    // The timeline, other pages with photos, and forms.
    module(
        "library",
        &[
            "gallery/scripts/library.js",
            "gallery/scripts/selection.js",
            "gallery/scripts/scroller.js",
            "gallery/scripts/thumbhash.js",
            "gallery/scripts/tiles.js",
            "gallery/scripts/timeline.js",
            "gallery/scripts/changes.js",
            "gallery/scripts/scrubber.js",
            "gallery/scripts/keys.js",
            "gallery/scripts/list_pages.js",
        ],
    ),
    module("actions", &["gallery/scripts/actions.js", "gallery/scripts/preview.js"]),
    // The photo page, and the map, which also has a list of photos.
    module(
        "viewer",
        &[
            "../../web-scripts/gestures.js",
            "../../web-scripts/zoom.js",
            "map/map.js",
            "photo/scripts/swipes.js",
            "photo/scripts/controls.js",
            "photo/scripts/slideshow.js",
            "photo/scripts/photo.js",
            "gallery/scripts/viewer_pages.js",
        ],
    ),
    module("strip", &["photo/scripts/strip.js"]),
    module("edit", &["photo/scripts/edit.js", "photo/scripts/pin.js"]),
    // Its last part starts the upload.
    module(
        "upload",
        &[
            "upload/sha256.js",
            "upload/bell.js",
            "upload/choice.js",
            "upload/known.js",
            "upload/memory.js",
            "upload/sender.js",
            "upload/queue.js",
            "upload/elements.js",
            "upload/words.js",
            "upload/thumbnails.js",
            "upload/tray.js",
            "upload/arrivals.js",
            "upload/main.js",
        ],
    ),
    module("suggest", &["search/suggest.js"]),
    module("albums", &["albums/albums.js"]),
    module("album-order", &["albums/order.js"]),
];

/// Why the scripts could not be shortened or are not up to date.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptsError {
    #[error("{0} is out of date. Update with `cargo xtask check --only generated --write`, and build again")]
    OutOfDate(String),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// The path of each served script, and what it has to contain.
pub(crate) fn served(runner: &Runner) -> Result<Vec<(String, String)>, ScriptsError> {
    let node = Node::ensure(runner)?;
    SCRIPTS
        .iter()
        .map(|script| Ok((format!("{SERVED}/{}.js", script.name), shorten(runner, &node, script)?)))
        .collect()
}

/// Fails if a served script is not made from its present sources.
pub(crate) fn check(runner: &Runner) -> Result<(), ScriptsError> {
    match served(runner)?.into_iter().find(|(file, fresh)| !workspace::holds(file, fresh)) {
        Some((file, _)) => Err(ScriptsError::OutOfDate(file)),
        None => Ok(()),
    }
}

fn shorten(runner: &Runner, node: &Node, script: &Script) -> Result<String, ProcessError> {
    let mut terser = node.script(TERSER);
    terser.args(script.parts.iter().map(|part| workspace::path(SOURCES).join(part)));
    terser.args(["--compress", "--mangle"]);
    if script.kind == Kind::Module {
        terser.arg("--module");
    }
    runner.output(&mut terser, "")
}
