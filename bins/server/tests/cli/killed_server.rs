//! A server is killed while apps refresh, redeem and revoke at the same time. A request that was answered stays done. A
//! request without a response was either done or not, and never half done.

use std::time::Duration;

use fastrand::Rng;
use rustix::process::Signal;
use serde_json::json;

use crate::{
    apps::{App, Browser, Http, PASSWORD, Response, Tokens, serve},
    program::{Instance, Server},
};

/// Minimum number of kills. More rounds follow until every case of [`Coverage`] was seen.
const ROUNDS: u64 = 2;
/// Maximum number of kills, and the minimum with `PHOTOS_TEST_FULL=1`.
const FULL_ROUNDS: u64 = 50;
/// Apps that refresh in a loop. Every second one pauses between refreshes, so that some are idle at the kill.
const CHAINS: usize = 8;
const PAUSE: Duration = Duration::from_millis(30);
/// Codes redeemed, and grants revoked, at a random time around the kill.
const CODES: usize = 4;
const REVOCATIONS: usize = 3;
/// Time from the start of a round to the kill, in milliseconds.
const KILL_AFTER_MS: std::ops::Range<u64> = 5..250;
/// How many replaced tokens of a chain, and grants that ended in earlier rounds, are tried again.
const RETRIED: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn answered_requests_survive_a_kill() {
    let full = std::env::vars_os().any(|(name, value)| name == "PHOTOS_TEST_FULL" && value == "1");
    let mut test = KillTest::new().await;
    let min_rounds = if full { FULL_ROUNDS } else { ROUNDS };
    for seed in 0..FULL_ROUNDS {
        if seed >= min_rounds && test.coverage.is_complete() {
            break;
        }
        test.round(seed).await;
    }
    eprintln!("{:?}", test.coverage);
    assert!(test.coverage.is_complete(), "{:?}", test.coverage);
}

/// The outcome of a request around the kill.
#[derive(Debug)]
enum RequestOutcome {
    Response(Response),
    /// The request was sent at least in part, so the server may have processed it.
    NoResponse,
    /// The connection failed, so the server did not process the request.
    NotSent,
}

impl From<reqwest::Result<Response>> for RequestOutcome {
    fn from(result: reqwest::Result<Response>) -> Self {
        match result {
            Ok(response) => Self::Response(response),
            Err(error) if error.is_connect() => Self::NotSent,
            Err(_) => Self::NoResponse,
        }
    }
}

/// The tokens of a grant in the order of their rotation.
struct Chain {
    /// Tokens received in this round. Each replaced the one before; the last is unused.
    tokens: Vec<Tokens>,
    /// Whether a refresh with the last token was in flight at the kill.
    in_flight: bool,
}

/// Counts of the cases that the test has seen.
#[derive(Debug, Default)]
struct Coverage {
    rotations: usize,
    /// Apps that were idle at the kill.
    idle: usize,
    /// Refreshes without a response.
    unanswered: usize,
    /// Refreshes without a response that were done.
    unanswered_but_done: usize,
    codes_unanswered: usize,
    revocations_unanswered: usize,
}

impl Coverage {
    fn is_complete(&self) -> bool {
        self.rotations > 0 && self.unanswered > 0 && self.idle > 0
    }
}

struct KillTest {
    instance: Instance,
    server: Option<Server>,
    http: Http,
    browser: Browser,
    app: App,
    chains: Vec<Chain>,
    /// Tokens of revoked grants.
    revoked: Vec<Tokens>,
    redeemed_codes: Vec<String>,
    coverage: Coverage,
}

impl KillTest {
    async fn new() -> Self {
        let instance = Instance::with_password(PASSWORD);
        let server = serve(&instance);
        let http = Http::to(&server);
        let mut browser = Browser::new(http.clone());
        browser.sign_in(PASSWORD).await.expect(303);
        let app = http.register(json!({"client_name": "An app"})).await;
        Self {
            instance,
            server: Some(server),
            http,
            browser,
            app,
            chains: Vec::new(),
            revoked: Vec::new(),
            redeemed_codes: Vec::new(),
            coverage: Coverage::default(),
        }
    }

    async fn connect(&mut self) -> Tokens {
        let code = self.browser.consent(&self.app).await;
        self.http.redeem(&self.app, &code).await.unwrap().tokens()
    }

