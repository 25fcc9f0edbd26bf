//! See `fuzz::TARGETS`.
#![cfg_attr(fuzzing, no_main)]

fuzz::binary!("movie");
