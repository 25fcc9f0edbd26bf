use std::time::{Duration, Instant};

use tokio::{sync::watch, task::JoinHandle, time};

use super::AnyError;

/// Time-out of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between requests. It gives enough requests for a p99, but too few to load the server.
const PERIOD: Duration = Duration::from_millis(20);

/// The latencies of the requests so far.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    took: Vec<Duration>,
    /// Descriptions of requests that failed or were not answered with 200.
    pub faults: Vec<String>,
}

impl Latencies {
    /// Adds a request answered with 200.
    pub fn add(&mut self, took: Duration) {
        self.took.push(took);
    }

    /// Number of requests answered with 200.
    pub fn count(&self) -> usize {
        self.took.len()
    }

    /// The latency at a percentile; zero without requests.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut took = self.took.clone();
        took.sort_unstable();
        let rank = (took.len() * percent).div_ceil(100).saturating_sub(1);
        took.get(rank).copied().unwrap_or_default()
    }
}

/// Sends 50 requests a second to a server, one after the other, like an app in use during an import.
#[derive(Debug)]
pub struct Prober {
    stop: watch::Sender<bool>,
    task: JoinHandle<Latencies>,
}

impl Prober {
    /// Starts to request these URLs in turn.
    ///
    /// # Errors
    /// The HTTP client cannot be created.
    pub fn start(key: &str, urls: Vec<String>) -> Result<Self, AnyError> {
        let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let key = key.to_owned();
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            let mut latencies = Latencies::default();
            let mut interval = time::interval(PERIOD);
            interval.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
            for url in urls.iter().cycle() {
                if *stopped.borrow() {
                    break;
                }
                interval.tick().await;
                let began = Instant::now();
                match request(&http, &key, url).await {
                    Ok(()) => latencies.add(began.elapsed()),
                    Err(fault) => latencies.faults.push(fault),
                }
            }
            latencies
        });
        Ok(Self { stop, task })
    }

    /// Stops, and returns the latencies.
    ///
    /// # Errors
    /// The task panicked.
    pub async fn stop(self) -> Result<Latencies, AnyError> {
        // Without a receiver, the task has ended already.
        let _ = self.stop.send(true);
        Ok(self.task.await?)
    }
}

async fn request(http: &reqwest::Client, key: &str, url: &str) -> Result<(), String> {
    let response = http.get(url).bearer_auth(key).send().await.map_err(|error| format!("{url}: {error}"))?;
    let status = response.status();
    response.bytes().await.map_err(|error| format!("{url}: {error}"))?;
    if status == 200 { Ok(()) } else { Err(format!("{url} answered {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_do_not_depend_on_the_order() {
        let took = (1..=200).rev().map(Duration::from_millis).collect();
        let latencies = Latencies { took, faults: Vec::new() };
        assert_eq!(latencies.percentile(50), Duration::from_millis(100));
        assert_eq!(latencies.percentile(99), Duration::from_millis(198));
        assert_eq!(latencies.percentile(100), Duration::from_millis(200));
        assert_eq!(Latencies::default().percentile(99), Duration::ZERO);
    }
}
