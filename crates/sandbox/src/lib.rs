//! Photos decoded in worker processes that hold nothing and reach nothing.
#![deny(missing_docs)]
