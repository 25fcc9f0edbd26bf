//! What a request says about selected photos.

use std::collections::HashMap;

use domain::{Invalid, LocalRange, LocalTime, Selection, Timestamp};
use serde::Deserialize;
use url::form_urlencoded;

use crate::forms::{CSRF, FormError};

/// A selection and what to do with it, as sent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Input {
    pub(crate) token: String,
    pub(crate) action: String,
    pub(crate) ids: Vec<String>,
    /// The places of the first and the last photo in the timeline, as [`LocalTime::millis`] gives them.
    pub(crate) ranges: Vec<(f64, f64)>,
    pub(crate) except: Vec<String>,
    pub(crate) album: Option<String>,
    pub(crate) title: Option<String>,
    /// The time of the deletion that is undone.
    pub(crate) at: Option<i64>,
    /// The change of marks that is undone.
    pub(crate) edit: Option<String>,
    /// The page that shows the form.
    #[serde(skip)]
    pub(crate) return_to: Option<String>,
    /// Whether the person has confirmed the action.
    #[serde(skip)]
    pub(crate) is_confirmed: bool,
    /// The other fields of a form.
    #[serde(skip)]
    others: HashMap<String, String>,
}

impl Input {
    /// Reads a form, in which `image`, `range` and `except` may be repeated.
    pub(crate) fn from_form(bytes: &[u8]) -> Result<Self, FormError> {
        let mut input = Self::default();
        let mut single: HashMap<String, String> = HashMap::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            match &*name {
                "image" => input.ids.push(value.into_owned()),
                "except" => input.except.push(value.into_owned()),
                "range" => input.ranges.push(parse_range(&value).ok_or(FormError::NotAForm)?),
                _ => {
                    if single.insert(name.into_owned(), value.into_owned()).is_some() {
                        return Err(FormError::Repeated);
                    }
                }
            }
        }
        let mut take = |name: &str| single.remove(name);
        input.token = take(CSRF).unwrap_or_default();
        input.action = take("action").unwrap_or_default();
        input.album = take("album").filter(|album| !album.is_empty());
        input.title = take("title").filter(|title| !title.trim().is_empty());
        input.return_to = take("return_to");
        input.is_confirmed = take("confirmed").is_some();
        input.others = single;
        Ok(input)
    }

    /// A field of a form besides those of a selection.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.others.get(name).map(String::as_str)
    }

    /// The selection.
    ///
    /// # Errors
    /// [`Invalid`] naming the field.
    pub(crate) fn selection(&self) -> Result<Selection, Invalid> {
        let place = |millis| {
            LocalTime::from_script(millis)
                .ok_or_else(|| Invalid::new("ranges", "must lie in the years 0001 to 9999"))
        };
        let ranges = self
            .ranges
            .iter()
            .map(|(first, last)| Ok(LocalRange::between(place(*first)?, place(*last)?)))
            .collect::<Result<_, Invalid>>()?;
        Selection::new(self.ids.clone(), ranges, self.except.clone())
    }

    /// The time of the deletion that is undone.
    ///
    /// # Errors
    /// [`Invalid`] naming `at`.
    pub(crate) fn deleted_at(&self) -> Result<Option<Timestamp>, Invalid> {
        let moment =
            |ms| Timestamp::from_millis(ms).ok_or_else(|| Invalid::new("at", "is not a time of a deletion"));
        self.at.map(moment).transpose()
    }
}

/// Parses `FROM:TO`, two places in the timeline.
fn parse_range(text: &str) -> Option<(f64, f64)> {
    let (first, last) = text.split_once(':')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_repeats_photos_and_ranges() {
        let form = b"csrf=t&action=delete&image=a&image=b&range=-5%3A9&range=1:2&except=c&title=+&album=&return_to=%2F";
        let input = Input::from_form(form).unwrap();
        assert_eq!((&*input.token, &*input.action), ("t", "delete"));
        assert_eq!(
            (input.ids.clone(), input.ranges.clone()),
            (vec!["a".into(), "b".into()], vec![(-5.0, 9.0), (1.0, 2.0)])
        );
        assert_eq!((input.album.clone(), input.title.clone()), (None, None));
        assert!(!input.is_confirmed && input.selection().is_ok());
        assert_eq!(Input::from_form(b"action=a&action=b"), Err(FormError::Repeated));
        assert_eq!(Input::from_form(b"range=5"), Err(FormError::NotAForm));
    }

    #[test]
    fn invalid_times_are_reported() {
        let input = Input { ranges: vec![(-1e15, 1.0)], at: Some(i64::MAX), ..Input::default() };
        assert_eq!(input.selection().unwrap_err().field, "ranges");
        assert_eq!(input.deleted_at().unwrap_err().field, "at");
        assert_eq!(Input::default().selection().unwrap_err().field, "ids");
    }
}
