//! An OAuth 2.1 server with a protected resource, as a plain hyper service on <http://127.0.0.1:8090>.
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response, body::Bytes, body::Incoming, server::conn::http1, service::service_fn};
use oauth_core::*;
use ring::hmac;
use std::{error::Error, sync::Arc};
use tokio::net::TcpListener;
const BASE: &str = "http://127.0.0.1:8090";
type Failure = Box<dyn Error + Send + Sync>;
type Reply = Result<Response<Full<Bytes>>, Failure>;

fn reply(status: u16, header: (&str, &str), body: impl Into<Bytes>) -> Reply {
    let reply = Response::builder().status(status).header("cache-control", "no-store");
    Ok(reply.header(header.0, header.1).body(Full::new(body.into()))?)
}

fn json(status: u16, body: &impl serde::Serialize) -> Reply {
    reply(status, ("content-type", "application/json"), serde_json::to_vec(body)?)
}

async fn serve(server: AuthorizationServer, key: hmac::Key, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, 512_000).collect().await?.to_bytes();
    let query = head.uri.query().unwrap_or_default();
    let authorization = head.headers.get("authorization").and_then(|value| value.to_str().ok());
    match (head.method.as_str(), head.uri.path()) {
        ("GET", "/.well-known/oauth-authorization-server") => json(200, &server.server_metadata()),
        ("GET", "/.well-known/oauth-protected-resource") => json(200, &server.resource_metadata(BASE)),
        ("POST", "/register") => match server.register(&body).await {
            Ok(registration) => json(201, &registration),
            Err(error) => json(error.status(), &error.body()),
        },
        // Every visitor is user "1". A real service signs users in and protects the form against forgery.
        ("GET" | "POST", "/authorize") => match (server.authorize(query).await, head.method.as_str()) {
            (Ok(_), "GET") => reply(200, ("content-type", "text/html"), "<form method=post><button>Allow"),
            (Ok(request), _) => {
                let code = hmac::sign(&key, query.as_bytes()).as_ref().try_into()?;
                reply(303, ("location", &server.allow(&request, "1", &code).await?.to), "")
            }
            (Err(AuthorizeError::Redirect(redirect)), _) => reply(303, ("location", &redirect.to), ""),
            (Err(error), _) => reply(400, ("content-type", "text/plain"), error.to_string()),
        },
        ("POST", "/token") => {
            match async { server.token(TokenRequest::from_form(&body, authorization)?).await }.await {
                Ok(tokens) => json(200, &tokens),
                Err(error) => json(error.status(), &error.body()),
            }
        }
        ("POST", "/revoke") => match RevokeRequest::from_form(&body) {
            Ok(request) => server.revoke(request.token()).await.map(|_| json(200, &()))?,
            Err(error) => json(400, &error.body()),
        },
        ("GET", "/") => match server.grant_from_header(authorization, BASE).await {
            Ok(grant) => json(200, &format!("the photos of user {}", grant.subject)),
            Err(error) => reply(error.status(), ("www-authenticate", "Bearer scope=\"photos\""), ""),
        },
        _ => reply(404, ("content-type", "text/plain"), "not found"),
    }
}

pub async fn run(listener: TcpListener) -> Result<(), Failure> {
    let resource = Resource::new(BASE, "Photos", &["photos"]);
    let config = Config::new(BASE, Endpoints::under(BASE), vec![resource], Lifetimes::default())?;
    let (store, random, mut secret) = (Arc::new(MemoryStore::new()), SystemRandom::new(), [0; 32]);
    random.fill(&mut secret)?;
    let tokens = Arc::new(OpaqueTokens::new(&secret));
    random.fill(&mut secret)?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    random.fill(&mut secret)?;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(random));
    let server = AuthorizationServer::new(config, store, tokens, clock, random, &secret);
    loop {
        let (stream, (server, key)) = (listener.accept().await?.0, (server.clone(), key.clone()));
        let service = service_fn(move |request| serve(server.clone(), key.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(hyper_util::rt::TokioIo::new(stream), service));
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    run(TcpListener::bind("127.0.0.1:8090").await?).await
}
