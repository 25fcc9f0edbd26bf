//! Questions to the user while a tool runs or a prompt is made (from revision 2026-07-28 on).
//!
//! The server stores nothing meanwhile: it returns the questions as an
//! [`InputRequiredResult`](crate::tools::InputRequiredResult), and the client sends the same request again with the answers. A
//! tool therefore runs from its start for each round, and must not change anything before it has all answers.
//!
//! ```
//! use mcp_wire::elicitation::Elicitation;
//! use mcp_wire::server::{ToolCall, ToolReply};
//! use mcp_wire::CallToolResult;
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize)]
//! struct Confirmation {
//!     sure: bool,
//! }
//!
//! /// A tool that asks before it runs.
//! fn delete_everything(call: &ToolCall<()>) -> ToolReply {
//!     let schema = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]});
//!     let question = Elicitation::form("Delete everything?", schema);
//!     match call.elicited("confirm") {
//!         Err(error) => ToolReply::Refused(error.into()),
//!         Ok(None) if !question.is_supported(call.client_capabilities()) => {
//!             CallToolResult::error("This app cannot ask its user, so nothing was deleted.").into()
//!         }
//!         Ok(None) => question.ask("confirm").into(),
//!         Ok(Some(answer)) => match answer.content::<Confirmation>() {
//!             Ok(Some(Confirmation { sure: true })) => CallToolResult::text("Deleted.").into(),
//!             Ok(_) => CallToolResult::text("The user refused.").into(),
//!             Err(error) => ToolReply::Refused(error.into()),
//!         },
//!     }
//! }
//! # let _ = delete_everything;
//! ```

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::tools::InputRequiredResult;
use crate::{ArgumentError, parse_arguments};

/// The method of the request.
pub const CREATE: &str = "elicitation/create";

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Elicitation {
    /// The user opens a URL, for secrets and payments, which must not pass through the client.
    Url(UrlElicitation),
    /// The user fills in a form.
    Form(FormElicitation),
}

/// A form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FormElicitation {
    /// The question.
    pub message: String,
    /// The JSON Schema of the answer: an object whose properties are texts, numbers, booleans or choices.
    pub requested_schema: Value,
}

/// A URL to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UrlElicitation {
    /// Always [`UrlMode::Url`].
    pub mode: UrlMode,
    /// Why the user should open it.
    pub message: String,
    /// The URL.
    pub url: String,
}

/// The mode of a [`UrlElicitation`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UrlMode {
    /// The user opens a URL.
    #[default]
    Url,
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The content of the form, if the user accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<String, Value>>,
}

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Sent the form, or agreed to open the URL.
    Accept,
    /// Refused.
    Decline,
    /// Closed the question without a choice.
    Cancel,
}

impl Elicitation {
    /// A form with this schema.
    pub fn form(message: impl Into<String>, requested_schema: Value) -> Self {
        Self::Form(FormElicitation { message: message.into(), requested_schema })
    }

    /// A URL to open.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(UrlElicitation { mode: UrlMode::Url, message: message.into(), url: url.into() })
    }

    /// Whether a client with these capabilities can ask its user. A client that names no mode supports forms.
    pub fn is_supported(&self, capabilities: Option<&Map<String, Value>>) -> bool {
        let Some(elicitation) = capabilities.and_then(|capabilities| capabilities.get("elicitation")) else {
            return false;
        };
        let names = |mode: &str| elicitation.get(mode).is_some();
        match self {
            Self::Form(_) => names("form") || !names("url"),
            Self::Url(_) => names("url"),
        }
    }

    /// The request, as a member of [`InputRequiredResult::input_requests`].
    pub fn request(&self) -> Value {
        json!({"method": CREATE, "params": self})
    }

    /// Asks only this question. The answer has its name.
    pub fn ask(&self, name: impl Into<String>) -> InputRequiredResult {
        InputRequiredResult::new([(name, self.request())])
    }

    /// The question in a request of an [`InputRequiredResult`]; `None` for a request with another method.
    ///
    /// # Errors
    /// If a parameter is missing or of another type.
    pub fn of_request(request: &Value) -> Result<Option<Self>, ArgumentError> {
        if request.get("method").is_none_or(|method| method != CREATE) {
            return Ok(None);
        }
        let empty = Map::new();
        let params = request.get("params").and_then(Value::as_object).unwrap_or(&empty);
        let is_url = params.get("mode").is_some_and(|mode| mode == "url");
        let question = if is_url {
            parse_arguments(params).map(Self::Url)
        } else {
            parse_arguments(params).map(Self::Form)
        };
        question.map(Some)
    }
}

impl ElicitResult {
    /// The user sent the form with this content.
    pub fn accept(content: Map<String, Value>) -> Self {
        Self { action: ElicitAction::Accept, content: Some(content) }
    }

    /// The user refused, or closed the question.
    pub fn without_content(action: ElicitAction) -> Self {
        Self { action, content: None }
    }

