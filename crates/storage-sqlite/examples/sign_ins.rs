//! Prints how many refresh tokens per second 1, 8 and 64 concurrent clients rotate with durable commits, how long a
//! write of another process takes meanwhile, and how long the look-ups take that every request needs.
//!
//! `cargo run --release --example sign_ins -p storage-sqlite [FOLDER]` creates the file in `FOLDER`, whose disk it
//! measures.
#![expect(clippy::unwrap_used, reason = "an example stops at the first error")]

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use domain::{AccountId, Plan};
use oauth_core::{
    CurrentRefreshToken, Grant, GrantKey, GrantStore as _, IssuedCode, NewCode, NewRefreshToken, Redemption,
    Rotation, SecretHash, UnixMillis,
};
use storage::{GrantHolderStore as _, NewSession, SchemaStore as _, SessionStore as _};
use storage_conformance::{NOW, Seed};
use storage_sqlite::{SqliteOptions, SqliteStore};

const CLIENTS: u64 = 64;
const MEASURED: Duration = Duration::from_secs(4);
const LOOK_UPS: u32 = 20_000;
const AT: UnixMillis = UnixMillis(NOW.millis());

#[tokio::main]
async fn main() {
    let within = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(within).unwrap();
    let path = folder.path().join("library.sqlite");
    let store = SqliteStore::open(&path, SqliteOptions::default()).await.unwrap();
    let other = SqliteStore::open(&path, SqliteOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await.account;
    for client in 0..CLIENTS {
        grant(&store, ann, client).await;
    }
    look_ups(&store, ann).await;
    for clients in [1, 8, CLIENTS] {
        rotations(&store, clients).await;
    }
    let busy = tokio::spawn(async move { rotations(&store, CLIENTS).await });
    let mut taken = Vec::new();
    while !busy.is_finished() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let began = Instant::now();
        other.record_use("grant-1", AT).await.unwrap();
        taken.push(began.elapsed().as_secs_f64() * 1e3);
    }
    taken.sort_by(f64::total_cmp);
    let slowest = taken.last().unwrap();
    println!("a write of another store meanwhile: {:.1} ms, slowest {slowest:.1} ms", taken[taken.len() / 2]);
}

/// A client's token of that generation.
fn token(client: u64, generation: u32) -> CurrentRefreshToken {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&client.to_be_bytes());
    hash[8..12].copy_from_slice(&generation.to_be_bytes());
    CurrentRefreshToken {
        hash: SecretHash(hash),
        generation,
        expires_at: AT.plus_ms(1_000_000),
        recent_rotations: vec![AT; 3],
    }
}

async fn grant(store: &SqliteStore, account: AccountId, client: u64) {
    let hash = token(client, u32::MAX).hash;
    let grant = Grant {
        id: format!("grant-{client}"),
        client_id: "client".to_owned(),
        subject: account.0.to_string(),
        resource: "https://photos.example.org/api/mcp/v1".to_owned(),
        scopes: vec!["mcp:images".to_owned()],
        created_at: AT,
        revoked_at: None,
    };
    let code = IssuedCode {
        redirect_uri: "http://127.0.0.1/back".to_owned(),
        challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned(),
        expires_at: AT.plus_ms(1000),
        redeemed_at: None,
    };
    store.issue_code(NewCode { hash, code, grant, client: None }).await.unwrap();
    let refresh = Some(NewRefreshToken { handle: hash, token: token(client, 0) });
    let redemption = Redemption { code: hash, at: AT, refresh, access_expires_at: AT };
    assert!(store.redeem_code(redemption).await.unwrap());
}

async fn look_ups(store: &SqliteStore, account: AccountId) {
    let session = NewSession {
        hash: [1; 32],
        account,
        user_agent: None,
        address: "127.0.0.1".to_owned(),
        at: NOW,
        expires_at: NOW.plus_millis(1000),
    };
    assert!(store.add_session(session).await.unwrap());
    let began = Instant::now();
    for _ in 0..LOOK_UPS {
        assert!(store.grant_holder("grant-7").await.unwrap().is_some());
    }
    println!("grant_holder {:>6.1} µs", micros(began));
    let began = Instant::now();
    for _ in 0..LOOK_UPS {
        assert!(store.session(&[1; 32], NOW).await.unwrap().is_some());
    }
    println!("session      {:>6.1} µs", micros(began));
}

fn micros(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e6 / f64::from(LOOK_UPS)
}

/// Concurrent clients; each rotates its own token repeatedly.
async fn rotations(store: &SqliteStore, clients: u64) {
    let began = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            let store = store.clone();
            tokio::spawn(async move {
                let handle = token(client, u32::MAX).hash;
                let found = store.grant(GrantKey::RefreshHandle(&handle)).await.unwrap().unwrap();
                let mut current = found.refresh.unwrap();
                let (mut replaced, mut slowest) = (0_u32, Duration::ZERO);
                while began.elapsed() < MEASURED {
                    let started = Instant::now();
                    let next = token(client, current.generation + 1);
                    let rotation = Rotation {
                        grant_id: format!("grant-{client}"),
                        presented: current.hash,
                        next: next.clone(),
                        access_expires_at: AT,
                        at: AT,
                    };
                    assert!(store.rotate_refresh_token(rotation).await.unwrap());
                    current = next;
                    replaced += 1;
                    slowest = slowest.max(started.elapsed());
                }
                (replaced, slowest)
            })
        })
        .collect();
    let (mut replaced, mut slowest) = (0, Duration::ZERO);
    for task in tasks {
        let (of_client, slowest_of_client) = task.await.unwrap();
        replaced += of_client;
        slowest = slowest.max(slowest_of_client);
    }
    let per_second = f64::from(replaced) / began.elapsed().as_secs_f64();
    println!(
        "{clients:>2} clients: {per_second:>7.0} rotations/s, slowest {:>6.1} ms",
        slowest.as_secs_f64() * 1e3
    );
}
