//! Measures the parts of a bearer check and of a refresh, called in this process one after the other: processor time of
//! all threads per call.

use std::{path::Path, sync::Arc, time::Duration};

use ::tests::black_box::AnyError;
use blobs::BlobStore;
use keys::{Secret, SystemRandom};
use library::{Library, Settings, SystemClock, WorkerCommand};
use oauth_core::{AccessTokenClaims, ClientStore as _, SecretHash, jwt::UnverifiedToken};
use rustix::time::{ClockId, clock_gettime};
use storage_sqlite::{SqliteOptions, SqliteStore};

const CALLS: u32 = 20_000;

/// Credentials of the library in `data_dir`, which is no longer served.
pub(super) struct Inputs<'a> {
    pub(super) data_dir: &'a Path,
    pub(super) key: &'a str,
    /// Access tokens, each of another grant.
    pub(super) tokens: &'a [String],
    pub(super) client_id: &'a str,
}

pub(super) async fn run(inputs: &Inputs<'_>) -> Result<(), AnyError> {
    let store = SqliteStore::open(&inputs.data_dir.join("library.sqlite"), SqliteOptions::default()).await?;
    let no_decoder = WorkerCommand { program: "none".into(), args: Vec::new(), environment: Vec::new() };
    let random = Arc::new(SystemRandom::new());
    let library = Library::new(
        Arc::new(store.clone()),
        BlobStore::open_folder(&inputs.data_dir.join("blobs"))?,
        Arc::new(SystemClock),
        random.clone(),
        Settings::new(no_decoder),
    )?;
    let secret = Secret::load_or_create(&inputs.data_dir.join("secret"), &*random)?;
    let signing_keys = library.accounts.signing_keys(secret);
    let claims_of = async |token: &str| -> Result<AccessTokenClaims, AnyError> {
        let token = UnverifiedToken::parse(token).ok_or("a malformed token")?;
        let claims = signing_keys.verify(token).await?.ok_or("a valid token was refused")?;
        Ok(serde_json::from_slice(&claims)?)
    };
    let token = |call: u32| -> Result<&str, AnyError> {
        let place = usize::try_from(call)? % inputs.tokens.len();
        Ok(inputs.tokens.get(place).ok_or("there are no tokens")?)
    };
    let claims = claims_of(token(0)?).await?;
    let encoded = serde_json::to_vec(&claims)?;
    let mut grants = Vec::new();
    for token in inputs.tokens.iter().take(1000) {
        grants.push(claims_of(token).await?.grant_id);
    }

    println!("\n{:<58} {:>8}", "part", "CPU µs");
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
    each("grant and account, always the same", async |_| {
        library.accounts.caller_by_grant(&claims.grant_id).await?.ok_or("no grant")?;
        Ok(())
    })
    .await?;
    each("grant and account, 1000 in turn", async |call| {
        let place = usize::try_from(call)? % grants.len();
        library.accounts.caller_by_grant(grants.get(place).ok_or("no grant")?).await?.ok_or("no grant")?;
        Ok(())
    })
    .await?;
    each("account of an API key", async |_| {
        library.accounts.caller_by_key(inputs.key).await?.ok_or("no key")?;
        Ok(())
    })
    .await?;
    each("client of a token request", async |_| {
        store.client(inputs.client_id).await?.ok_or("no client")?;
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

/// The processor time that this process has used so far.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or_default());
    seconds + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or_default())
}
