//! Exact nearest-neighbour search over many vectors, with an in-memory cache of bounded size.
//!
//! Vectors are quantized: one signed byte for each number, and one factor for all of them. A search compares the query with every
//! row that passes the filter. One million rows are half a gigabyte, which is read sequentially in some hundredths of a second.
//! There is no index structure that could be out of date, and no row is missed. Quantization changes a similarity by up to about a
//! hundredth of its range, so a caller requests more rows than it needs and scores them again with [`dot_f16`].
//!
//! - [`Index`] contains the rows of one account and one encoder. Rows are only appended. A clone is a cheap snapshot: it
//!   shares all rows, and rows appended later are not in it.
//! - [`Cache`] keeps indexes within a memory budget. It is not notified of new rows: each search first reads the rows after
//!   the last cached one, so that it sees every row that was stored when it started.
//!
//! ```
//! use vectors::{Cache, Index, IndexKey, Row, RowFilter, RowId, ScanOptions, dot_f16, encode_f16};
//!
//! # async fn search() -> Result<(), vectors::Error> {
//! let cache = Cache::new(1 << 30);
//! // One task at a time fills an index; others wait here. A cancelled search loses none of the appended rows.
//! let mut writer = cache.fill(IndexKey { account: 7, encoder: 1 }, 3).await;
//! // Here, read the rows after `writer.last()` from the store.
//! let stored = encode_f16(&[0.6, 0.0, 0.8]);
//! writer.push_f16(Row { vector: RowId(1), image: 99, captured_at_ms: 0, position: None }, &stored)?;
//! let index: Index = writer.publish();
//!
//! // A scan takes milliseconds: run it on a blocking thread.
//! let query = [1.0, 0.0, 0.0];
//! let scan = index.scan(&query, &RowFilter::default(), ScanOptions { best: 200, threads: 2 })?;
//! assert_eq!(scan.best[0].image, 99);
//! let similarity = dot_f16(&query, &stored).unwrap_or(scan.best[0].similarity);
//! assert!((similarity - 0.6).abs() < 0.001);
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(search()).unwrap();
//! ```

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
pub use half::{dot_f16, encode_f16};
pub use index::Index;
pub use key_set::KeySet;
pub use row::{Area, PositionE7, Row, RowId, ScoredRow};
pub use scan::{ScanOptions, ScanResult};
