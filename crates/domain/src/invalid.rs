use std::fmt;

/// A parameter or field that breaks a rule. The message names the field, so that whoever sent it can mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// The parameter's name as callers write it, for example `startDate`.
    pub field: &'static str,
    /// What is wrong with it, in words that can stand behind the name.
    pub reason: String,
}

impl Invalid {
    /// Says that `field` is wrong because of `reason`.
    pub fn new(field: &'static str, reason: impl fmt::Display) -> Self {
        Self { field, reason: reason.to_string() }
    }
}
