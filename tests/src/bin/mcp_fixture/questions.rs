//! Tools and a prompt that require input from the client: they return requests, and the client repeats the call with the
//! responses. The server stores nothing in between: the client returns a signed state.

use std::sync::Arc;

use keys::{FormSigner, Secret};
use mcp_wire::jsonrpc::{ErrorObject, MISSING_REQUIRED_CLIENT_CAPABILITY};
use mcp_wire::prompts::GetPromptParams;
use mcp_wire::server::{ServerBuilder, ToolCall, ToolReply};
use mcp_wire::tools::InputRequiredResult;
use mcp_wire::{CallToolResult, request_meta};
use serde_json::{Map, Value, json};

use crate::content::{done, simple};

pub(crate) const PROMPT: &str = "test_input_required_result_prompt";

type Object = Map<String, Value>;

/// The outcome of one round.
type Outcome = Result<ToolReply, ErrorObject>;

/// Handles one round of a tool.
type Run = fn(&Round<'_>) -> Outcome;

const TOOLS: [(&str, &str, Run); 9] = [
    ("test_input_required_result_elicitation", "Asks the user for a name.", greet),
    ("test_streaming_elicitation", "Asks the user for a name.", greet),
    ("test_input_required_result_sampling", "Asks the model for a capital.", capital),
    ("test_input_required_result_list_roots", "Asks the client for its roots.", roots),
    ("test_input_required_result_request_state", "Asks the user to confirm.", confirm),
    ("test_input_required_result_tampered_state", "Asks the user to confirm.", confirm),
    ("test_input_required_result_multiple_inputs", "Asks for three things at once.", three_at_once),
    ("test_input_required_result_multi_round", "Asks for two things, one after the other.", one_by_one),
    ("test_input_required_result_capabilities", "Asks only for what the client supports.", supported_inputs),
];

pub(crate) fn add(builder: ServerBuilder<()>, secret: &Secret) -> ServerBuilder<()> {
    let signer = Arc::new(FormSigner::new(secret));
    TOOLS.into_iter().fold(builder, |builder, (name, description, run)| {
        let signer = signer.clone();
        builder.tool(simple(name, description), move |call: ToolCall<()>| {
            let round = Round {
                name,
                answers: call.params.input_responses.as_ref(),
                state: call.params.request_state.as_deref(),
                capabilities: call.client_capabilities(),
                signer: &signer,
            };
            done(run(&round).unwrap_or_else(ToolReply::Refused))
        })
    })
}

/// One call: the first, or a repetition with responses.
struct Round<'a> {
    /// The tool.
    name: &'a str,
    answers: Option<&'a Object>,
    state: Option<&'a str>,
    capabilities: Option<&'a Object>,
    signer: &'a FormSigner,
}

/// A request to the client, and its name.
type Question = (&'static str, Value);

impl Round<'_> {
    /// The response to a question, if there is one.
    fn answer(&self, question: &str) -> Result<Option<&Object>, ErrorObject> {
        answer(self.answers, question)
    }

    /// The user's input in the only field.
    fn filled_in(&self, question: &str, field: &str) -> Result<Option<&Value>, ErrorObject> {
        Ok(self.answer(question)?.and_then(|answer| accepted(answer, field)))
    }

    /// The verified state that the client returned, if there is one.
    fn state(&self) -> Result<Option<&str>, ErrorObject> {
        let Some(sealed) = self.state else { return Ok(None) };
        let opened = sealed.split_once('.').filter(|(state, signature)| {
            self.signer.verify(&[self.name.as_bytes(), state.as_bytes()], signature)
        });
        match opened {
            Some((state, _)) => Ok(Some(state)),
            None => Err(ErrorObject::invalid_params("requestState: was not issued by this tool")),
        }
    }

    fn ask(&self, questions: Vec<Question>) -> Outcome {
        ask(self.capabilities, questions).map(ToolReply::from)
    }

    /// Requests inputs. The client returns the state together with the responses.
    fn ask_with_state(&self, questions: Vec<Question>, state: &str) -> Outcome {
        let signature = self.signer.sign(&[self.name.as_bytes(), state.as_bytes()]);
        let asked = ask(self.capabilities, questions)?;
        Ok(asked.with_request_state(format!("{state}.{signature}")).into())
    }
}

fn text(text: impl Into<String>) -> Outcome {
    Ok(CallToolResult::text(text).into())
}

fn greet(round: &Round<'_>) -> Outcome {
    match round.filled_in("user_name", "name")? {
        Some(name) => text(format!("Hello, {}!", name.as_str().unwrap_or("nobody"))),
        None => round.ask(vec![("user_name", form("What is your name?", "name", "string"))]),
    }
}

fn capital(round: &Round<'_>) -> Outcome {
    match round.answer("capital_question")? {
        Some(said) => text(format!("The model said: {}", said.get("content").unwrap_or(&Value::Null))),
        None => round.ask(vec![("capital_question", sampling("What is the capital of France?"))]),
    }
}

