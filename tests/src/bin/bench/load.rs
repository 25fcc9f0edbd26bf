use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ::tests::black_box::AnyError;

/// Connections that ask at the same time, as many as a busy household of apps.
pub(crate) const CONNECTIONS: usize = 4;

/// How the answers to one kind of request came.
pub(crate) struct Latencies {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// Asks for each URL once, over so many connections, and measures.
///
/// # Errors
/// An answer other than 200: figures of failures would say nothing.
pub(crate) async fn run(
    http: &reqwest::Client,
    key: &str,
    urls: Vec<String>,
    connections: usize,
) -> Result<Latencies, AnyError> {
    let urls = Arc::new(urls);
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut lanes = Vec::new();
    for _ in 0..connections {
        let (http, key, urls, next) = (http.clone(), key.to_owned(), urls.clone(), next.clone());
        lanes.push(tokio::spawn(async move {
            let mut took = Vec::new();
            while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
                let asked = Instant::now();
                let answer = http.get(url).bearer_auth(&key).send().await?;
                let status = answer.status();
                answer.bytes().await?;
                took.push(asked.elapsed());
                if status != 200 {
                    return Err(format!("{url} answered {status}").into());
                }
            }
            Ok::<_, AnyError>(took)
        }));
    }
    let mut took = Vec::new();
    for lane in lanes {
        took.extend(lane.await??);
    }
    let elapsed = started.elapsed();
    took.sort_unstable();
    let percentile = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    Ok(Latencies {
        per_second: f64::from(u32::try_from(took.len())?) / elapsed.as_secs_f64(),
        p50: percentile(50),
        p99: percentile(99),
    })
}