    /// The content of the form; `None` if the user did not accept.
    ///
    /// # Errors
    /// If a member is missing or of another type.
    pub fn content<T: DeserializeOwned>(&self) -> Result<Option<T>, ArgumentError> {
        match (self.action, &self.content) {
            (ElicitAction::Accept, Some(content)) => parse_arguments(content).map(Some),
            (ElicitAction::Accept, None) => parse_arguments(&Map::new()).map(Some),
            (ElicitAction::Decline | ElicitAction::Cancel, _) => Ok(None),
        }
    }
}

/// The answer with this name among the responses of a client.
pub(crate) fn answer(
    responses: Option<&Map<String, Value>>,
    name: &str,
) -> Result<Option<ElicitResult>, ArgumentError> {
    match responses.and_then(|responses| responses.get(name)) {
        None => Ok(None),
        Some(Value::Object(answer)) => {
            let answer = parse_arguments(answer);
            answer.map(Some).map_err(|error| error.within_member(name).within_member("inputResponses"))
        }
        Some(other) => Err(ArgumentError::unexpected(&format!("inputResponses.{name}"), "an object", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, to_value};

    fn capabilities(elicitation: Value) -> Map<String, Value> {
        Map::from_iter([("elicitation".to_owned(), elicitation)])
    }

    #[test]
    fn requests_survive_a_round_trip() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let form = Elicitation::form("Who?", schema.clone());
        let expect =
            json!({"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}});
        assert_eq!(form.request(), expect);
        assert_eq!(form.ask("q").input_requests.unwrap()["q"], expect);
        let url = Elicitation::url("Pay.", "https://pay.example");
        let params = json!({"mode": "url", "message": "Pay.", "url": "https://pay.example"});
        assert_eq!(url.request()["params"], params);
        for question in [form, url] {
            assert_eq!(Elicitation::of_request(&question.request()), Ok(Some(question)));
        }
        let named =
            json!({"method": CREATE, "params": {"mode": "form", "message": "m", "requestedSchema": {}}});
        assert_eq!(Elicitation::of_request(&named), Ok(Some(Elicitation::form("m", json!({})))));
        assert_eq!(Elicitation::of_request(&json!({"method": "roots/list"})), Ok(None));
        for (request, message) in [
            (json!({"method": CREATE}), "message: is required"),
            (json!({"method": CREATE, "params": {"mode": "url", "message": "m"}}), "url: is required"),
        ] {
            assert_eq!(Elicitation::of_request(&request).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_client_that_names_no_mode_supports_forms() {
        let (form, url) = (Elicitation::form("m", json!({})), Elicitation::url("m", "u"));
        for (declared, forms, urls) in [
            (None, false, false),
            (Some(Map::new()), false, false),
            (Some(capabilities(json!({}))), true, false),
            (Some(capabilities(json!({"form": {}}))), true, false),
            (Some(capabilities(json!({"url": {}}))), false, true),
            (Some(capabilities(json!({"form": {}, "url": {}}))), true, true),
        ] {
            let supported = [&form, &url].map(|question| question.is_supported(declared.as_ref()));
            assert_eq!(supported, [forms, urls], "{declared:?}");
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Name {
        name: String,
    }

    #[test]
    fn answers_are_read_as_types() {
        let content = |answer: Value| from_value::<ElicitResult>(answer).unwrap().content::<Name>();
        assert_eq!(
            content(json!({"action": "accept", "content": {"name": "Ada"}})),
            Ok(Some(Name { name: "Ada".into() }))
        );
        assert_eq!(content(json!({"action": "decline"})), Ok(None));
        assert_eq!(content(json!({"action": "cancel", "content": {"name": "Ada"}})), Ok(None));
        for (answer, message) in [
            (json!({"action": "accept"}), "name: is required"),
            (
                json!({"action": "accept", "content": {"name": 7}}),
                "name: expected a string, got the number 7",
            ),
        ] {
            assert_eq!(content(answer).unwrap_err().to_string(), message);
        }
        let declined = ElicitResult::without_content(ElicitAction::Decline);
        assert_eq!(to_value(declined).unwrap(), json!({"action": "decline"}));
    }

    #[test]
    fn answers_have_names() {
        let responses = Map::from_iter([
            ("a".to_owned(), json!({"action": "accept", "content": {}})),
            ("b".to_owned(), json!("yes")),
            ("c".to_owned(), json!({"action": "perhaps"})),
        ]);
        assert_eq!(answer(Some(&responses), "a"), Ok(Some(ElicitResult::accept(Map::new()))));
        assert_eq!(answer(Some(&responses), "none"), Ok(None));
        assert_eq!(answer(None, "a"), Ok(None));
        for (name, message) in
            [("b", "inputResponses.b: expected an object, got "), ("c", "inputResponses.c.action: ")]
        {
            let refused = answer(Some(&responses), name).unwrap_err().to_string();
            assert!(refused.starts_with(message), "{refused}");
        }
    }
}
