//! The authorization server: refreshing tokens, and checking them at every request.
//!
//! The real server works on an empty library, durable as always. Several connections ask, each for the next thing as soon
//! as the one before has come. What the check of an access token costs is told by requests that are refused after all
//! of it, since their token is another resource's, less those that are refused at the first look, for what they have
//! is as long but no token.
//!
//! Then the npm package `oidc-provider` does the same refreshing on the same machine, and checks its tokens. Rounds
//! alternate. At last the parts are called in this process.

mod chain;
mod parts;
mod peer;
mod seeding;

use std::{path::Path, time::Duration};

use ::tests::black_box::{AnyError, Instance, Server};
use clap::Args;

use chain::{TokenEndpoint, Tokens, once_each, repeated};
use peer::Peer;

use crate::{
    connection::Connection,
    lanes::{Extent, Lane, measure},
    table::Table,
};

const RESOURCE: &str = "/api/mcp/v1";
const OTHER_RESOURCE: &str = "/api/mcp/v2";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

const REDEEMED: &str = "code redeemed";
const REFRESHED: &str = "refresh token replaced";
const NO_TOKEN: &str = "refused: no token";
const MALFORMED: &str = "refused: no token of ours, as long";
const CHECKED_SEEN: &str = "refused: other resource's token";
const CHECKED_NEW: &str = "refused: other resource's token, new";
const PING_SEEN: &str = "ping, access token";
const PEER_REFRESHED: &str = "oidc-provider: refresh token replaced";
const PEER_CHECKED: &str = "oidc-provider: ping, access token";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// How long each kind of request is measured, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// How often everything is measured
    #[arg(long, default_value_t = 2)]
    rounds: u32,
    /// How many grants there are, each of whose tokens is used as a new one
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=15_000))]
    grants: u32,
    /// How many connections ask at the same time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=100))]
    connections: u16,
    /// Measure ours alone
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
        println!("beside {}", peer::described());
    }
    let mut table = Table::new();
    for round in 1..=options.rounds {
        ours(options, round, &mut table).await?;
        if let Some(peer) = &peer {
            beside(peer, options, round, &mut table)?;
        }
    }
    table.print_medians();
    table.print_difference("check of an access token, seen before", CHECKED_SEEN, MALFORMED);
    table.print_difference("check of an access token, new", CHECKED_NEW, MALFORMED);
    if peer.is_some() {
        table.print_ratio(REFRESHED, PEER_REFRESHED);
        table.print_ratio(PING_SEEN, PEER_CHECKED);
    }
    Ok(())
}

async fn ours(options: &Options, round: u32, table: &mut Table) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(folder.path(), &[])?;
    let key = instance.create_key()?;
    let server = instance.serve()?;
    let codes = usize::try_from(options.grants)?;
    let seeded = seeding::seed(folder.path(), server.base_url(), codes).await?;
    let connections = options.connections();
    let time = Duration::from_secs(options.seconds);
    let mut bench = Ours { server, connections, time, round, table };

    let (mut lanes, redeemed) = seeded.redeeming(connections)?;
    bench.add(REDEEMED, &mut lanes, Extent::UntilDone)?;
    drop(lanes);
    let first: Vec<Tokens> = redeemed.into_iter().collect();
    let second = refreshed(&seeded.endpoint, &first, connections)?;
    let access = |tokens: &[Tokens]| tokens.iter().map(|tokens| tokens.access.clone()).collect::<Vec<_>>();
    bench.bearer(&key, &access(&first), &access(&second))?;

    let chains = second.iter().take(connections).map(|tokens| seeded.endpoint.chain(&tokens.refresh));
    bench.timed(REFRESHED, &mut chains.collect::<Result<Vec<Lane>, _>>()?)?;
    bench.server.stop()?;

    if round == options.rounds {
        let subjects = parts::Subjects {
            data_dir: folder.path(),
            key: &key,
            tokens: &access(&first),
            client_id: &seeded.endpoint.client_id,
        };
        parts::run(&subjects).await?;
    }
    Ok(())
}

/// One round of ours.
struct Ours<'a> {
    server: Server,
    connections: usize,
    time: Duration,
    round: u32,
    table: &'a mut Table,
}

