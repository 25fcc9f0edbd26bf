//! The timeline of a library without photos: how photos come in.

use library::TimelineState;
use maud::{Markup, html};

use super::{months::generation, timeline::being_read};

/// The ways to add photos. With the script, the page becomes the timeline when there is a photo.
pub(super) fn ways_to_begin(email: &str, state: &TimelineState) -> Markup {
    html! {
        p.lead { "There are no photos yet. Choose how they come in; you can combine the ways." }
        div #empty data-gen=(generation(&state.months)) {
            p #waiting role="status" { @if state.waiting > 0 { (being_read(state.waiting)) } }
            noscript { p { a href="/" { "Show new photos" } } }
        }
        ul.ways {
            li {
                h2 { a href="/account/sync" { "From a phone" } }
                p { "An app uploads new photos by itself, over WebDAV or as Nextcloud does. The page shows the steps and a QR code." }
            }
            li {
                h2 { a href="/account/sync" { "From this browser" } }
                p { "Choose files or drop a folder. An interrupted upload resumes." }
            }
            li {
                h2 { "From folders and exports" }
                p { "On the server, this command imports folders, and exports of Google Photos and iCloud:" }
                pre { code { "server import " (email) " FOLDER" } }
            }
            li {
                h2 { a href="/account/apps" { "Into apps and agents" } }
                p { "Connect Claude, ChatGPT and other apps, so that they can search and show your photos." }
            }
        }
    }
}
