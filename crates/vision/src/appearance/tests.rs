//! Tests the built-in encoder with generated pictures and with queries.

mod concepts;
mod pictures;
mod queries;
mod robustness;
