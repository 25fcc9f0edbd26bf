//! Measures the authorization server: redeeming codes, refreshing tokens, and checking tokens at each request.
//!
//! The server runs on an empty library with its usual durability. Each connection sends its next request when it has received
//! the previous response. The cost of a token check is the difference between two kinds of refused requests: the server refuses
//! a token of another resource at the end of the check, and a malformed token of the same length at its start.
//!
//! Then the npm package `oidc-provider` is measured in the same way. Rounds alternate. At the end, the parts of a check
//! and of a refresh are measured in this process.

mod parts;
mod peer;
mod seeding;
mod token_clients;

use std::{path::Path, time::Duration};

use ::tests::black_box::{AnyError, Instance, Server};
use clap::Args;

use peer::Peer;
use seeding::SeededGrants;
use token_clients::{TokenEndpoint, Tokens, once_each, repeated};

use crate::{
    closed_loop::{LoadClient, Until, measure},
    connection::Connection,
    table::Table,
};

const RESOURCE: &str = "/api/mcp/v1";
const OTHER_RESOURCE: &str = "/api/mcp/v2";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

const REDEEMED: &str = "code redeemed";
const REFRESHED: &str = "refresh token replaced";
const NO_TOKEN: &str = "refused: no token";
const MALFORMED: &str = "refused: malformed token";
const OTHER_RESOURCE_CACHED: &str = "refused: token of another resource";
const OTHER_RESOURCE_NEW: &str = "refused: new token of another resource";
const PING_SEEN: &str = "ping, access token";
const PEER_REFRESHED: &str = "oidc-provider: refresh token replaced";
const PEER_CHECKED: &str = "oidc-provider: ping, access token";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Time to measure each kind of request, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Number of rounds
    #[arg(long, default_value_t = 2)]
    rounds: u32,
    /// Number of grants
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=15_000))]
    grants: u32,
    /// Number of concurrent connections
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=100))]
    connections: u16,
    /// Do not measure the peer
    #[arg(long)]
    without_peer: bool,
}

impl Options {
    fn connections(&self) -> usize {
        usize::from(self.connections)
    }
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let peer = if options.without_peer { None } else { Some(Peer::install()?) };
    println!("\nauthorization server: {} connections, {} s each", options.connections, options.seconds);
    println!("{}", crate::machine());
    if peer.is_some() {
        println!("compared with {}", peer::described());
    }
    let mut table = Table::new();
    for round in 1..=options.rounds {
        measure_server(options, round, &mut table).await?;
        if let Some(peer) = &peer {
            measure_peer(peer, options, round, &mut table)?;
        }
    }
    table.print_medians();
    table.print_difference("check of an access token seen before", OTHER_RESOURCE_CACHED, MALFORMED);
    table.print_difference("check of a new access token", OTHER_RESOURCE_NEW, MALFORMED);
    if peer.is_some() {
        table.print_ratio(REFRESHED, PEER_REFRESHED);
        table.print_ratio(PING_SEEN, PEER_CHECKED);
    }
    Ok(())
}

async fn measure_server(options: &Options, round: u32, table: &mut Table) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(folder.path(), &[])?;
    let key = instance.create_key()?;
    let server = instance.serve()?;
    let codes = usize::try_from(options.grants)?;
    let seeded = seeding::seed(folder.path(), server.base_url(), codes).await?;
    let connections = options.connections();
    let time = Duration::from_secs(options.seconds);
    let mut bench = ServerBench { server, connections, time, round, table };

    let (mut clients, redeemed) = seeded.redeemers(connections)?;
    bench.add(REDEEMED, &mut clients, Until::Done)?;
    drop(clients);
    let first: Vec<Tokens> = redeemed.into_iter().collect();
    let second = refresh_each(&seeded.endpoint, &first, connections)?;
    let access = |tokens: &[Tokens]| tokens.iter().map(|tokens| tokens.access.clone()).collect::<Vec<_>>();
    bench.bearer(&key, &access(&first), &access(&second))?;

    let refreshers = second.iter().take(connections).map(|tokens| seeded.endpoint.refresher(&tokens.refresh));
    bench.timed(REFRESHED, &mut refreshers.collect::<Result<Vec<LoadClient>, _>>()?)?;
    bench.server.stop()?;

    if round == options.rounds {
        let inputs = parts::Inputs {
            data_dir: folder.path(),
            key: &key,
            tokens: &access(&first),
            client_id: &seeded.endpoint.client_id,
        };
        parts::run(&inputs).await?;
    }
    Ok(())
}

/// One round of the server.
struct ServerBench<'a> {
    server: Server,
    connections: usize,
    time: Duration,
    round: u32,
    table: &'a mut Table,
}

