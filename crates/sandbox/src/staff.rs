//! The workers that wait for work, and how many there are.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{Urgency, process::Worker};

/// Workers without work. Together with those at work there are never more than so many processes.
#[derive(Debug)]
pub(crate) struct Staff {
    most: usize,
    rota: Mutex<Rota>,
}

#[derive(Debug, Default)]
struct Rota {
    idle: Vec<Worker>,
    on_duty: usize,
}

/// Counts a worker that is at work, or about to start.
#[derive(Debug)]
pub(crate) struct Duty {
    staff: Arc<Staff>,
}

impl Staff {
    /// Room for so many processes.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, rota: Mutex::default() })
    }

    fn rota(&self) -> MutexGuard<'_, Rota> {
        self.rota.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a duty, with an idle worker if there is one for such work.
    pub(crate) fn call(self: &Arc<Self>, urgency: Urgency) -> (Duty, Option<Worker>) {
        let mut rota = self.rota();
        rota.idle.retain_mut(Worker::is_ready);
        let place = rota.idle.iter().rposition(|worker| worker.urgency == urgency);
        let worker = place.map(|place| rota.idle.remove(place));
        rota.on_duty += 1;
        (Duty { staff: Arc::clone(self) }, worker)
    }

    /// Takes idle workers off that leave no room for those on duty.
    pub(crate) fn make_room(&self) {
        let mut rota = self.rota();
        let excess = (rota.idle.len() + rota.on_duty).saturating_sub(self.most).min(rota.idle.len());
        rota.idle.drain(..excess);
    }

    /// Takes off those that have been idle for so long.
    pub(crate) fn long_idle(&self, limit: Duration) -> Vec<Worker> {
        let now = Instant::now();
        self.rota().idle.extract_if(.., |worker| now.duration_since(worker.idle_since) >= limit).collect()
    }

    /// Takes all idle workers off.
    pub(crate) fn all_idle(&self) -> Vec<Worker> {
        std::mem::take(&mut self.rota().idle)
    }
}

impl Duty {
    /// Ends the duty; the worker waits for the next.
    pub(crate) fn off(self, mut worker: Worker) {
        worker.idle_since = Instant::now();
        self.back(worker);
    }

    /// Ends the duty of a worker that had nothing to do: it stays as idle as it was, or who asks again and again would
    /// keep it for ever.
    pub(crate) fn back(self, worker: Worker) {
        self.staff.rota().idle.push(worker);
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        self.staff.rota().on_duty -= 1;
    }
}
