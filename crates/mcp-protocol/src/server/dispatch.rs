//! From a message to its answer.

use serde_json::{Map, Value, json};

use super::{MethodCall, Server, ServerResponse, ToolCall, ToolReply, revision};
use crate::headers::MessageHeaders;
use crate::jsonrpc::{
    ErrorObject, INVALID_PARAMS, Incoming, MISSING_REQUIRED_CLIENT_CAPABILITY, Params, ParseFailure,
    RESOURCE_NOT_FOUND, Request, RequestId,
};
use crate::lifecycle::{InitializeParams, InitializeResult};
use crate::resources::{ReadResourceParams, ReadResourceResult};
use crate::tools::InputRequiredResult;
use crate::{
    CallToolParams, CallToolResult, EmptyResult, ListToolsParams, Meta, ProtocolVersion, ResultType, methods,
    request_meta,
};

impl<C: Send + 'static> Server<C> {
    /// Answers one message: `body` as it arrived, with the headers that the protocol gives a meaning.
    pub async fn handle(&self, context: C, headers: &MessageHeaders<'_>, body: &[u8]) -> ServerResponse {
        match Incoming::parse(body) {
            Ok(Incoming::Request(request)) => {
                match revision::of(headers, &request.method, request.params.as_ref()) {
                    Ok(version) => self.request(context, version, request).await,
                    Err(refused) => ServerResponse::refusal(refused.status, Some(request.id), refused.error),
                }
            }
            Ok(Incoming::Notification(notification)) => {
                let params = notification.params.as_ref();
                match revision::check_notification(headers, &notification.method, params) {
                    Ok(()) => ServerResponse::ACCEPTED,
                    Err(refused) => ServerResponse::refusal(refused.status, None, refused.error),
                }
            }
            Ok(Incoming::Response(_)) => unreadable(ParseFailure::unexpected_response()),
            Err(failure) => unreadable(failure),
        }
    }

    async fn request(&self, context: C, version: ProtocolVersion, request: Request) -> ServerResponse {
        let Request { id, method, params } = request;
        let is_legacy = version.is_legacy();
        let has_resources = self.capabilities.resources.is_some();
        let pages = &self.pages;
        match method.as_str() {
            methods::INITIALIZE if is_legacy => match self.initialize(params.as_ref()) {
                Ok(result) => ServerResponse::success(id, result),
                Err(error) => ServerResponse::failure(version, id, error),
            },
            methods::PING if is_legacy => ServerResponse::success(id, EmptyResult::default()),
            methods::DISCOVER if !is_legacy => ServerResponse::written(&id, &pages.discover),
            methods::TOOLS_LIST => one_page(version, id, params, pages.tools.at(version)),
            methods::TOOLS_CALL => self.call_tool(context, version, id, params).await,
            methods::RESOURCES_LIST if has_resources => {
                one_page(version, id, params, pages.resources.at(version))
            }
            methods::RESOURCE_TEMPLATES_LIST if has_resources => {
                one_page(version, id, params, pages.templates.at(version))
            }
            methods::RESOURCES_READ if has_resources => {
                match self.read_resource(context, version, params).await {
                    Ok(result) => ServerResponse::success(id, result),
                    Err(error) => ServerResponse::failure(version, id, error),
                }
            }
            other => self.other(context, version, id, other, params).await,
        }
    }

    fn initialize(&self, params: Option<&Params>) -> Result<InitializeResult, ErrorObject> {
        let params: InitializeParams = Params::read(params)?;
        let version = ProtocolVersion::negotiate(&params.protocol_version);
        let mut result = InitializeResult::new(version, self.capabilities.clone(), self.info.clone());
        result.instructions.clone_from(&self.instructions);
        Ok(result)
    }

    async fn call_tool(
        &self,
        context: C,
        version: ProtocolVersion,
        id: RequestId,
        params: Option<Params>,
    ) -> ServerResponse {
        let params = match CallToolParams::from_params(params.map(without_nulls)) {
            Ok(params) => params,
            Err(error) => return ServerResponse::failure(version, id, error.into()),
        };
        let Some(tool) = self.tools.get(&params.name) else {
            let shown: String = params.name.chars().take(64).collect();
            let error = ErrorObject::invalid_params(format!("unknown tool: {shown}"));
            return ServerResponse::failure(version, id, error);
        };
        let can = capabilities(params.meta.as_ref());
        match (tool.handler)(ToolCall { context, version, params }).await {
            ToolReply::Result(mut result) => {
                if !version.is_legacy() {
                    result.result_type = Some(ResultType::Complete);
                    result.meta = Some(self.described(result.meta));
                }
                ServerResponse::success(id, result)
            }
            ToolReply::InputRequired(_) if version.is_legacy() => {
                let told =
                    "This tool has to ask back, which this client's revision of the protocol does not know.";
                ServerResponse::success(id, CallToolResult::error(told))
            }
            ToolReply::InputRequired(mut asked) => {
                if let Some(error) = unanswerable(&asked, &can) {
                    return ServerResponse::failure(version, id, error);
                }
                asked.meta = Some(self.described(asked.meta));
                ServerResponse::success(id, asked)
            }
            ToolReply::Refused(error) => ServerResponse::failure(version, id, error),
        }
    }

    async fn read_resource(
        &self,
        context: C,
        version: ProtocolVersion,
        params: Option<Params>,
    ) -> Result<ReadResourceResult, ErrorObject> {
        let ReadResourceParams { uri, .. } = Params::read(params.as_ref())?;
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
            result.ttl_ms = Some(self.reading.ttl_ms);
            result.cache_scope = Some(self.reading.scope);
            result.meta = Some(self.described(None));
        }
        Ok(result)
    }

    /// A method that whoever built the server added, or none.
    async fn other(
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
                    members.insert("_meta".to_owned(), self.described(meta).into());
                }
                ServerResponse::success(id, members)
            }
            Err(error) => ServerResponse::failure(version, id, error),
        }
    }

    /// The `_meta` of a result of the modern era.
    fn described(&self, meta: Option<Meta>) -> Meta {
        match meta {
            None => self.result_meta.clone(),
            Some(mut meta) => {
                meta.extend(self.result_meta.clone());
                meta
            }
        }
    }
}