impl ServerBench<'_> {
    /// Measures requests with a bearer token. The tokens in `first` and `second` have not been sent before.
    fn bearer(&mut self, key: &str, first: &[String], second: &[String]) -> Result<(), AnyError> {
        let (base_url, connections) = (self.server.base_url().to_owned(), self.connections);
        let new = |path: &'static str, tokens: &[String], message, expect| {
            let client = |tokens| once_each(&base_url, path, tokens, message, expect);
            divide(tokens, connections).into_iter().map(client).collect::<Result<Vec<_>, _>>()
        };
        let same = |path: &'static str, tokens: &[Option<&str>], message, expect| {
            let client = |token: &Option<&str>| repeated(&base_url, path, *token, message, expect);
            tokens.iter().map(client).collect::<Result<Vec<_>, _>>()
        };
        let malformed = format!(".{}", "A".repeat(second.first().map_or(0, String::len)));
        let malformed = vec![Some(malformed.as_str()); connections];
        let cached: Vec<_> = second.iter().take(connections).map(|token| Some(token.as_str())).collect();
        let keys = vec![Some(key); connections];
        self.timed(NO_TOKEN, &mut same(OTHER_RESOURCE, &vec![None; connections], LIST, 401)?)?;
        self.timed(MALFORMED, &mut same(OTHER_RESOURCE, &malformed, LIST, 401)?)?;
        self.add(OTHER_RESOURCE_NEW, &mut new(OTHER_RESOURCE, second, LIST, 401)?, Until::Done)?;
        self.timed(OTHER_RESOURCE_CACHED, &mut same(OTHER_RESOURCE, &cached, LIST, 401)?)?;
        self.timed("ping, API key", &mut same(RESOURCE, &keys, PING, 200)?)?;
        self.timed(PING_SEEN, &mut same(RESOURCE, &cached, PING, 200)?)?;
        self.timed("tools/list, API key", &mut same(RESOURCE, &keys, LIST, 200)?)?;
        self.timed("tools/list, access token", &mut same(RESOURCE, &cached, LIST, 200)?)?;
        self.add("tools/list, new access token", &mut new(RESOURCE, first, LIST, 200)?, Until::Done)
    }

    fn timed(&mut self, name: &'static str, clients: &mut [LoadClient]) -> Result<(), AnyError> {
        self.add(name, clients, Until::Elapsed(self.time))
    }

    fn add(&mut self, name: &'static str, clients: &mut [LoadClient], until: Until) -> Result<(), AnyError> {
        let figures = measure(clients, until, || self.server.usage().cpu)
            .map_err(|error| format!("{name}: {error}"))?;
        self.table.add(self.round, name, figures);
        Ok(())
    }
}

fn measure_peer(peer: &Peer, options: &Options, round: u32, table: &mut Table) -> Result<(), AnyError> {
    let running = peer.serve(2 * options.connections())?;
    let endpoint = running.endpoint();
    let (base_url, path) = (running.ready.base_url.as_str(), running.ready.resource_path.as_str());
    let (to_refresh, to_check) = running.ready.refresh_tokens.split_at(options.connections());
    let mut connection = Connection::open(base_url)?;
    let mut refreshers = Vec::new();
    for token in to_refresh {
        refreshers.push(endpoint.refresher(token)?);
    }
    let mut checkers = Vec::new();
    for token in to_check {
        let access = endpoint.refresh(&mut connection, token)?.access;
        checkers.push(repeated(base_url, path, Some(&access), PING, 200)?);
    }
    let until = Until::Elapsed(Duration::from_secs(options.seconds));
    table.add(round, PEER_REFRESHED, measure(&mut refreshers, until, || running.cpu())?);
    drop(refreshers);
    table.add(round, PEER_CHECKED, measure(&mut checkers, until, || running.cpu())?);
    Ok(())
}

/// Refreshes each grant once.
fn refresh_each(
    endpoint: &TokenEndpoint,
    tokens: &[Tokens],
    connections: usize,
) -> Result<Vec<Tokens>, AnyError> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = divide(tokens, connections)
            .into_iter()
            .map(|share| {
                scope.spawn(move || {
                    let mut connection = Connection::open(&endpoint.base_url)?;
                    share.iter().map(|tokens| endpoint.refresh(&mut connection, &tokens.refresh)).collect()
                })
            })
            .collect();
        let mut all = Vec::with_capacity(tokens.len());
        for thread in threads {
            let refreshed: Result<Vec<Tokens>, AnyError> =
                thread.join().map_err(|_| "a refreshing thread panicked")?;
            all.extend(refreshed?);
        }
        Ok(all)
    })
}

/// Creates access tokens for the only account of a served library, each of another grant.
pub(crate) async fn access_tokens(
    data_dir: &Path,
    base_url: &str,
    count: usize,
) -> Result<Vec<String>, AnyError> {
    let tokens = redeem_all(&seeding::seed(data_dir, base_url, count).await?)?;
    Ok(tokens.into_iter().map(|tokens| tokens.access).collect())
}

/// A client that refreshes a grant of the only account of a served library.
pub(crate) async fn refresher(data_dir: &Path, base_url: &str) -> Result<LoadClient, AnyError> {
    let seeded = seeding::seed(data_dir, base_url, 1).await?;
    let tokens = redeem_all(&seeded)?;
    seeded.endpoint.refresher(&tokens.first().ok_or("no code was redeemed")?.refresh)
}

/// Redeems all codes over one connection.
fn redeem_all(seeded: &SeededGrants) -> Result<Vec<Tokens>, AnyError> {
    let (mut clients, redeemed) = seeded.redeemers(1)?;
    measure(&mut clients, Until::Done, || Duration::ZERO)?;
    drop(clients);
    Ok(redeemed.into_iter().collect())
}

/// Divides items evenly among this many parts.
fn divide<T: Clone>(items: &[T], parts: usize) -> Vec<Vec<T>> {
    (0..parts).map(|first| items.iter().skip(first).step_by(parts).cloned().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_in_one_part() {
        assert_eq!(divide(&[1, 2, 3, 4, 5], 2), [vec![1, 3, 5], vec![2, 4]]);
        assert_eq!(divide(&[1], 3), [vec![1], vec![], vec![]]);
    }
}
