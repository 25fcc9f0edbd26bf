//! Reads a file with rows on a blocking thread, page by page.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use blobs::read_regular;
use storage::{BlobRef, CopiedRow, PageLimit, Value};
use tokio::sync::mpsc;

use crate::{Record, RowsError, RowsReader, TableHeader, blob_rows::BlobRows};

/// How many pages are read ahead.
const AHEAD: usize = 2;
/// Number of blobs in a page.
const BLOBS: usize = 500;

/// A part of the rows.
#[derive(Debug)]
pub(crate) enum Page {
    Table(TableHeader),
    Rows(Vec<CopiedRow>),
}

pub(crate) fn open_rows(path: &Path) -> Result<RowsReader<BufReader<File>>, RowsError> {
    RowsReader::new(BufReader::with_capacity(256 * 1024, read_regular(path)?))
}

/// The tables and their rows.
pub(crate) fn row_pages(path: PathBuf, limit: PageLimit) -> mpsc::Receiver<Result<Page, RowsError>> {
    produce(move |send| {
        let mut reader = open_rows(&path)?;
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(record) = reader.next_record()? {
            match record {
                Record::Table(header) => {
                    if !page.is_empty() && !send(Page::Rows(std::mem::take(&mut page))) {
                        return Ok(());
                    }
                    bytes = 0;
                    if !send(Page::Table(header)) {
                        return Ok(());
                    }
                }
                Record::Row(row) => {
                    bytes += length(&row);
                    page.push(row);
                    if page.len() as u64 >= u64::from(limit.rows) || bytes >= limit.bytes {
                        bytes = 0;
                        if !send(Page::Rows(std::mem::take(&mut page))) {
                            return Ok(());
                        }
                    }
                }
            }
        }
        if !page.is_empty() {
            send(Page::Rows(page));
        }
        Ok(())
    })
}

fn length(row: &CopiedRow) -> u64 {
    let long = row.values.iter().map(|value| match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    });
    long.sum::<usize>() as u64
}

/// The blobs that the library needs, in the order of kind and hash.
pub(crate) fn blob_pages(path: PathBuf) -> mpsc::Receiver<Result<Vec<BlobRef>, RowsError>> {
    produce(move |send| {
        let mut page = Vec::new();
        let mut goes_on = true;
        for_each_blob(&path, |blob| {
            page.push(blob);
            if page.len() >= BLOBS {
                goes_on = send(std::mem::take(&mut page));
            }
            goes_on
        })?;
        if goes_on && !page.is_empty() {
            send(page);
        }
        Ok(())
    })
}

/// Calls a function with each blob that the library needs, until it returns `false`. Blocks.
pub(crate) fn for_each_blob(path: &Path, mut each: impl FnMut(BlobRef) -> bool) -> Result<(), RowsError> {
    let (mut reader, mut blobs) = (open_rows(path)?, BlobRows::default());
    while let Some(record) = reader.next_record()? {
        match record {
            Record::Table(header) => blobs.table(&header)?,
            Record::Row(row) => {
                if let Some(blob) = blobs.row(&row)?
                    && !each(blob)
                {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Runs a function on a blocking thread that sends pages until it ends or nobody receives them.
fn produce<T: Send + 'static>(
    work: impl FnOnce(&mut dyn FnMut(T) -> bool) -> Result<(), RowsError> + Send + 'static,
) -> mpsc::Receiver<Result<T, RowsError>> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        if let Err(error) = work(&mut |page| sender.blocking_send(Ok(page)).is_ok()) {
            // Fails only if nobody receives it.
            let _ = sender.blocking_send(Err(error));
        }
    });
    receiver
}
