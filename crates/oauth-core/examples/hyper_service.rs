//! An OAuth 2.1 server with a protected resource, as a plain hyper service on 127.0.0.1:8090 or the given address. It
//! shows how requests reach the library. See `axum_service.rs` for sign-in and the sweep.
use std::{error::Error, sync::Arc};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use oauth_core::{
    AuthorizationRequest, AuthorizationServer, Config, Endpoints, HttpEndpoints, Lifetimes, MAX_BODY_BYTES,
    MemoryStore, ProtectedResource, Resource, SystemRandom, new_key,
};
use tokio::net::TcpListener;

type Failure = Box<dyn Error + Send + Sync>;

// Every visitor is user "1" in one session. A real service signs users in and reads the session from its cookie.
const USER: &str = "1";
const SESSION: &[u8] = b"the session of user 1";

fn page(status: u16, policy: &str, html: &str) -> Result<Response<Bytes>, Failure> {
    let page = Response::builder().status(status).header("content-type", "text/html; charset=utf-8");
    Ok(page.header("content-security-policy", policy).body(html.to_owned().into())?)
}

async fn answer(
    server: &AuthorizationServer,
    request: &AuthorizationRequest,
    form: &str,
) -> Result<Response<Bytes>, Failure> {
    let field = |name: &str| form.split('&').find_map(|pair| pair.strip_prefix(name));
    let token = field("token=").unwrap_or_default();
    Ok(match server.check_consent_token(SESSION, request, token) {
        None => page(403, "default-src 'none'", "This form has expired. Reload the page.")?,
        Some(_) if field("answer=") != Some("allow") => server.deny(request).response(),
        Some(attempt) => match server.allow(request, USER, &attempt).await {
            Ok(redirect) => redirect.response(),
            Err(error) => error.response(),
        },
    })
}

async fn serve(
    (server, endpoints, photos): (AuthorizationServer, HttpEndpoints, ProtectedResource),
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Failure> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY_BYTES).collect().await?.to_bytes();
    let response = match (endpoints.respond(&head, &body).await, head.uri.path()) {
        (Some(response), _) => response,
        (None, "/authorize") => match server.authorize(head.uri.query().unwrap_or_default()).await {
            Err(error) => error.response(),
            Ok(request) if head.method == Method::POST => {
                answer(&server, &request, std::str::from_utf8(&body)?).await?
            }
            Ok(request) => match server.consent_form(SESSION, &request) {
                Ok(form) => page(200, &request.content_security_policy(), &form)?,
                Err(error) => error.response(),
            },
        },
        (None, "/") => match photos.grant_for(&head.headers).await {
            Ok(grant) => page(200, "default-src 'none'", &format!("the photos of user {}", grant.subject))?,
            Err(error) => error.response(),
        },
        _ => page(404, "default-src 'none'", "There is nothing here.")?,
    };
    Ok(response.map(Full::new))
}

pub async fn run(listener: TcpListener) -> Result<(), Failure> {
    let base = format!("http://{}", listener.local_addr()?);
    let resource = Resource::new(&base, "Photos", &["photos"]);
    let config = Config::new(&base, Endpoints::under(&base), vec![resource], Lifetimes::default())?;
    let key = new_key(&SystemRandom::new())?; // A real service stores its key.
    let server = AuthorizationServer::builder(config, Arc::new(MemoryStore::new()), &key).build();
    let photos = server.protect(&base).ok_or("no resource")?;
    let state = (server.clone(), HttpEndpoints::new(server), photos);
    loop {
        let (stream, state) = (listener.accept().await?.0, state.clone());
        let service = service_fn(move |request| serve(state.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(hyper_util::rt::TokioIo::new(stream), service));
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    run(TcpListener::bind(std::env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8090")).await?).await
}
