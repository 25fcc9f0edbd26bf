//! An OAuth 2.1 server with a protected resource, as an axum service on 127.0.0.1:8090 or the given address.
use std::{collections::HashMap, error::Error, sync::Arc};

use axum::{
    Form, Router,
    extract::{RawQuery, State},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use oauth_core::{
    AuthorizationServer, AuthorizeError, Config, Endpoints, Grant, HttpEndpoints, Lifetimes, MemoryStore,
    Resource, SystemRandom, new_key,
};
use tokio::net::TcpListener;

// Every visitor is user "1" in one session. A real service signs users in and reads the session from its cookie.
const USER: &str = "1";
const SESSION: &[u8] = b"the session of user 1";

async fn show_consent(
    State(server): State<AuthorizationServer>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, AuthorizeError> {
    let request = server.authorize(&query.unwrap_or_default()).await?;
    let (host, token) = (request.redirect_host(), server.consent_token(SESSION, &request)?);
    Ok(Html(format!(
        "<form method=post><input type=hidden name=token value={token}>Give {host} access to your photos?
         <button name=answer value=allow>Allow</button> <button name=answer value=deny>Deny</button></form>"
    )))
}

async fn answer_consent(
    State(server): State<AuthorizationServer>,
    RawQuery(query): RawQuery,
    Form(form): Form<HashMap<String, String>>,
) -> Result<Response, AuthorizeError> {
    let request = server.authorize(&query.unwrap_or_default()).await?;
    let token = form.get("token").map_or("", String::as_str);
    let Some(attempt) = server.check_consent_token(SESSION, &request, token) else {
        return Ok((StatusCode::FORBIDDEN, "This form has expired. Reload the page.").into_response());
    };
    if form.get("answer").is_none_or(|answer| answer != "allow") {
        return Ok(server.deny(&request).into_response());
    }
    Ok(server.allow(&request, USER, &attempt).await.into_response())
}

async fn photos(grant: Grant) -> String {
    format!("the photos of user {}", grant.subject)
}

pub async fn run(listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
    let base = format!("http://{}", listener.local_addr()?);
    let resource = Resource::new(&base, "Photos", &["photos"]);
    let config = Config::new(&base, Endpoints::under(&base), vec![resource], Lifetimes::default())?;
    let key = new_key(&SystemRandom::new())?; // A real service keeps its key.
    let server = AuthorizationServer::builder(config, Arc::new(MemoryStore::new()), &key).build();
    let photos =
        Router::new().route("/", get(photos)).with_state(server.protect(&base).ok_or("no resource")?);
    let endpoints: Router<AuthorizationServer> = HttpEndpoints::new(server.clone()).router();
    let service: Router = Router::new()
        .route("/authorize", get(show_consent).post(answer_consent))
        .merge(endpoints)
        .with_state(server)
        .merge(photos);
    Ok(axum::serve(listener, service).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    run(TcpListener::bind(std::env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8090")).await?).await
}
