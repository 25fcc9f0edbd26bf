//! The exact nearest neighbours among many vectors, from a cache of bounded size.
//!
//! A vector is kept here as one signed byte for each number and one factor for all of them. A search compares with every
//! row that passes its filter: with a million of them that is half a gigabyte read in order, which takes some hundredths
//! of a second, needs no structure that could be out of date, and misses nothing. Rounding moves a similarity by up to
//! about a hundredth of its range, so that a caller asks for more than it wants and scores those again with [`dot_f16`].
//!
//! - [`Index`] holds the rows of one account and one encoder. It is only appended to, and a clone is a snapshot that costs
//!   next to nothing: it shares all rows, and what is appended afterwards is not in it.
//! - [`Cache`] keeps indexes within a budget of memory. Nothing is told to it when rows are stored: each search first
//!   reads what came after the last row that is here, so that it sees all that was in the store when it began.
//!
//! ```
//! use vectors::{Cache, Index, Key, KeySet, Row, RowFilter, VectorId, Wanted, dot_f16, encode_f16};
//!
//! # async fn search() -> Result<(), vectors::Error> {
//! let cache = Cache::new(1 << 30);
//! // One at a time fills an index; others wait here. Nothing of it is lost when a search is given up.
//! let mut filling = cache.fill(Key { account: 7, encoder: 1 }, 3).await;
//! // Here the store would be asked for rows after `filling.last()`, until it has no more.
//! let stored = encode_f16(&[0.6, 0.0, 0.8]);
//! filling.push_f16(Row { vector: VectorId(1), image: 99, captured_at_ms: 0, position: None }, &stored)?;
//! let index: Index = filling.publish();
//!
//! // On a thread where computing for some milliseconds disturbs nobody:
//! let query = [1.0, 0.0, 0.0];
//! let scan = index.scan(&query, &RowFilter::default(), Wanted { best: 200, threads: 2 })?;
//! assert_eq!(scan.best[0].image, 99);
//! let similarity = dot_f16(&query, &stored).unwrap_or(scan.best[0].similarity);
//! assert!((similarity - 0.6).abs() < 0.001);
//! # Ok(())
//! # }
//! # futures_like_block_on(search()).unwrap();
//! # fn futures_like_block_on<T>(future: impl Future<Output = T>) -> T {
//! #     tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
//! # }
//! ```
#![deny(missing_docs)]

mod best;
mod cache;
mod codes;
mod error;
mod filter;
mod half;
mod index;
mod key_set;
mod products;
mod row;
mod scan;
mod segment;

pub use cache::{Cache, IndexKey, IndexWriter};
pub use error::Error;
pub use filter::RowFilter;
pub use half::{decode_f16, dot_f16, encode_f16};
pub use index::Index;
pub use key_set::KeySet;
pub use row::{Area, PositionE7, Row, RowId, ScoredRow};
pub use scan::{ScanOptions, ScanResult, Summary};
