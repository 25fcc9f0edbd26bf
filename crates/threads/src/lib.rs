//! Work on threads outside the asynchronous workers.
//!
//! The most common change is another limit or priority: add a function in a module of its own.

mod limited;
mod low_priority;

pub use limited::run_limited;
pub use low_priority::run_low_priority;
