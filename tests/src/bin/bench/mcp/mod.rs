//! The MCP endpoint: listing tools and calling two of them, with an API key and with access tokens, over one connection
//! and over many.
//!
//! The real server works on a library of its own, durable as always. Beside it a server made with rmcp and axum answers a
//! call of a tool that does nothing, and asks nobody who they are. Both run all the time, one is asked at a time, and
//! rounds alternate, so that what else the machine does weighs on both.

mod message;
mod peer;

use std::time::Duration;

use ::tests::black_box::{AnyError, Instance, Server, megabytes};
use clap::Args;
use serde_json::json;

use self::{
    message::{Endpoint, Message},
    peer::Peer,
};
use crate::{
    lanes::{Extent, Lane, measure},
    oauth::access_tokens,
    seeding::{WORDS, seed},
    table::Table,
};

const RESOURCE: &str = "/api/mcp/v1";
const GET_INFO_KEY: &str = "get_info, API key";
const GET_INFO_TOKEN: &str = "get_info, access token";
const PEER_ECHO: &str = "rmcp: echo, no token";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// How long each kind of request is measured, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// How often everything is measured
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// How many images the library has
    #[arg(long, default_value_t = 10_000)]
    images: u32,
    /// How many connections ask at the same time, one number after the other
    #[arg(long, num_args = 1.., default_values_t = [1, 32], value_parser = clap::value_parser!(u16).range(1..=100))]
    connections: Vec<u16>,
    /// Measure ours alone
    #[arg(long)]
    without_peer: bool,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let peer = if options.without_peer { None } else { Some(Peer::start()?) };
    let folder = tempfile::tempdir()?;
    let key = seed(folder.path(), options.images).await?.key;
    let server = Instance::open(folder.path())?.serve()?;
    println!("\nMCP: {} images, {} s each", options.images, options.seconds);
    println!("{}", crate::machine());
    let mut table = Table::new();
    let most = options.connections.iter().copied().max().unwrap_or_default();
    for round in 1..=options.rounds {
        // New ones, since none is good for longer than an hour.
        let tokens = access_tokens(folder.path(), server.base_url(), usize::from(most)).await?;
        let callers = Callers { key: &key, tokens: &tokens };
        for &connections in &options.connections {
            let mut bench = Bench { options, connections: connections.into(), round, table: &mut table };
            if let Some(peer) = &peer {
                bench.peer(peer)?;
            }
            bench.ours(&server, &callers)?;
        }
    }
    table.print_medians();
    for connections in peer.iter().flat_map(|_| &options.connections) {
        for ours in [GET_INFO_KEY, GET_INFO_TOKEN] {
            let over = usize::from(*connections);
            table.print_ratio(&named(ours, over), &named(PEER_ECHO, over));
        }
    }
    println!("peak memory {:.0} MB", megabytes(server.usage().peak_bytes));
    server.stop()
}

/// With what ours is asked.
struct Callers<'a> {
    key: &'a str,
    /// One for each connection, each of a grant of its own.
    tokens: &'a [String],
}

struct Bench<'a> {
    options: &'a Options,
    connections: usize,
    round: u32,
    table: &'a mut Table,
}

impl Bench<'_> {
    fn peer(&mut self, peer: &Peer) -> Result<(), AnyError> {
        let echo = [Message::modern("tools/call", json!({"name": "echo", "arguments": {"text": "hello"}}))];
        let lane = |_| peer.endpoint().lane(&echo, 0);
        self.timed(PEER_ECHO, (0..self.connections).map(lane).collect(), || peer.cpu())
    }

    fn ours(&mut self, server: &Server, callers: &Callers<'_>) -> Result<(), AnyError> {
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
            let lane = |place| {
                let token = if by_token { callers.tokens.get(place) } else { None };
                let token = token.map_or(callers.key, String::as_str);
                let endpoint = Endpoint { base_url: server.base_url(), path: RESOURCE, token: Some(token) };
                endpoint.lane(messages, place)
            };
            self.timed(name, (0..self.connections).map(lane).collect(), || server.usage().cpu)?;
        }
        Ok(())
    }

    fn timed(
        &mut self,
        name: &str,
        lanes: Result<Vec<Lane>, AnyError>,
        cpu: impl Fn() -> Duration,
    ) -> Result<(), AnyError> {
        let name = named(name, self.connections);
        let mut lanes = lanes.map_err(|error| format!("{name}: {error}"))?;
        let figures = measure(&mut lanes, Extent::For(Duration::from_secs(self.options.seconds)), cpu)
            .map_err(|error| format!("{name}: {error}"))?;
        self.table.add(self.round, &name, figures);
        Ok(())
    }
}

fn named(name: &str, connections: usize) -> String {
    format!("{connections:>2} × {name}")
}

/// Searches for two words each, which a few hundred of 10,000 images have.
fn searches() -> Vec<Message> {
    let pairs = WORDS.iter().zip(WORDS.iter().cycle().skip(5));
    let search = |(one, other)| {
        let arguments = json!({"query": format!("{one} {other}"), "limit": 10});
        Message::modern("tools/call", json!({"name": "search_images", "arguments": arguments}))
    };
    pairs.map(search).collect()
}
