use std::{
    thread,
    time::{Duration, Instant},
};

use ::tests::black_box::AnyError;

/// What one connection does again and again, until it says that nothing is left.
pub(crate) type Lane = Box<dyn FnMut() -> Result<bool, AnyError> + Send>;

/// How long lanes go on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    /// For a time, after a tenth of it that is not measured.
    For(Duration),
    /// Until nothing is left.
    UntilDone,
}

/// How the requests of one kind were answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) requests: usize,
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Processor time of the server in microseconds for each request.
    pub(crate) cpu_us: f64,
}

/// Runs all lanes at the same time, each on a thread of its own. `cpu` tells the processor time that the server has used
/// until now.
pub(crate) fn measure(
    lanes: &mut [Lane],
    extent: Extent,
    cpu: impl Fn() -> Duration,
) -> Result<Figures, AnyError> {
    if let Extent::For(time) = extent {
        run(lanes, Some(time / 10))?;
    }
    let (before, began) = (cpu(), Instant::now());
    let mut took = run(lanes, if let Extent::For(time) = extent { Some(time) } else { None })?;
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

fn run(lanes: &mut [Lane], time: Option<Duration>) -> Result<Vec<Duration>, AnyError> {
    let end = time.map(|time| Instant::now() + time);
    thread::scope(|scope| {
        let running: Vec<_> = lanes.iter_mut().map(|lane| scope.spawn(move || go(lane, end))).collect();
        let mut took = Vec::new();
        for lane in running {
            took.extend(lane.join().map_err(|_| "a lane panicked")??);
        }
        Ok(took)
    })
}

fn go(lane: &mut Lane, end: Option<Instant>) -> Result<Vec<Duration>, AnyError> {
    let mut took = Vec::new();
    loop {
        let began = Instant::now();
        if end.is_some_and(|end| began >= end) || !lane()? {
            return Ok(took);
        }
        took.push(began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_end_when_nothing_is_left_or_the_time_is_up() {
        let lane = |mut left: u32| -> Lane {
            Box::new(move || {
                left = left.saturating_sub(1);
                thread::sleep(Duration::from_micros(100));
                Ok(left > 0)
            })
        };
        let cpu = || Duration::ZERO;
        let figures = measure(&mut [lane(11), lane(6)], Extent::UntilDone, cpu).unwrap();
        assert_eq!(figures.requests, 15);
        let some = Extent::For(Duration::from_millis(20));
        let figures = measure(&mut [lane(u32::MAX)], some, cpu).unwrap();
        assert!(figures.requests > 1 && figures.p99_ms >= figures.p50_ms, "{figures:?}");
        let failing: Lane = Box::new(|| Err("no".into()));
        assert!(measure(&mut [failing], Extent::UntilDone, cpu).is_err());
    }
}
