//! A counting semaphore with priorities, for slots and memory.

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::Urgency;

/// A number of units. Jobs wait for them in one queue per urgency: urgent jobs come first, and part of the units is reserved
/// for them. Each queue is first in, first out.
#[derive(Debug)]
pub(crate) struct Budget {
    shared: Arc<Shared>,
}

/// The units that only jobs of higher urgencies can take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserves {
    /// Reserved for interactive jobs.
    pub(crate) interactive: u32,
    /// Units that deferrable jobs cannot take, in addition to those reserved for interactive jobs.
    pub(crate) background: u32,
}

#[derive(Debug)]
struct Shared {
    total: u32,
    reserves: Reserves,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: u32,
    /// In the order of [`Urgency::ALL`].
    waiting: [VecDeque<Waiter>; 3],
    /// The running deferrable jobs, the latest last.
    deferrable: Vec<DeferrableJob>,
    next_job: u64,
    closed: bool,
}

#[derive(Debug)]
struct Waiter {
    units: u32,
    permit: oneshot::Sender<Permit>,
}

#[derive(Debug)]
struct DeferrableJob {
    id: u64,
    units: u32,
    /// `None` once the job was told to stop.
    stop: Option<oneshot::Sender<()>>,
}

/// Units of a budget. Dropping the permit returns them.
#[derive(Debug)]
pub(crate) struct Permit {
    units: u32,
    shared: Arc<Shared>,
    /// For a deferrable job: its id, and the signal to stop.
    deferrable: Option<(u64, oneshot::Receiver<()>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

/// A deferrable job was stopped, because a more urgent one needs its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preempted;

impl Budget {
    /// Creates a budget of `total` units. Reserves are reduced so that jobs of each urgency can take at least one unit.
    pub(crate) fn new(total: u32, reserves: Reserves) -> Self {
        let total = total.max(1);
        let interactive = reserves.interactive.min(total - 1);
        let background = reserves.background.min(total - interactive - 1);
        let state = State {
            free: total,
            waiting: Default::default(),
            deferrable: Vec::new(),
            next_job: 0,
            closed: false,
        };
        let reserves = Reserves { interactive, background };
        Self { shared: Arc::new(Shared { total, reserves, state: Mutex::new(state) }) }
    }

    /// All units.
    pub(crate) fn total(&self) -> u32 {
        self.shared.total
    }

    /// The units that all jobs up to this urgency together can take.
    pub(crate) fn share(&self, urgency: Urgency) -> u32 {
        self.shared.total - self.shared.reserve(urgency)
    }

    /// The units in use, and the number of jobs that wait.
    pub(crate) fn load(&self) -> (u32, usize) {
        let state = self.shared.lock();
        (self.shared.total - state.free, state.waiting.iter().map(VecDeque::len).sum())
    }

    /// Waits for `units`, at least one and at most all. A job that needs more than its [`share`](Self::share) waits until no unit
    /// is in use. If deferrable jobs leave no room for a more urgent job, the latest deferrable jobs are stopped.
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
        state.waiting.iter_mut().for_each(VecDeque::clear);
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
        let [interactive, background, deferrable] = &mut self.waiting;
        match urgency {
            Urgency::Interactive => interactive,
            Urgency::Background => background,
            Urgency::Deferrable => deferrable,
        }
    }

    /// Counts a deferrable job as running; returns its id and its signal to stop.
    fn start_deferrable(&mut self, units: u32) -> (u64, oneshot::Receiver<()>) {
        let (stop, stopped) = oneshot::channel();
        let id = self.next_job;
        self.next_job += 1;
        self.deferrable.push(DeferrableJob { id, units, stop: Some(stop) });
        (id, stopped)
    }

    fn release(&mut self, units: u32, deferrable: Option<u64>) {
        self.free += units;
        if let Some(id) = deferrable {
            self.deferrable.retain(|job| job.id != id);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants permits in order, until a job does not fit.
    fn serve(self: &Arc<Self>) {
        let mut state = self.lock();
        for urgency in Urgency::ALL {
            while let Some(waiter) = state.queue(urgency).pop_front() {
                if waiter.permit.is_closed() {
                    continue;
                }
                if !self.fits(waiter.units, state.free, urgency) {
                    if urgency != Urgency::Deferrable {
                        self.stop_deferrable(&mut state, waiter.units, urgency);
                    }
                    // No job overtakes it, otherwise it could wait indefinitely.
                    state.queue(urgency).push_front(waiter);
                    return;
                }
                state.free -= waiter.units;
                let deferrable =
                    (urgency == Urgency::Deferrable).then(|| state.start_deferrable(waiter.units));
                let permit = Permit { units: waiter.units, shared: Arc::clone(self), deferrable };
                if let Err(mut permit) = waiter.permit.send(permit) {
                    state.release(permit.units, permit.deferrable.take().map(|(id, _)| id));
                    // Without units, dropping the permit does not take the lock, which is held here.
                    permit.units = 0;
                }
            }
        }
    }

    /// Stops the latest deferrable jobs until `units` fit. Stops none if stopping all of them would not suffice.
    fn stop_deferrable(&self, state: &mut State, units: u32, urgency: Urgency) {
        let held: u32 = state.deferrable.iter().map(|job| job.units).sum();
        if !self.fits(units, state.free + held, urgency) {
            return;
        }
        let stopped = state.deferrable.iter().filter(|job| job.stop.is_none());
        let mut free = state.free + stopped.map(|job| job.units).sum::<u32>();
        for job in state.deferrable.iter_mut().rev() {
            if self.fits(units, free, urgency) {
                return;
            }
            if let Some(stop) = job.stop.take() {
                // Fails if the job has just ended.
                let _ = stop.send(());
                free += job.units;
            }
        }
    }

    fn reserve(&self, urgency: Urgency) -> u32 {
        let Reserves { interactive, background } = self.reserves;
        match urgency {
            Urgency::Interactive => 0,
            Urgency::Background => interactive,
            Urgency::Deferrable => interactive + background,
        }
    }

    fn fits(&self, units: u32, free: u32, urgency: Urgency) -> bool {
        units <= free.saturating_sub(self.reserve(urgency)) || free == self.total
    }
}

impl Permit {
    /// Runs `work`. If this job is deferrable and a more urgent job needs its units, drops `work` and returns [`Preempted`]. The
    /// caller then drops the permit.
    pub(crate) async fn run<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Preempted> {
        let stopped = async {
            let is_stopped = match &mut self.deferrable {
                Some((_, stopped)) => stopped.await.is_ok(),
                None => false,
            };
            if !is_stopped {
                future::pending::<()>().await;
            }
        };
        tokio::select! {
            output = work => Ok(output),
            () = stopped => Err(Preempted),
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.units > 0 {
            let deferrable = self.deferrable.take().map(|(id, _)| id);
            self.shared.lock().release(self.units, deferrable);
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
    use Urgency::{Background, Deferrable, Interactive};

    fn budget(total: u32, interactive: u32, background: u32) -> Budget {
        Budget::new(total, Reserves { interactive, background })
    }

    fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn interactive_jobs_come_first_and_have_a_reserve() {
        let slots = budget(3, 1, 0);
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
        let memory = budget(10, 2, 0);
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
        let memory = budget(10, 4, 0);
        for urgency in Urgency::ALL {
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
        assert_eq!(budget(0, 9, 9).share(Deferrable), 1);
    }

    /// Whether the job of this permit was told to stop.
    fn is_stopped(permit: &mut Permit) -> bool {
        poll(pin!(permit.run(future::pending::<()>()))).is_some()
    }

    #[test]
    fn deferrable_jobs_use_the_rest_and_leave_room_for_others() {
        let memory = budget(16, 2, 4);
        let take = |units, urgency| poll(pin!(memory.take(units, urgency))).map(Result::unwrap);
        assert_eq!([Interactive, Background, Deferrable].map(|urgency| memory.share(urgency)), [16, 14, 10]);
        let first = take(6, Deferrable).unwrap();
        assert!(take(5, Deferrable).is_none(), "the share of deferrable jobs is used up");
        let mut second = take(4, Deferrable).unwrap();
        let background = take(4, Background).unwrap();
        let interactive = take(2, Interactive).unwrap();
        assert!(!is_stopped(&mut second), "the reserves were enough");
        drop((first, second, background, interactive));
    }

    #[test]
    fn latest_deferrable_jobs_are_stopped_for_a_more_urgent_one() {
        for (urgency, units) in [(Background, 8), (Interactive, 9)] {
            let memory = budget(16, 2, 4);
            let take = |units, urgency| poll(pin!(memory.take(units, urgency))).unwrap().unwrap();
            let mut deferrable: Vec<_> = (0..3).map(|_| take(3, Deferrable)).collect();
            let mut urgent = pin!(memory.take(units, urgency));
            assert!(poll(urgent.as_mut()).is_none());
            let stopped: Vec<_> = deferrable.iter_mut().map(is_stopped).collect();
            assert_eq!(stopped, [false, false, true], "no more than needed");
            assert!(poll(urgent.as_mut()).is_none(), "it has not stopped yet");
            let mut next = pin!(memory.take(3, Deferrable));
            assert!(poll(next.as_mut()).is_none());
            deferrable.pop();
            let urgent = poll(urgent).unwrap().unwrap();
            assert!(poll(next.as_mut()).is_none() && !deferrable.iter_mut().any(is_stopped));
            drop(urgent);
            assert!(poll(next).is_some(), "the stopped job can start again");
        }
    }

    #[test]
    fn no_deferrable_job_is_stopped_if_that_makes_no_room() {
        let memory = budget(16, 2, 4);
        let take = |units, urgency| poll(pin!(memory.take(units, urgency))).unwrap().unwrap();
        let mut deferrable = take(3, Deferrable);
        let background = take(9, Background);
        let mut large = pin!(memory.take(13, Background));
        assert!(poll(large.as_mut()).is_none());
        assert!(!is_stopped(&mut deferrable), "the background job holds too much anyway");
        drop(background);
        assert!(is_stopped(&mut deferrable));
        drop(deferrable);
        assert!(poll(large).is_some());
    }

    #[test]
    fn deferrable_job_beyond_its_share_runs_alone_until_another_comes() {
        for urgency in [Background, Interactive] {
            let memory = budget(16, 2, 4);
            let mut huge = poll(pin!(memory.take(u32::MAX, Deferrable))).unwrap().unwrap();
            assert!(!is_stopped(&mut huge));
            let mut small = pin!(memory.take(1, urgency));
            assert!(poll(small.as_mut()).is_none() && is_stopped(&mut huge));
            drop(huge);
            assert!(poll(small).is_some());
        }
    }

    #[test]
    fn closed_budget_refuses_all_jobs() {
        let slots = budget(1, 0, 0);
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
        let memory = Arc::new(budget(TOTAL, 20, 10));
        let (used, background) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let jobs: Vec<_> = (0..400_u32)
            .map(|job| {
                let (memory, used, background) = (memory.clone(), used.clone(), background.clone());
                tokio::spawn(async move {
                    let (units, urgency) = (
                        job * 37 % 90 + 1,
                        if job % 3 == 0 {
                            Interactive
                        } else if job % 3 == 1 {
                            Background
                        } else {
                            Deferrable
                        },
                    );
                    let background_units = if urgency != Interactive && units <= 80 { units } else { 0 };
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
