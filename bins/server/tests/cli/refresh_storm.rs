//! Apps refresh, redeem and revoke at once while the server is killed. What an app was told then holds for good; what
//! it was not told was done or not done, and nothing is worth more or less than before because of it.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::{
    apps::{Answer, App, Browser, Http, PASSWORD, Tokens, serve},
    program::{Instance, Server},
};

/// How often the server is killed, at least: further rounds follow until all has happened that a kill may come upon; with
/// `PHOTOS_TEST_FULL` set, the second, which is also the most.
const ROUNDS: (u64, u64) = (2, 50);
/// Apps that refresh on and on: every second one without a pause, so that it is always under way when the kill comes, and
/// the others with one, so that they are seldom.
const CHAINS: usize = 8;
const PAUSE: Duration = Duration::from_millis(30);
/// Codes that are redeemed, and grants that are revoked, at some moment around the kill.
const CODES: usize = 4;
const REVOCATIONS: usize = 3;
/// The kill comes so many milliseconds after the storm has begun, at least and less than.
const KILL_AFTER_MS: (u64, u64) = (5, 250);
/// How many of the replaced tokens of a chain are tried again, and of the grants that ended in earlier rounds.
const TRIED_AGAIN: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_apps_were_told_outlives_a_kill() {
    let full = std::env::vars_os().any(|(name, value)| name == "PHOTOS_TEST_FULL" && value == "1");
    let mut storm = Storm::new().await;
    let rounds = if full { ROUNDS.1 } else { ROUNDS.0 };
    for seed in 0..ROUNDS.1 {
        if seed >= rounds && storm.seen.all() {
            break;
        }
        storm.round(seed).await;
    }
    eprintln!("{:?}", storm.seen);
    assert!(storm.seen.all(), "{:?}", storm.seen);
}

/// What became of a request while the server was killed.
#[derive(Debug)]
enum Told {
    Answer(Answer),
    /// It was sent, or part of it; nobody knows what was done.
    Nothing,
    /// There was no server to send it to.
    Unsent,
}

impl From<reqwest::Result<Answer>> for Told {
    fn from(outcome: reqwest::Result<Answer>) -> Self {
        match outcome {
            Ok(answer) => Self::Answer(answer),
            Err(error) if error.is_connect() => Self::Unsent,
            Err(_) => Self::Nothing,
        }
    }
}

/// Tokens that an app got one for the other.
struct Chain {
    /// Those that were answered in this round, each got for the one before; the last was got for none yet.
    tokens: Vec<Tokens>,
    /// Whether the last one was under way when the server was killed.
    in_flight: bool,
}

/// How much happened, so that it can be seen that something did.
#[derive(Debug, Default)]
struct Seen {
    rotations: usize,
    /// Apps that were not refreshing when the kill came.
    at_rest: usize,
    /// Refreshes without an answer, and those of them that were done all the same.
    unanswered: usize,
    unanswered_but_done: usize,
    codes_unanswered: usize,
    revocations_unanswered: usize,
}

impl Seen {
    /// Whether something was told, something was not, and some app rested.
    fn all(&self) -> bool {
        self.rotations > 0 && self.unanswered > 0 && self.at_rest > 0
    }
}

struct Storm {
    instance: Instance,
    server: Option<Server>,
    http: Http,
    browser: Browser,
    app: App,
    chains: Vec<Chain>,
    /// Tokens of grants that were ended, and codes that were redeemed.
    ended: Vec<Tokens>,
    redeemed: Vec<String>,
    seen: Seen,
}

