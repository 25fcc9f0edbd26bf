//! Prompts and the completion of their arguments: methods that `mcp_wire::Server` does not have itself.

use mcp_wire::jsonrpc::{ErrorObject, Params};
use mcp_wire::server::{Eras, ServerBuilder};
use mcp_wire::{ContentBlock, ProtocolVersion};
use serde_json::{Map, Value, json};

use crate::content::{PNG, embedded};
use crate::questions;

/// The completions of a prompt's argument.
const WORDS: [&str; 3] = ["test", "testValue1", "testValue2"];

type Members = Result<Map<String, Value>, ErrorObject>;

pub(crate) fn add(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    builder
        .capability("prompts", json!({}))
        .capability("completions", json!({}))
        .method("prompts/list", Eras::Both, |call| async move { Ok(list(call.version)) })
        .method("prompts/get", Eras::Both, |call| async move { get(call.params.as_ref()) })
        .method("completion/complete", Eras::Both, |call| async move { complete(call.params.as_ref()) })
}

fn list(version: ProtocolVersion) -> Map<String, Value> {
    let argument =
        |name: &str, description: &str| json!({"name": name, "description": description, "required": true});
    let mut members = Map::new();
    members.insert(
        "prompts".to_owned(),
        json!([
            {"name": "test_simple_prompt", "description": "One text."},
            {
                "name": "test_prompt_with_arguments",
                "description": "One text with two words in it.",
                "arguments": [argument("arg1", "The first word."), argument("arg2", "The second word.")],
            },
            {
                "name": "test_prompt_with_embedded_resource",
                "description": "A resource and an instruction.",
                "arguments": [argument("resourceUri", "The URI of the resource.")],
            },
            {"name": "test_prompt_with_image", "description": "An image and an instruction."},
            {"name": questions::PROMPT, "description": "One text that depends on an answer."},
        ]),
    );
    // Legacy revisions do not have these members.
    if !version.is_legacy() {
        members.insert("ttlMs".to_owned(), json!(0));
        members.insert("cacheScope".to_owned(), json!("private"));
    }
    members
}

fn get(params: Option<&Params>) -> Members {
    let params = params.and_then(Params::as_object);
    let name = params.and_then(|params| params.get("name")?.as_str()).unwrap_or_default();
    let argument = |name: &str| {
        let given = params.and_then(|params| params.get("arguments")?.get(name)?.as_str());
        given.ok_or_else(|| ErrorObject::invalid_params(format!("{name}: is required")))
    };
    match name {
        "test_simple_prompt" => messages(vec![ContentBlock::text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            messages(vec![ContentBlock::text(format!(
                "Prompt with arguments: arg1='{first}', arg2='{second}'"
            ))])
        }
        "test_prompt_with_embedded_resource" => messages(vec![
            embedded(argument("resourceUri")?, "text/plain", "Embedded resource content for testing."),
            ContentBlock::text("Please process the embedded resource above."),
        ]),
        "test_prompt_with_image" => messages(vec![
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::text("Please analyze the image above."),
        ]),
        questions::PROMPT => match questions::context_of_prompt(params)? {
            Ok(context) => {
                messages(vec![ContentBlock::text(format!("A prompt in the context of {context}."))])
            }
            Err(asked) => members(&asked),
        },
        _ => Err(ErrorObject::invalid_params("unknown prompt")),
    }
}

/// Messages of the user, one per block.
fn messages(pieces: Vec<ContentBlock>) -> Members {
    let messages: Vec<_> =
        pieces.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    members(&json!({"messages": messages}))
}

fn complete(params: Option<&Params>) -> Members {
    let argument = params.and_then(Params::as_object).and_then(|params| params.get("argument"));
    let Some(begun) = argument.and_then(|argument| argument.get("value")?.as_str()) else {
        return Err(ErrorObject::invalid_params("argument.value: is required"));
    };
    let values: Vec<_> = WORDS.into_iter().filter(|word| word.starts_with(begun)).collect();
    members(&json!({"completion": {"total": values.len(), "values": values, "hasMore": false}}))
}

/// The members of a result that serialises as an object.
fn members(result: &impl serde::Serialize) -> Members {
    match serde_json::to_value(result) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(ErrorObject::internal()),
    }
}
