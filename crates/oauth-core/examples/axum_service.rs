//! An OAuth 2.1 server with sign-in, consent and a protected resource, as an axum service on 127.0.0.1:8090 or the
//! given address. A service in production adds https, a store on a disk, rate limits, real users and its own pages.
use std::{collections::HashMap, error::Error, sync::Arc, time::Duration};

use axum::extract::{Form, FromRef, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Router, routing::get};
use oauth_core::{
    AuthorizationRequest, AuthorizationServer, AuthorizeError, Config, Endpoints, Grant, HttpEndpoints,
    Lifetimes, MemoryStore, ProtectedResource, Resource, SystemRandom, new_id, new_key,
};
use tokio::net::TcpListener;

// There is one user with one session. In production, store password hashes and create a session for each sign-in.
const USER: (&str, &str, &str) = ("1", "ada@example.org", "correct horse");
const SIGN_IN: &str =
    "<form method=post><input name=email><input name=password type=password><button>Sign in";

#[derive(Clone, FromRef)]
struct App {
    server: AuthorizationServer,
    photos: ProtectedResource,
    cookie: Arc<str>,
}

/// The value that identifies the browser of a signed-in user; `None` if the user is not signed in.
fn session<'a>(app: &'a App, headers: &HeaderMap) -> Option<&'a [u8]> {
    let mut cookies = headers.get(header::COOKIE)?.to_str().ok()?.split("; ");
    cookies.any(|cookie| *cookie == *app.cookie).then_some(app.cookie.as_bytes())
}

async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    request: AuthorizationRequest,
) -> Result<Response, AuthorizeError> {
    let form = match session(&app, &headers) {
        Some(session) => app.server.consent_form(session, &request)?,
        None => SIGN_IN.to_owned(),
    };
    let policy = [(header::CONTENT_SECURITY_POLICY, request.content_security_policy())];
    Ok((policy, Html(format!("<!doctype html>{form}"))).into_response())
}

async fn answer(
    State(app): State<App>,
    (headers, RawQuery(query), request): (HeaderMap, RawQuery, AuthorizationRequest),
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let field = |name: &str| form.get(name).map_or("", String::as_str);
    let (user, email, password) = USER;
    if (field("email"), field("password")) == (email, password) {
        let cookie = format!("{}; HttpOnly; SameSite=Lax", app.cookie); // With https, add `Secure`.
        let to_form = Redirect::to(&format!("?{}", query.unwrap_or_default()));
        return ([(header::SET_COOKIE, cookie)], to_form).into_response();
    }
    match session(&app, &headers).and_then(|id| app.server.check_consent_token(id, &request, field("token")))
    {
        None => (StatusCode::FORBIDDEN, "Wrong password, or an expired form. Reload.").into_response(),
        Some(_) if field("answer") != "allow" => app.server.deny(&request).into_response(),
        Some(attempt) => app.server.allow(&request, user, &attempt).await.into_response(),
    }
}

pub async fn run(listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
    let base = format!("http://{}", listener.local_addr()?);
    let resource = Resource::new(&base, "Photos", &["photos"]);
    let config = Config::new(&base, Endpoints::under(&base), vec![resource], Lifetimes::default())?;
    let key = new_key(&SystemRandom::new())?; // In production, store the key.
    let server = AuthorizationServer::builder(config, Arc::new(MemoryStore::new()), &key).build();
    let photos = server.protect(&base).ok_or("no resource")?;
    let cookie = format!("session={}", new_id(&SystemRandom::new())?).into();
    let service = Router::new()
        .route("/", get(async |grant: Grant| format!("the photos of user {}", grant.subject)))
        .route("/authorize", get(show).post(answer))
        .merge(HttpEndpoints::new(server.clone()).router())
        .with_state(App { server: server.clone(), photos, cookie });
    tokio::spawn(async move {
        loop {
            while server.sweep(1000).await.is_ok_and(|deleted| deleted > 0) {}
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
    });
    Ok(axum::serve(listener, service).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    run(TcpListener::bind(std::env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8090")).await?).await
}
