//! Calls a tool of a server of any revision: `mcp_client URL TOKEN TOOL ARGUMENTS`.
use mcp_wire::client::{Client, HttpRequest, ResponseReader, Transport, TransportError};
use mcp_wire::{CallToolParams, lifecycle::Implementation};

struct Http(reqwest::Client, String, String);

impl Transport for Http {
    async fn send(&self, request: &HttpRequest, reader: &mut ResponseReader) -> Result<(), TransportError> {
        let builder = self.0.request(request.method.parse()?, &self.1).bearer_auth(&self.2);
        let builder = request.headers.iter().fold(builder, |all, (name, value)| all.header(name, value));
        let mut response = builder.body(request.body.clone()).send().await?;
        reader.start(response.status().as_u16(), |name| response.headers().get(name)?.to_str().ok());
        while let Some(chunk) = response.chunk().await?
            && reader.push(&chunk).is_continue()
        {}
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: mcp_client URL TOKEN TOOL ARGUMENTS");
    let http = Http(reqwest::Client::new(), next()?, next()?);
    let call = CallToolParams::new(next()?).with_arguments(serde_json::from_str(&next()?)?);
    let mut client = Client::connect(http, Implementation::new("example", "1.0")).await?;
    let result = client.call_tool(&call).await?.result().ok_or("the tool requires input")?;
    println!("{}", result.first_text().unwrap_or_default());
    Ok(())
}
