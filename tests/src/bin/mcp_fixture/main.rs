//! An MCP server with the tools, resources and prompts that the official conformance suite expects, on the protocol crate
//! and transport of the service. It has no data and requires no token, so it listens on loopback addresses only.
//!
//! The suite defines its tools: a new tool of the suite is one function in the module of its topic. Tools that need event
//! streams are left out, because the service has none.

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
use mcp_wire::lifecycle::Implementation;
use mcp_wire::server::Eras;
use mcp_wire::{RegistryError, Server};
use serde_json::json;
use tokio::net::TcpListener;
use web::{BaseUrl, HttpLimits};

#[derive(Debug, Parser)]
#[command(name = "mcp_fixture")]
#[command(about = "Serves the tools of the MCP conformance suite on a loopback address, without a token")]
struct Options {
    /// Loopback address to listen on, such as 127.0.0.1:8080
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Options { listen } = Options::parse();
    if !listen.ip().is_loopback() {
        return Err(format!("{listen} is not a loopback address").into());
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

/// Everything that the suite expects.
fn server(secret: &Secret) -> Result<Server<()>, RegistryError> {
    let builder = Server::builder(Implementation::new("conformance-fixture", env!("CARGO_PKG_VERSION")))
        // Legacy revisions have this capability. This server logs nothing.
        .capability("logging", json!({}))
        .method("logging/setLevel", Eras::Legacy, |_| async { Ok(serde_json::Map::new()) });
    prompts::add(resources::add(questions::add(content::add(builder), secret))).build()
}
