//! The form that corrects many photos, which were selected on another page.

use std::net::IpAddr;

use domain::{EditId, Invalid, LocalTime, Selection};
use http::{Method, StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, found, method_not_allowed, see_other},
};
use library::{EditError, FoundCity, NewEdit, SelectionCount};
use maud::html;
use tracing::Instrument as _;

use super::{
    BULK_PATH, EDIT,
    edit_form::{FIND, Fields, Scope, label_of, unsaved},
};
use crate::{
    Site,
    forms::csrf_field,
    layout::Link,
    marks::Mark,
    messages::{self, message_with_link},
    photo_text::date_of,
    return_to::ReturnTo,
    selection::{self, Input, MARK, RETURN_TO, changed_many, in_query, photos, undo_edit},
    session::Person,
};

const UNDO: &str = "undo";

pub(super) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let result = match parts.method {
        Method::GET | Method::HEAD => result_page(site, parts).await,
        Method::POST => submit(site, parts, body, address).await,
        _ => Ok(method_not_allowed("GET, HEAD, POST")),
    };
    result.unwrap_or_else(|reply| reply)
}

/// A form with the photos that it selects.
struct Chosen<'a> {
    site: &'a Site,
    person: &'a Person,
    input: &'a Input,
    selection: Selection,
    count: SelectionCount,
    return_to: ReturnTo,
    edit: EditId,
}

async fn submit(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Result<Reply, Reply> {
    let (person, input) = selection::read_form(site, parts, body, address).await?;
    let return_to = ReturnTo::parse(input.return_to.as_deref());
    if let Some(edit) = input.get(UNDO).and_then(EditId::parse) {
        return undo(site, &person, &edit, &return_to).await;
    }
    let Ok(selection) = input.selection() else {
        return Err(selection::nothing_selected(site, &person, &input));
    };
    let count = site.library.catalogue.count_selection(&person.caller(), &selection).await;
    let count = count.map_err(|error| messages::unavailable(&error))?;
    if count.count == 0 {
        return Err(selection::nothing_selected(site, &person, &input));
    }
    let edit = match input.get(EDIT).and_then(EditId::parse) {
        Some(edit) => edit,
        None => site.library.catalogue.new_edit_id().map_err(|error| messages::unavailable(&error))?,
    };
    let chosen = Chosen { site, person: &person, input: &input, selection, count, return_to, edit };
    if input.is_confirmed {
        chosen.submitted().await
    } else {
        Ok(chosen.page(&Fields::default(), None, None))
    }
}

impl Chosen<'_> {
    async fn submitted(&self) -> Result<Reply, Reply> {
        let mut fields = Fields::read(|name| self.input.get(name), Scope::Many);
        if let Some(city) = fields.wanted_city(|name| self.input.get(name)) {
            let cities = self.site.library.catalogue.find_cities(city).await;
            let is_chosen = fields.choose(&cities);
            let is_search = self.input.get(FIND).is_some();
            if is_search || !is_chosen {
                return Ok(self.page(&fields, Some((cities.as_slice(), !is_search)), None));
            }
        }
        let invalid = |invalid: Invalid| self.page(&fields, None, Some(&fields.named(invalid)));
        let change = match fields.edit(None) {
            Ok(change) => change,
            Err(reason) => return Ok(invalid(reason)),
        };
        if change.is_empty() {
            return Ok(invalid(Invalid::new("", "Choose what to change.")));
        }
        let (library, caller, selection) =
            (self.site.library.clone(), self.person.caller(), self.selection.clone());
        // In a task of its own, which continues if the browser closes the connection.
        let edit = NewEdit::by_person(self.edit.clone());
        let edited = async move { library.catalogue.edit_photos(&caller, &selection, edit, change).await };
        match tokio::spawn(edited.in_current_span()).await {
            Ok(Ok(totals)) => {
                let count = |photos| u32::try_from(photos).unwrap_or(u32::MAX);
                let counts = (count(totals.changed), count(totals.refused));
                Ok(see_other(&changed_many(self.edit.as_str(), counts, None, &self.return_to)))
            }
            Ok(Err(EditError::Invalid(reason))) => Ok(invalid(reason)),
            Ok(Err(EditError::Unavailable(error))) => Err(self.interrupted(&error)),
            Err(error) => Err(self.interrupted(&error)),
        }
    }

    fn interrupted(&self, error: &dyn std::fmt::Display) -> Reply {
        tracing::error!(%error, "a correction of many photos was interrupted");
        let text = "The photo library is temporarily unavailable, and some of the photos may be corrected already. Go back \
                    and send the form again: it continues, and no photo is shifted twice.";
        let link = Link { href: self.return_to.as_str(), label: "Go back to the photos" };
        message_with_link(StatusCode::SERVICE_UNAVAILABLE, "Not all photos are corrected", text, link)
    }

    /// The form. `cities` has the cities of the entered name if one of them must be chosen, and whether nothing was saved for this
    /// reason.
    fn page(
        &self,
        fields: &Fields,
        cities: Option<(&[FoundCity], bool)>,
        invalid: Option<&Invalid>,
    ) -> Reply {
        let content = html! {
            p { (self.described()) " Each correction can be undone afterwards." }
            @if let Some(invalid) = invalid {
                p.notice.warn role="alert" {
                    "Nothing was changed. "
                    @if invalid.field.is_empty() { (invalid.reason) } @else { (label_of(invalid)) " " (invalid.reason) "." }
                }
            }
            @if cities.is_some_and(|(_, is_unsaved)| is_unsaved) { (unsaved()) }
            form.correct method="post" action=(BULK_PATH) {
                (selection::selected(self.site, self.person, self.input))
                input type="hidden" name=(EDIT) value=(self.edit);
                input type="hidden" name="confirmed" value="yes";
                // Enter presses the first button of a form.
                button.unseen type="submit" tabindex="-1" aria-hidden="true" { "Correct" }
                (fields.markup(Scope::Many, cities.map(|(cities, _)| cities), invalid))
                div.buttons {
                    button type="submit" { "Correct " (photos(self.count.count)) }
                    a.button.quiet href=(self.return_to.as_str()) { "Cancel" }
                }
            }
        };
        let status = if invalid.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        super::frame("Correct photos").reply_with(
            status,
            &self.person.header(self.site, self.return_to.as_str()),
            "card reading",
            &content,
        )
    }

    /// How many photos are selected, and between which dates they were taken.
    fn described(&self) -> String {
        let selected = format!("You selected {}", photos(self.count.count));
        let date = |place: LocalTime| date_of(place.clock());
        match (self.count.oldest.map(date), self.count.newest.map(date)) {
            (Some(oldest), Some(newest)) if oldest != newest => {
                format!("{selected}, taken from {oldest} to {newest}.")
            }
            (Some(day), _) => format!("{selected}, taken on {day}."),
            (None, _) => format!("{selected}."),
        }
    }
}

