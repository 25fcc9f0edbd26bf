use std::{
    any::Any,
    convert::Infallible,
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::FutureExt as _;
use http::{Extensions, HeaderMap, HeaderValue, Method, Request, StatusCode, Version, header};
use http_body_util::BodyExt as _;
use http_server::{
    HttpLimits, ServeOptions, UploadSlots,
    body::RequestBody,
    client_address, is_from_trusted_proxy,
    local_access::{self, AllowedOrigins},
    prefers_html,
    reply::{Reply, WithHeader as _, internal_error, is_compressible},
    response_body::ResponseBody,
};
use hyper::body::Incoming;
use keys::Secret;
use library::{Library, network_prefix, subscriber_prefix};
use tokio::net::TcpListener;
use tower::{ServiceBuilder, ServiceExt as _, service_fn, util::BoxCloneSyncService};
use tower_http::compression::{CompressionBody, CompressionLayer};
use tracing::Instrument as _;
use web_api::Api;
use web_auth::{Authorization, AuthorizationOptions, BuildError};
use web_pages::{ErrorPages, Site};
use web_sync::Sync;

use crate::{
    WebConfig, cors,
    metrics::{Metrics, method_name},
    request_id::{REQUEST_ID, RequestIds},
    traces::{record_response, request_span},
};

type Service = BoxCloneSyncService<Request<Incoming>, Reply, Infallible>;

/// The whole HTTP interface, ready to [`serve`]. Clones share it.
#[derive(Clone)]
pub struct App(Arc<Services>);

struct Services {
    state: Arc<State>,
    library: Library,
    metrics: Metrics,
    request_ids: RequestIds,
    strict_transport_security: Option<HeaderValue>,
    preflight: Service,
    with_compression: Service,
}

struct State {
    api: Arc<Api>,
    site: Site,
    sync: Arc<Sync>,
    config: WebConfig,
    has_warned_of_proxy: AtomicBool,
}

/// The address of the client of a request.
#[derive(Debug, Clone, Copy)]
struct ClientAddress(IpAddr);

impl App {
    /// The HTTP interface of a library. URLs, forms and tokens are signed with keys derived from `secret`.
    ///
    /// # Errors
    /// [`BuildError`], which tests rule out.
    pub fn new(library: Library, secret: &Secret, config: WebConfig) -> Result<Self, BuildError> {
        let options = AuthorizationOptions {
            base_url: config.base_url.clone(),
            limits: config.oauth_limits,
            client_documents: config.client_documents.clone(),
            links: config.links.clone(),
        };
        let authorization = Arc::new(Authorization::new(&library, secret, &options)?);
        let api = Api::new(
            library.clone(),
            secret,
            options.base_url.clone(),
            authorization.clone(),
            config.openai_challenge.clone(),
        )?;
        let slots = UploadSlots::new(&config.limits);
        let sync = Sync::new(library.clone(), options.base_url.clone(), authorization.clone(), slots.clone());
        let site = Site::new(library.clone(), secret, options.base_url, authorization, slots);
        let has_warned_of_proxy = AtomicBool::new(false);
        let strict_transport_security = strict_transport_security(&config);
        let state =
            Arc::new(State { api: Arc::new(api), site, sync: Arc::new(sync), config, has_warned_of_proxy });
        let inner = state.clone();
        let handler = service_fn(move |request: Request<Incoming>| {
            let state = inner.clone();
            async move { Ok::<_, Infallible>(state.handle_safely(request).await) }
        });
        let preflight = ServiceBuilder::new().layer(cors::preflights()).service(handler.clone());
        let with_compression = ServiceBuilder::new()
            .map_response(|reply: http::Response<_>| reply.map(boxed))
            .layer(CompressionLayer::new().compress_when(is_marked))
            .service(handler);
        Ok(Self(Arc::new(Services {
            state,
            library,
            metrics: Metrics::new()?,
            request_ids: RequestIds::new(),
            strict_transport_security,
            preflight: BoxCloneSyncService::new(preflight),
            with_compression: BoxCloneSyncService::new(with_compression),
        })))
    }
}

impl App {
    /// Sets the metric of the time when the TLS certificate in use expires, in seconds since 1970.
    pub fn certificate_ends(&self, unix_s: i64) {
        self.0.metrics.certificate_ends(unix_s);
    }

    pub(crate) fn base_url(&self) -> &str {
        self.0.state.config.base_url.as_str()
    }

    pub(crate) fn limits(&self) -> HttpLimits {
        self.0.state.config.limits
    }

    pub(crate) fn library(&self) -> &Library {
        &self.0.library
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }
}

impl Services {
    /// Handles one request. The response and all log lines about it carry its request ID.
    async fn handle(&self, peer: SocketAddr, request: Request<Incoming>) -> Reply {
        let is_trusted = is_from_trusted_proxy(peer, &self.state.config.trusted_proxies);
        let id = self.request_ids.of(request.headers(), is_trusted);
        let caller = is_trusted.then(|| request.headers());
        let span = request_span(&request, &self.metrics, &id, caller);
        let reply = self.handle_logged(peer, request).instrument(span.clone()).await;
        record_response(&span, reply.status());
        reply.with(REQUEST_ID, id)
    }

    async fn handle_logged(&self, peer: SocketAddr, mut request: Request<Incoming>) -> Reply {
        let in_progress = self.metrics.begin();
        let method = request.method().clone();
        // Paths and queries may contain tokens and names of photos, so the log has only the name of the route.
        let route = self.metrics.route(request.uri().path());
        let config = &self.state.config;
        let client = client_address(peer, request.headers(), &config.trusted_proxies);
        self.state.warn_of_proxy(peer, request.headers());
        request.extensions_mut().insert(ClientAddress(client));
        let reply = self.route(request).await;
        // Browsers must not guess another content type.
        let mut reply = reply.with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(value) = &self.strict_transport_security {
            reply = reply.with(header::STRICT_TRANSPORT_SECURITY, value.clone());
        }
        let (status, elapsed_us) = (reply.status().as_u16(), in_progress.elapsed().as_micros());
        let method = method_name(&method);
        in_progress.answered(route, method, reply.status());
        if reply.status().is_server_error() {
            tracing::warn!(%client, method, route, status, elapsed_us, "request failed");
        } else {
            tracing::debug!(%client, method, route, status, elapsed_us, "request");
        }
        reply
    }

    async fn route(&self, request: Request<Incoming>) -> Reply {
        let base_url = &self.state.config.base_url;
        let path = request.uri().path();
        let origins = match path {
            path if web_api::is_discovery(path) => AllowedOrigins::Any,
            // The photo app runs in a sandboxed frame, from which browsers load images with `Origin: null`.
            path if web_api::is_signed_image(path) => AllowedOrigins::LoopbackAndNull,
            _ => AllowedOrigins::Loopback,
        };
        if !local_access::is_allowed(base_url, request.uri(), request.headers(), origins) {
            return if prefers_html(request.headers()) {
                web_pages::other_address(base_url, request.headers())
            } else {
                local_access::forbidden(base_url)
            };
        }
        if web_api::is_api_path(path) {
            return self.handle_api(request).await;
        }
        if web_sync::is_sync_request(request.method(), path) {
            let reply = self.state.handle_safely(request).await;
            // Sync apps give up a file after status 500.
            return if reply.status() == StatusCode::INTERNAL_SERVER_ERROR {
                web_sync::unavailable()
            } else {
                reply
            };
        }
        let is_for_programs = web_api::is_health_check(path);
        let error_pages = if is_for_programs { None } else { ErrorPages::of(base_url, request.headers()) };
        let reply = self.handle_page(request).await;
        match error_pages {
            Some(pages) => pages.page_for(reply),
            None => reply,
        }
    }

    /// Handles a request to an interface for programs, which browsers of any origin may call.
    async fn handle_api(&self, request: Request<Incoming>) -> Reply {
        // The CORS layer takes every OPTIONS request for a preflight.
        if cors::is_preflight(&request) {
            let Ok(reply) = self.preflight.clone().oneshot(request).await;
            return reply;
        }
        cors::readable(self.state.handle_safely(request).await)
    }

    /// Handles a request to a page. A form runs to its end even if the browser disconnects, so that a changed password is
    /// also logged.
    async fn handle_page(&self, request: Request<Incoming>) -> Reply {
        let is_form = request.method() == Method::POST;
        let reply = self.with_compression.clone().oneshot(request);
        if !is_form {
            let Ok(reply) = reply.await;
            return reply;
        }
        match tokio::spawn(reply.in_current_span()).await {
            Ok(Ok(reply)) => reply,
            Err(error) => panicked(&error.to_string()),
        }
    }
}

impl State {
    /// As [`handle`](Self::handle); a panic becomes a reply.
    async fn handle_safely(&self, request: Request<Incoming>) -> Reply {
        let reply = AssertUnwindSafe(self.handle(request)).catch_unwind().await;
        reply.unwrap_or_else(|cause| panicked(cause.as_ref()))
    }

    async fn handle(&self, request: Request<Incoming>) -> Reply {
        let (parts, incoming) = request.into_parts();
        let body = RequestBody::new(&parts, incoming, &self.config.limits);
        let client = parts.extensions.get::<ClientAddress>();
        let address = client.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |client| client.0);
        let path = parts.uri.path();
        if web_api::is_api_path(path) || web_api::is_health_check(path) {
            web_api::handle(&self.api, &parts, body, address).await
        } else if web_sync::is_sync_request(&parts.method, path) {
            web_sync::handle(&self.sync, &parts, body, address).await
        } else {
            web_pages::handle(&self.site, &parts, body, address).await
        }
    }

    /// Warns once of a proxy that is not trusted: all its clients share one rate limit and can lock each other out.
    fn warn_of_proxy(&self, peer: SocketAddr, headers: &HeaderMap) {
        let is_forwarded = ["forwarded", "x-forwarded-for"].iter().any(|name| headers.contains_key(*name));
        if is_forwarded
            && self.config.trusted_proxies.is_empty()
            && !self.has_warned_of_proxy.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                proxy = %peer.ip(),
                "a request was forwarded by an unknown proxy; if it is your reverse proxy, add --trusted-proxy"
            );
        }
    }
}

