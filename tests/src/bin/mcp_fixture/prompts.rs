//! Prompts, and the completion of their arguments: a method that `mcp_wire::Server` does not have itself.

use mcp_wire::jsonrpc::{ErrorObject, Params};
use mcp_wire::prompts::{GetPromptParams, GetPromptResult, PromptMessage};
use mcp_wire::server::{BoxFuture, Eras, PromptCall, PromptReply, ServerBuilder};
use mcp_wire::{ContentBlock, Prompt, PromptArgument};
use serde_json::{Map, Value, json};

use crate::content::{PNG, embedded};
use crate::questions;

/// The completions of a prompt's argument.
const WORDS: [&str; 3] = ["test", "testValue1", "testValue2"];

/// Makes the content of a prompt's messages.
type Pieces = fn(&GetPromptParams) -> Vec<ContentBlock>;

pub(crate) fn add(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    let prompts: [(Prompt, Pieces); 4] = [
        (Prompt::new("test_simple_prompt", "One text."), |_| {
            vec![ContentBlock::text("This is a simple prompt for testing.")]
        }),
        (
            Prompt::new("test_prompt_with_arguments", "One text with two words in it.")
                .with_argument(PromptArgument::required("arg1", "The first word."))
                .with_argument(PromptArgument::required("arg2", "The second word.")),
            |params| {
                let (first, second) = (argument(params, "arg1"), argument(params, "arg2"));
                let text = format!("Prompt with arguments: arg1='{first}', arg2='{second}'");
                vec![ContentBlock::text(text)]
            },
        ),
        (
            Prompt::new("test_prompt_with_embedded_resource", "A resource and an instruction.")
                .with_argument(PromptArgument::required("resourceUri", "The URI of the resource.")),
            |params| {
                let uri = argument(params, "resourceUri");
                vec![
                    embedded(uri, "text/plain", "Embedded resource content for testing."),
                    ContentBlock::text("Please process the embedded resource above."),
                ]
            },
        ),
        (Prompt::new("test_prompt_with_image", "An image and an instruction."), |_| {
            vec![ContentBlock::image(PNG, "image/png"), ContentBlock::text("Please analyze the image above.")]
        }),
    ];
    let builder = prompts.into_iter().fold(builder, |builder, (prompt, pieces)| {
        builder.prompt(prompt, move |call| reply(messages(pieces(&call.params))))
    });
    builder
        .prompt(Prompt::new(questions::PROMPT, "One text that depends on an answer."), |call| {
            reply(in_context(&call))
        })
        .capability("completions", json!({}))
        .method("completion/complete", Eras::Both, |call| async move { complete(call.params.as_ref()) })
}

fn reply(reply: impl Into<PromptReply>) -> BoxFuture<PromptReply> {
    Box::pin(std::future::ready(reply.into()))
}

fn in_context(call: &PromptCall<()>) -> PromptReply {
    match questions::context_of_prompt(&call.params) {
        Ok(Ok(context)) => {
            messages(vec![ContentBlock::text(format!("A prompt in the context of {context}."))]).into()
        }
        Ok(Err(asked)) => asked.into(),
        Err(error) => error.into(),
    }
}

fn argument<'a>(params: &'a GetPromptParams, name: &str) -> &'a str {
    params.arguments.get(name).map(String::as_str).unwrap_or_default()
}

/// Messages of the user, one per block.
fn messages(pieces: Vec<ContentBlock>) -> GetPromptResult {
    GetPromptResult::new(pieces.into_iter().map(PromptMessage::user).collect())
}

fn complete(params: Option<&Params>) -> Result<Map<String, Value>, ErrorObject> {
    let argument = params.and_then(Params::as_object).and_then(|params| params.get("argument"));
    let Some(begun) = argument.and_then(|argument| argument.get("value")?.as_str()) else {
        return Err(ErrorObject::invalid_params("argument.value: is required"));
    };
    let values: Vec<_> = WORDS.into_iter().filter(|word| word.starts_with(begun)).collect();
    let completion = json!({"total": values.len(), "values": values, "hasMore": false});
    Ok(Map::from_iter([("completion".to_owned(), completion)]))
}
