//! The button that makes a photo the cover of the album in which it was opened.

use domain::{Album, ImageId};
use maud::{Markup, html};

use super::{Opened, view::Done};
use crate::{Site, forms::csrf_field, layout::Icon, paths, selection, session::Person};

/// Whether a photo was chosen as the cover of an album.
fn is_cover(album: &Album, id: &ImageId) -> bool {
    album.is_cover_chosen && album.cover.as_ref() == Some(id)
}

/// The form with the button. If the photo is the cover, it lets the newest photo be the cover again.
pub(super) fn form(site: &Site, person: &Person, opened: &Opened, album: &Album) -> Markup {
    let path = paths::album(&album.id);
    let is_cover = is_cover(album, &opened.id);
    let (action, purpose, done) = if is_cover {
        (path.clone(), &*path, Done::NewestCover)
    } else {
        (format!("{path}/cover"), selection::PURPOSE, Done::Cover)
    };
    html! {
        form method="post" action=(action) {
            (csrf_field(&site.forms, &person.token_parts(purpose)))
            input type="hidden" name="return_to" value=(opened.page_with(&[("done", done.name())]));
            @if is_cover {
                input type="hidden" name="cover" value="newest";
            } @else {
                input type="hidden" name="image" value=(opened.id);
            }
            button #cover type="submit" aria-label="Use as the cover" aria-pressed=(is_cover.to_string())
                title="Use as the cover" { (Icon::Cover.markup()) }
        }
    }
}
