//! Serves a tool to clients of every revision: `mcp_server [ADDRESS]`.

use std::{env, error::Error};

use axum::Router;
use mcp_wire::http::Endpoint;
use mcp_wire::lifecycle::Implementation;
use mcp_wire::server::{Server, typed_tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Greeting {
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let greet = typed_tool::<Greet, Greeting>("greet", "Greets a person.");
    let server = Server::builder(Implementation::new("greeter", "1.0"))
        .typed_tool(greet, |(), Greet { name }| async move {
            let text = format!("Hello, {name}!");
            Ok(Greeting { text })
        })
        .build()?;
    let app: Router = Router::new().route("/mcp", Endpoint::new(server).into_route());
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
