//! Measures the MCP endpoint: `tools/list` and two tools, with an API key and with access tokens, over one connection and
//! over many.
//!
//! The server runs on a generated library with its usual durability. The peer is a server made with rmcp and axum, with a
//! tool that only echoes, without authentication. Both run all the time, and one is measured at a time. Rounds
//! alternate, so that other load on the machine affects both.

mod message;
mod peer;

use std::time::Duration;

use ::tests::black_box::{AnyError, Instance, Server, megabytes};
use clap::Args;
use serde_json::json;

use self::peer::Peer;
use crate::{
    closed_loop::{LoadClient, Until, measure},
    oauth::access_tokens,
    seeding::{WORDS, seed},
    table::Table,
};

pub(crate) use self::message::{Endpoint, Message};

const RESOURCE: &str = "/api/mcp/v1";
const GET_INFO_KEY: &str = "get_info, API key";
const GET_INFO_TOKEN: &str = "get_info, access token";
const PEER_ECHO: &str = "rmcp: echo, no token";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Time to measure each kind of request, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Number of rounds
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Number of images in the library
    #[arg(long, default_value_t = 10_000)]
    images: u32,
    /// Numbers of concurrent connections
    #[arg(long, num_args = 1.., default_values_t = [1, 32], value_parser = clap::value_parser!(u16).range(1..=100))]
    connections: Vec<u16>,
    /// Do not measure the peer
    #[arg(long)]
    without_peer: bool,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let peer = if options.without_peer { None } else { Some(Peer::start()?) };
    let folder = tempfile::tempdir()?;
    let key = seed(folder.path(), options.images).await?.key;
    let server = Instance::open(folder.path())?.serve()?;
    server.wait_until_idle()?;
    println!("\nMCP: {} images, {} s each", options.images, options.seconds);
    println!("{}", crate::machine());
    let mut table = Table::new();
    let most = options.connections.iter().copied().max().unwrap_or_default();
    for round in 1..=options.rounds {
        // New tokens for each round, because they expire after an hour.
        let tokens = access_tokens(folder.path(), server.base_url(), usize::from(most)).await?;
        let credentials = Credentials { key: &key, tokens: &tokens };
        for &connections in &options.connections {
            let mut bench = McpBench { options, connections: connections.into(), round, table: &mut table };
            if let Some(peer) = &peer {
                bench.measure_peer(peer)?;
            }
            bench.measure_server(&server, &credentials)?;
        }
    }
    table.print_medians();
    for connections in peer.iter().flat_map(|_| &options.connections) {
        for ours in [GET_INFO_KEY, GET_INFO_TOKEN] {
            let connections = usize::from(*connections);
            table.print_ratio(&row_name(ours, connections), &row_name(PEER_ECHO, connections));
        }
    }
    println!("peak memory {:.0} MB", megabytes(server.usage().peak_bytes));
    server.stop()
}

/// The credentials of the requests.
struct Credentials<'a> {
    key: &'a str,
    /// An access token per connection, each of another grant.
    tokens: &'a [String],
}

struct McpBench<'a> {
    options: &'a Options,
    connections: usize,
    round: u32,
    table: &'a mut Table,
}

impl McpBench<'_> {
    fn measure_peer(&mut self, peer: &Peer) -> Result<(), AnyError> {
        let echo = [Message::modern("tools/call", json!({"name": "echo", "arguments": {"text": "hello"}}))];
        let client = |_| peer.endpoint().client(&echo, 0);
        self.measure(PEER_ECHO, (0..self.connections).map(client).collect(), || peer.cpu())
    }

    fn measure_server(&mut self, server: &Server, credentials: &Credentials<'_>) -> Result<(), AnyError> {
        let info = json!({"name": "get_info", "arguments": {}});
        let get_info = [Message::modern("tools/call", info.clone())];
        let legacy = [Message::legacy("tools/call", &info)];
        let list = [Message::modern("tools/list", json!({}))];
        let search = searches();
        let kinds: [(&'static str, &[Message], bool); 7] = [
            (GET_INFO_KEY, &get_info, false),
            (GET_INFO_TOKEN, &get_info, true),
            ("get_info as of 2025-11-25, API key", &legacy, false),
            ("tools/list, API key", &list, false),
            ("tools/list, access token", &list, true),
            ("search_images, API key", &search, false),
            ("search_images, access token", &search, true),
        ];
        for (name, messages, by_token) in kinds {
            let client = |index| {
                let token = if by_token { credentials.tokens.get(index) } else { None };
                let token = token.map_or(credentials.key, String::as_str);
                let endpoint = Endpoint { base_url: server.base_url(), path: RESOURCE, token: Some(token) };
                endpoint.client(messages, index)
            };
            self.measure(name, (0..self.connections).map(client).collect(), || server.usage().cpu)?;
        }
        Ok(())
    }

    fn measure(
        &mut self,
        name: &str,
        clients: Result<Vec<LoadClient>, AnyError>,
        cpu: impl Fn() -> Duration,
    ) -> Result<(), AnyError> {
        let name = row_name(name, self.connections);
        let mut clients = clients.map_err(|error| format!("{name}: {error}"))?;
        let until = Until::Elapsed(Duration::from_secs(self.options.seconds));
        let figures = measure(&mut clients, until, cpu).map_err(|error| format!("{name}: {error}"))?;
        self.table.add(self.round, &name, figures);
        Ok(())
    }
}

fn row_name(name: &str, connections: usize) -> String {
    format!("{connections:>2} × {name}")
}

/// Searches for two words each, which match a few hundred of 10,000 images.
fn searches() -> Vec<Message> {
    let pairs = WORDS.iter().zip(WORDS.iter().cycle().skip(5));
    let search = |(one, other)| {
        let arguments = json!({"query": format!("{one} {other}"), "limit": 10});
        Message::modern("tools/call", json!({"name": "search_images", "arguments": arguments}))
    };
    pairs.map(search).collect()
}
