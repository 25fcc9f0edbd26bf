//! The marks on the page of a photo: favourite, rating, keywords, archived. Each form changes one of them.

use std::net::IpAddr;

use domain::{Correction, Invalid, Keyword, Keywords, KeywordsEdit, Marks, MarksEdit, PhotoEdit, Rating};
use http::request::Parts;
use http_server::{
    body::RequestBody,
    reply::{Reply, see_other},
};
use library::{EditError, Lookup, NewEdit};
use maud::{Markup, html};

use super::{
    EDIT, Opened, Purpose, no_photo, submission,
    view::{self, Done, Request},
};
use crate::{
    Site,
    forms::{Form, csrf_field, datalist},
    layout::Icon,
    marks::Mark,
    messages, search,
    session::Person,
};

/// The heart, which adds a photo to the favourites or removes it.
pub(super) fn favorite(site: &Site, person: &Person, opened: &Opened, is_favorite: bool) -> Markup {
    html! {
        form method="post" action=(opened.action("marks")) {
            (token(site, person))
            button #favorite .heart type="submit" name="mark" value=(Mark::favorite(!is_favorite).name())
                aria-label="Favourite" aria-pressed=(is_favorite.to_string()) title="Favourite" { (Icon::Heart.markup()) }
        }
    }
}

/// The forms of a photo that has these marks, without the heart and the keywords. `of_file` is what the file says about them.
pub(super) fn forms(
    site: &Site,
    person: &Person,
    opened: &Opened,
    marks: &Marks,
    of_file: &Markup,
) -> Markup {
    let action = opened.action("marks");
    let token = token(site, person);
    let archive = Mark::archived(!marks.archived);
    html! {
        div.marks {
            form method="post" action=(action) {
                (token)
                (stars(marks.rating))
            }
            form.archive method="post" action=(action) {
                (token)
                button #archive .quiet type="submit" name="mark" value=(archive.name()) { (archive.label()) }
            }
            (of_file)
        }
    }
}

fn token(site: &Site, person: &Person) -> Markup {
    csrf_field(&site.forms, &person.token_parts(Purpose::Marks.name()))
}

/// `1 star`, `2 stars`.
pub(super) fn stars_text(number: u8) -> String {
    if number == 1 { "1 star".to_owned() } else { format!("{number} stars") }
}

fn stars(rating: Option<Rating>) -> Markup {
    let present = rating.map_or(0, Rating::stars);
    html! {
        div.stars role="group" aria-label="Rating" {
            @for number in 1..=5_u8 {
                // The present rating is cleared by choosing it again.
                @let value = if number == present { 0 } else { number };
                @let label = stars_text(number);
                button .plain.on[number <= present] id={ "rating-" (number) } type="submit" name="rating" value=(value)
                    aria-label=(label) aria-pressed=((number == present).to_string()) title=(label) { (star()) }
            }
            @if rating.is_some() {
                button #rating-0 .plain.close type="submit" name="rating" value="0" aria-label="No rating" title="No rating" {}
            }
        }
    }
}

/// The keywords of a photo. `known` are keywords of the person.
pub(super) fn keywords(
    site: &Site,
    person: &Person,
    opened: &Opened,
    keywords: &Keywords,
    known: &[String],
) -> Markup {
    let action = opened.action("marks");
    let token = token(site, person);
    html! {
        div.keywords {
            @if !keywords.is_empty() {
                form method="post" action=(action) {
                    (token)
                    ul.chips {
                        @for (index, keyword) in keywords.iter().enumerate() {
                            li {
                                a href=(search::with_keyword(keyword)) { (keyword.as_str()) }
                                button.plain.close id={ "remove-" (index) } type="submit" name="remove" value=(keyword.as_str())
                                    aria-label={ "Remove the keyword " (keyword.as_str()) } {}
                            }
                        }
                    }
                }
            }
            form.inline method="post" action=(action) {
                (token)
                input #add type="text" name="add" list="keywords" required maxlength="1000" autocomplete="off"
                    aria-label="Keywords to add" placeholder="Separate with commas";
                (datalist("keywords", known))
                button.quiet type="submit" aria-label="Add keywords" { "Add" }
            }
        }
    }
}

/// Keywords that are separated by commas.
///
/// # Errors
/// [`Invalid`] naming `keywords`.
pub(super) fn listed(text: &str) -> Result<Keywords, Invalid> {
    Keywords::parse(text.split(',').map(str::trim).filter(|keyword| !keyword.is_empty()))
}

