//! Dispatches a message to its method.

use serde_json::{Map, Value, json};

use super::{MethodCall, PromptCall, PromptReply, Server, ServerResponse, ToolCall, ToolReply, revision};
use crate::elicitation::{self, Elicitation};
use crate::headers::MessageHeaders;
use crate::jsonrpc::{
    ErrorObject, HEADER_MISMATCH, INVALID_PARAMS, Incoming, MISSING_REQUIRED_CLIENT_CAPABILITY, Params,
    ParseFailure, RESOURCE_NOT_FOUND, Request, RequestId, is_absent,
};
use crate::lifecycle::{InitializeParams, InitializeResult};
use crate::prompts::{GetPromptParams, PromptArgument};
use crate::resources::{ReadResourceParams, ReadResourceResult};
use crate::tools::InputRequiredResult;
use crate::{
    CallToolParams, CallToolResult, EmptyResult, ListToolsParams, Meta, ProtocolVersion, ResultType, methods,
    request_meta,
};

impl<C: Send + 'static> Server<C> {
    /// Handles one message: the body as received, and the headers that the protocol defines.
    pub async fn handle(&self, context: C, headers: &MessageHeaders<'_>, body: &[u8]) -> ServerResponse {
        match Incoming::parse(body) {
            Ok(Incoming::Request(request)) => {
                match revision::determine(headers, &request.method, request.params.as_ref()) {
                    Ok(version) => self.request(context, version, headers, request).await,
                    Err(rejection) => {
                        ServerResponse::error(rejection.status, Some(request.id), rejection.error)
                    }
                }
            }
            Ok(Incoming::Notification(notification)) => {
                let params = notification.params.as_ref();
                match revision::check_notification(headers, &notification.method, params) {
                    Ok(()) => ServerResponse::ACCEPTED,
                    Err(rejection) => ServerResponse::error(rejection.status, None, rejection.error),
                }
            }
            Ok(Incoming::Response(_)) => malformed(ParseFailure::unexpected_response()),
            Err(failure) => malformed(failure),
        }
    }

    async fn request(
        &self,
        context: C,
        version: ProtocolVersion,
        headers: &MessageHeaders<'_>,
        request: Request,
    ) -> ServerResponse {
        let Request { id, method, params } = request;
        let is_legacy = version.is_legacy();
        let has_prompts = self.capabilities.prompts.is_some();
        let has_resources = self.capabilities.resources.is_some();
        let results = &self.static_results;
        match method.as_str() {
            methods::INITIALIZE if is_legacy => match self.initialize(params) {
                Ok(result) => ServerResponse::success(id, result),
                Err(error) => ServerResponse::failure(version, id, error),
            },
            methods::PING if is_legacy => ServerResponse::success(id, EmptyResult::default()),
            methods::DISCOVER if !is_legacy => ServerResponse::serialised(&id, &results.discover),
            methods::TOOLS_LIST => single_page(version, id, params, results.tools.at(version)),
            methods::TOOLS_CALL => self.call_tool(context, version, headers, id, params).await,
            methods::PROMPTS_LIST if has_prompts => {
                single_page(version, id, params, results.prompts.at(version))
            }
            methods::PROMPTS_GET if has_prompts => self.get_prompt(context, version, id, params).await,
            methods::RESOURCES_LIST if has_resources => {
                single_page(version, id, params, results.resources.at(version))
            }
            methods::RESOURCE_TEMPLATES_LIST if has_resources => {
                single_page(version, id, params, results.templates.at(version))
            }
            methods::RESOURCES_READ if has_resources => {
                match self.read_resource(context, version, params).await {
                    Ok(result) => ServerResponse::success(id, result),
                    Err(error) => ServerResponse::failure(version, id, error),
                }
            }
            other => self.added_method(context, version, id, other, params).await,
        }
    }

    fn initialize(&self, params: Option<Params>) -> Result<InitializeResult, ErrorObject> {
        let params: InitializeParams = Params::read(params.map(without_absent).as_ref())?;
        let version = ProtocolVersion::negotiate(&params.protocol_version);
        let mut result = InitializeResult::new(version, self.capabilities.clone(), self.info.clone());
        result.instructions.clone_from(&self.instructions);
        Ok(result)
    }

    async fn call_tool(
        &self,
        context: C,
        version: ProtocolVersion,
        headers: &MessageHeaders<'_>,
        id: RequestId,
        params: Option<Params>,
    ) -> ServerResponse {
        let params = match CallToolParams::from_params(params.map(without_absent)) {
            Ok(params) => params,
            Err(error) => return ServerResponse::failure(version, id, error.into()),
        };
        let Some(tool) = self.tools.get(&params.name) else {
            let shown: String = params.name.chars().take(64).collect();
            let error = ErrorObject::invalid_params(format!("unknown tool: {shown}"));
            return ServerResponse::failure(version, id, error);
        };
        if let Err(error) = self.check_header_parameters(version, headers, &params) {
            return ServerResponse::failure(version, id, error);
        }
        let declared = request_meta::client_capabilities(params.meta.as_ref()).cloned();
        match (tool.handler)(ToolCall { context, version, params }).await {
            ToolReply::Result(mut result) => {
                if !version.is_legacy() {
                    result.result_type = Some(ResultType::Complete);
                    result.meta = Some(self.with_server_info(result.meta));
                }
                ServerResponse::success(id, result)
            }
            ToolReply::InputRequired(_) if version.is_legacy() => {
                let message = "This tool requires input from the user, which this client's protocol revision does not support.";
                ServerResponse::success(id, CallToolResult::error(message))
            }
            ToolReply::InputRequired(required) => {
                self.input_required(version, id, required, declared.as_ref())
            }
            ToolReply::Refused(error) => ServerResponse::failure(version, id, error),
        }
    }

    async fn get_prompt(
        &self,
        context: C,
        version: ProtocolVersion,
        id: RequestId,
        params: Option<Params>,
    ) -> ServerResponse {
        let params: GetPromptParams = match Params::read(params.map(without_absent).as_ref()) {
            Ok(params) => params,
            Err(error) => return ServerResponse::failure(version, id, error.into()),
        };
        let Some((prompt, handler)) = self.prompts.get(&params.name) else {
            let shown: String = params.name.chars().take(64).collect();
            let error = ErrorObject::invalid_params(format!("unknown prompt: {shown}"));
            return ServerResponse::failure(version, id, error);
        };
        let is_missing = |argument: &&PromptArgument| {
            argument.required == Some(true) && !params.arguments.contains_key(&argument.name)
        };
        if let Some(missing) = prompt.arguments.iter().find(is_missing) {
            let error = ErrorObject::invalid_params(format!("arguments.{}: is required", missing.name));
            return ServerResponse::failure(version, id, error);
        }
        let declared = request_meta::client_capabilities(params.meta.as_ref()).cloned();
        match handler(PromptCall { context, version, params }).await {
            PromptReply::Result(mut result) => {
                if !version.is_legacy() {
                    result.result_type = Some(ResultType::Complete);
                    result.meta = Some(self.with_server_info(result.meta));
                }
                ServerResponse::success(id, result)
            }
            PromptReply::InputRequired(_) if version.is_legacy() => {
                let message =
                    "this prompt requires input from the user, which this protocol revision does not support";
                ServerResponse::failure(version, id, ErrorObject::invalid_params(message))
            }
            PromptReply::InputRequired(required) => {
                self.input_required(version, id, required, declared.as_ref())
            }
            PromptReply::Refused(error) => ServerResponse::failure(version, id, error),
        }
    }

    /// Requests input from a client with these capabilities.
    fn input_required(
        &self,
        version: ProtocolVersion,
        id: RequestId,
        mut required: InputRequiredResult,
        declared: Option<&Map<String, Value>>,
    ) -> ServerResponse {
        if let Some(error) = missing_capabilities(&required, declared) {
            return ServerResponse::failure(version, id, error);
        }
        required.meta = Some(self.with_server_info(required.meta));
        ServerResponse::success(id, required)
    }

    /// Checks that headers repeat the arguments for which the tool declares them.
    fn check_header_parameters(
        &self,
        version: ProtocolVersion,
        headers: &MessageHeaders<'_>,
        params: &CallToolParams,
    ) -> Result<(), ErrorObject> {
        let declared = self.header_parameters.get(&params.name).filter(|_| !version.is_legacy());
        for parameter in declared.into_iter().flatten() {
            let header = &parameter.header;
            if !parameter.matches(headers.parameter(header), &params.arguments) {
                let message = format!("the header {header} differs from the argument that it must repeat");
                return Err(ErrorObject::new(HEADER_MISMATCH, message));
            }
        }
        Ok(())
    }

    async fn read_resource(
        &self,
        context: C,
        version: ProtocolVersion,
        params: Option<Params>,
    ) -> Result<ReadResourceResult, ErrorObject> {
        let ReadResourceParams { uri, .. } = Params::read(params.map(without_absent).as_ref())?;
        let contents = match self.resources.get(&uri) {
            Some(read) => Some(read(context).await),
            None => match self.templates.iter().find_map(|template| template(&context, &uri)) {
                Some(reading) => reading.await,
                None => None,
            },
        };
        let Some(contents) = contents else {
            let code = if version.is_legacy() { RESOURCE_NOT_FOUND } else { INVALID_PARAMS };
            return Err(
                ErrorObject::new(code, "there is no resource with this uri").with_data(json!({"uri": uri}))
            );
        };
        let mut result = ReadResourceResult::new(contents);
        if !version.is_legacy() {
            result.result_type = Some(ResultType::Complete);
            result.ttl_ms = Some(self.resource_caching.ttl_ms);
            result.cache_scope = Some(self.resource_caching.scope);
            result.meta = Some(self.with_server_info(None));
        }
        Ok(result)
    }

    /// Runs a method added by the builder.
    async fn added_method(
        &self,
        context: C,
        version: ProtocolVersion,
        id: RequestId,
        name: &str,
        params: Option<Params>,
    ) -> ServerResponse {
        let Some(method) = self.methods.get(name).filter(|method| method.eras.contain(version)) else {
            return ServerResponse::failure(version, id, ErrorObject::method_not_found(name));
        };
        match (method.handler)(MethodCall { context, version, params }).await {
            Ok(mut members) => {
                if !version.is_legacy() {
                    members.entry("resultType").or_insert_with(|| json!("complete"));
                    let meta = match members.remove("_meta") {
                        Some(Value::Object(meta)) => Some(meta),
                        _ => None,
                    };
                    members.insert("_meta".to_owned(), self.with_server_info(meta).into());
                }
                ServerResponse::success(id, members)
            }
            Err(error) => ServerResponse::failure(version, id, error),
        }
    }

    /// The `_meta` of a result of the modern era, with the server's description.
    fn with_server_info(&self, meta: Option<Meta>) -> Meta {
        match meta {
            None => self.result_meta.clone(),
            Some(mut meta) => {
                meta.extend(self.result_meta.clone());
                meta
            }
        }
    }
}