impl Ours<'_> {
    /// Requests with tokens, of which `first` and `second` hold such as were never sent.
    fn bearer(&mut self, key: &str, first: &[String], second: &[String]) -> Result<(), AnyError> {
        let (base_url, connections) = (self.server.base_url().to_owned(), self.connections);
        let new = |path: &'static str, tokens: &[String], message, expect| {
            let lane = |tokens| once_each(&base_url, path, tokens, message, expect);
            shares(tokens, connections).into_iter().map(lane).collect::<Result<Vec<_>, _>>()
        };
        let same = |path: &'static str, tokens: &[Option<&str>], message, expect| {
            let lane = |token: &Option<&str>| repeated(&base_url, path, *token, message, expect);
            tokens.iter().map(lane).collect::<Result<Vec<_>, _>>()
        };
        let malformed = format!(".{}", "A".repeat(second.first().map_or(0, String::len)));
        let malformed = vec![Some(malformed.as_str()); connections];
        let seen: Vec<_> = second.iter().take(connections).map(|token| Some(token.as_str())).collect();
        let keyed = vec![Some(key); connections];
        self.timed(NO_TOKEN, &mut same(OTHER_RESOURCE, &vec![None; connections], LIST, 401)?)?;
        self.timed(MALFORMED, &mut same(OTHER_RESOURCE, &malformed, LIST, 401)?)?;
        self.add(CHECKED_NEW, &mut new(OTHER_RESOURCE, second, LIST, 401)?, Extent::UntilDone)?;
        self.timed(CHECKED_SEEN, &mut same(OTHER_RESOURCE, &seen, LIST, 401)?)?;
        self.timed("ping, API key", &mut same(RESOURCE, &keyed, PING, 200)?)?;
        self.timed(PING_SEEN, &mut same(RESOURCE, &seen, PING, 200)?)?;
        self.timed("tools/list, API key", &mut same(RESOURCE, &keyed, LIST, 200)?)?;
        self.timed("tools/list, access token", &mut same(RESOURCE, &seen, LIST, 200)?)?;
        self.add("tools/list, new access token", &mut new(RESOURCE, first, LIST, 200)?, Extent::UntilDone)
    }

    fn timed(&mut self, name: &'static str, lanes: &mut [Lane]) -> Result<(), AnyError> {
        self.add(name, lanes, Extent::For(self.time))
    }

    fn add(&mut self, name: &'static str, lanes: &mut [Lane], extent: Extent) -> Result<(), AnyError> {
        let figures =
            measure(lanes, extent, || self.server.usage().cpu).map_err(|error| format!("{name}: {error}"))?;
        self.table.add(self.round, name, figures);
        Ok(())
    }
}

/// One round of the peer.
fn beside(peer: &Peer, options: &Options, round: u32, table: &mut Table) -> Result<(), AnyError> {
    let running = peer.serve(2 * options.connections())?;
    let endpoint = running.endpoint();
    let (base_url, path) = (running.ready.base_url.as_str(), running.ready.resource_path.as_str());
    let (chained, checked) = running.ready.refresh_tokens.split_at(options.connections());
    let mut connection = Connection::open(base_url)?;
    let mut chains = Vec::new();
    for token in chained {
        chains.push(endpoint.chain(token)?);
    }
    let mut checks = Vec::new();
    for token in checked {
        let access = endpoint.refresh(&mut connection, token)?.access;
        checks.push(repeated(base_url, path, Some(&access), PING, 200)?);
    }
    let extent = Extent::For(Duration::from_secs(options.seconds));
    table.add(round, PEER_REFRESHED, measure(&mut chains, extent, || running.cpu())?);
    drop(chains);
    table.add(round, PEER_CHECKED, measure(&mut checks, extent, || running.cpu())?);
    Ok(())
}

/// Refreshes each grant once.
fn refreshed(
    endpoint: &TokenEndpoint,
    tokens: &[Tokens],
    connections: usize,
) -> Result<Vec<Tokens>, AnyError> {
    std::thread::scope(|scope| {
        let lanes: Vec<_> = shares(tokens, connections)
            .into_iter()
            .map(|share| {
                scope.spawn(move || {
                    let mut connection = Connection::open(&endpoint.base_url)?;
                    share.iter().map(|tokens| endpoint.refresh(&mut connection, &tokens.refresh)).collect()
                })
            })
            .collect();
        let mut all = Vec::with_capacity(tokens.len());
        for lane in lanes {
            let refreshed: Result<Vec<Tokens>, AnyError> = lane.join().map_err(|_| "refreshing panicked")?;
            all.extend(refreshed?);
        }
        Ok(all)
    })
}

/// Access tokens for the only account of a library that is served there, each of a grant of its own.
pub(crate) async fn access_tokens(
    data_dir: &Path,
    base_url: &str,
    count: usize,
) -> Result<Vec<String>, AnyError> {
    let seeded = seeding::seed(data_dir, base_url, count).await?;
    let (mut lanes, redeemed) = seeded.redeeming(1)?;
    measure(&mut lanes, Extent::UntilDone, || Duration::ZERO)?;
    drop(lanes);
    Ok(redeemed.into_iter().map(|tokens| tokens.access).collect())
}

/// Divides things among so many.
fn shares<T: Clone>(things: &[T], among: usize) -> Vec<Vec<T>> {
    (0..among).map(|first| things.iter().skip(first).step_by(among).cloned().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_shared_out_once() {
        assert_eq!(shares(&[1, 2, 3, 4, 5], 2), [vec![1, 3, 5], vec![2, 4]]);
        assert_eq!(shares(&[1], 3), [vec![1], vec![], vec![]]);
    }
}
