//! One JSON-RPC message and its answer.

use http::{HeaderMap, StatusCode};
use library::Caller;
use mcp_protocol::{
    CallToolParams, CallToolResult, ListToolsParams, ListToolsResult,
    jsonrpc::{ErrorObject, Incoming, Params, ParseFailure, Request, RequestId, Response},
    lifecycle::{EmptyResult, InitializeParams, InitializeResult},
    methods,
};
use serde::Serialize;

use super::{
    Resource, Server, lifecycle,
    revision::{self, Refused},
    tools::Calls,
};
use crate::{
    app::Service,
    reply::{Reply, empty, json},
};

/// Answers a body. Errors of a method travel on status 200, as the revisions with `initialize` have it.
pub(super) async fn answer(
    service: &Service,
    resource: Resource,
    caller: &Caller,
    headers: &HeaderMap,
    body: &[u8],
) -> Reply {
    let request = match Incoming::parse(body) {
        Ok(Incoming::Request(request)) => request,
        Ok(Incoming::Notification(notification)) => {
            return match revision::check(headers, &notification.method, notification.params.as_ref()) {
                Ok(()) => empty(StatusCode::ACCEPTED),
                Err(refused) => refusal(None, refused),
            };
        }
        Ok(Incoming::Response(_)) => return not_a_call(ParseFailure::unexpected_response()),
        Err(failure) => return not_a_call(failure),
    };
    if let Err(refused) = revision::check(headers, &request.method, request.params.as_ref()) {
        return refusal(Some(request.id), refused);
    }
    let server = service.mcp.of(resource);
    match request.method.as_str() {
        methods::INITIALIZE => reply(request.id.clone(), initialize(server, &request)),
        methods::PING => reply(request.id, Ok(EmptyResult::default())),
        methods::TOOLS_LIST => reply(request.id.clone(), list_tools(server, &request)),
        methods::TOOLS_CALL => {
            let calls = Calls { service, caller, is_structured: resource.is_structured() };
            reply(request.id, call_tool(server, &calls, request.params).await)
        }
        other => reply::<()>(request.id, Err(ErrorObject::method_not_found(other))),
    }
}

fn reply<R: Serialize>(id: RequestId, outcome: Result<R, ErrorObject>) -> Reply {
    match outcome {
        Ok(result) => json(StatusCode::OK, &Response::success(id, result)),
        Err(error) => json(StatusCode::OK, &Response::failure(Some(id), error)),
    }
}

fn not_a_call(failure: ParseFailure) -> Reply {
    json(StatusCode::BAD_REQUEST, &failure.into_response())
}

fn refusal(id: Option<RequestId>, refused: Refused) -> Reply {
    json(refused.status, &Response::failure(id, refused.error))
}

fn initialize(server: &Server, request: &Request) -> Result<InitializeResult, ErrorObject> {
    let params: InitializeParams = request.params_as()?;
    Ok(lifecycle::initialize(server.resource, &params))
}

/// All tools stand on one page, so that no cursor was ever given out.
fn list_tools<'a>(server: &'a Server, request: &Request) -> Result<&'a ListToolsResult, ErrorObject> {
    let params: ListToolsParams = request.params_as()?;
    match params.cursor.as_deref() {
        None | Some("") => Ok(&server.list),
        Some(_) => {
            Err(ErrorObject::invalid_params("cursor: is not one of this server's; all tools are on one page"))
        }
    }
}

async fn call_tool(
    server: &Server,
    calls: &Calls<'_>,
    params: Option<Params>,
) -> Result<CallToolResult, ErrorObject> {
    let call = CallToolParams::from_params(params.map(without_nulls))?;
    let Some(tool) = server.registry.get(&call.name) else {
        let shown: String = call.name.chars().take(64).collect();
        return Err(ErrorObject::invalid_params(format!("unknown tool: {shown}")));
    };
    Ok(calls.run(*tool.handler, call.arguments).await)
}

/// Some clients write null for what they do not send, such as the arguments of a tool without any.
fn without_nulls(params: Params) -> Params {
    match params {
        Params::Object(mut members) => {
            members.retain(|_, value| !value.is_null());
            Params::Object(members)
        }
        Params::Array(_) => params,
    }
}
