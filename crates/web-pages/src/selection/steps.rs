//! Pages between the form with selected photos and what is done with them, for browsers without scripts.

use http_server::reply::Reply;
use library::StorageError;
use maud::{Markup, html};

use super::{PATH, PURPOSE, input::Input};
use crate::{
    Site, assets::Asset, forms::csrf_field, layout::LibraryPage, messages, photo_text::date_of,
    return_to::ReturnTo, session::Person,
};

/// The hidden fields that send the selection again.
pub(crate) fn selected(site: &Site, person: &Person, input: &Input) -> Markup {
    html! {
        (csrf_field(&site.forms, &person.token_parts(PURPOSE)))
        input type="hidden" name="return_to" value=(ReturnTo::parse(input.return_to.as_deref()).as_str());
        @for id in &input.ids { input type="hidden" name="image" value=(id); }
        @for (first, last) in &input.ranges { input type="hidden" name="range" value={ (first) ":" (last) }; }
        @for id in &input.except { input type="hidden" name="except" value=(id); }
    }
}

fn page(site: &Site, person: &Person, title: &str, input: &Input, content: &Markup) -> Reply {
    let back = ReturnTo::parse(input.return_to.as_deref());
    let page = LibraryPage {
        title,
        tab: None,
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: false,
    };
    let content = html! {
        (content)
        p.cancel { a.button.quiet href=(back.as_str()) { @if input.selection().is_err() { "Back" } @else { "Cancel" } } }
    };
    page.reply(&person.header(site, back.as_str()), "library step", &content)
}

/// `1 photo`, `2 photos`.
pub(crate) fn photos(count: u32) -> String {
    match count {
        1 => "1 photo".to_owned(),
        _ => format!("{count} photos"),
    }
}

/// Asks before photos are deleted.
pub(super) async fn confirm_delete(site: &Site, person: &Person, input: &Input) -> Reply {
    let selection = match input.selection() {
        Ok(selection) => selection,
        Err(_) => return nothing_selected(site, person, input),
    };
    let found = match site.library.catalogue.count_selection(&person.caller(), &selection).await {
        Ok(found) => found,
        Err(error) => return messages::unavailable(&error),
    };
    if found.count == 0 {
        return nothing_selected(site, person, input);
    }
    let content = html! {
        p {
            (photos(found.count))
            @if let (Some(oldest), Some(newest)) = (found.oldest.map(domain::LocalTime::clock), found.newest.map(domain::LocalTime::clock)) {
                @if date_of(oldest) == date_of(newest) { ", taken on " (date_of(newest)) }
                @else { ", taken from " (date_of(oldest)) " to " (date_of(newest)) }
            }
            "."
        }
        p { "They move to the trash. You can restore them for 30 days." }
        form method="post" action=(PATH) {
            (selected(site, person, input))
            input type="hidden" name="confirmed" value="yes";
            button.danger type="submit" name="action" value="delete" { "Move to the trash" }
        }
    };
    page(site, person, "Delete photos", input, &content)
}

/// Asks before photos are deleted for good.
pub(super) fn confirm_delete_forever(site: &Site, person: &Person, input: &Input) -> Reply {
    if input.selection().is_err() {
        return nothing_selected(site, person, input);
    }
    let content = html! {
        p { "The selected photos are deleted for good. They cannot be restored." }
        form method="post" action=(PATH) {
            (selected(site, person, input))
            input type="hidden" name="confirmed" value="yes";
            button.danger type="submit" name="action" value="delete_forever" { "Delete for good" }
        }
    };
    page(site, person, "Delete photos for good", input, &content)
}

/// Asks for the album to which photos are added.
pub(super) async fn choose_album(site: &Site, person: &Person, input: &Input) -> Result<Reply, StorageError> {
    if input.selection().is_err() {
        return Ok(nothing_selected(site, person, input));
    }
    let albums = site.library.catalogue.all_albums(&person.caller()).await?;
    let content = html! {
        form method="post" action=(PATH) {
            (selected(site, person, input))
            input type="hidden" name="action" value="add_to_album";
            @if !albums.is_empty() {
                label for="album" { "Album" }
                select #album name="album" {
                    option value="" { "A new album" }
                    @for album in &albums { option value=(album.id) { (album.title) } }
                }
            }
            label for="title" { "Title of a new album" }
            input #title type="text" name="title" maxlength="100" autocomplete="off";
            button type="submit" { "Add to album" }
        }
    };
    Ok(page(site, person, "Add to album", input, &content))
}

/// The page after a form without a selection.
pub(crate) fn nothing_selected(site: &Site, person: &Person, input: &Input) -> Reply {
    page(site, person, "No photos are selected", input, &html! { p { "Select photos first." } })
}
