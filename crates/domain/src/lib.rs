//! The rules of the photo library, without I/O.
//!
//! Constructors here validate input and turn it into typed values: an [`ImageId`], a [`Timestamp`], a [`Circle`],
//! an [`AlbumTitle`], a page size ([`Limit`]). Other crates pass these values on without further checks.
//!
//! This crate knows no HTTP, no database, no file, no clock and no randomness.
//!
//! The most common change is a new parameter of a list or search: add its type here with a constructor that
//! returns [`Invalid`] naming the parameter, then add it to [`Filter`], [`ListQuery`] or [`SearchQuery`].
//!
//! ```
//! use domain::{Circle, Position, Timestamp};
//!
//! let noon = Timestamp::parse_iso("2024-05-01T12:00:00+02:00").unwrap();
//! assert_eq!(noon.to_string(), "2024-05-01T10:00:00.000Z");
//!
//! let fiji = Circle::new(Position::new(-17.0, 179.9)?, 50_000.0)?;
//! assert!(fiji.contains(Position::new(-17.0, -179.9)?));
//! # Ok::<(), domain::Invalid>(())
//! ```

mod account;
mod album;
mod blob;
mod camera_settings;
mod capture;
mod checksum;
mod circle;
mod edit;
mod file_info;
mod file_path;
mod hash;
mod id;
mod image;
mod invalid;
mod listed_enum;
mod local_time;
mod map;
mod marks;
mod metadata;
mod month;
mod number;
mod password;
mod position;
mod query;
mod security_event;
mod selection;
mod text;
mod timestamp;
mod traces;

pub use account::{Account, AccountId, Email, KeyName, Plan, SyncHandle};
pub use album::{
    Album, AlbumChange, AlbumCover, AlbumMove, AlbumOrder, AlbumTitle, MAX_ALBUMS_PER_ACCOUNT,
    MAX_IMAGE_IDS_PER_CALL, checked_moves, distinct_image_ids,
};
pub use blob::BlobKind;
pub use camera_settings::CameraSettings;
pub use capture::{CaptureSource, CaptureTime, UtcOffset};
pub use checksum::{Checksum, ChecksumAlgorithm};
pub use circle::{Circle, LatLonBox, MAX_RADIUS_M};
pub use edit::{
    Correction, EditedField, KeywordsEdit, MarksEdit, PhotoEdit, ShiftNumbers, TimeEdit, TimeShift, Zone,
    parse_position, parse_wall_time,
};
pub use file_info::{FileInfo, Sidecar, SidecarKind};
pub use file_path::{FileName, FilePath};
pub use hash::ContentHash;
pub use id::{AlbumId, EditId, ImageId, MAX_ID_LENGTH};
pub use image::{Image, MAX_RENDITION_SIDE_PX, PixelSize, Rendition, Thumbhash};
pub use invalid::Invalid;
pub use local_time::{LocalRange, LocalTime};
pub use map::{MAX_MAP_CLUSTERS, MAX_MAP_LATITUDE, MAX_MAP_LEVEL, MapArea, MapCell, MapPoint};
pub use marks::{Keyword, Keywords, MAX_KEYWORDS, Marks, Rating};
pub use metadata::{Metadata, PhotoDetails};
pub use month::Month;
pub use number::{parse_decimal, parse_digits};
pub use password::{MIN_PASSWORD_CHARS, PasswordTooShort, check_new_password, normalized_password};
pub use position::{EARTH_RADIUS_M, Position};
pub use query::{
    Channel, Channels, DateRange, Filter, FilterNames, Limit, ListQuery, MAX_CIRCLE_CANDIDATES,
    MAX_QUERY_CHARS, Media, Offset, QueryText, SearchQuery, SearchTarget,
};
pub use security_event::SecurityEventKind;
pub use selection::{MAX_SELECTED_IDS, MAX_SELECTED_RANGES, Selection};
pub use text::{MAX_TEXT_CHARS, clean_text, composed};
pub use timestamp::Timestamp;
pub use traces::{TRACE_TARGET, are_traces_exported, export_traces};
