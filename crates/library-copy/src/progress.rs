/// The current step of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// The step, for display.
    pub step: &'static str,
    /// What the step handles.
    pub subject: &'static str,
    /// How many rows or files this step has handled.
    pub done: u64,
}

/// Counts what one step handles.
pub struct Counter<'a, P> {
    progress: &'a mut P,
    state: CopyProgress,
}

impl<'a, P: FnMut(CopyProgress)> Counter<'a, P> {
    /// Begins a step.
    pub fn new(progress: &'a mut P, step: &'static str, subject: &'static str) -> Self {
        let state = CopyProgress { step, subject, done: 0 };
        progress(state);
        Self { progress, state }
    }

    /// Counts rows or files that the step has handled.
    pub fn add(&mut self, number: usize) {
        self.state.done += number as u64;
        (self.progress)(self.state);
    }
}
