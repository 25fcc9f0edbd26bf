//! What the parts of a bearer check and of a refresh cost, called in this process one after the other: processor time of
//! all its threads for each call.

use std::{path::Path, sync::Arc, time::Duration};

use ::tests::black_box::AnyError;
use blobs::BlobStore;
use keys::{Secret, SystemRandom};
use library::{Library, Settings, SystemClock, WorkerCommand};
use oauth_core::{AccessTokenClaims, SecretHash, Store as _};
use rustix::time::{ClockId, clock_gettime};
use storage_sqlite::{SqliteOptions, SqliteStore};

const CALLS: u32 = 20_000;

/// What to ask about, from the library in `data_dir`, which nobody serves any more.
pub(super) struct Subjects<'a> {
    pub(super) data_dir: &'a Path,
    pub(super) key: &'a str,
    /// Access tokens, each of a grant of its own.
    pub(super) tokens: &'a [String],
    pub(super) client_id: &'a str,
}

pub(super) async fn run(subjects: &Subjects<'_>) -> Result<(), AnyError> {
    let store =
        SqliteStore::open(&subjects.data_dir.join("library.sqlite"), SqliteOptions::default()).await?;
    let nothing_is_decoded =
        WorkerCommand { program: "none".into(), args: Vec::new(), environment: Vec::new() };
    let random = Arc::new(SystemRandom::new());
    let library = Library::new(
        Arc::new(store.clone()),
        BlobStore::open_folder(&subjects.data_dir.join("blobs"))?,
        Arc::new(SystemClock),
        random.clone(),
        Settings::new(nothing_is_decoded),
    )?;
    let secret = Secret::load_or_create(&subjects.data_dir.join("secret"), &*random)?;
    let signing_keys = library.signing_keys(secret);
    let claims_of = async |token: &str| -> Result<AccessTokenClaims, AnyError> {
        let claims = signing_keys.read(token).await?.ok_or("a token of ours was refused")?;
        Ok(serde_json::from_slice(&claims)?)
    };
    let token = |call: u32| -> Result<&str, AnyError> {
        let place = usize::try_from(call)? % subjects.tokens.len();
        Ok(subjects.tokens.get(place).ok_or("there are no tokens")?)
    };
    let claims = claims_of(token(0)?).await?;
    let encoded = serde_json::to_vec(&claims)?;
    let mut grants = Vec::new();
    for token in subjects.tokens.iter().take(1000) {
        grants.push(claims_of(token).await?.grant_id);
    }

    println!("\n{:<58} {:>8}", "parts, called one after the other", "CPU µs");
    each("SHA-256 of a token", async |call| {
        std::hint::black_box(SecretHash::of(token(call)?));
        Ok(())
    })
    .await?;
    each("signature and claims of a token", async |call| {
        claims_of(token(call)?).await?;
        Ok(())
    })
    .await?;
    each("grant and account, the same again and again", async |_| {
        library.caller_by_grant(&claims.grant_id).await?.ok_or("no grant")?;
        Ok(())
    })
    .await?;
    each("grant and account, of 1000 in turn", async |call| {
        let place = usize::try_from(call)? % grants.len();
        library.caller_by_grant(grants.get(place).ok_or("no grant")?).await?.ok_or("no grant")?;
        Ok(())
    })
    .await?;
    each("account of an API key", async |_| {
        library.caller_by_key(subjects.key).await?.ok_or("no key")?;
        Ok(())
    })
    .await?;
    each("client of a token request", async |_| {
        store.client(subjects.client_id).await?.ok_or("no client")?;
        Ok(())
    })
    .await?;
    each("signing an access token", async |_| {
        signing_keys.sign(&encoded).await?;
        Ok(())
    })
    .await
}

async fn each(name: &str, call: impl AsyncFn(u32) -> Result<(), AnyError>) -> Result<(), AnyError> {
    for number in 0..CALLS / 10 {
        call(number).await?;
    }
    let before = cpu();
    for number in 0..CALLS {
        call(number).await?;
    }
    let cpu_us = (cpu() - before).as_secs_f64() * 1e6 / f64::from(CALLS);
    println!("{name:<58} {cpu_us:>8.1}");
    Ok(())
}

/// What this process has used until now.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or_default());
    seconds + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or_default())
}