async fn undo(site: &Site, person: &Person, edit: &EditId, return_to: &ReturnTo) -> Result<Reply, Reply> {
    let undone = undo_edit(site, person, edit).await?;
    Ok(see_other(&format!("{BULK_PATH}?undone={undone}&{RETURN_TO}={}", in_query(return_to))))
}

/// The outcome of a correction, to which the form redirects.
async fn result_page(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let query = Query::parse(parts.uri.query());
    let return_to = ReturnTo::parse(query.get(RETURN_TO));
    let number = |name| query.get(name).and_then(|text| text.parse::<u32>().ok());
    let (title, content) = match (
        query.get(EDIT).and_then(EditId::parse),
        number("changed"),
        number("undone"),
    ) {
        (Some(edit), Some(changed), _) => {
            let mark = query.get(MARK).and_then(Mark::parse);
            let refused = number("refused").filter(|refused| *refused > 0);
            let content = html! {
                p role="status" {
                    (photos(changed))
                    @match mark {
                        Some(mark) => { " " (mark.outcome()) "." }
                        None if changed == 1 => " is corrected.",
                        None => " are corrected.",
                    }
                    @if let Some(refused) = refused {
                        " The time of " (photos(refused)) " stays, because it would lie outside the years 0001 to 9999."
                    }
                }
                form method="post" action=(BULK_PATH) {
                    (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
                    input type="hidden" name=(UNDO) value=(edit);
                    input type="hidden" name=(RETURN_TO) value=(return_to.as_str());
                    button.quiet type="submit" { "Undo" }
                }
            };
            (if mark.is_some() { "Photos changed" } else { "Photos corrected" }, content)
        }
        (_, _, Some(undone)) => {
            let content = html! { p role="status" { "The change of " (photos(undone)) " is undone." } };
            ("Change undone", content)
        }
        // After the form was rejected, the address bar shows its path, so a browser may request the path by GET.
        _ => return Ok(found("/")),
    };
    let content = html! {
        (content)
        p { a href=(return_to.as_str()) { "Back to the photos" } }
    };
    let here = parts.uri.path_and_query().map_or(BULK_PATH, |path| path.as_str());
    Ok(super::frame(title).reply(&person.header(site, here), "card reading", &content))
}
