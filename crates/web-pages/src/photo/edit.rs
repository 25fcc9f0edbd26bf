//! The form that corrects one photo.

use std::net::IpAddr;

use domain::{EditId, ImageId, Invalid};
use http::{StatusCode, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, see_other},
};
use library::{EditError, EditableImage, FoundCity, Lookup};
use maud::html;

use super::{
    EDIT, Purpose,
    edit_form::{FIND, Fields, Present, Scope, label_of},
    facts::field_time,
    no_photo, path_of, submission,
    view::Done,
};
use crate::{Site, forms::csrf_field, messages, session::Person};

/// A form to show.
struct Shown<'a> {
    fields: Fields,
    /// The cities that were found, if the form looked for some.
    cities: Option<Vec<FoundCity>>,
    invalid: Option<&'a Invalid>,
}

/// `GET /photos/{id}/edit`.
pub(super) async fn show(site: &Site, parts: &Parts, id: &ImageId) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let image = image(site, &person, id).await?;
    let fields = Fields::of(Present {
        description: image.description.unwrap_or_default(),
        time: field_time(&image.capture),
        position: image.position,
    });
    let shown = Shown { fields, cities: None, invalid: None };
    let edit = site.library.new_edit_id().map_err(|error| messages::unavailable(&error))?;
    Ok(page(site, &person, id, &edit, &shown))
}

/// `POST /photos/{id}/edit`.
pub(super) async fn submit(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    id: &ImageId,
) -> Result<Reply, Reply> {
    let here = parts.uri.path();
    let (person, form) = submission(site, parts, body, address, Purpose::Edit, here).await?;
    let image = image(site, &person, id).await?;
    let mut fields = Fields::read(|name| form.get(name), Scope::One);
    let edit = match form.get(EDIT).and_then(EditId::parse) {
        Some(edit) => edit.as_str().to_owned(),
        None => site.library.new_edit_id().map_err(|error| messages::unavailable(&error))?,
    };
    if form.get(FIND).is_some() {
        let cities = site.library.find_cities(fields.city()).await;
        fields.choose(&cities);
        return Ok(page(site, &person, id, &edit, &Shown { fields, cities: Some(cities), invalid: None }));
    }
    let invalid = |invalid: Invalid, fields: Fields| {
        let invalid = fields.named(invalid);
        page(site, &person, id, &edit, &Shown { fields, cities: None, invalid: Some(&invalid) })
    };
    let change = match fields.edit(Some(image.description.as_deref().unwrap_or_default())) {
        Ok(change) => change,
        Err(reason) => return Ok(invalid(reason, fields)),
    };
    let Some(edit_id) = EditId::parse(edit.as_str()) else { return Err(no_photo()) };
    let changed = match site.library.edit_photo(&person.caller(), id, &edit_id, change).await {
        Ok(changed) => changed,
        Err(EditError::Invalid(reason)) => return Ok(invalid(reason, fields)),
        Err(EditError::Unavailable(error)) => return Err(messages::unavailable(&error)),
    };
    let done = if changed { Done::Edited } else { Done::Unchanged };
    Ok(see_other(&format!("{}?done={}&{EDIT}={edit}", path_of(id), done.name())))
}

async fn image(site: &Site, person: &Person, id: &ImageId) -> Result<EditableImage, Reply> {
    match site
        .library
        .photo_edits(&person.caller(), id)
        .await
        .map_err(|error| messages::unavailable(&error))?
    {
        Lookup::Found((image, _)) => Ok(image),
        Lookup::Foreign | Lookup::Missing => Err(no_photo()),
    }
}

fn page(site: &Site, person: &Person, id: &ImageId, edit: &str, shown: &Shown<'_>) -> Reply {
    let path = path_of(id);
    let here = format!("{path}/edit");
    let content = html! {
        @if let Some(invalid) = shown.invalid {
            p.notice.warn role="alert" { "Nothing was changed. " (label_of(invalid)) " " (invalid.reason) "." }
        }
        form.correct method="post" action=(here) {
            (csrf_field(&site.forms, &person.token_parts(Purpose::Edit.name())))
            input type="hidden" name=(EDIT) value=(edit);
            // The first button of a form is the one that Enter presses.
            button.unseen type="submit" tabindex="-1" aria-hidden="true" { "Save" }
            (shown.fields.markup(Scope::One, shown.cities.as_deref(), shown.invalid))
            div.buttons {
                button type="submit" { "Save" }
                a.button.quiet href=(path) { "Cancel" }
            }
        }
    };
    let status = if shown.invalid.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    super::frame("Correct this photo").reply_with(
        status,
        &person.header(site, &here),
        "card reading",
        &content,
    )
}
