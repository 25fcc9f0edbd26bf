//! Chooses an image and a search word for the curl lines.

use serde::Deserialize;

use crate::http::{self, HttpError};

/// Upper bound on search words to try.
const MAX_TRIES: usize = 20;

/// An image of the library and a word to search for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Preview {
    pub(super) image_id: String,
    pub(super) word: String,
}

#[derive(Debug, Default, Deserialize)]
struct List {
    results: Vec<Image>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Image {
    id: String,
    text: Option<String>,
    description: Option<String>,
    place: Option<String>,
    file_name: Option<String>,
}

/// The newest image and a word with search results; `None` if the library is empty.
pub(super) fn find(port: u16, key: &str) -> Result<Option<Preview>, HttpError> {
    let images = list(port, key, "/api/ext/v2/images?limit=100")?;
    let Some(newest) = images.first() else { return Ok(None) };
    let words = candidates(&images);
    let mut word = words.first().cloned().unwrap_or_else(|| "photo".to_owned());
    for tried in words.into_iter().take(MAX_TRIES) {
        if !list(port, key, &format!("/api/ext/v2/search?query={tried}&limit=1"))?.is_empty() {
            word = tried;
            break;
        }
    }
    Ok(Some(Preview { image_id: newest.id.clone(), word }))
}

fn list(port: u16, key: &str, path: &str) -> Result<Vec<Image>, HttpError> {
    let response = http::get(port, path, Some(key))?;
    // An error response counts as an empty list; the curl lines show the error.
    Ok(serde_json::from_str::<List>(&response.body).unwrap_or_default().results)
}

/// Words of the images, best first: text in the picture, description, place, file name.
fn candidates(images: &[Image]) -> Vec<String> {
    let fields: [fn(&Image) -> &Option<String>; 4] =
        [|image| &image.text, |image| &image.description, |image| &image.place, |image| &image.file_name];
    let mut words = Vec::new();
    for text in fields.iter().flat_map(|field| images.iter().filter_map(|image| field(image).as_deref())) {
        for word in text.split(|char: char| !char.is_alphanumeric()) {
            if is_pasteable(word) && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
    }
    words
}

/// Whether a word needs no quoting in a URL or a shell, and has at least four letters.
fn is_pasteable(word: &str) -> bool {
    word.len() >= 4 && word.chars().all(|char| char.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_picture_come_before_its_place_and_name() {
        let images = serde_json::from_str::<List>(
            r#"{"results":[
                {"id":"a","fileName":"IMG_1.jpg","place":"Lisbon, Portugal","text":null,"description":null},
                {"id":"b","fileName":"harbour.jpg","place":"Lisbon, Portugal","text":"Café 24 open","description":null}
            ]}"#,
        )
        .unwrap()
        .results;
        assert_eq!(candidates(&images), ["open", "Lisbon", "Portugal", "harbour"]);
    }

    #[test]
    fn only_ascii_words_of_four_letters_are_used() {
        for (word, expect) in
            [("harbour", true), ("sea", false), ("Zürich", false), ("2024", false), ("", false)]
        {
            assert_eq!(is_pasteable(word), expect, "{word:?}");
        }
    }
}