    async fn round(&mut self, seed: u64) {
        let mut rng = Rng::with_seed(seed);
        while self.chains.len() < CHAINS {
            let tokens = vec![self.connect().await];
            self.chains.push(Chain { tokens, in_flight: false });
        }
        let (mut codes, mut to_revoke) = (Vec::new(), Vec::new());
        for _ in 0..CODES {
            codes.push(self.browser.consent(&self.app).await);
        }
        for _ in 0..REVOCATIONS {
            to_revoke.push(self.connect().await);
        }

        let kill_after = Duration::from_millis(rng.u64(KILL_AFTER_MS));
        // A random time from the start of the round to shortly after the kill.
        let mut random_delay = || kill_after.mul_f64(rng.f64() / 0.9);
        let chains: Vec<_> = self
            .chains
            .drain(..)
            .zip([Duration::ZERO, PAUSE].into_iter().cycle())
            .map(|(chain, pause)| {
                tokio::spawn(refresh_until_killed(self.http.clone(), self.app.clone(), chain, pause))
            })
            .collect();
        let codes: Vec<_> = codes
            .into_iter()
            .map(|code| {
                let (http, app, delay) = (self.http.clone(), self.app.clone(), random_delay());
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    let outcome = RequestOutcome::from(http.redeem(&app, &code).await);
                    (code, outcome)
                })
            })
            .collect();
        let revocations: Vec<_> = to_revoke
            .into_iter()
            .map(|tokens| {
                let (http, delay) = (self.http.clone(), random_delay());
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    let outcome = RequestOutcome::from(http.revoke(&tokens.refresh).await);
                    (tokens, outcome)
                })
            })
            .collect();
        tokio::time::sleep(kill_after).await;
        let (status, ..) = self.server.take().unwrap().stop(Signal::KILL);
        assert_eq!(status.code(), None, "seed {seed}: the server exited by itself");

        let server = serve(&self.instance);
        self.http = Http::to(&server);
        self.browser.reconnect(self.http.clone());
        self.server = Some(server);
        self.check_earlier_rounds(seed).await;
        for chain in chains {
            self.check_chain(seed, chain.await.unwrap()).await;
        }
        for code in codes {
            let (code, outcome) = code.await.unwrap();
            self.check_code(seed, code, outcome).await;
        }
        for revocation in revocations {
            let (tokens, outcome) = revocation.await.unwrap();
            self.check_revocation(seed, tokens, outcome).await;
        }
    }

    async fn refresh(&self, token: &str) -> Response {
        self.http.refresh(&self.app, token).await.unwrap()
    }

    /// Replaced tokens are refused. The newest one works unless its refresh was in flight. The grant is not revoked.
    async fn check_chain(&mut self, seed: u64, mut chain: Chain) {
        let newest = chain.tokens.pop().unwrap();
        self.coverage.rotations += chain.tokens.len();
        self.coverage.unanswered += usize::from(chain.in_flight);
        self.coverage.idle += usize::from(!chain.in_flight);
        let first = chain.tokens.iter().take(1);
        for replaced in chain.tokens.iter().rev().take(RETRIED).chain(first) {
            let response = self.refresh(&replaced.refresh).await;
            assert!(response.is_invalid_grant(), "seed {seed}, a replaced token works again: {response:?}");
        }
        let response = self.refresh(&newest.refresh).await;
        if response.status == 200 {
            let second = self.refresh(&newest.refresh).await;
            assert!(second.is_invalid_grant(), "seed {seed}, a token works twice: {second:?}");
            self.chains.push(Chain { tokens: vec![response.tokens()], in_flight: false });
        } else {
            assert!(
                chain.in_flight && response.is_invalid_grant(),
                "seed {seed}, a token is lost: {response:?}"
            );
            self.coverage.unanswered_but_done += 1;
        }
        assert_eq!(self.http.mcp_status(&newest.access).await, 200, "seed {seed}, the grant was revoked");
    }

    /// A code works once. The tokens of an answered redemption work.
    async fn check_code(&mut self, seed: u64, code: String, outcome: RequestOutcome) {
        let second = self.http.redeem(&self.app, &code).await.unwrap();
        match outcome {
            RequestOutcome::Response(response) => {
                assert!(second.is_invalid_grant(), "seed {seed}, a code works twice: {second:?}");
                self.refresh(&response.tokens().refresh).await.expect(200);
            }
            RequestOutcome::NoResponse => {
                assert!(second.status == 200 || second.is_invalid_grant(), "seed {seed}: {second:?}");
                self.coverage.codes_unanswered += 1;
            }
            RequestOutcome::NotSent => drop(second.tokens()),
        }
        self.redeemed_codes.push(code);
    }

    /// A grant is revoked for both tokens or for none. An answered revocation is done.
    async fn check_revocation(&mut self, seed: u64, tokens: Tokens, outcome: RequestOutcome) {
        let mcp_status = self.http.mcp_status(&tokens.access).await;
        let refreshed = self.refresh(&tokens.refresh).await;
        let is_active = match (mcp_status, refreshed.status) {
            (200, 200) => true,
            (401, 400) if refreshed.is_invalid_grant() => false,
            half => panic!("seed {seed}, half revoked: {half:?}"),
        };
        match outcome {
            RequestOutcome::Response(response) => {
                assert!(
                    response.status == 200 && !is_active,
                    "seed {seed}, a revocation is lost: {response:?}"
                );
            }
            RequestOutcome::NoResponse => self.coverage.revocations_unanswered += 1,
            RequestOutcome::NotSent => assert!(is_active, "seed {seed}: revoked without a request"),
        }
        if !is_active {
            self.revoked.push(tokens);
        }
    }

    /// Grants revoked and codes redeemed in earlier rounds are still refused.
    async fn check_earlier_rounds(&self, seed: u64) {
        for tokens in self.revoked.iter().rev().take(RETRIED) {
            let status = self.http.mcp_status(&tokens.access).await;
            assert_eq!(status, 401, "seed {seed}, a revoked grant works again");
            assert!(self.refresh(&tokens.refresh).await.is_invalid_grant(), "seed {seed}");
        }
        for code in self.redeemed_codes.iter().rev().take(RETRIED) {
            let second = self.http.redeem(&self.app, code).await.unwrap();
            assert!(second.is_invalid_grant(), "seed {seed}, a redeemed code works again: {second:?}");
        }
    }
}

/// Refreshes in a loop until a request gets no response.
async fn refresh_until_killed(http: Http, app: App, mut chain: Chain, pause: Duration) -> Chain {
    loop {
        tokio::time::sleep(pause).await;
        let newest = chain.tokens.last().unwrap();
        match RequestOutcome::from(http.refresh(&app, &newest.refresh).await) {
            RequestOutcome::Response(response) => chain.tokens.push(response.tokens()),
            outcome => {
                chain.in_flight = matches!(outcome, RequestOutcome::NoResponse);
                return chain;
            }
        }
    }
}
