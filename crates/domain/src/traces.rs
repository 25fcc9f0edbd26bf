use std::sync::atomic::{AtomicBool, Ordering};

/// The target of spans that are exported as traces. They are not part of the log.
pub const TRACE_TARGET: &str = "traces";

static ARE_EXPORTED: AtomicBool = AtomicBool::new(false);

/// Says that this process exports traces from now on.
pub fn export_traces() {
    ARE_EXPORTED.store(true, Ordering::Relaxed);
}

/// Whether this process exports traces. `tracing::enabled!` must not be used instead: if layers have their own filters,
/// its result for each layer is also applied to the next line of the log.
pub fn are_traces_exported() -> bool {
    ARE_EXPORTED.load(Ordering::Relaxed)
}
