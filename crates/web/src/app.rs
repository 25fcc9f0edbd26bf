use std::{
    any::Any,
    convert::Infallible,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header, request::Parts};
use hyper::body::Incoming;
use keys::{Secret, UrlSigner};
use library::Library;
use tower::{ServiceBuilder, ServiceExt as _, service_fn, util::BoxCloneSyncService};
use tower_http::cors::{AllowHeaders, Any as AnyOrigin, CorsLayer};

use crate::{
    WebConfig, account,
    body::RequestBody,
    client_address::client_address,
    health, images_api,
    links::Links,
    local_access, mcp,
    oauth::{self, Authorization},
    pages,
    reply::{Reply, WithHeader as _, error, method_not_allowed},
    sign_in, signed_images,
};

/// What every surface works with.
pub(crate) struct Service {
    pub(crate) library: Library,
    pub(crate) signer: UrlSigner,
    pub(crate) config: WebConfig,
    pub(crate) images_api: images_api::Router,
    pub(crate) mcp: mcp::Servers,
    pub(crate) authorization: Authorization,
    proxy_is_told: AtomicBool,
}

impl Service {
    /// The writer of URLs for this moment.
    pub(crate) fn links(&self) -> Links<'_> {
        Links::new(&self.config.base_url, &self.signer, self.library.clock().now())
    }
}

/// The tables of paths or tools contradict themselves: a defect of this crate.
#[derive(Debug, thiserror::Error)]
#[error("the service cannot be built: {0}")]
pub struct BuildError(pub(crate) String);

/// A request with the address that it came from.
pub(crate) type PeerRequest = (SocketAddr, Request<Incoming>);
type Stack = BoxCloneSyncService<Request<Incoming>, Reply, Infallible>;

/// The whole HTTP surface, ready to [`serve`](crate::serve). Clones share it.
#[derive(Clone)]
pub struct App {
    pub(crate) service: Arc<Service>,
    with_cors: Stack,
    without_cors: Stack,
}

impl App {
    /// Builds the surface of a library. What is signed is signed with keys that are
    /// derived from `secret`.
    ///
    /// # Errors
    /// [`BuildError`], which a test of this crate rules out.
    pub fn new(library: Library, secret: &Secret, config: WebConfig) -> Result<Self, BuildError> {
        let service = Arc::new(Service {
            authorization: Authorization::new(&library, secret, &config)?,
            library,
            signer: UrlSigner::new(secret),
            images_api: images_api::Router::new()?,
            mcp: mcp::Servers::new(&config.base_url)?,
            config,
            proxy_is_told: AtomicBool::new(false),
        });
        let inner = service.clone();
        let dispatched = service_fn(move |request: Request<Incoming>| {
            let service = inner.clone();
            async move {
                let reply = AssertUnwindSafe(dispatch(&service, request)).catch_unwind().await;
                Ok::<_, Infallible>(reply.unwrap_or_else(|cause| panicked(cause.as_ref())))
            }
        });
        let with_cors = ServiceBuilder::new().layer(cors()).service(dispatched.clone());
        Ok(Self {
            service,
            with_cors: BoxCloneSyncService::new(with_cors),
            without_cors: BoxCloneSyncService::new(dispatched),
        })
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, (peer, mut request): PeerRequest) -> Reply {
        let started = Instant::now();
        let method = request.method().clone();
        // The query is left out: it can hold a signature.
        let path = request.uri().path().to_owned();
        let client = client_address(peer, request.headers(), &self.service.config.trusted_proxies);
        self.warn_of_proxy(peer, request.headers());
        request.extensions_mut().insert(ClientAddress(client));
        // No answer is to be taken for another type than it says.
        let reply = self.routed(request).await;
        let reply = reply.with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let (status, elapsed_us) = (reply.status().as_u16(), started.elapsed().as_micros());
        if reply.status().is_server_error() {
            tracing::warn!(%client, %method, path, status, elapsed_us, "request failed");
        } else {
            tracing::debug!(%client, %method, path, status, elapsed_us, "request");
        }
        reply
    }

