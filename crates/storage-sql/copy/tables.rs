//! The tables that are copied. A test compares them with the columns of the database.

use diesel::{QueryResult, QueryableByName, prelude::*};
use storage::Value;

use super::{
    table::{CopiedRows, Shape, copied_rows},
    value::Column,
};
use crate::{
    SqlConnection,
    sql::schema::{
        accounts, album_images, albums, api_keys, blobs, dismissed_problems, encoders, file_locks, files,
        image_edits, image_vectors, images, index_jobs, login_flows, oauth_clients, oauth_grants,
        rendition_jobs, renditions, security_events, sessions, setup_links, sidecars, sign_in_attempts,
        signing_keys, stage_failures, stage_jobs, stages, timeline_months, upload_parts, uploads,
        watched_files,
    },
};

copied_rows!(
    Account of accounts,
    ids { id: i64 },
    {
        email: Option<String>, password_hash: String, plan: String, synced_at_ms: Option<i64>, created_at_ms:
        i64, deleted_at_ms: Option<i64>, live_images: i64, stored_bytes: i64, sync_handle: Option<String>,
    }
);

copied_rows!(
    ApiKey of api_keys,
    ids { id: i64 },
    {
        account_id: i64, name: String, hash: Vec<u8>, created_at_ms: i64, last_used_at_ms: Option<i64>,
        revoked_at_ms: Option<i64>, kind: String,
    }
);

copied_rows!(
    Session of sessions,
    key { hash: Vec<u8> },
    {
        account_id: i64, user_agent: Option<String>, address: String, created_at_ms: i64, last_seen_at_ms:
        i64, expires_at_ms: i64,
    }
);

copied_rows!(
    SignInAttempt of sign_in_attempts,
    ids { id: i64 },
    { pair: Vec<u8>, address: Vec<u8>, at_ms: i64, network: Option<Vec<u8>> }
);

copied_rows!(
    SigningKey of signing_keys,
    ids { seq: i64 },
    { kid: String, sealed: Vec<u8>, created_at_ms: i64, retired_at_ms: Option<i64> }
);

copied_rows!(
    Client of oauth_clients,
    ids { seq: i64 },
    {
        id: String, metadata: String, digest: Option<Vec<u8>>, secret_hash: Option<Vec<u8>>, issued_at_ms:
        i64, registered_again_at_ms: Option<i64>, first_granted_at_ms: Option<i64>,
    },
    long "length(metadata)"
);

copied_rows!(
    Grant of oauth_grants,
    ids { seq: i64 },
    {
        id: String, client_id: String, account_id: i64, resource: String, scopes: String, created_at_ms: i64,
        revoked_at_ms: Option<i64>, last_used_at_ms: Option<i64>, code_hash: Vec<u8>, redirect_uri: String,
        challenge: String, code_expires_at_ms: i64, redeemed_at_ms: Option<i64>, access_expires_at_ms:
        Option<i64>, refresh_handle: Option<Vec<u8>>, refresh_hash: Option<Vec<u8>>, refresh_generation:
        Option<i64>, refresh_expires_at_ms: Option<i64>, recent_rotations: Option<String>,
    }
);

copied_rows!(
    SetupLink of setup_links,
    key { hash: Vec<u8> },
    { created_at_ms: i64 }
);

copied_rows!(
    SecurityEvent of security_events,
    ids { seq: i64 },
    {
        account_id: i64, kind: String, address: Option<String>, detail: Option<String>, at_ms: i64, times:
        i64,
    }
);

copied_rows!(
    Blob of blobs,
    key { kind: String, hash: Vec<u8> },
    { bytes: i64, state: String, since_ms: i64 }
);

copied_rows!(
    Image of images,
    ids { seq: i64 },
    {
        id: String, account_id: i64, state: String, deleted_at_ms: Option<i64>, captured_at_ms: Option<i64>,
        latitude: Option<f64>, longitude: Option<f64>, original: Vec<u8>, original_bytes: i64, media_type:
        String, modified_at_ms: Option<i64>, added_at_ms: i64, requested_captured_at_ms: Option<i64>,
        capture_wall: Option<String>, capture_offset_min: Option<i64>, capture_source: Option<String>, width:
        Option<i64>, height: Option<i64>, decoder_version: Option<i64>, failure: Option<String>, damaged:
        Option<String>, file_name: Option<String>, camera_make: Option<String>, camera_model: Option<String>,
        place: Option<String>, description: Option<String>, ocr_text: Option<String>, deleted_with_files:
        bool, thumbhash: Option<Vec<u8>>, camera: Option<String>,
    },
    long "coalesce(length(ocr_text), 0) + coalesce(length(description), 0)"
);

copied_rows!(
    Rendition of renditions,
    key { original: Vec<u8>, name: String },
    { blob: Vec<u8>, bytes: i64, width: i64, height: i64 }
);

copied_rows!(
    Sidecar of sidecars,
    key { image_seq: i64, kind: String },
    { content: Vec<u8> },
    long "length(content)"
);

copied_rows!(
    ImageEdit of image_edits,
    key { image_seq: i64 },
    {
        description_edited: bool, place_edited: bool, time_edited: Option<String>, time_edit: Option<String>,
        last_edit: Option<String>, previous: Option<String>, file_description: Option<String>, file_latitude:
        Option<f64>, file_longitude: Option<f64>, file_place: Option<String>, file_captured_at_ms: i64,
        file_capture_wall: Option<String>, file_capture_offset_min: Option<i64>,
    },
    long "coalesce(length(file_description), 0) + coalesce(length(previous), 0)"
);