/// The names of what the client says that it can do.
fn capabilities(meta: Option<&Meta>) -> Vec<String> {
    let declared =
        meta.and_then(|meta| meta.get(request_meta::CLIENT_CAPABILITIES)).and_then(Value::as_object);
    declared.into_iter().flat_map(|declared| declared.keys().cloned()).collect()
}

/// The refusal of a client that is asked for what it does not say that it can do.
fn unanswerable(asked: &InputRequiredResult, can: &[String]) -> Option<ErrorObject> {
    let questions = asked.input_requests.iter().flat_map(Map::values);
    let needed = questions.filter_map(|question| match question.get("method")?.as_str()? {
        "elicitation/create" => Some("elicitation"),
        "sampling/createMessage" => Some("sampling"),
        "roots/list" => Some("roots"),
        _ => None,
    });
    let missing: Map<String, Value> = needed
        .filter(|name| !can.iter().any(|known| known == name))
        .map(|name| (name.to_owned(), json!({})))
        .collect();
    (!missing.is_empty()).then(|| {
        ErrorObject::new(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "the tool has to ask for something that this client does not declare",
        )
        .with_data(json!({"requiredCapabilities": missing}))
    })
}

fn unreadable(failure: ParseFailure) -> ServerResponse {
    let error = ErrorObject::new(failure.code(), failure.kind.to_string());
    ServerResponse::refusal(400, failure.id, error)
}

/// Everything stands on one page, so that no cursor was ever given out.
fn one_page(version: ProtocolVersion, id: RequestId, params: Option<Params>, page: &[u8]) -> ServerResponse {
    let params = params.map(without_nulls);
    match Params::read::<ListToolsParams>(params.as_ref()) {
        Ok(params) if params.cursor.as_deref().is_none_or(str::is_empty) => {
            ServerResponse::written(&id, page)
        }
        Ok(_) => {
            let message = "cursor: is not one of this server's; everything is on one page";
            ServerResponse::failure(version, id, ErrorObject::invalid_params(message))
        }
        Err(error) => ServerResponse::failure(version, id, error.into()),
    }
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
