use diesel::{OptionalExtension, prelude::*};
use domain::{AccountId, FilePath};
use storage::{FileId, FileRefusal};

use super::error::FileError;
use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        schema::{accounts, files},
        value::RowReader,
    },
};

/// A file or folder on the way along a path.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = files, check_for_backend(crate::Backend))]
pub(super) struct Node {
    pub(super) id: i64,
    pub(super) parent_id: Option<i64>,
    pub(super) kind: String,
    pub(super) bytes: i64,
    version: i64,
}

impl Node {
    pub(super) fn is_folder(&self) -> bool {
        self.kind == "folder"
    }

    /// Its id and version.
    pub(super) fn state(&self) -> Result<(FileId, u64), SqlError> {
        Ok((FileId(self.id), RowReader::new("files", &self.id).unsigned("version", self.version)?))
    }
}

/// The entries that exist along a path.
#[derive(Debug)]
pub(super) struct Trail {
    pub(super) root: Node,
    /// The entries of the path below the root, as far as they exist.
    pub(super) below: Vec<Node>,
    /// The number of names in the path.
    names: usize,
}

impl Trail {
    /// Follows a path from the root; `None` when the account is deleted.
    pub(super) fn find(
        c: &mut SqlConnection,
        account: AccountId,
        path: &FilePath,
    ) -> Result<Option<Self>, SqlError> {
        let root = files::table
            .inner_join(accounts::table)
            .filter(files::account_id.eq(account.0))
            .filter(files::parent_id.is_null())
            .filter(files::deleted_at_ms.is_null())
            .filter(accounts::deleted_at_ms.is_null())
            .select(Node::as_select())
            .get_result(c)
            .optional()?;
        let Some(root) = root else { return Ok(None) };
        let mut below: Vec<Node> = Vec::with_capacity(path.names().len());
        for name in path.names() {
            let parent = below.last().unwrap_or(&root).id;
            let Some(node) = member(c, account, parent, name.as_str())? else { break };
            below.push(node);
        }
        Ok(Some(Self { root, below, names: path.names().len() }))
    }

    /// Follows a path for a change.
    pub(super) fn find_for_change(
        c: &mut SqlConnection,
        account: AccountId,
        path: &FilePath,
    ) -> Result<Self, FileError> {
        Ok(Self::find(c, account, path)?.ok_or(FileRefusal::AccountGone)?)
    }

    /// The entry at the path.
    pub(super) fn entry(&self) -> Option<&Node> {
        (self.below.len() == self.names).then(|| self.deepest())
    }

    /// The last entry that exists on the way.
    pub(super) fn deepest(&self) -> &Node {
        self.below.last().unwrap_or(&self.root)
    }

    /// The entries that exist above the path, from the root.
    pub(super) fn above(&self) -> impl DoubleEndedIterator<Item = &Node> {
        let names_above = self.names.saturating_sub(1);
        let root = (self.names > 0).then_some(&self.root);
        root.into_iter().chain(self.below.iter().take(names_above))
    }
}

fn member(
    c: &mut SqlConnection,
    account: AccountId,
    parent: i64,
    name: &str,
) -> Result<Option<Node>, SqlError> {
    Ok(files::table
        .filter(files::account_id.eq(account.0))
        .filter(files::parent_id.eq(parent))
        .filter(files::name.eq(name))
        .select(Node::as_select())
        .get_result(c)
        .optional()?)
}
