//! Connects to a server of any revision that responds with JSON, lists its tools and calls one:
//! `client URL TOKEN [TOOL [ARGUMENTS]]`.

use std::error::Error;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use mcp_protocol::client::{ClientRequest, Session};
use mcp_protocol::lifecycle::Implementation;
use mcp_protocol::{CallToolParams, ListToolsParams, ProtocolVersion};

struct Transport {
    http: Client<HttpConnector, Full<hyper::body::Bytes>>,
    url: String,
    token: String,
}

impl Transport {
    async fn send<R>(&self, message: &ClientRequest<R>) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut request = Request::post(&self.url).header("authorization", format!("Bearer {}", self.token));
        for (name, value) in &message.headers {
            request = request.header(*name, value);
        }
        let response = self.http.request(request.body(Full::from(message.body.clone()))?).await?;
        Ok(response.into_body().collect().await?.to_bytes().to_vec())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(token)) = (arguments.next(), arguments.next()) else {
        return Err("usage: client URL TOKEN [TOOL [ARGUMENTS]]".into());
    };
    let http = Client::builder(TokioExecutor::new()).build_http();
    let server = Transport { http, url, token };
    let mut session = Session::new(ProtocolVersion::V2026_07_28, Implementation::new("example", "1.0"));
    let discover = session.discover()?;
    match discover.read(&server.send(&discover).await?) {
        Ok(found) => session.set_version(found.best_version().ok_or("no revision in common")?),
        Err(_) => {
            session.set_version(ProtocolVersion::LATEST_LEGACY);
            let initialize = session.initialize()?;
            session.set_version(initialize.read(&server.send(&initialize).await?)?.protocol_version);
            server.send(&session.initialized()?).await?;
        }
    }
    let list = session.list_tools(&ListToolsParams::default())?;
    for tool in list.read(&server.send(&list).await?)?.tools {
        println!("{}: {}", tool.name, tool.description.unwrap_or_default());
    }
    let Some(tool) = arguments.next() else { return Ok(()) };
    let mut params = CallToolParams::new(tool);
    params.arguments = serde_json::from_str(&arguments.next().unwrap_or_else(|| "{}".into()))?;
    let call = session.call_tool(&params)?;
    let result = call.read(&server.send(&call).await?)?.result().ok_or("the server requires input")?;
    println!("{}", result.first_text().unwrap_or_default());
    Ok(())
}