/// Serves until `shutdown` is ready, then lets running requests finish for as long as the limits allow.
///
/// # Errors
/// The listener's address cannot be read.
pub async fn serve(
    app: App,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let config = &app.0.state.config;
    let options = ServeOptions {
        limits: config.limits,
        trusted_proxies: config.trusted_proxies.clone(),
        client_of: subscriber_prefix,
        network_of: network_prefix,
        tls: config.tls.clone(),
    };
    let handler = move |peer, request| {
        let services = app.0.clone();
        async move { services.handle(peer, request).await }
    };
    http_server::serve(handler, options, listener, shutdown).await
}

/// Whether a reply is compressed if the client accepts that.
fn is_marked(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    is_compressible(extensions)
}

fn boxed(body: CompressionBody<ResponseBody>) -> ResponseBody {
    body.boxed_unsync()
}

/// The header that makes browsers use https for this host (RFC 6797). It has no effect over http.
fn strict_transport_security(config: &WebConfig) -> Option<HeaderValue> {
    let value = || HeaderValue::try_from(format!("max-age={}", config.hsts_max_age_s)).ok();
    config.base_url.is_https().then(value).flatten()
}

fn panicked(cause: &(dyn Any + Send)) -> Reply {
    let cause = cause.downcast_ref::<&str>().copied().or(cause.downcast_ref::<String>().map(String::as_str));
    tracing::error!(cause, "a request handler panicked");
    internal_error()
}
