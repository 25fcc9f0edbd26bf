use std::net::IpAddr;

use http::request::Parts;
use http_server::{
    body::RequestBody,
    reply::{Reply, see_other},
};
use maud::{Markup, html};

use super::{Opened, Purpose, submission, visible_image};
use crate::{Site, forms::csrf_field, layout::Icon, messages, session::Person};

/// The form that moves a photo to the trash, after a further click.
pub(super) fn form(site: &Site, person: &Person, opened: &Opened) -> Markup {
    html! {
        details.ask {
            summary #delete title="Delete" {
                (Icon::Trash.markup())
                span.unseen { "Delete" }
            }
            div.asked {
                p { "The photo moves to the trash. You can restore it for 30 days." }
                form method="post" action=(opened.action("delete")) {
                    (csrf_field(&site.forms, &person.token_parts(Purpose::Delete.name())))
                    button.danger type="submit" { "Move to the trash" }
                }
            }
        }
    }
}

/// `POST /photos/{id}/delete`: leads to the page that the photo was opened from.
pub(super) async fn submit(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    opened: &Opened,
) -> Result<Reply, Reply> {
    let (person, _) = submission(site, parts, body, address, Purpose::Delete, &opened.page()).await?;
    let image = visible_image(site, &person, &opened.id).await?;
    let deleted = site.library.catalogue.delete_image(&person.caller(), opened.id.as_str()).await;
    deleted.map_err(|error| messages::unavailable(&error))?;
    Ok(see_other(&opened.origin.back(&image)))
}