    /// Says once that a proxy is not trusted: then all who come through it count as one, and lock each other out.
    fn warn_of_proxy(&self, peer: SocketAddr, headers: &HeaderMap) {
        let is_forwarded = ["forwarded", "x-forwarded-for"].iter().any(|name| headers.contains_key(*name));
        if is_forwarded
            && self.service.config.trusted_proxies.is_empty()
            && !self.service.proxy_is_told.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                proxy = %peer.ip(),
                "a request says that it was forwarded; if a reverse proxy of yours did that, name it by --trusted-proxy"
            );
        }
    }

    async fn routed(&self, request: Request<Incoming>) -> Reply {
        let base_url = &self.service.config.base_url;
        if !local_access::is_allowed(base_url, request.uri(), request.headers()) {
            return local_access::refusal(base_url, request.headers());
        }
        if !is_for_programs(request.uri().path()) {
            let wants_page = pages::wants_page(&request);
            let reply = self.for_people(request).await;
            return if wants_page { pages::page_for_error(reply) } else { reply };
        }
        // The layer takes every OPTIONS for a preflight.
        if request.method() == Method::OPTIONS && !is_preflight(&request) {
            let Ok(reply) = self.without_cors.clone().oneshot(request).await;
            return reply.with(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        let Ok(reply) = self.with_cors.clone().oneshot(request).await;
        reply
    }
}

impl App {
    /// Answers a page or a form. What a form began goes on to its end when the browser leaves: a password that was
    /// changed is also written down as such.
    async fn for_people(&self, request: Request<Incoming>) -> Reply {
        let is_form = request.method() == Method::POST;
        let answering = self.without_cors.clone().oneshot(request);
        if !is_form {
            let Ok(reply) = answering.await;
            return reply;
        }
        match tokio::spawn(answering).await {
            Ok(Ok(reply)) => reply,
            Err(error) => panicked(&error.to_string()),
        }
    }
}

/// The address that a request counts as coming from.
#[derive(Debug, Clone, Copy)]
struct ClientAddress(IpAddr);

/// Whether a browser asks beforehand (Fetch standard, "CORS-preflight request"). Any other OPTIONS is a method like
/// the rest.
fn is_preflight(request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Programs in browsers of any origin may call these; they read no cookie.
fn is_for_programs(path: &str) -> bool {
    let is_for_people = path == "/api/oauth/authorize";
    (path.starts_with("/api/") && !is_for_people) || path.starts_with("/i/") || oauth::is_discovery(path)
}

fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AnyOrigin)
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::DELETE])
        // Mirrored, because the wildcard does not cover `Authorization`.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            header::WWW_AUTHENTICATE,
            header::ETAG,
            header::CONTENT_RANGE,
            header::ACCEPT_RANGES,
            header::CONTENT_LENGTH,
            header::RETRY_AFTER,
            header::ALLOW,
            HeaderName::from_static("mcp-session-id"),
        ])
        .max_age(std::time::Duration::from_secs(3600))
}

fn panicked(cause: &(dyn Any + Send)) -> Reply {
    let cause = cause.downcast_ref::<&str>().copied().or(cause.downcast_ref::<String>().map(String::as_str));
    tracing::error!(cause, "a request handler panicked");
    error(StatusCode::INTERNAL_SERVER_ERROR, "the service failed; retry later")
}

async fn dispatch(service: &Arc<Service>, request: Request<Incoming>) -> Reply {
    let (parts, incoming) = request.into_parts();
    let body = RequestBody::new(&parts, incoming, service.config.limits.body_timeout);
    let address =
        parts.extensions.get::<ClientAddress>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |at| at.0);
    let path = parts.uri.path();
    match path {
        _ if path.starts_with("/i/") => signed_images::handle(service, &parts).await,
        _ if path == images_api::PREFIX || path.starts_with(images_api::PREFIX_SLASH) => {
            images_api::handle(service, &parts, body).await
        }
        _ if path.starts_with(mcp::PREFIX) => mcp::handle(service, &parts, body, address).await,
        _ if path.starts_with(oauth::PREFIX) => oauth::handle(service, &parts, body, address).await,
        _ if oauth::is_discovery(path) => oauth::discover(service, &parts),
        "/healthz" => reading(&parts, async { health::alive() }).await,
        "/readyz" => reading(&parts, health::ready(&service.library)).await,
        "/" => reading(&parts, sign_in::start(service, &parts.headers)).await,
        account::PATH => account::handle(service, &parts, body, address).await,
        "/setup" => sign_in::set_up(service, &parts, body, address).await,
        "/sign-in" => sign_in::sign_in_page(service, &parts, body, address).await,
        "/sign-out" => sign_in::sign_out(service, &parts, body, address).await,
        _ if path.starts_with(account::PREFIX) => account::handle(service, &parts, body, address).await,
        _ => error(StatusCode::NOT_FOUND, "there is nothing at this path"),
    }
}

/// Serves what can only be read.
async fn reading(parts: &Parts, reply: impl Future<Output = Reply>) -> Reply {
    match parts.method {
        Method::GET | Method::HEAD => reply.await,
        _ => method_not_allowed("GET, HEAD"),
    }
}
