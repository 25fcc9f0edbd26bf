//! A counting semaphore with two priorities, for slots and memory.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::Urgency;

/// A number of units. Jobs wait for them in two queues: interactive jobs come first, and part of the units is reserved for
/// them. Each queue is first in, first out.
#[derive(Debug)]
pub(crate) struct Budget {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    total: u32,
    /// Reserved for interactive jobs.
    reserve: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: u32,
    interactive: VecDeque<Waiter>,
    background: VecDeque<Waiter>,
    closed: bool,
}

#[derive(Debug)]
struct Waiter {
    units: u32,
    permit: oneshot::Sender<Permit>,
}

/// Units that are returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    units: u32,
    shared: Arc<Shared>,
}

/// The budget is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl Budget {
    /// `total` units, `reserve` of them for interactive jobs. At least one is left to background jobs.
    pub(crate) fn new(total: u32, reserve: u32) -> Self {
        let total = total.max(1);
        let state =
            State { free: total, interactive: VecDeque::new(), background: VecDeque::new(), closed: false };
        let shared = Shared { total, reserve: reserve.min(total - 1), state: Mutex::new(state) };
        Self { shared: Arc::new(shared) }
    }

    /// All units.
    pub(crate) fn total(&self) -> u32 {
        self.shared.total
    }

    /// The units that all background jobs together can take.
    pub(crate) fn unreserved(&self) -> u32 {
        self.shared.total - self.shared.reserve
    }

    /// The units in use, and the number of jobs that wait.
    pub(crate) fn load(&self) -> (u32, usize) {
        let state = self.shared.lock();
        (self.shared.total - state.free, state.interactive.len() + state.background.len())
    }

    /// Waits for `units`, but at least one and at most all. A background job that needs more than the unreserved units waits
    /// until none is in use.
    pub(crate) async fn take(&self, units: u32, urgency: Urgency) -> Result<Permit, Closed> {
        let units = units.clamp(1, self.shared.total);
        // Dropped after the receiver, so that the jobs behind this one are served if this future is dropped.
        let _serve = ServeOnDrop(&self.shared);
        let receiver = {
            let mut state = self.shared.lock();
            if state.closed {
                return Err(Closed);
            }
            let (permit, receiver) = oneshot::channel();
            state.queue(urgency).push_back(Waiter { units, permit });
            receiver
        };
        self.shared.serve();
        receiver.await.map_err(|_| Closed)
    }

    /// Refuses all waiting and future jobs. Permits stay valid.
    pub(crate) fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.interactive.clear();
        state.background.clear();
    }
}

struct ServeOnDrop<'a>(&'a Arc<Shared>);

impl Drop for ServeOnDrop<'_> {
    fn drop(&mut self) {
        self.0.serve();
    }
}

