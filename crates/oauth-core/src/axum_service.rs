//! A router of the endpoints, and an extractor of checked grants, for axum.

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{FromRef, FromRequestParts, Request},
    response::{IntoResponse, Response},
    routing::any,
};
use http::{StatusCode, request::Parts};

use crate::{
    AccessError, AllowError, AuthorizeError, CodeRedirect, Grant, HttpEndpoints, MAX_BODY_BYTES,
    ProtectedResource, Redirect,
};

impl HttpEndpoints {
    /// A router of all endpoints, to merge into that of the service.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        // Paths are literal.
        let router = Router::new().without_v07_checks();
        self.paths().fold(router, |router, path| {
            let (endpoints, own_path) = (self.clone(), path.to_owned());
            let handler = move |request: Request| {
                let (endpoints, path) = (endpoints.clone(), own_path.clone());
                async move { endpoints.serve(&path, request).await }
            };
            router.route(path, any(handler))
        })
    }

    async fn serve(&self, path: &str, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
            return StatusCode::PAYLOAD_TOO_LARGE.into_response();
        };
        match self.respond_at(path, &parts, &body).await {
            Some(response) => response.map(Body::from),
            None => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

/// The grant that gives a request access to the [`ProtectedResource`] of the router's state.
impl<S> FromRequestParts<S> for Grant
where
    ProtectedResource: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = AccessError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, AccessError> {
        ProtectedResource::from_ref(state).grant_for(&parts.headers).await
    }
}

macro_rules! into_response {
    ($($type:ty),+) => {
        $(impl IntoResponse for $type {
            fn into_response(self) -> Response {
                self.response().map(Body::from)
            }
        })+
    };
}

into_response!(AccessError, AllowError, AuthorizeError, CodeRedirect, Redirect);
