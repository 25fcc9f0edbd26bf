//! Lists the tools of a server of any revision, and calls one: `mcp_client URL TOKEN TOOL ARGUMENTS`.
use std::error::Error;

use mcp_wire::client::{Client, ReqwestTransport};
use mcp_wire::{CallToolParams, lifecycle::Implementation};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: mcp_client URL TOKEN TOOL ARGUMENTS");
    let transport = ReqwestTransport::new(&next()?)?.with_bearer_token(next()?);
    let call = CallToolParams::new(next()?).with_arguments(serde_json::from_str(&next()?)?);
    let mut client = Client::connect(transport, Implementation::new("example", "1.0")).await?;
    for tool in client.list_tools().await? {
        eprintln!("{}: {}", tool.name, tool.description.unwrap_or_default());
    }
    let result = client.call_tool(&call).await?.result().ok_or("the tool requires input")?;
    println!("{}", result.first_text().unwrap_or_default());
    Ok(())
}
