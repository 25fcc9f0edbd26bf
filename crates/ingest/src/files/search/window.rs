use storage::LocatedFile;

use super::{FileSearch, MAX_FOUND_FILES};

/// The best results that were found so far, and no more than twice as many as are needed.
pub(super) struct Window<'a> {
    search: &'a FileSearch<'a>,
    found: Vec<LocatedFile>,
    /// The number of results that are needed, including those that are skipped.
    needed: usize,
    is_full: bool,
}

impl<'a> Window<'a> {
    pub(super) fn new(search: &'a FileSearch<'a>) -> Self {
        let needed = search.skip.saturating_add(search.limit).min(MAX_FOUND_FILES);
        Self { search, found: Vec::new(), needed, is_full: false }
    }

    /// Whether there can be no results.
    pub(super) fn is_empty(&self) -> bool {
        self.search.skip >= self.needed
    }

    /// The number of results that are needed.
    pub(super) fn len(&self) -> usize {
        self.needed
    }

    /// Whether no older file can be a result.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Adds matches, from the newest to the oldest.
    pub(super) fn extend(&mut self, files: impl Iterator<Item = LocatedFile>) {
        for file in files {
            if self.is_older_than_needed(&file) {
                self.is_full = true;
                return;
            }
            self.found.push(file);
            if self.found.len() >= self.needed.saturating_mul(2) {
                self.trim();
            }
        }
    }

    /// The results in their order.
    pub(super) fn results(mut self) -> Vec<LocatedFile> {
        self.trim();
        self.found.drain(..self.search.skip.min(self.found.len()));
        self.found
    }

    /// In an order by time, a file of an earlier second than that of the last result is no result. Only seconds are
    /// compared, because clients see no finer times.
    fn is_older_than_needed(&self, file: &LocatedFile) -> bool {
        let is_older = |last: &LocatedFile| second(file) < second(last);
        self.search.is_newest_first
            && self.found.len() >= self.needed
            && self.found.last().is_some_and(is_older)
    }

    fn trim(&mut self) {
        self.found.sort_by(self.search.order);
        self.found.truncate(self.needed);
    }
}

fn second(file: &LocatedFile) -> i64 {
    file.entry.modified_at().millis().div_euclid(1000)
}

#[cfg(test)]
mod tests {
    use domain::{FilePath, Timestamp};
    use proptest::prelude::*;
    use storage::{FileContent, FileEntry, FileId, FileKind, FileTimes};

    use super::*;
    use crate::files::search::SearchDepth;

    fn file(id: usize, millis: i64) -> LocatedFile {
        let at = Timestamp::from_millis(millis).unwrap();
        let entry = FileEntry {
            id: FileId(i64::try_from(id).unwrap()),
            name: None,
            kind: FileKind::File(FileContent::Junk),
            bytes: 0,
            version: 1,
            times: FileTimes::default(),
            received_at: at,
            sha1: None,
        };
        LocatedFile { path: FilePath::ROOT, entry }
    }

    proptest! {
        #[test]
        fn results_equal_those_of_sorting_all_files(
            mut times in prop::collection::vec(0_i64..4000, 0..60),
            skip in 0_usize..8,
            limit in 0_usize..8,
            is_newest_first: bool,
            page in 1_usize..10,
        ) {
            times.sort_by_key(|time| -time);
            let files: Vec<LocatedFile> = times.iter().enumerate().map(|(id, time)| file(id, *time)).collect();
            let by_time = |a: &LocatedFile, b: &LocatedFile| second(b).cmp(&second(a)).then(b.entry.id.cmp(&a.entry.id));
            let by_id = |a: &LocatedFile, b: &LocatedFile| b.entry.id.cmp(&a.entry.id);
            let search = FileSearch {
                folder: FilePath::ROOT,
                depth: SearchDepth::Below,
                id: None,
                modified: Timestamp::MIN..=Timestamp::MAX,
                matches: &|_| true,
                order: if is_newest_first { &by_time } else { &by_id },
                is_newest_first,
                skip,
                limit,
            };
            let mut window = Window::new(&search);
            prop_assert_eq!(window.is_empty(), limit == 0);
            for page in files.chunks(page) {
                if !window.is_empty() && !window.is_full() {
                    window.extend(page.iter().cloned());
                }
            }
            let mut sorted = files;
            sorted.sort_by(search.order);
            let expected: Vec<LocatedFile> = sorted.into_iter().skip(skip).take(limit).collect();
            prop_assert_eq!(window.results(), expected);
        }
    }
}
