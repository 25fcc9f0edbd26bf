//! Questions to the user, through clients that can ask.

use domain::Album;
use mcp_wire::{elicitation::Elicitation, server::ToolCall};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{calls::ToolContext, tool_error::ToolError};

/// The names of the questions.
const CONFIRM: &str = "confirm";
const ALBUM: &str = "album";

/// A change of more images than this is confirmed by the user.
pub(super) const MAX_UNCONFIRMED: usize = 20;
/// Maximum number of albums to choose from.
const MAX_CHOICES: usize = 25;
/// Maximum length of a new value in a question.
const MAX_VALUE_LENGTH: usize = 120;

/// The details of images that can change, and their names for people.
const DETAILS: [(&str, &str); 9] = [
    ("favorite", "Favourite"),
    ("rating", "Rating"),
    ("keywords", "Keywords"),
    ("archived", "Archived"),
    ("description", "Description"),
    ("capturedAt", "Taken"),
    ("utcOffset", "Offset from UTC"),
    ("latitude", "Latitude"),
    ("longitude", "Longitude"),
];

#[derive(Deserialize)]
struct NoContent {}

#[derive(Deserialize)]
struct ChosenAlbum {
    album: String,
}

/// What is known of an answer.
enum Answer<T> {
    Given(T),
    /// The user has not been asked yet.
    Missing,
    /// The client cannot ask.
    Impossible,
}

/// Whether the user must first be asked about a change of many images. An error if they were asked and declined.
pub(super) fn must_confirm(call: &ToolCall<ToolContext>) -> Result<bool, ToolError> {
    answer::<NoContent>(call, CONFIRM).map(|answer| matches!(answer, Answer::Missing))
}

/// The question whether `count` images shall change as the arguments say. To accept is to agree, so the form has no fields.
pub(super) fn confirmation(count: usize, arguments: &Map<String, Value>) -> ToolError {
    let values: Vec<String> = DETAILS
        .iter()
        .filter_map(|(name, label)| Some(format!("{label}: {}", value_for_people(arguments.get(*name)?))))
        .collect();
    let message =
        format!("Change {count} photos? {}. You can undo this on your account page.", values.join(". "));
    asks(CONFIRM, message, json!({"type": "object", "properties": {}}))
}

fn value_for_people(value: &Value) -> String {
    let text = match value {
        Value::Null => return "as in the file".to_owned(),
        Value::Bool(true) => return "yes".to_owned(),
        Value::Bool(false) => return "no".to_owned(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.is_empty() {
        return "none".to_owned();
    }
    match text.char_indices().nth(MAX_VALUE_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The album that the user chooses among several with one title; `None` if the client cannot ask.
pub(super) fn choose_album(
    call: &ToolCall<ToolContext>,
    albums: &[Album],
) -> Result<Option<Album>, ToolError> {
    match answer::<ChosenAlbum>(call, ALBUM)? {
        Answer::Given(ChosenAlbum { album }) => {
            let chosen = albums.iter().find(|candidate| candidate.id.to_string() == album);
            return chosen.cloned().map(Some).ok_or(ToolError::NoAlbum);
        }
        Answer::Impossible => return Ok(None),
        Answer::Missing => {}
    }
    let choices: Vec<Value> = albums
        .iter()
        .take(MAX_CHOICES)
        .map(|album| {
            let count = match album.image_count {
                1 => "1 photo".to_owned(),
                count => format!("{count} photos"),
            };
            let day = album.created_at.wall(0).date();
            json!({"const": album.id.to_string(), "title": format!("{}, {count}, created on {day}", album.title)})
        })
        .collect();
    let schema = json!({
        "type": "object",
        "properties": {"album": {"type": "string", "title": "Album", "oneOf": choices}},
        "required": ["album"],
    });
    Err(asks(ALBUM, "Several albums have this title. Which one is meant?".to_owned(), schema))
}

fn asks(name: &str, message: String, schema: Value) -> ToolError {
    ToolError::Asks(Box::new(Elicitation::form(message, schema).ask(name)))
}

/// The answer to a question. An error if the user declined to answer.
fn answer<T: DeserializeOwned>(call: &ToolCall<ToolContext>, name: &str) -> Result<Answer<T>, ToolError> {
    match call.elicited(name).map_err(ToolError::BadAnswer)? {
        Some(answer) => match answer.content().map_err(ToolError::BadAnswer)? {
            Some(content) => Ok(Answer::Given(content)),
            None => Err(ToolError::Declined),
        },
        None if Elicitation::form("", Value::Null).is_supported(call.client_capabilities()) => {
            Ok(Answer::Missing)
        }
        None => Ok(Answer::Impossible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photo_change::PhotoChange;

    #[test]
    fn every_detail_that_can_change_is_named() {
        let schema = mcp_wire::schema::input_schema_of::<PhotoChange>();
        let mut names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        let mut named = DETAILS.map(|(name, _)| name.to_owned());
        names.sort();
        named.sort();
        assert_eq!(names, named);
    }

    #[test]
    fn values_are_short_and_in_words() {
        for (value, expected) in [
            (json!(null), "as in the file"),
            (json!(true), "yes"),
            (json!([]), "none"),
            (json!(["sea", "sun"]), "sea, sun"),
            (json!(4), "4"),
            (json!("é".repeat(121)), &format!("{}…", "é".repeat(120))),
        ] {
            assert_eq!(value_for_people(&value), expected);
        }
    }
}
