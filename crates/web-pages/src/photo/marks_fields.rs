//! The fields of the marks in the form that changes many photos.

use domain::{Correction, Invalid, Keywords, KeywordsEdit, MarksEdit};
use maud::{Markup, html};

use super::{
    edit_form::Show,
    marks::{listed, rating, stars_text},
};

/// The values of the fields, as typed.
#[derive(Debug, Clone, Default)]
pub(super) struct MarksFields {
    favorite: String,
    rating: String,
    archived: String,
    add: String,
    remove: String,
}

const FAVORITE: &str = "favorite";
const RATING: &str = "rating";
const ARCHIVED: &str = "archived";
const ADD: &str = "add_keywords";
const REMOVE: &str = "remove_keywords";

/// What a field of these names is called.
pub(super) fn label_of(name: &str) -> Option<&'static str> {
    Some(match name {
        FAVORITE => "Favourite",
        RATING => "Rating",
        ARCHIVED => "Archive",
        ADD => "Add keywords",
        REMOVE => "Remove keywords",
        _ => return None,
    })
}

impl MarksFields {
    pub(super) fn read<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        let field = |name| get(name).unwrap_or_default().to_owned();
        Self {
            favorite: field(FAVORITE),
            rating: field(RATING),
            archived: field(ARCHIVED),
            add: field(ADD),
            remove: field(REMOVE),
        }
    }

    /// The new marks.
    ///
    /// # Errors
    /// The first field with an invalid value.
    pub(super) fn edit(&self) -> Result<MarksEdit, Invalid> {
        let keywords = |field, text| listed(text).map_err(|invalid| Invalid { field, ..invalid });
        let (add, remove) = (keywords(ADD, &self.add)?, keywords(REMOVE, &self.remove)?);
        let is_change = add != Keywords::default() || remove != Keywords::default();
        Ok(MarksEdit {
            favorite: flag(FAVORITE, &self.favorite)?,
            rating: if self.rating.is_empty() { Correction::Keep } else { rating(&self.rating)? },
            keywords: if is_change { KeywordsEdit::Change { add, remove } } else { KeywordsEdit::Keep },
            archived: flag(ARCHIVED, &self.archived)?,
        })
    }

    pub(super) fn markup(&self, show: &Show<'_>) -> Markup {
        let stars: Vec<(String, String)> =
            (1..=5).map(|number| (number.to_string(), stars_text(number))).collect();
        let ratings = [("", "No change"), ("0", "No rating")];
        let ratings: Vec<(&str, &str)> =
            ratings.into_iter().chain(stars.iter().map(|(value, text)| (&**value, &**text))).collect();
        let select = |name, chosen, options| Self::select(name, chosen, options);
        html! {
            fieldset {
                legend { "Marks" }
                div.numbers {
                    (select(FAVORITE, &self.favorite, &[("", "No change"), ("yes", "Favourite"), ("no", "Not a favourite")]))
                    (select(RATING, &self.rating, &ratings))
                    (select(ARCHIVED, &self.archived, &[("", "No change"), ("yes", "Archive"), ("no", "Unarchive")]))
                }
                @let hint = Some("Separate keywords with commas.");
                (show.input(ADD, label_of(ADD).unwrap_or_default(), &self.add, "text", hint))
                (show.input(REMOVE, label_of(REMOVE).unwrap_or_default(), &self.remove, "text", None))
            }
        }
    }

    fn select(name: &str, chosen: &str, options: &[(&str, &str)]) -> Markup {
        html! {
            div.field {
                label for=(name) { (label_of(name).unwrap_or_default()) }
                select id=(name) name=(name) {
                    @for (value, text) in options { option value=(value) selected[*value == chosen] { (text) } }
                }
            }
        }
    }
}

fn flag(field: &'static str, value: &str) -> Result<Correction<bool>, Invalid> {
    match value {
        "" => Ok(Correction::Keep),
        "yes" => Ok(Correction::Set(true)),
        "no" => Ok(Correction::Set(false)),
        _ => Err(Invalid::new(field, "must be yes or no")),
    }
}

#[cfg(test)]
mod tests {
    use domain::Rating;

    use super::*;

    fn edit(fields: &[(&str, &'static str)]) -> Result<MarksEdit, Invalid> {
        let get = |name: &str| fields.iter().find(|(field, _)| *field == name).map(|(_, value)| *value);
        MarksFields::read(get).edit()
    }

    #[test]
    fn empty_fields_change_nothing() {
        assert_eq!(edit(&[]), Ok(MarksEdit::default()));
        assert_eq!(
            edit(&[(FAVORITE, ""), (RATING, ""), (ADD, " , "), (REMOVE, "")]),
            Ok(MarksEdit::default())
        );
    }

    #[test]
    fn fields_become_marks() {
        let list = |text| listed(text).unwrap();
        let expected = MarksEdit {
            favorite: Correction::Set(true),
            rating: Correction::Set(Rating::new(3).unwrap()),
            keywords: KeywordsEdit::Change { add: list("sea,sand"), remove: list("snow") },
            archived: Correction::Set(false),
        };
        let all = [(FAVORITE, "yes"), (RATING, "3"), (ARCHIVED, "no"), (ADD, "sea, sand"), (REMOVE, "snow")];
        assert_eq!(edit(&all), Ok(expected));
        assert_eq!(edit(&[(RATING, "0")]).unwrap().rating, Correction::Clear);
    }

    #[test]
    fn invalid_values_name_their_field() {
        for (field, value) in
            [(FAVORITE, "maybe"), (ARCHIVED, "x"), (RATING, "6"), (ADD, "a\u{7}b"), (REMOVE, "a\u{7}b")]
        {
            assert_eq!(edit(&[(field, value)]).unwrap_err().field, field);
        }
    }
}
