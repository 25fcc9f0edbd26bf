use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ::tests::black_box::AnyError;
use reqwest::{
    Client,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};

/// Number of concurrent connections.
pub(crate) const CONNECTIONS: usize = 4;

/// Throughput and latency of one kind of request.
pub(crate) struct LoadFigures {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// A duration in milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A client with an API key.
pub(crate) fn client_with_key(key: &str) -> Result<Client, AnyError> {
    let bearer = HeaderValue::try_from(format!("Bearer {key}"))?;
    Ok(Client::builder().default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)])).build()?)
}

/// Requests each URL once, over this many connections, with the headers of the client.
///
/// # Errors
/// A response other than 200, because figures of failed requests are useless.
pub(crate) async fn run(
    http: &Client,
    urls: Vec<String>,
    connections: usize,
) -> Result<LoadFigures, AnyError> {
    let urls = Arc::new(urls);
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut clients = Vec::new();
    for _ in 0..connections {
        let (http, urls, next) = (http.clone(), urls.clone(), next.clone());
        clients.push(tokio::spawn(async move {
            let mut took = Vec::new();
            while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
                let began = Instant::now();
                let response = http.get(url).send().await?;
                let status = response.status();
                response.bytes().await?;
                took.push(began.elapsed());
                if status != 200 {
                    return Err(format!("{url} answered {status}").into());
                }
            }
            Ok::<_, AnyError>(took)
        }));
    }
    let mut took = Vec::new();
    for client in clients {
        took.extend(client.await??);
    }
    let elapsed = started.elapsed();
    took.sort_unstable();
    let percentile = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    Ok(LoadFigures {
        per_second: f64::from(u32::try_from(took.len())?) / elapsed.as_secs_f64(),
        p50: percentile(50),
        p99: percentile(99),
    })
}
