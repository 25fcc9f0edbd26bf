//! An endpoint as a route of axum.

use std::sync::Arc;

use ::axum::body::{Body, to_bytes};
use ::axum::extract::{FromRequestParts, Request, State};
use ::axum::response::{IntoResponse, Response};
use ::axum::routing::{MethodRouter, any};

use super::Endpoint;

impl<C: Send + 'static> Endpoint<C> {
    /// The endpoint as a route for [`Router::route`](axum::Router::route). The context of the tools is an extractor,
    /// which authenticates the request: its rejection is the response, such as 401 with `WWW-Authenticate`. The
    /// extractor does not run for preflight requests. It may use the state of the router. A server without a context
    /// has the extractor `()`.
    ///
    /// ```
    /// use axum::extract::FromRequestParts;
    /// use axum::http::{StatusCode, request::Parts};
    /// use axum::Router;
    /// use mcp_wire::http::Endpoint;
    /// use mcp_wire::lifecycle::Implementation;
    /// use mcp_wire::server::Server;
    ///
    /// struct Caller;
    ///
    /// impl<S: Sync> FromRequestParts<S> for Caller {
    ///     type Rejection = StatusCode;
    ///
    ///     async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
    ///         let token = parts.headers.get("authorization").ok_or(StatusCode::UNAUTHORIZED)?;
    ///         if token == "Bearer secret" { Ok(Self) } else { Err(StatusCode::UNAUTHORIZED) }
    ///     }
    /// }
    ///
    /// let server = Server::<Caller>::builder(Implementation::new("empty", "1.0")).build()?;
    /// let app: Router = Router::new().route("/mcp", Endpoint::new(server).into_route());
    /// # Ok::<(), mcp_wire::RegistryError>(())
    /// ```
    pub fn into_route<S>(self) -> MethodRouter<S>
    where
        C: FromRequestParts<S>,
        S: Clone + Send + Sync + 'static,
    {
        let endpoint = Arc::new(self);
        any(async move |State(state): State<S>, request: Request| endpoint.route(&state, request).await)
    }

    async fn route<S>(&self, state: &S, request: Request) -> Response
    where
        C: FromRequestParts<S>,
        S: Sync,
    {
        let (mut parts, body) = request.into_parts();
        if let Some(response) = self.early_response(&parts) {
            return response.map(Body::from);
        }
        let context = match C::from_request_parts(&mut parts, state).await {
            Ok(context) => context,
            Err(rejection) => return self.with_cors(&parts.headers, rejection.into_response()),
        };
        match to_bytes(body, self.max_body_bytes).await {
            Ok(body) => self.handle(context, &parts, &body).await.map(Body::from),
            // The body is too long, or the connection broke. In the second case nobody reads the response.
            Err(_) => self.with_cors(&parts.headers, self.body_too_large()).map(Body::from),
        }
    }
}
