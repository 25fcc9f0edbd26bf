//! A router of the endpoints, and extractors of authorization requests and checked grants, for axum.

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{FromRef, FromRequestParts, Request},
    response::{IntoResponse, Response},
    routing::any,
};
use http::{StatusCode, request::Parts};

use crate::{
    AccessError, AllowError, AuthorizationRequest, AuthorizationServer, AuthorizeError, CodeRedirect, Grant,
    HttpEndpoints, MAX_BODY_BYTES, ProtectedResource, Redirect,
};

impl HttpEndpoints {
    /// A router of all endpoints, to merge into the router of the service. It refuses bodies that are longer than
    /// [`MAX_BODY_BYTES`].
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        // The configured paths are literal, even if a segment begins with `:` or `*` as in axum 0.7.
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
        // Any error is reported as a long body. If the connection broke, nobody reads the response.
        let response = match to_bytes(body, MAX_BODY_BYTES).await {
            Ok(body) => self.respond_at(path, &parts, &body).await,
            Err(_) => self.body_too_long(path),
        };
        match response {
            Some(response) => response.map(Body::from),
            None => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

/// The authorization request in the query, checked by the [`AuthorizationServer`] of the router's state; see
/// [`AuthorizationServer::authorize`]. A state that contains more than the server implements [`FromRef`], by hand or by
/// `axum::extract::FromRef` (axum's feature `macros`):
///
/// ```
/// use axum::{Router, extract::FromRef, routing::get};
/// use oauth_core::{AuthorizationRequest, AuthorizationServer, Grant, ProtectedResource};
///
/// #[derive(Clone, FromRef)]
/// struct App {
///     server: AuthorizationServer,
///     photos: ProtectedResource,
/// }
///
/// async fn consent(request: AuthorizationRequest) -> String {
///     format!("Sign in to connect {}", request.redirect_host())
/// }
///
/// async fn photos(grant: Grant) -> String {
///     format!("the photos of user {}", grant.subject)
/// }
///
/// fn service(app: App) -> Router {
///     Router::new().route("/authorize", get(consent)).route("/photos", get(photos)).with_state(app)
/// }
/// ```
impl<S> FromRequestParts<S> for AuthorizationRequest
where
    AuthorizationServer: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = AuthorizeError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, AuthorizeError> {
        AuthorizationServer::from_ref(state).authorize(parts.uri.query().unwrap_or_default()).await
    }
}

/// The grant that gives a request access to the [`ProtectedResource`] of the router's state. The grant has at least one
/// scope of the resource. If the scopes of the resource allow different things, the handler calls
/// [`ProtectedResource::require`].
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
