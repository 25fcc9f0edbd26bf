use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use diesel::{
    Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection,
    connection::SimpleConnection as _,
    sql_query,
    sql_types::{BigInt, Binary, Nullable, Text},
};

use super::{AnyError, Server};

/// Interval of polling.
const POLL: Duration = Duration::from_millis(100);
/// A server that adds no rendition for this long, and uses less processor time than this, is idle.
const IDLE: Duration = Duration::from_secs(8);
const IDLE_CPU: Duration = Duration::from_millis(400);

/// Reads a library's metadata file, read-only.
pub struct StoreReader {
    connection: SqliteConnection,
    data_dir: PathBuf,
}

/// Numbers of images by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImageCounts {
    /// Waiting for indexing, or being indexed.
    pub pending: u64,
    /// Visible.
    pub ready: u64,
    /// Visible, but decoded only in part.
    pub damaged: u64,
    /// Failed to index.
    pub failed: u64,
}

/// The thumbnail rendition of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thumb {
    /// The file name of the image.
    pub file_name: String,
    /// The path of the rendition.
    pub path: PathBuf,
}

/// The stored capture time of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCaptureTime {
    /// The ID of the image.
    pub image: String,
    /// The SHA-256 of the original.
    pub original: Vec<u8>,
    /// The requested time in milliseconds since 1970, before it is moved to be unique.
    pub at_ms: i64,
    /// The wall-clock time.
    pub wall: Option<String>,
    /// The UTC offset in minutes.
    pub offset_minutes: Option<i64>,
    /// The name of the metadata source.
    pub source: String,
}

#[derive(QueryableByName)]
struct CaptureRow {
    #[diesel(sql_type = Text)]
    image: String,
    #[diesel(sql_type = Binary)]
    original: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    at_ms: i64,
    #[diesel(sql_type = Nullable<Text>)]
    wall: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    offset_minutes: Option<i64>,
    #[diesel(sql_type = Text)]
    source: String,
}

#[derive(QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct FileRow {
    #[diesel(sql_type = Nullable<Text>)]
    file_name: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    note: Option<String>,
}

#[derive(QueryableByName)]
struct ThumbRow {
    #[diesel(sql_type = Nullable<Text>)]
    file_name: Option<String>,
    #[diesel(sql_type = Binary)]
    blob: Vec<u8>,
}

impl StoredCaptureTime {
    /// Selects the capture times of all visible images, with columns named like the fields.
    pub(crate) const QUERY: &str = "SELECT id AS image, original, requested_captured_at_ms AS at_ms, \
         capture_wall AS wall, capture_offset_min AS offset_minutes, capture_source AS source \
         FROM images WHERE state = 'ready' ORDER BY seq";
}

impl StoreReader {
    /// Opens the metadata file in a data folder.
    ///
    /// # Errors
    /// The file is missing or cannot be read.
    pub fn open(data_dir: &Path) -> Result<Self, AnyError> {
        let path = data_dir.join("library.sqlite");
        let path = path.to_str().ok_or("the data folder's name is not UTF-8")?;
        let mut connection = SqliteConnection::establish(path)?;
        connection.batch_execute("PRAGMA busy_timeout = 10000; PRAGMA query_only = ON")?;
        Ok(Self { connection, data_dir: data_dir.to_owned() })
    }

