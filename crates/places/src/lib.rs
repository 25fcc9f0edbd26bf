//! The time zone, city and country at a position, from bundled data.
#![deny(missing_docs)]
