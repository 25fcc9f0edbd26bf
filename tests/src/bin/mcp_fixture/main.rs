//! An MCP server with the tools, resources and prompts that the official conformance suite looks for, on the protocol and
//! the transport that the service uses. It holds nothing and asks nobody for a token, so it listens on this machine only.
//!
//! What it has and what it does is said by the suite: a new tool of the suite is one function in the module of its topic.
//! Whatever needs an answer that is a stream is left out, since neither the service nor this server gives any.

mod content;
mod prompts;
mod questions;
mod resources;

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use clap::Parser;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use keys::{Secret, SystemRandom, new_session_token};
use mcp_protocol::lifecycle::Implementation;
use mcp_protocol::server::Eras;
use mcp_protocol::{RegistryError, Server};
use serde_json::json;
use tokio::net::TcpListener;
use web::{BaseUrl, HttpLimits};

#[derive(Debug, Parser)]
#[command(name = "mcp_fixture")]
#[command(about = "Serves the tools of the MCP conformance suite, to this machine only and without a token.")]
struct Options {
    /// Address of this machine's own, such as 127.0.0.1:8080
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Options { listen } = Options::parse();
    if !listen.ip().is_loopback() {
        return Err(format!("{listen} is not an address of this machine's own").into());
    }
    let secret = Secret::from_text(&new_session_token(&SystemRandom::new())?)?;
    let server = Arc::new(server(&secret)?);
    let base_url = Arc::new(BaseUrl::parse(&format!("http://{listen}"))?);
    let listener = TcpListener::bind(listen).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (server, base_url) = (server.clone(), base_url.clone());
        let service = service_fn(move |request| {
            let (server, base_url) = (server.clone(), base_url.clone());
            async move {
                Ok::<_, Infallible>(
                    web::serve_mcp(&server, (), &base_url, &HttpLimits::default(), request).await,
                )
            }
        });
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
            if let Err(error) = connection {
                eprintln!("a connection ended early: {error}");
            }
        });
    }
}

/// All that the suite looks for.
fn server(secret: &Secret) -> Result<Server<()>, RegistryError> {
    let builder = Server::builder(Implementation::new("conformance-fixture", env!("CARGO_PKG_VERSION")))
        // Of revisions before 2026-07-28; nothing here has anything to log, at any level.
        .capability("logging", json!({}))
        .method("logging/setLevel", Eras::Legacy, |_| async { Ok(serde_json::Map::new()) });
    prompts::add(resources::add(questions::add(content::add(builder), secret))).build()
}
