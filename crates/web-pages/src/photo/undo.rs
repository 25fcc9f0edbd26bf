use std::net::IpAddr;

use domain::{EditId, EditedField, PhotoEdit};
use http::request::Parts;
use http_server::{
    body::RequestBody,
    reply::{Reply, see_other},
};
use keys::FormSigner;
use library::{Lookup, NewEdit};
use maud::{Markup, html};

use super::{EDIT, Opened, Purpose, no_photo, submission, view::Done, visible_image};
use crate::{Site, forms::csrf_field, messages, session::Person};

/// The name of the field with the corrected field, or [`ALL`].
const FIELD: &str = "field";
const ALL: &str = "all";

/// The fields that the corrections of a photo are undone in. Its marks stay.
pub(super) const CORRECTED: [EditedField; 3] =
    [EditedField::Description, EditedField::Time, EditedField::Place];

/// What a button undoes.
pub(super) enum Undone<'a> {
    /// The corrections of one field, or of all fields if there is none.
    Field(Option<EditedField>),
    Edit(&'a EditId),
}

/// A form with a button that undoes corrections of a photo; `object` completes its label for screen readers.
pub(super) fn button(
    forms: &FormSigner,
    person: &Person,
    opened: &Opened,
    undone: &Undone<'_>,
    label: &str,
    object: &str,
) -> Markup {
    html! {
        form.inline method="post" action=(opened.action("undo")) {
            (csrf_field(forms, &person.token_parts(Purpose::Undo.name())))
            @match undone {
                Undone::Field(field) => {
                    input type="hidden" name=(FIELD) value=(field.map_or(ALL, EditedField::name));
                }
                Undone::Edit(edit) => { input type="hidden" name=(EDIT) value=(edit); }
            }
            button.quiet type="submit" aria-label=(format!("{label} {object}")) { (label) }
        }
    }
}

/// `POST /photos/{id}/undo`.
pub(super) async fn submit(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    opened: &Opened,
) -> Result<Reply, Reply> {
    let (person, form) = submission(site, parts, body, address, Purpose::Undo, &opened.page()).await?;
    visible_image(site, &person, &opened.id).await?;
    if let Some(edit) = form.get(EDIT).and_then(EditId::parse) {
        let undone = site.library.catalogue.undo_edit(&person.caller(), &edit).await;
        undone.map_err(|error| messages::unavailable(&error))?;
    } else {
        let field = form.get(FIELD).unwrap_or_default();
        let fields: Vec<EditedField> = match field {
            ALL => CORRECTED.to_vec(),
            name => EditedField::from_name(name).into_iter().collect(),
        };
        let id = site.library.catalogue.new_edit_id().map_err(|error| messages::unavailable(&error))?;
        let (edit, change) = (NewEdit::by_person(id), PhotoEdit::reverting(&fields));
        let images = vec![opened.id.clone()];
        let reverted =
            site.library.catalogue.edit_images(&person.caller(), images, edit, change, false).await;
        match reverted.map_err(|error| messages::unavailable(&error))? {
            Lookup::Found(_) => {}
            Lookup::Foreign | Lookup::Missing => return Err(no_photo()),
        }
    }
    Ok(see_other(&opened.page_with(&[("done", Done::Undone.name())])))
}