impl Storm {
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
            ended: Vec::new(),
            redeemed: Vec::new(),
            seen: Seen::default(),
        }
    }

    async fn connect(&mut self) -> Tokens {
        let code = self.browser.consent(&self.app).await;
        self.http.redeem(&self.app, &code).await.unwrap().tokens()
    }

    async fn round(&mut self, seed: u64) {
        let mut numbers = Numbers(seed);
        while self.chains.len() < CHAINS {
            let tokens = vec![self.connect().await];
            self.chains.push(Chain { tokens, in_flight: false });
        }
        let (mut codes, mut doomed) = (Vec::new(), Vec::new());
        for _ in 0..CODES {
            codes.push(self.browser.consent(&self.app).await);
        }
        for _ in 0..REVOCATIONS {
            doomed.push(self.connect().await);
        }

        let kill_after = Duration::from_millis(numbers.between(KILL_AFTER_MS));
        let mut around_it = || kill_after.mul_f64(f64::from(numbers.up_to_thousand()) / 900.0);
        let chains: Vec<_> = self
            .chains
            .drain(..)
            .zip([Duration::ZERO, PAUSE].into_iter().cycle())
            .map(|(chain, pause)| {
                tokio::spawn(refresh_on_and_on(self.http.clone(), self.app.clone(), chain, pause))
            })
            .collect();
        let codes: Vec<_> = codes
            .into_iter()
            .map(|code| {
                let (http, app, wait) = (self.http.clone(), self.app.clone(), around_it());
                tokio::spawn(async move {
                    tokio::time::sleep(wait).await;
                    let told = Told::from(http.redeem(&app, &code).await);
                    (code, told)
                })
            })
            .collect();
        let doomed: Vec<_> = doomed
            .into_iter()
            .map(|tokens| {
                let (http, wait) = (self.http.clone(), around_it());
                tokio::spawn(async move {
                    tokio::time::sleep(wait).await;
                    let told = Told::from(http.revoke(&tokens.refresh).await);
                    (tokens, told)
                })
            })
            .collect();
        tokio::time::sleep(kill_after).await;
        let (status, ..) = self.server.take().unwrap().end(Signal::KILL);
        assert_eq!(status.code(), None, "seed {seed}: it ended by itself");

        let server = serve(&self.instance);
        self.http = Http::to(&server);
        self.browser.turn_to(self.http.clone());
        self.server = Some(server);
        self.check_what_ended(seed).await;
        for chain in chains {
            self.check_chain(seed, chain.await.unwrap()).await;
        }
        for code in codes {
            let (code, told) = code.await.unwrap();
            self.check_code(seed, code, told).await;
        }
        for grant in doomed {
            let (tokens, told) = grant.await.unwrap();
            self.check_revocation(seed, tokens, told).await;
        }
    }

    async fn refresh(&self, token: &str) -> Answer {
        self.http.refresh(&self.app, token).await.unwrap()
    }

    /// No token that was replaced works again; the newest does, unless it was under way; the grant stands.
    async fn check_chain(&mut self, seed: u64, mut chain: Chain) {
        let newest = chain.tokens.pop().unwrap();
        self.seen.rotations += chain.tokens.len();
        self.seen.unanswered += usize::from(chain.in_flight);
        self.seen.at_rest += usize::from(!chain.in_flight);
        let first = chain.tokens.iter().take(1);
        for replaced in chain.tokens.iter().rev().take(TRIED_AGAIN).chain(first) {
            let answer = self.refresh(&replaced.refresh).await;
            assert!(answer.is_invalid_grant(), "seed {seed}, a replaced token works again: {answer:?}");
        }
        let answer = self.refresh(&newest.refresh).await;
        if answer.status == 200 {
            let again = self.refresh(&newest.refresh).await;
            assert!(again.is_invalid_grant(), "seed {seed}, a token works twice: {again:?}");
            self.chains.push(Chain { tokens: vec![answer.tokens()], in_flight: false });
        } else {
            assert!(chain.in_flight && answer.is_invalid_grant(), "seed {seed}, a token is lost: {answer:?}");
            self.seen.unanswered_but_done += 1;
        }
        assert_eq!(self.http.call(&newest.access).await, 200, "seed {seed}, the grant was ended");
    }

    /// A code that was redeemed gave tokens that work; one that may not have been gives some now, or none ever.
    async fn check_code(&mut self, seed: u64, code: String, told: Told) {
        let again = self.http.redeem(&self.app, &code).await.unwrap();
        match told {
            Told::Answer(answer) => {
                assert!(again.is_invalid_grant(), "seed {seed}, a code works twice: {again:?}");
                self.refresh(&answer.tokens().refresh).await.expect(200);
            }
            Told::Nothing => {
                assert!(again.status == 200 || again.is_invalid_grant(), "seed {seed}: {again:?}");
                self.seen.codes_unanswered += 1;
            }
            Told::Unsent => drop(again.tokens()),
        }
        self.redeemed.push(code);
    }

    /// A grant that was revoked is at its end, whole; one that may not have been is or is not, whole.
    async fn check_revocation(&mut self, seed: u64, tokens: Tokens, told: Told) {
        let opens = self.http.call(&tokens.access).await;
        let refreshed = self.refresh(&tokens.refresh).await;
        let stands = match (opens, refreshed.status) {
            (200, 200) => true,
            (401, 400) if refreshed.is_invalid_grant() => false,
            half => panic!("seed {seed}, half revoked: {half:?}"),
        };
        match told {
            Told::Answer(answer) => {
                assert!(answer.status == 200 && !stands, "seed {seed}, a revocation is lost: {answer:?}");
            }
            Told::Nothing => self.seen.revocations_unanswered += 1,
            Told::Unsent => assert!(stands, "seed {seed}: nobody asked for it"),
        }
        if !stands {
            self.ended.push(tokens);
        }
    }

    /// What had ended before earlier kills is still at its end.
    async fn check_what_ended(&self, seed: u64) {
        for tokens in self.ended.iter().rev().take(TRIED_AGAIN) {
            assert_eq!(self.http.call(&tokens.access).await, 401, "seed {seed}, a revoked grant is back");
            assert!(self.refresh(&tokens.refresh).await.is_invalid_grant(), "seed {seed}");
        }
        for code in self.redeemed.iter().rev().take(TRIED_AGAIN) {
            let again = self.http.redeem(&self.app, code).await.unwrap();
            assert!(again.is_invalid_grant(), "seed {seed}, a redeemed code is back: {again:?}");
        }
    }
}

/// Refreshes until there is no answer any more.
async fn refresh_on_and_on(http: Http, app: App, mut chain: Chain, pause: Duration) -> Chain {
    loop {
        tokio::time::sleep(pause).await;
        let newest = chain.tokens.last().unwrap();
        match Told::from(http.refresh(&app, &newest.refresh).await) {
            Told::Answer(answer) => chain.tokens.push(answer.tokens()),
            told => {
                chain.in_flight = matches!(told, Told::Nothing);
                return chain;
            }
        }
    }
}

/// Numbers that look random (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn between(&mut self, (from, to): (u64, u64)) -> u64 {
        from + self.next() % (to - from)
    }

    fn up_to_thousand(&mut self) -> u32 {
        u32::try_from(self.next() % 1000).unwrap()
    }
}