fn roots(round: &Round<'_>) -> Outcome {
    match round.answer("client_roots")? {
        Some(given) => text(format!("The client has: {}", given.get("roots").unwrap_or(&Value::Null))),
        None => round.ask(vec![("client_roots", list_roots())]),
    }
}

fn confirm(round: &Round<'_>) -> Outcome {
    match (round.state()?, round.filled_in("confirm", "ok")?) {
        (Some(_), Some(answer)) => text(format!("Confirmed: {answer}")),
        _ => round.ask_with_state(vec![("confirm", form("Please confirm", "ok", "boolean"))], "asked"),
    }
}

fn three_at_once(round: &Round<'_>) -> Outcome {
    let answers = (
        round.state()?,
        round.filled_in("user_name", "name")?,
        round.answer("greeting")?,
        round.answer("client_roots")?,
    );
    if let (Some(_), Some(name), Some(_), Some(_)) = answers {
        return text(format!("Received all inputs of {name}."));
    }
    let questions = vec![
        ("user_name", form("What is your name?", "name", "string")),
        ("greeting", sampling("Generate a greeting")),
        ("client_roots", list_roots()),
    ];
    round.ask_with_state(questions, "asked")
}

fn one_by_one(round: &Round<'_>) -> Outcome {
    let (state, name) = (round.state()?, round.filled_in("step1", "name")?);
    match (state, name, round.filled_in("step2", "color")?) {
        (Some("second"), _, Some(color)) => text(format!("The favourite colour is {color}.")),
        (Some("second"), _, None) | (Some("first"), Some(_), _) => {
            let question = form("Step 2: What is your favourite colour?", "color", "string");
            round.ask_with_state(vec![("step2", question)], "second")
        }
        _ => round
            .ask_with_state(vec![("step1", form("Step 1: What is your name?", "name", "string"))], "first"),
    }
}

/// Requests only inputs that the client supports.
fn supported_inputs(round: &Round<'_>) -> Outcome {
    if round.answers.is_some() {
        return text("Done.");
    }
    let mut questions = vec![
        ("user_name", form("What is your name?", "name", "string")),
        ("greeting", sampling("Generate a greeting")),
        ("client_roots", list_roots()),
    ];
    questions.retain(|(_, request)| can(round.capabilities, request));
    if questions.is_empty() { text("The client supports no input.") } else { round.ask(questions) }
}

/// The context that the user entered for the prompt, or the request for it.
pub(crate) fn context_of_prompt(
    params: &GetPromptParams,
) -> Result<Result<&str, InputRequiredResult>, ErrorObject> {
    let given = answer(params.input_responses.as_ref(), "user_context")?
        .and_then(|answer| accepted(answer, "context"));
    if let Some(context) = given.and_then(Value::as_str) {
        return Ok(Ok(context));
    }
    let capabilities =
        params.meta.as_ref().and_then(|meta| meta.get(request_meta::CLIENT_CAPABILITIES)?.as_object());
    let question = form("What context should the prompt use?", "context", "string");
    ask(capabilities, vec![("user_context", question)]).map(Err)
}

fn answer<'a>(answers: Option<&'a Object>, question: &str) -> Result<Option<&'a Object>, ErrorObject> {
    match answers.and_then(|answers| answers.get(question)) {
        None => Ok(None),
        Some(Value::Object(answer)) => Ok(Some(answer)),
        Some(_) => Err(ErrorObject::invalid_params(format!("inputResponses.{question}: must be an object"))),
    }
}

/// The user's input, unless they declined.
fn accepted<'a>(answer: &'a Object, field: &str) -> Option<&'a Value> {
    (answer.get("action")? == "accept").then(|| answer.get("content")?.get(field)).flatten()
}

/// Returns the questions, or an error if the client lacks a capability for one.
fn ask(capabilities: Option<&Object>, questions: Vec<Question>) -> Result<InputRequiredResult, ErrorObject> {
    let missing: Object = questions
        .iter()
        .filter(|(_, request)| !can(capabilities, request))
        .map(|(_, request)| (capability(request).to_owned(), json!({})))
        .collect();
    if !missing.is_empty() {
        let message = "the client lacks a required capability";
        return Err(ErrorObject::new(MISSING_REQUIRED_CLIENT_CAPABILITY, message)
            .with_data(json!({"requiredCapabilities": missing})));
    }
    Ok(InputRequiredResult::new(questions))
}

fn can(capabilities: Option<&Object>, request: &Value) -> bool {
    capabilities.is_some_and(|capabilities| capabilities.contains_key(capability(request)))
}

/// The client capability for a request: the first part of the method's name.
fn capability(request: &Value) -> &str {
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    method.split('/').next().unwrap_or_default()
}

/// A form with one field for the user.
fn form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

/// A question to the client's model.
fn sampling(question: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": question}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

fn list_roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}
