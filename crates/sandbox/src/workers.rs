//! Idle workers, and the number of busy ones.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{Urgency, process::Worker};

/// The workers of a pool. Idle and busy ones together never exceed `max` processes.
#[derive(Debug)]
pub(crate) struct Workers {
    max: usize,
    state: Mutex<WorkersState>,
}

#[derive(Debug, Default)]
struct WorkersState {
    idle: Vec<Worker>,
    busy: usize,
}

/// Counts one worker as busy, from before it starts until this is dropped.
#[derive(Debug)]
pub(crate) struct BusyGuard {
    workers: Arc<Workers>,
}

impl Workers {
    /// Room for `max` processes.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, WorkersState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a worker as busy and returns an idle one of this urgency, if there is one.
    pub(crate) fn acquire(self: &Arc<Self>, urgency: Urgency) -> (BusyGuard, Option<Worker>) {
        let mut state = self.state();
        state.idle.retain_mut(Worker::is_ready);
        let index = state.idle.iter().rposition(|worker| worker.urgency == urgency);
        let worker = index.map(|index| state.idle.remove(index));
        state.busy += 1;
        (BusyGuard { workers: Arc::clone(self) }, worker)
    }

    /// Kills idle workers until idle and busy workers together do not exceed the maximum.
    pub(crate) fn make_room(&self) {
        let mut state = self.state();
        let excess = (state.idle.len() + state.busy).saturating_sub(self.max).min(state.idle.len());
        state.idle.drain(..excess);
    }

    /// Removes and returns workers that have been idle for at least `limit`.
    pub(crate) fn take_long_idle(&self, limit: Duration) -> Vec<Worker> {
        let now = Instant::now();
        self.state().idle.extract_if(.., |worker| now.duration_since(worker.idle_since) >= limit).collect()
    }

    /// Removes and returns all idle workers.
    pub(crate) fn take_idle(&self) -> Vec<Worker> {
        std::mem::take(&mut self.state().idle)
    }
}

impl BusyGuard {
    /// Returns a worker that has done a job: its idle time starts now.
    pub(crate) fn release(self, mut worker: Worker) {
        worker.idle_since = Instant::now();
        self.release_unused(worker);
    }

    /// Returns a worker that had no job. Its idle time continues, so that repeated status requests do not keep it
    /// alive.
    pub(crate) fn release_unused(self, worker: Worker) {
        self.workers.state().idle.push(worker);
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.workers.state().busy -= 1;
    }
}