/// The error for a client that did not declare a capability that the input requires.
fn missing_capabilities(
    required: &InputRequiredResult,
    declared: Option<&Map<String, Value>>,
) -> Option<ErrorObject> {
    let mut missing = Map::new();
    for request in required.input_requests.iter().flat_map(Map::values) {
        let Some((name, needed)) = needed_capability(request) else { continue };
        let is_declared = match Elicitation::of_request(request) {
            Ok(Some(question)) => question.is_supported(declared),
            _ => declared.is_some_and(|declared| declared.contains_key(name)),
        };
        if !is_declared {
            missing.insert(name.to_owned(), needed);
        }
    }
    (!missing.is_empty()).then(|| {
        ErrorObject::new(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this request requires a capability that the client did not declare",
        )
        .with_data(json!({"requiredCapabilities": missing}))
    })
}

/// The capability that a request to the client needs.
fn needed_capability(request: &Value) -> Option<(&'static str, Value)> {
    match request.get("method")?.as_str()? {
        elicitation::CREATE => {
            let is_url = matches!(Elicitation::of_request(request), Ok(Some(Elicitation::Url(_))));
            Some(("elicitation", if is_url { json!({"url": {}}) } else { json!({}) }))
        }
        "sampling/createMessage" => Some(("sampling", json!({}))),
        "roots/list" => Some(("roots", json!({}))),
        _ => None,
    }
}

fn malformed(failure: ParseFailure) -> ServerResponse {
    let error = ErrorObject::new(failure.code(), failure.kind.to_string());
    ServerResponse::error(400, failure.id, error)
}

/// Returns the only page of a list. Any cursor is invalid, because none is ever issued.
fn single_page(
    version: ProtocolVersion,
    id: RequestId,
    params: Option<Params>,
    page: &[u8],
) -> ServerResponse {
    let params = params.map(without_absent);
    match Params::read::<ListToolsParams>(params.as_ref()) {
        Ok(params) if params.cursor.as_deref().is_none_or(str::is_empty) => {
            ServerResponse::serialised(&id, page)
        }
        Ok(_) => {
            let message = "cursor: is not valid; this list has only one page";
            ServerResponse::failure(version, id, ErrorObject::invalid_params(message))
        }
        Err(error) => ServerResponse::failure(version, id, error.into()),
    }
}

/// Removes members with a value that means absent, such as empty `arguments`. No optional parameter of the protocol is an
/// array.
fn without_absent(params: Params) -> Params {
    match params {
        Params::Object(mut members) => {
            members.retain(|_, value| !is_absent(value));
            Params::Object(members)
        }
        Params::Array(_) => params,
    }
}