impl State {
    fn queue(&mut self, urgency: Urgency) -> &mut VecDeque<Waiter> {
        match urgency {
            Urgency::Interactive => &mut self.interactive,
            Urgency::Background => &mut self.background,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants the permits that are possible, in order.
    fn serve(self: &Arc<Self>) {
        let mut state = self.lock();
        for urgency in [Urgency::Interactive, Urgency::Background] {
            while let Some(waiter) = state.queue(urgency).pop_front() {
                if waiter.permit.is_closed() {
                    continue;
                }
                if !self.fits(waiter.units, state.free, urgency) {
                    // No job overtakes it, otherwise it could wait indefinitely.
                    state.queue(urgency).push_front(waiter);
                    return;
                }
                state.free -= waiter.units;
                let permit = Permit { units: waiter.units, shared: Arc::clone(self) };
                if let Err(mut permit) = waiter.permit.send(permit) {
                    state.free += permit.units;
                    // Its drop must not take the lock, which is held here.
                    permit.units = 0;
                }
            }
        }
    }

    fn fits(&self, units: u32, free: u32, urgency: Urgency) -> bool {
        match urgency {
            Urgency::Interactive => units <= free,
            Urgency::Background => units <= free.saturating_sub(self.reserve) || free == self.total,
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.units > 0 {
            self.shared.lock().free += self.units;
            self.shared.serve();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::{Pin, pin},
        sync::atomic::{AtomicU32, Ordering},
        task::{Context, Poll, Waker},
    };

    use super::*;
    use Urgency::{Background, Interactive};

    fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn interactive_jobs_come_first_and_have_a_reserve() {
        let slots = Budget::new(3, 1);
        let running: Vec<_> =
            (0..2).map(|_| poll(pin!(slots.take(1, Background))).unwrap().unwrap()).collect();
        let mut background = pin!(slots.take(1, Background));
        assert!(poll(background.as_mut()).is_none());
        let reserved = poll(pin!(slots.take(1, Interactive))).unwrap().unwrap();
        let mut second = pin!(slots.take(1, Interactive));
        assert!(poll(second.as_mut()).is_none());
        drop(running);
        let second = poll(second).unwrap().unwrap();
        assert!(poll(background.as_mut()).is_none(), "the last free slot is the reserve");
        drop(second);
        assert!(poll(background).is_some());
        drop(reserved);
    }

    #[test]
    fn large_job_is_not_overtaken_until_it_is_dropped() {
        let memory = Budget::new(10, 2);
        let held = poll(pin!(memory.take(4, Background))).unwrap().unwrap();
        let mut small = pin!(memory.take(1, Background));
        {
            let mut large = pin!(memory.take(8, Background));
            assert!(poll(large.as_mut()).is_none());
            assert!(poll(small.as_mut()).is_none());
        }
        assert!(poll(small).is_some());
        drop(held);
    }

    #[test]
    fn job_beyond_the_budget_runs_alone() {
        let memory = Budget::new(10, 4);
        for urgency in [Interactive, Background] {
            let held = poll(pin!(memory.take(1, Interactive))).unwrap().unwrap();
            let mut huge = pin!(memory.take(u32::MAX, urgency));
            assert!(poll(huge.as_mut()).is_none());
            drop(held);
            let huge = poll(huge).unwrap().unwrap();
            let mut next = pin!(memory.take(1, Interactive));
            assert!(poll(next.as_mut()).is_none());
            drop(huge);
            assert!(poll(next).is_some());
        }
        assert_eq!(Budget::new(0, 9).unreserved(), 1);
    }

    #[test]
    fn closed_budget_refuses_all_jobs() {
        let slots = Budget::new(1, 0);
        let held = poll(pin!(slots.take(1, Background))).unwrap().unwrap();
        let mut waiting = pin!(slots.take(1, Interactive));
        assert!(poll(waiting.as_mut()).is_none());
        slots.close();
        assert_eq!(poll(waiting).unwrap().unwrap_err(), Closed);
        drop(held);
        assert_eq!(poll(pin!(slots.take(1, Interactive))).unwrap().unwrap_err(), Closed);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_jobs_never_exceed_the_budget() {
        const TOTAL: u32 = 100;
        let memory = Arc::new(Budget::new(TOTAL, 20));
        let (used, background) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let jobs: Vec<_> = (0..400_u32)
            .map(|job| {
                let (memory, used, background) = (memory.clone(), used.clone(), background.clone());
                tokio::spawn(async move {
                    let (units, urgency) =
                        (job * 37 % 90 + 1, if job % 3 == 0 { Interactive } else { Background });
                    let background_units = if urgency == Background && units <= 80 { units } else { 0 };
                    let permit = memory.take(units, urgency).await.unwrap();
                    assert!(used.fetch_add(units, Ordering::SeqCst) + units <= TOTAL);
                    assert!(
                        background.fetch_add(background_units, Ordering::SeqCst) + background_units <= 80
                    );
                    tokio::task::yield_now().await;
                    if job % 7 == 0 {
                        // A job that is dropped while it waits.
                        let mut dropped = Box::pin(memory.take(TOTAL, urgency));
                        assert!(poll(dropped.as_mut()).is_none());
                    }
                    background.fetch_sub(background_units, Ordering::SeqCst);
                    used.fetch_sub(units, Ordering::SeqCst);
                    drop(permit);
                })
            })
            .collect();
        for job in jobs {
            job.await.unwrap();
        }
        // Exempt from the runtime's cooperative budget, which could make the poll pending.
        let all = tokio::task::unconstrained(memory.take(TOTAL, Background));
        assert!(poll(pin!(all)).is_some());
    }
}
