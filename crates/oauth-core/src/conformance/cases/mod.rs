//! The cases by topic.

pub(crate) mod assertions;
pub(crate) mod clients;
pub(crate) mod codes;
pub(crate) mod concurrency;
pub(crate) mod connections;
pub(crate) mod model;
pub(crate) mod refresh;
pub(crate) mod revocation;
pub(crate) mod sweeping;
