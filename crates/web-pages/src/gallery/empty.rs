//! The timeline of a library without photos: how photos come in.

use library::TimelineState;
use maud::{Markup, html};

use super::{months::generation, timeline::being_read};
use crate::{
    Site,
    account::{home_network_command, upload_area},
    examples,
    layout::Icon,
    paths,
    qr_code::qr_code,
    session::Person,
};

/// The ways to add photos. With the script, the page becomes the timeline when there is a photo.
pub(super) fn ways_to_begin(site: &Site, person: &Person, state: &TimelineState) -> Markup {
    let email = person.holder.account.email.as_str();
    html! {
        div #empty .welcome data-gen=(generation(&state.months)) {
            h2 { "Add your first photos" }
            p.lead { "There are no photos yet. Begin with some from this device." }
            (upload_area(site, person))
            p #waiting role="status" { @if state.waiting > 0 { (being_read(state.waiting)) } }
            p #shown hidden { a.button href="/" { "Show your photos" } }
            noscript { p { a href="/" { "Show new photos" } } }
            @if state.waiting == 0 { (examples::form(site, person)) }
        }
        ul.ways {
            li {
                (Icon::Phone.markup())
                h2 { a href=(paths::UPLOAD) { "From a phone" } }
                p { "An app uploads new photos by itself, over WebDAV or as Nextcloud does. The page shows the steps and a QR code." }
                (on_phone(site))
            }
            li {
                (Icon::Folder.markup())
                h2 { "From folders and exports" }
                p { "On the server, this command imports folders, and exports of Google Photos and iCloud:" }
                pre { code { "server import " (email) " FOLDER" } }
            }
            li {
                (Icon::Chat.markup())
                h2 { a href="/account/apps" { "Use them in apps and agents" } }
                p { "Connect Claude, ChatGPT and other apps, so that they can search and show your photos." }
            }
        }
    }
}

/// The library as a QR code for the camera of a phone, or how phones can reach it.
fn on_phone(site: &Site) -> Markup {
    html! {
        @if site.base_url.is_loopback() {
            p { "Now only this machine can open the library. To reach it from phones in your network, start the server like this:" }
            pre { code { (home_network_command(&site.base_url)) } }
        } @else {
            @let address = site.base_url.as_str();
            @if let Some(code) = qr_code(address, &format!("QR code with the address {address}")) {
                p { "Or open the library there: point the phone’s camera at this code." }
                (code)
            }
        }
    }
}
