//! The full-text index of images, and the search in it.
//!
//! When images are added ([`add`]), their distinct words enter the account's [`vocabulary`], and their ids enter
//! the adapter's index of postings. A [`search`] expands the query's words with the vocabulary
//! ([`expand`]), takes a bounded number of [`candidates`] from the postings, newest first, and scores their texts
//! with the crate `words`.

mod add;
mod candidates;
mod check;
mod expand;
mod reindex;
mod scan;
mod search;
mod vocabulary;
mod word_ids;

pub(crate) use add::{AddedWords, IndexedWords, add_text, remove_text};
pub(crate) use check::{forget_words, outdated_words};
pub(crate) use reindex::{begin, delete_older_stems, is_older, reindex};
pub(crate) use reindex::{is_newer, outdated};
pub(crate) use search::matches;
pub(crate) use word_ids::write as encode_word_ids;
