//! The rules of synced files that every adapter shares.

use crate::{AddOutcome, FileChange, FileMove, FileRefusal};

impl FileChange {
    /// Whether the client sent this lock token.
    pub fn has_token(&self, token: &str) -> bool {
        self.lock_tokens.iter().any(|sent| sent == token)
    }
}

impl FileMove {
    /// Whether source and destination are the same, or one is below the other.
    pub fn is_into_itself(&self) -> bool {
        self.to.starts_with(&self.from) || self.from.starts_with(&self.to)
    }
}

impl AddOutcome {
    /// Why a photo cannot be put as a file after its image was added with this outcome.
    pub fn file_refusal(&self) -> Option<FileRefusal> {
        match self {
            Self::Added
            | Self::Duplicate(_)
            | Self::Reindexed(_)
            | Self::Restored(_)
            | Self::Retried(_)
            | Self::StaysDeleted(_) => None,
            Self::QuotaExceeded => Some(FileRefusal::QuotaExceeded),
            Self::OriginalGone => Some(FileRefusal::OriginalGone),
            Self::AccountGone => Some(FileRefusal::AccountGone),
        }
    }
}

/// What a change does to the entry at a path, as far as locks matter (RFC 4918 §7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockedAction {
    /// Changes the content or the times of an entry.
    Modify,
    /// Adds an entry to its folder.
    Add,
    /// Removes, replaces or moves away an entry with everything below it.
    Remove,
}

/// Where a lock is, relative to the entry that a change affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockPosition {
    Entry,
    /// On the folder that contains the entry.
    Parent,
    /// On a folder above that one.
    Above,
    /// On something below the entry.
    Below,
}

impl LockPosition {
    /// Whether a new lock would cover an entry that a lock at this position already covers. All locks are exclusive.
    pub fn overlaps(self, is_deep: bool, new_is_deep: bool) -> bool {
        match self {
            Self::Entry => true,
            Self::Parent | Self::Above => is_deep,
            Self::Below => new_is_deep,
        }
    }
}

impl LockedAction {
    /// Whether the client that requests the action must send the token of a lock at this position.
    pub fn needs_token_of(self, position: LockPosition, is_deep: bool) -> bool {
        match position {
            LockPosition::Entry => true,
            LockPosition::Parent => is_deep || self != Self::Modify,
            LockPosition::Above => is_deep,
            LockPosition::Below => self == Self::Remove,
        }
    }
}

/// Whether an account that stores `stored_bytes` cannot store another `new_bytes`.
pub fn exceeds_quota(stored_bytes: u64, new_bytes: u64, quota_bytes: Option<u64>) -> bool {
    quota_bytes.is_some_and(|quota| stored_bytes.saturating_add(new_bytes) > quota)
}

#[cfg(test)]
mod tests {
    use domain::FilePath;

    use super::*;
    use crate::{FileCondition, FileId};

    #[test]
    fn conditions_compare_id_and_version() {
        let present = Some((FileId(7), 2));
        let check = |condition: FileCondition, of_present: bool, of_absent: bool| {
            assert_eq!(condition.is_met(present), of_present, "{condition:?}");
            assert_eq!(condition.is_met(None), of_absent, "{condition:?}");
        };
        check(FileCondition::Any, true, true);
        check(FileCondition::Absent, false, true);
        check(FileCondition::Present, true, false);
        check(FileCondition::Version(vec![(FileId(7), 1), (FileId(7), 2)]), true, false);
        check(FileCondition::Version(vec![(FileId(7), 1), (FileId(8), 2)]), false, false);
        check(FileCondition::Version(Vec::new()), false, false);
    }

    #[test]
    fn a_shallow_lock_of_a_folder_protects_its_list_of_members() {
        use LockPosition::{Above, Below, Entry, Parent};
        let check = |position, is_deep, expected: [bool; 3]| {
            let actions = [LockedAction::Modify, LockedAction::Add, LockedAction::Remove];
            assert_eq!(actions.map(|action| action.needs_token_of(position, is_deep)), expected);
        };
        check(Entry, false, [true; 3]);
        check(Parent, false, [false, true, true]);
        check(Parent, true, [true; 3]);
        check(Above, false, [false; 3]);
        check(Above, true, [true; 3]);
        check(Below, false, [false, false, true]);
    }

    #[test]
    fn a_path_is_not_moved_into_itself() {
        let check = |from: &str, to: &str, expected: bool| {
            let path = |path| FilePath::parse(path).unwrap();
            let (overwrite, create_folders, condition, image) = (true, false, FileCondition::Any, None);
            let moved =
                FileMove { from: path(from), to: path(to), overwrite, create_folders, condition, image };
            assert_eq!(moved.is_into_itself(), expected, "{from} to {to}");
        };
        check("a", "a", true);
        check("a", "a/b", true);
        check("a/b", "a", true);
        check("", "a", true);
        check("a", "ab", false);
        check("a/b", "a/c", false);
    }

    #[test]
    fn the_quota_may_be_used_up() {
        assert!(!exceeds_quota(60, 40, Some(100)));
        assert!(exceeds_quota(60, 41, Some(100)));
        assert!(!exceeds_quota(u64::MAX, 1, None));
        assert!(exceeds_quota(u64::MAX, 1, Some(100)));
    }
}
