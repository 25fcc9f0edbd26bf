use std::{
    thread,
    time::{Duration, Instant},
};

use ::tests::black_box::AnyError;

/// Sends the next request on its connection and waits for the response. Returns `false` when no request is left.
pub(crate) type LoadClient = Box<dyn FnMut() -> Result<bool, AnyError> + Send>;

/// When a measurement ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// After this time. A warm-up of a tenth of it comes first.
    Elapsed(Duration),
    /// When no request is left.
    Done,
}

/// Figures of one kind of request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) requests: usize,
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Processor time of the server per request, in microseconds.
    pub(crate) cpu_us: f64,
}

/// Runs all clients at the same time, each on its own thread, without pauses between requests (a closed loop). `cpu`
/// returns the processor time that the server has used so far.
pub(crate) fn measure(
    clients: &mut [LoadClient],
    until: Until,
    cpu: impl Fn() -> Duration,
) -> Result<Figures, AnyError> {
    let time = if let Until::Elapsed(time) = until { Some(time) } else { None };
    if let Some(time) = time {
        run(clients, Some(time / 10))?;
    }
    let (before, began) = (cpu(), Instant::now());
    let mut took = run(clients, time)?;
    let (elapsed, used) = (began.elapsed().as_secs_f64(), (cpu() - before).as_secs_f64());
    took.sort_unstable();
    let requests = f64::from(u32::try_from(took.len().max(1))?);
    let percentile_ms =
        |percent: usize| took.get(took.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    Ok(Figures {
        requests: took.len(),
        per_second: requests / elapsed,
        p50_ms: percentile_ms(50),
        p99_ms: percentile_ms(99),
        cpu_us: used * 1e6 / requests,
    })
}

fn run(clients: &mut [LoadClient], time: Option<Duration>) -> Result<Vec<Duration>, AnyError> {
    let end = time.map(|time| Instant::now() + time);
    thread::scope(|scope| {
        let threads: Vec<_> =
            clients.iter_mut().map(|client| scope.spawn(move || run_client(client, end))).collect();
        let mut took = Vec::new();
        for thread in threads {
            took.extend(thread.join().map_err(|_| "a client panicked")??);
        }
        Ok(took)
    })
}

fn run_client(client: &mut LoadClient, end: Option<Instant>) -> Result<Vec<Duration>, AnyError> {
    let mut took = Vec::new();
    loop {
        let began = Instant::now();
        if end.is_some_and(|end| began >= end) || !client()? {
            return Ok(took);
        }
        took.push(began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_stop_when_done_or_after_the_time() {
        let client = |mut left: u32| -> LoadClient {
            Box::new(move || {
                left = left.saturating_sub(1);
                thread::sleep(Duration::from_micros(100));
                Ok(left > 0)
            })
        };
        let cpu = || Duration::ZERO;
        let figures = measure(&mut [client(11), client(6)], Until::Done, cpu).unwrap();
        assert_eq!(figures.requests, 15);
        let until = Until::Elapsed(Duration::from_millis(20));
        let figures = measure(&mut [client(u32::MAX)], until, cpu).unwrap();
        assert!(figures.requests > 1 && figures.p99_ms >= figures.p50_ms, "{figures:?}");
        let failing: LoadClient = Box::new(|| Err("no".into()));
        assert!(measure(&mut [failing], Until::Done, cpu).is_err());
    }
}