copied_rows!(
    DismissedProblem of dismissed_problems,
    key { image_seq: i64 },
    { failure: String }
);

copied_rows!(
    IndexJob of index_jobs,
    ids { id: i64 },
    {
        image_seq: i64, attempts: i64, not_before_ms: i64, leased_by: Option<String>, leased_until_ms:
        Option<i64>, priority: i64,
    }
);

copied_rows!(
    RenditionJob of rendition_jobs,
    ids { id: i64 },
    {
        original: Vec<u8>, attempts: i64, not_before_ms: i64, leased_by: Option<String>, leased_until_ms:
        Option<i64>,
    }
);

copied_rows!(
    Album of albums,
    ids { seq: i64 },
    {
        id: String, account_id: i64, title: String, created_at_ms: i64, updated_at_ms: i64, oldest_first: bool,
        cover_seq: Option<i64>,
    }
);

copied_rows!(
    AlbumImage of album_images,
    key { album_seq: i64, image_seq: i64 },
    { captured_at_ms: i64, live: bool }
);

copied_rows!(
    Stage of stages,
    ids { id: i64 },
    { name: String, version: String, complete_version: Option<String>, fill_below: i64, revision: i64 }
);

copied_rows!(
    StageJob of stage_jobs,
    ids { id: i64 },
    {
        stage_id: i64, image_seq: i64, attempts: i64, not_before_ms: i64, leased_by: Option<String>,
        leased_until_ms: Option<i64>,
    }
);

copied_rows!(
    StageFailure of stage_failures,
    key { stage_id: i64, image_seq: i64 },
    { reason: String }
);

copied_rows!(
    TimelineMonth of timeline_months,
    key { account_id: i64, month: i64 },
    { photos: i64, ratio_sum: i64 }
);

copied_rows!(
    Encoder of encoders,
    ids { id: i64 },
    { name: String }
);

copied_rows!(
    ImageVector of image_vectors,
    ids { id: i64 },
    { encoder_id: i64, account_id: i64, image_seq: i64, vector: Vec<u8> },
    long "length(vector)"
);

copied_rows!(
    File of files,
    ids { id: i64 },
    {
        account_id: i64, parent_id: Option<i64>, name: String, deleted_at_ms: Option<i64>, kind: String,
        bytes: i64, version: i64, modified_at_ms: Option<i64>, created_at_ms: Option<i64>, received_at_ms:
        i64, sha1: Option<Vec<u8>>, original: Option<Vec<u8>>, media_type: Option<String>, image_seq:
        Option<i64>, sidecar_kind: Option<String>, sidecar: Option<Vec<u8>>,
    },
    long "coalesce(length(sidecar), 0)"
);

copied_rows!(
    FileLock of file_locks,
    key { token: String },
    { account_id: i64, file_id: i64, is_deep: bool, owner: Option<String>, expires_at_ms: i64 }
);

copied_rows!(
    Upload of uploads,
    ids { id: i64 },
    {
        account_id: i64, protocol: String, name: String, total_bytes: Option<i64>, metadata: String, result:
        Option<String>, touched_at_ms: i64,
    },
    long "length(metadata)"
);

copied_rows!(
    UploadPart of upload_parts,
    key { upload_id: i64, number: i64 },
    { name: String, bytes: i64, file: String, received_at_ms: i64 }
);

copied_rows!(
    LoginFlow of login_flows,
    key { page: Vec<u8> },
    { poll: Vec<u8>, device: String, account_id: Option<i64>, created_at_ms: i64, expires_at_ms: i64 }
);

copied_rows!(
    WatchedFile of watched_files,
    key { account_id: i64, version: Vec<u8> },
    { seen_at_ms: i64 }
);

/// The parents of files whose parent has a higher id: it was created later.
#[derive(QueryableByName)]
#[diesel(table_name = files)]
pub(super) struct FileParent {
    id: i64,
    parent_id: Option<i64>,
}

impl CopiedRows for FileParent {
    const SHAPE: Shape = Shape {
        table: "files",
        condition: "parent_id > id",
        columns: &["id", "parent_id"],
        key_columns: 1,
        long: None,
        has_ids: false,
    };

    fn into_values(self) -> Vec<Value> {
        vec![self.id.into_value(), self.parent_id.into_value()]
    }

    fn from_values(values: Vec<Value>) -> Option<Self> {
        let [id, parent_id] = <[Value; 2]>::try_from(values).ok()?;
        Some(Self { id: Column::from_value(id)?, parent_id: Column::from_value(parent_id)? })
    }

    fn insert(c: &mut SqlConnection, rows: &[Self]) -> QueryResult<usize> {
        rows.iter().try_fold(0, |changed, row| {
            let parent = files::parent_id.eq(row.parent_id);
            Ok(changed + diesel::update(files::table.find(row.id)).set(parent).execute(c)?)
        })
    }
}

impl File {
    /// With a parent that exists already. A parent with a higher id is set later, as a [`FileParent`]; until then, the file
    /// is its own parent, which breaks no constraint.
    pub(super) fn with_existing_parent(self) -> Self {
        let parent_id = self.parent_id.map(|parent| parent.min(self.id));
        Self { parent_id, ..self }
    }
}