    /// Counts the images by state.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn image_counts(&mut self) -> Result<ImageCounts, AnyError> {
        Ok(ImageCounts {
            pending: self.count("images WHERE state = 'pending'")?,
            ready: self.count("images WHERE state = 'ready'")?,
            damaged: self.count("images WHERE state = 'ready' AND damaged IS NOT NULL")?,
            failed: self.count("images WHERE state = 'failed'")?,
        })
    }

    /// The names of damaged files with the damage, without the first `skip`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn damaged_files(&mut self, skip: u64) -> Result<Vec<(String, String)>, AnyError> {
        let query = format!(
            "SELECT file_name, damaged AS note FROM images WHERE state = 'ready' AND damaged IS NOT NULL \
             ORDER BY seq LIMIT -1 OFFSET {skip}"
        );
        let rows: Vec<FileRow> = sql_query(query).load(&mut self.connection)?;
        Ok(rows
            .into_iter()
            .map(|row| (row.file_name.unwrap_or_default(), row.note.unwrap_or_default()))
            .collect())
    }

    /// The stored capture times of all visible images.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn capture_times(&mut self) -> Result<Vec<StoredCaptureTime>, AnyError> {
        let rows: Vec<CaptureRow> = sql_query(StoredCaptureTime::QUERY).load(&mut self.connection)?;
        let capture = |row: CaptureRow| StoredCaptureTime {
            image: row.image,
            original: row.original,
            at_ms: row.at_ms,
            wall: row.wall,
            offset_minutes: row.offset_minutes,
            source: row.source,
        };
        Ok(rows.into_iter().map(capture).collect())
    }

    /// The names of files that are not indexed yet.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn pending_files(&mut self) -> Result<Vec<String>, AnyError> {
        let query = "SELECT file_name, NULL AS note FROM images WHERE state = 'pending' ORDER BY seq";
        let rows: Vec<FileRow> = sql_query(query).load(&mut self.connection)?;
        Ok(rows.into_iter().filter_map(|row| row.file_name).collect())
    }

    /// Number of images without a full rendition.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn missing_full_renditions(&mut self) -> Result<u64, AnyError> {
        self.count(
            "images i WHERE i.state = 'ready' AND i.deleted_at_ms IS NULL AND NOT EXISTS (\
             SELECT 1 FROM renditions r WHERE r.original = i.original AND r.name = 'webp-full')",
        )
    }

    /// Total size of the renditions of all photos. Renditions shared by photos count once per photo.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn rendition_bytes(&mut self) -> Result<u64, AnyError> {
        self.number("SELECT coalesce(sum(bytes), 0) AS number FROM renditions")
    }

    /// The thumbnails of all images in the order of import.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn thumbs(&mut self) -> Result<Vec<Thumb>, AnyError> {
        let query = "SELECT i.file_name, r.blob FROM images i JOIN renditions r ON r.original = i.original \
                     WHERE i.state = 'ready' AND r.name = 'webp-thumb' ORDER BY i.seq";
        let rows: Vec<ThumbRow> = sql_query(query).load(&mut self.connection)?;
        let folder = self.data_dir.join("blobs/renditions");
        let thumb = |row: ThumbRow| {
            let name = row.blob.iter().fold(String::new(), |mut name, byte| {
                // Writing to a string does not fail.
                let _ = write!(name, "{byte:02x}");
                name
            });
            let path = folder.join(name.get(..2).unwrap_or_default()).join(&name);
            Thumb { file_name: row.file_name.unwrap_or_default(), path }
        };
        Ok(rows.into_iter().map(thumb).collect())
    }

    /// Waits until a running server has made all full renditions. Returns the number of missing ones, which is above 0
    /// if the server became idle before.
    ///
    /// # Errors
    /// The file cannot be read, or the server exited.
    pub fn wait_for_full_renditions(&mut self, server: &mut Server) -> Result<u64, AnyError> {
        let mut missing = self.missing_full_renditions()?;
        let (mut since, mut cpu) = (Instant::now(), server.usage().cpu);
        while missing > 0 {
            if let Some(status) = server.exit_status()? {
                return Err(format!("the server exited with {status}").into());
            }
            thread::sleep(POLL);
            let now = self.missing_full_renditions()?;
            let used = server.usage().cpu;
            if now != missing || used.saturating_sub(cpu) > IDLE_CPU {
                (missing, since, cpu) = (now, Instant::now(), used);
            } else if since.elapsed() > IDLE {
                break;
            }
        }
        Ok(missing)
    }

    fn count(&mut self, what: &str) -> Result<u64, AnyError> {
        self.number(&format!("SELECT count(*) AS number FROM {what}"))
    }

    fn number(&mut self, query: &str) -> Result<u64, AnyError> {
        let row: NumberRow = sql_query(query).get_result(&mut self.connection)?;
        Ok(u64::try_from(row.number)?)
    }
}
