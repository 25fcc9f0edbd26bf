//! The index of words: what is written about images, and how searches find it.
//!
//! Of each image [`add`] the distinct words are learnt by the account's [`vocabulary`], and their numbers become a row of
//! an FTS5 table that holds nothing but postings. A [`search`] expands the query's words against the vocabulary
//! ([`expand`]), takes a bounded number of [`candidates`] from the postings, newest first, and scores their texts with
//! the crate `words`.

mod add;
mod candidates;
mod expand;
mod reindex;
mod scan;
mod search;
mod vocabulary;
mod word_ids;

pub(crate) use add::{add_text, remove_text};
pub(super) use reindex::{is_newer, outdated, reindex};
pub(super) use search::{TextQuery, matches};