/// A rating in a form; 0 is none.
///
/// # Errors
/// [`Invalid`] naming `rating`.
pub(super) fn rating(text: &str) -> Result<Correction<Rating>, Invalid> {
    match text.parse() {
        Ok(0) => Ok(Correction::Clear),
        Ok(stars) => Rating::new(stars).map(Correction::Set),
        Err(_) => Err(Invalid::new("rating", "must be a whole number from 0 to 5")),
    }
}

/// The change that a form asks for.
fn change(form: &Form, present: &Marks) -> Result<(PhotoEdit, Done), Invalid> {
    let with = |marks, done| (PhotoEdit { marks, ..PhotoEdit::default() }, done);
    let with_keywords = |add, remove| {
        let keywords = KeywordsEdit::Change { add, remove };
        with(MarksEdit { keywords, ..MarksEdit::default() }, Done::Keywords)
    };
    if let Some(mark) = form.get("mark") {
        let mark = Mark::parse(mark).ok_or_else(|| Invalid::new("mark", "is unknown"))?;
        Ok((mark.edit(), Done::Marked(mark)))
    } else if let Some(stars) = form.get("rating") {
        Ok(with(MarksEdit { rating: rating(stars)?, ..MarksEdit::default() }, Done::Rated))
    } else if let Some(keyword) = form.get("remove") {
        Ok(with_keywords(Keywords::default(), Keywords::parse([keyword])?))
    } else {
        let add = listed(form.get("add").unwrap_or_default())?;
        // The catalogue leaves out keywords beyond the maximum without an error.
        Keywords::parse(present.keywords.iter().chain(add.iter()).map(Keyword::as_str))?;
        Ok(with_keywords(add, Keywords::default()))
    }
}

/// `POST /photos/{id}/marks`.
pub(super) async fn submit(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    opened: &Opened,
) -> Result<Reply, Reply> {
    let (person, form) = submission(site, parts, body, address, Purpose::Marks, &opened.page()).await?;
    let caller = person.caller();
    let catalogue = &site.library.catalogue;
    let found = catalogue.photo_edits(&caller, &opened.id).await;
    let Lookup::Found((values, _)) = found.map_err(|error| messages::unavailable(&error))? else {
        return Err(no_photo());
    };
    let (change, done) = match change(&form, &values.marks) {
        Ok(change) => change,
        Err(invalid) => return refused(site, &person, opened, invalid).await,
    };
    let id = catalogue.new_edit_id().map_err(|error| messages::unavailable(&error))?;
    let edit = NewEdit::by_person(id.clone());
    let changed = match catalogue.edit_images(&caller, vec![opened.id.clone()], edit, change, false).await {
        Ok(Lookup::Found(changed)) => !changed.is_empty(),
        Ok(Lookup::Foreign | Lookup::Missing) => return Err(no_photo()),
        Err(EditError::Invalid(invalid)) => return refused(site, &person, opened, invalid).await,
        Err(EditError::Unavailable(error)) => return Err(messages::unavailable(&error)),
    };
    let done = if changed { done } else { Done::Unchanged };
    Ok(see_other(&opened.page_with(&[("done", done.name()), (EDIT, id.as_str())])))
}

/// The page of the photo with what is wrong with a form.
async fn refused(site: &Site, person: &Person, opened: &Opened, invalid: Invalid) -> Result<Reply, Reply> {
    let request = Request { invalid: Some(invalid), ..Request::default() };
    view::page(site, person, opened, &request).await
}

fn star() -> Markup {
    let outline = "m12 3.2 2.7 5.6 6.1.8-4.5 4.3 1.1 6.1-5.4-3-5.4 3 1.1-6.1-4.5-4.3 6.1-.8Z";
    html! { svg viewBox="0 0 24 24" aria-hidden="true" { path d=(outline); } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_separated_by_commas() {
        let texts = |text: &str| listed(text).map(Keywords::into_texts);
        assert_eq!(texts(" sea, Sand,,sea , ").unwrap(), ["sea", "Sand"]);
        assert_eq!(texts("").unwrap(), [""; 0]);
        assert_eq!(texts(&"x".repeat(101)).unwrap_err().field, "keywords");
    }

    #[test]
    fn a_rating_has_up_to_five_stars() {
        assert_eq!(rating("0"), Ok(Correction::Clear));
        assert_eq!(rating("5"), Ok(Correction::Set(Rating::new(5).unwrap())));
        for bad in ["", "6", "-1", "3.5", "x", "256"] {
            assert_eq!(rating(bad).unwrap_err().field, "rating", "{bad}");
        }
    }
}
