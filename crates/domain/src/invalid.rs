use std::fmt;

/// A parameter or field that breaks a rule. The message names the field, so that the sender can correct it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// The parameter's name in the API, for example `startDate`.
    pub field: &'static str,
    /// Why it is invalid, phrased to follow the name.
    pub reason: String,
}

impl Invalid {
    /// Reports that `field` is invalid because of `reason`.
    pub fn new(field: &'static str, reason: impl fmt::Display) -> Self {
        Self { field, reason: reason.to_string() }
    }
}
