//! Operations on a table by its name.

use std::ops::ControlFlow;

use storage::{CopiedRow, CopiedTable, PageLimit, RowKey, SnapshotPart};

use super::{
    pages,
    table::{CopiedRows, Shape},
    tables::{self, File, Image},
};
use crate::{
    SqlConnection, id_sequence, place_index,
    sql::{SqlError, map, value::RowReader},
};

/// Evaluates an expression with the type of the rows of a table.
macro_rules! with_rows {
    ($table:expr, $row:ident => $body:expr) => {
        match $table {
            CopiedTable::Accounts => {
                type $row = tables::Account;
                $body
            }
            CopiedTable::ApiKeys => {
                type $row = tables::ApiKey;
                $body
            }
            CopiedTable::Sessions => {
                type $row = tables::Session;
                $body
            }
            CopiedTable::SignInAttempts => {
                type $row = tables::SignInAttempt;
                $body
            }
            CopiedTable::SigningKeys => {
                type $row = tables::SigningKey;
                $body
            }
            CopiedTable::OauthClients => {
                type $row = tables::Client;
                $body
            }
            CopiedTable::OauthGrants => {
                type $row = tables::Grant;
                $body
            }
            CopiedTable::SetupLinks => {
                type $row = tables::SetupLink;
                $body
            }
            CopiedTable::SecurityEvents => {
                type $row = tables::SecurityEvent;
                $body
            }
            CopiedTable::Blobs => {
                type $row = tables::Blob;
                $body
            }
            CopiedTable::Images => {
                type $row = tables::Image;
                $body
            }
            CopiedTable::Renditions => {
                type $row = tables::Rendition;
                $body
            }
            CopiedTable::Sidecars => {
                type $row = tables::Sidecar;
                $body
            }
            CopiedTable::ImageEdits => {
                type $row = tables::ImageEdit;
                $body
            }
            CopiedTable::DismissedProblems => {
                type $row = tables::DismissedProblem;
                $body
            }
            CopiedTable::IndexJobs => {
                type $row = tables::IndexJob;
                $body
            }
            CopiedTable::RenditionJobs => {
                type $row = tables::RenditionJob;
                $body
            }
            CopiedTable::Albums => {
                type $row = tables::Album;
                $body
            }
            CopiedTable::AlbumImages => {
                type $row = tables::AlbumImage;
                $body
            }
            CopiedTable::Stages => {
                type $row = tables::Stage;
                $body
            }
            CopiedTable::StageJobs => {
                type $row = tables::StageJob;
                $body
            }
            CopiedTable::StageFailures => {
                type $row = tables::StageFailure;
                $body
            }
            CopiedTable::TimelineMonths => {
                type $row = tables::TimelineMonth;
                $body
            }
            CopiedTable::Encoders => {
                type $row = tables::Encoder;
                $body
            }
            CopiedTable::ImageVectors => {
                type $row = tables::ImageVector;
                $body
            }
            CopiedTable::Files => {
                type $row = tables::File;
                $body
            }
            CopiedTable::FileParents => {
                type $row = tables::FileParent;
                $body
            }
            CopiedTable::FileLocks => {
                type $row = tables::FileLock;
                $body
            }
            CopiedTable::Uploads => {
                type $row = tables::Upload;
                $body
            }
            CopiedTable::UploadParts => {
                type $row = tables::UploadPart;
                $body
            }
            CopiedTable::LoginFlows => {
                type $row = tables::LoginFlow;
                $body
            }
            CopiedTable::WatchedFiles => {
                type $row = tables::WatchedFile;
                $body
            }
        }
    };
}

pub(super) fn read(
    c: &mut SqlConnection,
    table: CopiedTable,
    after: Option<&RowKey>,
    limit: PageLimit,
) -> Result<Vec<CopiedRow>, SqlError> {
    with_rows!(table, Row => pages::read::<Row>(c, after, limit))
}

/// Passes on the rows of all tables, page by page, until the receiver has enough.
pub(super) fn read_snapshot(
    c: &mut SqlConnection,
    limit: PageLimit,
    receive: &(dyn Fn(SnapshotPart) -> ControlFlow<()> + Send + Sync),
) -> Result<(), SqlError> {
    if receive(SnapshotPart::Begin).is_break() {
        return Ok(());
    }
    for table in CopiedTable::ALL.iter().copied() {
        let highest_id = match ids(table) {
            Some((name, column)) => Some(id_sequence::highest(c, name, column)?),
            None => None,
        };
        if receive(SnapshotPart::Table { table, highest_id }).is_break() {
            return Ok(());
        }
        let mut after = None;
        loop {
            let rows = read(c, table, after.as_ref(), limit)?;
            let Some(last) = rows.last() else { break };
            after = Some(last.key());
            if receive(SnapshotPart::Rows(rows)).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

pub(super) fn last_key(c: &mut SqlConnection, table: CopiedTable) -> Result<Option<RowKey>, SqlError> {
    with_rows!(table, Row => pages::last_key::<Row>(c))
}

pub(super) fn shape(table: CopiedTable) -> Shape {
    with_rows!(table, Row => Row::SHAPE)
}

/// The table and the column of the ids that the database assigns to its rows.
pub(super) fn ids(table: CopiedTable) -> Option<(&'static str, &'static str)> {
    let shape = shape(table);
    shape.key().first().filter(|_| shape.has_ids).map(|key| (shape.table, *key))
}

pub(super) fn add(c: &mut SqlConnection, table: CopiedTable, rows: &[CopiedRow]) -> Result<(), SqlError> {
    match table {
        CopiedTable::Files => {
            let files = pages::typed::<File>(rows)?;
            let files: Vec<File> = files.into_iter().map(File::with_existing_parent).collect();
            pages::insert(c, &files)
        }
        CopiedTable::Images => {
            let images = pages::typed::<Image>(rows)?;
            pages::insert(c, &images)?;
            images.iter().try_for_each(|image| {
                index_place(c, image)?;
                map::update(c, image.seq)
            })
        }
        table => with_rows!(table, Row => pages::insert(c, &pages::typed::<Row>(rows)?)),
    }
}

fn index_place(c: &mut SqlConnection, image: &Image) -> Result<(), SqlError> {
    let position = RowReader::new("images", &image.seq).position(image.latitude, image.longitude)?;
    match position {
        Some(position) => {
            // The row may have existed, with its place.
            place_index::remove(c, image.seq)?;
            place_index::add(c, image.seq, image.account_id, position)
        }
        None => Ok(()),
    }
}
