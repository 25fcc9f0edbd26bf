use diesel::prelude::*;
use domain::{FileName, ImageId, SidecarKind};
use storage::{FileContent, FileEntry, FileId, FileImage, FileKind, FileTimes};

use crate::{
    SqlConnection,
    error::SqlError,
    sql::{
        marks::{self, MarksOfImage},
        schema::{files, images},
        value::RowReader,
    },
};

/// A file or folder without the content of a sidecar.
#[derive(Queryable, Selectable)]
#[diesel(table_name = files, check_for_backend(crate::Backend))]
pub(super) struct FileRow {
    id: i64,
    name: String,
    kind: String,
    bytes: i64,
    version: i64,
    modified_at_ms: Option<i64>,
    created_at_ms: Option<i64>,
    received_at_ms: i64,
    sha1: Option<Vec<u8>>,
    original: Option<Vec<u8>>,
    media_type: Option<String>,
    sidecar_kind: Option<String>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = images, check_for_backend(crate::Backend))]
pub(super) struct FileImageRow {
    seq: i64,
    id: String,
    live: bool,
    deleted_at_ms: Option<i64>,
    #[diesel(select_expression = MarksOfImage, select_expression_type = MarksOfImage)]
    marks: Option<String>,
}

/// A row of `files LEFT JOIN images`.
pub(super) type EntryRow = (FileRow, Option<FileImageRow>);

/// The entry with this id, which exists.
pub(super) fn entry(c: &mut SqlConnection, id: i64) -> Result<FileEntry, SqlError> {
    let row: EntryRow = files::table
        .left_join(images::table)
        .filter(files::id.eq(id))
        .select((FileRow::as_select(), Option::<FileImageRow>::as_select()))
        .get_result(c)?;
    read(row)
}

/// Converts a row.
pub(super) fn read((row, image): EntryRow) -> Result<FileEntry, SqlError> {
    let reader = RowReader::new("files", &row.id);
    let name = match row.name.as_str() {
        "" => None,
        name => Some(reader.required("name", FileName::parse(name).ok())?),
    };
    let sha1 = row.sha1.as_ref().map(|sha1| reader.required("sha1", sha1.as_slice().try_into().ok()));
    Ok(FileEntry {
        id: FileId(row.id),
        name,
        kind: kind(&row, image)?,
        bytes: reader.unsigned("bytes", row.bytes)?,
        version: reader.unsigned("version", row.version)?,
        times: FileTimes {
            modified_at: reader.optional_timestamp("modified_at_ms", row.modified_at_ms)?,
            created_at: reader.optional_timestamp("created_at_ms", row.created_at_ms)?,
        },
        received_at: reader.timestamp("received_at_ms", row.received_at_ms)?,
        sha1: sha1.transpose()?,
    })
}

fn kind(row: &FileRow, image: Option<FileImageRow>) -> Result<FileKind, SqlError> {
    let reader = RowReader::new("files", &row.id);
    let original = || {
        let bytes = reader.required("original", row.original.as_deref())?;
        reader.hash("original", bytes)
    };
    Ok(FileKind::File(match row.kind.as_str() {
        "folder" => return Ok(FileKind::Folder),
        "photo" => FileContent::Photo { original: original()?, image: image.map(read_image).transpose()? },
        "partial" => FileContent::Partial {
            original: original()?,
            media_type: reader.required("media_type", row.media_type.clone())?,
        },
        "sidecar" => {
            let kind = row.sidecar_kind.as_deref().and_then(SidecarKind::from_name);
            FileContent::Sidecar(reader.required("sidecar_kind", kind)?)
        }
        "junk" => FileContent::Junk,
        "placeholder" => FileContent::Placeholder,
        _ => return Err(reader.unreadable("kind")),
    }))
}

fn read_image(row: FileImageRow) -> Result<FileImage, SqlError> {
    let reader = RowReader::new("images", &row.seq);
    Ok(FileImage {
        id: reader.required("id", ImageId::parse(row.id))?,
        is_live: row.live,
        is_deleted: row.deleted_at_ms.is_some(),
        is_favorite: marks::read(reader, row.marks.as_deref())?.favorite,
    })
}
