use std::time::{Duration, Instant};

use tokio::{sync::watch, task::JoinHandle, time};

use super::AnyError;

/// How long until an answer counts as none.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The rhythm of requests: so many that a p99 means something, so few that they are no load themselves.
const PERIOD: Duration = Duration::from_millis(20);

/// How answers came.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    took: Vec<Duration>,
    /// Requests without an answer of 200, in words.
    pub faults: Vec<String>,
}

impl Latencies {
    /// How many were answered with 200.
    pub fn count(&self) -> usize {
        self.took.len()
    }

    /// So many percent of the answers took at most so long; zero when there were none.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut took = self.took.clone();
        took.sort_unstable();
        let rank = (took.len() * percent).div_ceil(100).saturating_sub(1);
        took.get(rank).copied().unwrap_or_default()
    }
}

/// Asks a server one question after the other, 50 times a second, as an app does that is used while photos come in.
#[derive(Debug)]
pub struct Prober {
    stop: watch::Sender<bool>,
    asking: JoinHandle<Latencies>,
}

impl Prober {
    /// Begins to ask for these URLs in turn.
    ///
    /// # Errors
    /// There is no client to ask with.
    pub fn start(key: &str, urls: Vec<String>) -> Result<Self, AnyError> {
        let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let key = key.to_owned();
        let (stop, stopped) = watch::channel(false);
        let asking = tokio::spawn(async move {
            let mut latencies = Latencies::default();
            let mut rhythm = time::interval(PERIOD);
            rhythm.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
            for url in urls.iter().cycle() {
                if *stopped.borrow() {
                    break;
                }
                rhythm.tick().await;
                let asked = Instant::now();
                match ask(&http, &key, url).await {
                    Ok(()) => latencies.took.push(asked.elapsed()),
                    Err(fault) => latencies.faults.push(fault),
                }
            }
            latencies
        });
        Ok(Self { stop, asking })
    }

    /// Ends asking.
    ///
    /// # Errors
    /// It failed.
    pub async fn stop(self) -> Result<Latencies, AnyError> {
        // Without a receiver it has ended already.
        let _ = self.stop.send(true);
        Ok(self.asking.await?)
    }
}

async fn ask(http: &reqwest::Client, key: &str, url: &str) -> Result<(), String> {
    let answer = http.get(url).bearer_auth(key).send().await.map_err(|error| format!("{url}: {error}"))?;
    let status = answer.status();
    answer.bytes().await.map_err(|error| format!("{url}: {error}"))?;
    if status == 200 { Ok(()) } else { Err(format!("{url} answered {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_sorted_times() {
        let took = (1..=200).rev().map(Duration::from_millis).collect();
        let latencies = Latencies { took, faults: Vec::new() };
        assert_eq!(latencies.percentile(50), Duration::from_millis(100));
        assert_eq!(latencies.percentile(99), Duration::from_millis(198));
        assert_eq!(latencies.percentile(100), Duration::from_millis(200));
        assert_eq!(Latencies::default().percentile(99), Duration::ZERO);
    }
}
