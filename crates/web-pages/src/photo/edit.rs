//! The form that corrects one photo.

use std::net::IpAddr;

use domain::{EditId, Image, ImageId, Invalid, Position, Rendition};
use http::{StatusCode, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, see_other},
};
use library::{EditError, EditableImage, FoundCity, Lookup, NewEdit, StorageError};
use maud::html;

use super::{
    EDIT, Opened, Purpose,
    edit_form::{FIND, Fields, Present, Scope, label_of, unsaved},
    facts::field_time,
    no_photo, submission,
    view::Done,
    visible_image,
};
use crate::{
    Site, forms::csrf_field, map, messages, photo_text::described, pictures::picture_path, session::Person,
};

/// A form to show.
struct Shown<'a> {
    image: &'a Image,
    fields: Fields,
    /// The first view of the map on which a place can be chosen. The script keeps it when the form is shown again.
    map: Option<String>,
    /// The cities that were found, if the form looked for some.
    cities: Option<Vec<FoundCity>>,
    /// Whether a city has to be chosen before the form can be saved.
    is_unsaved: bool,
    invalid: Option<&'a Invalid>,
}

/// `GET /photos/{id}/edit`.
pub(super) async fn show(site: &Site, parts: &Parts, opened: &Opened) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let (image, values) = load(site, &person, &opened.id).await?;
    let fields = Fields::of(Present {
        description: values.description.unwrap_or_default(),
        time: field_time(&values.capture),
        position: values.position,
    });
    let map = Some(first_view(site, &person, &image).await);
    let shown = Shown { image: &image, fields, map, cities: None, is_unsaved: false, invalid: None };
    let edit = site.library.catalogue.new_edit_id().map_err(|error| messages::unavailable(&error))?;
    Ok(page(site, &person, opened, edit.as_str(), &shown))
}

/// `POST /photos/{id}/edit`.
pub(super) async fn submit(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    opened: &Opened,
) -> Result<Reply, Reply> {
    let here = opened.action("edit");
    let (person, form) = submission(site, parts, body, address, Purpose::Edit, &here).await?;
    let (image, values) = load(site, &person, &opened.id).await?;
    let image = &image;
    let mut fields = Fields::read(|name| form.get(name), Scope::One);
    let edit = match form.get(EDIT).and_then(EditId::parse) {
        Some(edit) => edit,
        None => site.library.catalogue.new_edit_id().map_err(|error| messages::unavailable(&error))?,
    };
    if let Some(city) = fields.wanted_city(|name| form.get(name)) {
        let cities = site.library.catalogue.find_cities(city).await;
        let is_chosen = fields.choose(&cities);
        let is_search = form.get(FIND).is_some();
        if is_search || !is_chosen {
            let shown = Shown {
                image,
                fields,
                map: None,
                cities: Some(cities),
                is_unsaved: !is_search,
                invalid: None,
            };
            return Ok(page(site, &person, opened, edit.as_str(), &shown));
        }
    }
    let invalid = |invalid: Invalid, fields: Fields| {
        let invalid = fields.named(invalid);
        let shown =
            Shown { image, fields, map: None, cities: None, is_unsaved: false, invalid: Some(&invalid) };
        page(site, &person, opened, edit.as_str(), &shown)
    };
    let change = match fields.edit(Some(values.description.as_deref().unwrap_or_default())) {
        Ok(change) => change,
        Err(reason) => return Ok(invalid(reason, fields)),
    };
    let caller = person.caller();
    let edited = site.library.catalogue.edit_images(
        &caller,
        vec![opened.id.clone()],
        NewEdit::by_person(edit.clone()),
        change,
        false,
    );
    let changed = match edited.await {
        Ok(Lookup::Found(changed)) => !changed.is_empty(),
        Ok(Lookup::Foreign | Lookup::Missing) => return Err(no_photo()),
        Err(EditError::Invalid(reason)) => return Ok(invalid(reason, fields)),
        Err(EditError::Unavailable(error)) => return Err(messages::unavailable(&error)),
    };
    let done = if changed { Done::Edited } else { Done::Unchanged };
    Ok(see_other(&opened.page_with(&[("done", done.name()), (EDIT, edit.as_str())])))
}

/// A photo and the values that can be corrected.
async fn load(site: &Site, person: &Person, id: &ImageId) -> Result<(Image, EditableImage), Reply> {
    let image = visible_image(site, person, id).await?;
    let edits = site.library.catalogue.photo_edits(&person.caller(), id).await;
    match edits.map_err(|error| messages::unavailable(&error))? {
        Lookup::Found((values, _)) => Ok((image, values)),
        Lookup::Foreign | Lookup::Missing => Err(no_photo()),
    }
}

/// The first view of the map: around the place of the photo, or else of its neighbour in the timeline, or else the world.
async fn first_view(site: &Site, person: &Person, image: &Image) -> String {
    let position = match image.details.position {
        Some(position) => Some(position),
        // The form is complete without the view.
        None => position_beside(site, person, image).await.unwrap_or_default(),
    };
    map::start(position)
}

/// The position of the previous or the next photo, whichever is nearer in time.
async fn position_beside(
    site: &Site,
    person: &Person,
    image: &Image,
) -> Result<Option<Position>, StorageError> {
    let (catalogue, caller) = (&site.library.catalogue, person.caller());
    let context = catalogue.photo_context(&caller, &image.id, None).await?;
    let mut beside = Vec::new();
    for id in [context.previous, context.next].into_iter().flatten() {
        if let Lookup::Found(neighbour) = catalogue.image(&caller, id.as_str()).await? {
            let apart = neighbour.captured_at.millis().abs_diff(image.captured_at.millis());
            beside.extend(neighbour.details.position.map(|position| (apart, position)));
        }
    }
    Ok(beside.into_iter().min_by_key(|(apart, _)| *apart).map(|(_, position)| position))
}

fn page(site: &Site, person: &Person, opened: &Opened, edit: &str, shown: &Shown<'_>) -> Reply {
    let here = opened.action("edit");
    let size = shown.image.size.fit_within(Rendition::Thumb.longest_side_px());
    let content = html! {
        img.corrected src=(picture_path(shown.image, Rendition::Thumb)) width=(size.width) height=(size.height)
            alt=(described(shown.image));
        @if let Some(invalid) = shown.invalid {
            p.notice.warn role="alert" { "Nothing was changed. " (label_of(invalid)) " " (invalid.reason) "." }
        }
        @if shown.is_unsaved { (unsaved()) }
        form.correct method="post" action=(here) data-map=[&shown.map] {
            (csrf_field(&site.forms, &person.token_parts(Purpose::Edit.name())))
            input type="hidden" name=(EDIT) value=(edit);
            // The first button of a form is the one that Enter presses.
            button.unseen type="submit" tabindex="-1" aria-hidden="true" { "Save" }
            (shown.fields.markup(Scope::One, shown.cities.as_deref(), shown.invalid))
            div.buttons {
                button type="submit" { "Save" }
                a.button.quiet href=(opened.page()) { "Cancel" }
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
