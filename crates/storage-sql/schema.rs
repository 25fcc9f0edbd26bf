//! The tables as the queries see them; `migrations` defines them for each database.

/// A table and its columns.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    pub(crate) key_columns: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) sql_type: ColumnType,
    pub(crate) nullable: bool,
}

/// The types of diesel that columns have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnType {
    BigInt,
    Binary,
    Bool,
    Double,
    Text,
}

/// Defines the tables for diesel, and as data.
macro_rules! tables {
    ($($table:ident ($($key:ident),+) { $($column:ident -> $type:ident $(<$value:ident>)?,)+ })+) => {
        $(
            diesel::table! {
                $table ($($key),+) { $($column -> $type $(<$value>)?,)+ }
            }
        )+

        pub(crate) const TABLES: &[Table] = &[$(Table {
            name: stringify!($table),
            columns: &[$(column!($column, $type $(<$value>)?)),+],
            key_columns: [$(stringify!($key)),+].len(),
        }),+];
    };
}

macro_rules! column {
    ($name:ident, Nullable<$type:ident>) => {
        Column { name: stringify!($name), sql_type: ColumnType::$type, nullable: true }
    };
    ($name:ident, $type:ident) => {
        Column { name: stringify!($name), sql_type: ColumnType::$type, nullable: false }
    };
}

tables! {
    accounts (id) {
        id -> BigInt,
        email -> Nullable<Text>,
        password_hash -> Text,
        plan -> Text,
        synced_at_ms -> Nullable<BigInt>,
        created_at_ms -> BigInt,
        deleted_at_ms -> Nullable<BigInt>,
        live_images -> BigInt,
        stored_bytes -> BigInt,
        sync_handle -> Nullable<Text>,
    }

    api_keys (id) {
        id -> BigInt,
        account_id -> BigInt,
        name -> Text,
        hash -> Binary,
        created_at_ms -> BigInt,
        last_used_at_ms -> Nullable<BigInt>,
        revoked_at_ms -> Nullable<BigInt>,
        kind -> Text,
    }

    blobs (kind, hash) {
        kind -> Text,
        hash -> Binary,
        bytes -> BigInt,
        state -> Text,
        since_ms -> BigInt,
    }

    images (seq) {
        seq -> BigInt,
        id -> Text,
        account_id -> BigInt,
        state -> Text,
        deleted_at_ms -> Nullable<BigInt>,
        captured_at_ms -> Nullable<BigInt>,
        latitude -> Nullable<Double>,
        longitude -> Nullable<Double>,
        live -> Bool,
        original -> Binary,
        original_bytes -> BigInt,
        media_type -> Text,
        modified_at_ms -> Nullable<BigInt>,
        added_at_ms -> BigInt,
        requested_captured_at_ms -> Nullable<BigInt>,
        capture_wall -> Nullable<Text>,
        capture_offset_min -> Nullable<BigInt>,
        capture_source -> Nullable<Text>,
        width -> Nullable<BigInt>,
        height -> Nullable<BigInt>,
        decoder_version -> Nullable<BigInt>,
        failure -> Nullable<Text>,
        damaged -> Nullable<Text>,
        file_name -> Nullable<Text>,
        camera_make -> Nullable<Text>,
        camera_model -> Nullable<Text>,
        place -> Nullable<Text>,
        description -> Nullable<Text>,
        ocr_text -> Nullable<Text>,
        deleted_with_files -> Bool,
        thumbhash -> Nullable<Binary>,
        camera -> Nullable<Text>,
    }

    camera_settings (image_seq) {
        image_seq -> BigInt,
        settings -> Text,
    }

    dismissed_problems (image_seq) {
        image_seq -> BigInt,
        failure -> Text,
    }

    timeline_months (account_id, month) {
        account_id -> BigInt,
        month -> BigInt,
        photos -> BigInt,
        ratio_sum -> BigInt,
    }

    image_edits (image_seq) {
        image_seq -> BigInt,
        description_edited -> Bool,
        place_edited -> Bool,
        time_edited -> Nullable<Text>,
        marks_edited -> Text,
        file_description -> Nullable<Text>,
        file_latitude -> Nullable<Double>,
        file_longitude -> Nullable<Double>,
        file_place -> Nullable<Text>,
        file_captured_at_ms -> BigInt,
        file_capture_wall -> Nullable<Text>,
        file_capture_offset_min -> Nullable<BigInt>,
        file_marks -> Text,
    }

    image_marks (image_seq) {
        image_seq -> BigInt,
        marks -> Text,
        archived -> Bool,
        keywords -> Nullable<Text>,
    }

    facets (id) {
        id -> BigInt,
        account_id -> BigInt,
        kind -> Text,
        key -> Text,
        name -> Text,
        folded -> Nullable<Text>,
    }

    image_facets (facet_id, image_seq) {
        facet_id -> BigInt,
        image_seq -> BigInt,
        captured_at_ms -> BigInt,
        live -> Bool,
    }

    edits (seq) {
        seq -> BigInt,
        id -> Text,
        account_id -> BigInt,
        at_ms -> BigInt,
        author -> Nullable<Text>,
        fields -> Text,
    }

    edited_images (edit_seq, image_seq) {
        edit_seq -> BigInt,
        image_seq -> BigInt,
        changes -> Text,
    }

    renditions (original, name) {
        original -> Binary,
        name -> Text,
        blob -> Binary,
        bytes -> BigInt,
        width -> BigInt,
        height -> BigInt,
    }

    index_jobs (id) {
        id -> BigInt,
        image_seq -> BigInt,
        attempts -> BigInt,
        not_before_ms -> BigInt,
        leased_by -> Nullable<Text>,
        leased_until_ms -> Nullable<BigInt>,
        priority -> BigInt,
    }

    sidecars (image_seq, kind) {
        image_seq -> BigInt,
        kind -> Text,
        content -> Binary,
    }

    rendition_jobs (id) {
        id -> BigInt,
        original -> Binary,
        attempts -> BigInt,
        not_before_ms -> BigInt,
        leased_by -> Nullable<Text>,
        leased_until_ms -> Nullable<BigInt>,
    }

    albums (seq) {
        seq -> BigInt,
        id -> Text,
        account_id -> BigInt,
        title -> Text,
        created_at_ms -> BigInt,
        updated_at_ms -> BigInt,
        oldest_first -> Bool,
        cover_seq -> Nullable<BigInt>,
        by_hand -> Bool,
    }

    album_images (album_seq, image_seq) {
        album_seq -> BigInt,
        image_seq -> BigInt,
        captured_at_ms -> BigInt,
        live -> Bool,
        position -> BigInt,
    }

    security_events (seq) {
        seq -> BigInt,
        account_id -> BigInt,
        kind -> Text,
        address -> Nullable<Text>,
        detail -> Nullable<Text>,
        at_ms -> BigInt,
        times -> BigInt,
    }

    sessions (hash) {
        hash -> Binary,
        account_id -> BigInt,
        user_agent -> Nullable<Text>,
        address -> Text,
        created_at_ms -> BigInt,
        last_seen_at_ms -> BigInt,
        expires_at_ms -> BigInt,
    }

    setup_links (hash) {
        hash -> Binary,
        created_at_ms -> BigInt,
    }

    sign_in_attempts (id) {
        id -> BigInt,
        pair -> Binary,
        address -> Binary,
        at_ms -> BigInt,
        network -> Nullable<Binary>,
    }

    signing_keys (seq) {
        seq -> BigInt,
        kid -> Text,
        sealed -> Binary,
        created_at_ms -> BigInt,
        retired_at_ms -> Nullable<BigInt>,
    }

    oauth_clients (seq) {
        seq -> BigInt,
        id -> Text,
        metadata -> Text,
        digest -> Nullable<Binary>,
        secret_hash -> Nullable<Binary>,
        issued_at_ms -> BigInt,
        registered_again_at_ms -> Nullable<BigInt>,
        first_granted_at_ms -> Nullable<BigInt>,
        registered_last_at_ms -> Nullable<BigInt>,
    }

    oauth_grants (seq) {
        seq -> BigInt,
        id -> Text,
        client_id -> Text,
        account_id -> BigInt,
        resource -> Text,
        scopes -> Text,
        created_at_ms -> BigInt,
        revoked_at_ms -> Nullable<BigInt>,
        last_used_at_ms -> Nullable<BigInt>,
        code_hash -> Binary,
        redirect_uri -> Text,
        challenge -> Text,
        code_expires_at_ms -> BigInt,
        redeemed_at_ms -> Nullable<BigInt>,
        access_expires_at_ms -> Nullable<BigInt>,
        refresh_handle -> Nullable<Binary>,
        refresh_hash -> Nullable<Binary>,
        refresh_generation -> Nullable<BigInt>,
        refresh_expires_at_ms -> Nullable<BigInt>,
        recent_rotations -> Nullable<Text>,
        ends_at_ms -> Nullable<BigInt>,
    }

    grant_edits (grant_id) {
        grant_id -> Text,
    }

    oauth_assertions (hash) {
        hash -> Binary,
        expires_at_ms -> BigInt,
    }

    stages (id) {
        id -> BigInt,
        name -> Text,
        version -> Text,
        complete_version -> Nullable<Text>,
        fill_below -> BigInt,
        revision -> BigInt,
    }

    stage_jobs (id) {
        id -> BigInt,
        stage_id -> BigInt,
        image_seq -> BigInt,
        attempts -> BigInt,
        not_before_ms -> BigInt,
        leased_by -> Nullable<Text>,
        leased_until_ms -> Nullable<BigInt>,
    }

    stage_failures (stage_id, image_seq) {
        stage_id -> BigInt,
        image_seq -> BigInt,
        reason -> Text,
    }

    encoders (id) {
        id -> BigInt,
        name -> Text,
    }

    image_vectors (id) {
        id -> BigInt,
        encoder_id -> BigInt,
        account_id -> BigInt,
        image_seq -> BigInt,
        vector -> Binary,
    }

    files (id) {
        id -> BigInt,
        account_id -> BigInt,
        parent_id -> Nullable<BigInt>,
        name -> Text,
        deleted_at_ms -> Nullable<BigInt>,
        kind -> Text,
        bytes -> BigInt,
        version -> BigInt,
        modified_at_ms -> Nullable<BigInt>,
        created_at_ms -> Nullable<BigInt>,
        received_at_ms -> BigInt,
        last_modified_ms -> BigInt,
        sha1 -> Nullable<Binary>,
        original -> Nullable<Binary>,
        media_type -> Nullable<Text>,
        image_seq -> Nullable<BigInt>,
        sidecar_kind -> Nullable<Text>,
        sidecar -> Nullable<Binary>,
    }

    file_locks (token) {
        token -> Text,
        account_id -> BigInt,
        file_id -> BigInt,
        is_deep -> Bool,
        owner -> Nullable<Text>,
        expires_at_ms -> BigInt,
    }

    uploads (id) {
        id -> BigInt,
        account_id -> BigInt,
        protocol -> Text,
        name -> Text,
        total_bytes -> Nullable<BigInt>,
        metadata -> Text,
        result -> Nullable<Text>,
        touched_at_ms -> BigInt,
    }

    upload_parts (upload_id, number) {
        upload_id -> BigInt,
        number -> BigInt,
        name -> Text,
        bytes -> BigInt,
        file -> Text,
        received_at_ms -> BigInt,
    }

    login_flows (page) {
        page -> Binary,
        poll -> Binary,
        device -> Text,
        account_id -> Nullable<BigInt>,
        created_at_ms -> BigInt,
        expires_at_ms -> BigInt,
    }

    watched_files (account_id, version) {
        account_id -> BigInt,
        version -> Binary,
        seen_at_ms -> BigInt,
    }

    map_points (image_seq) {
        image_seq -> BigInt,
        account_id -> BigInt,
        code -> BigInt,
        captured_at_ms -> BigInt,
    }

    map_cells (account_id, cell) {
        account_id -> BigInt,
        cell -> BigInt,
        photos -> BigInt,
        newest_ms -> BigInt,
        x_sum -> BigInt,
        y_sum -> BigInt,
    }
}

diesel::joinable!(api_keys -> accounts (account_id));
diesel::joinable!(files -> accounts (account_id));
diesel::joinable!(images -> accounts (account_id));
diesel::joinable!(image_edits -> images (image_seq));
diesel::joinable!(image_facets -> images (image_seq));
diesel::joinable!(edited_images -> images (image_seq));
diesel::joinable!(edited_images -> edits (edit_seq));
diesel::joinable!(index_jobs -> images (image_seq));
diesel::joinable!(albums -> accounts (account_id));
diesel::joinable!(album_images -> images (image_seq));
diesel::joinable!(image_vectors -> encoders (encoder_id));
diesel::joinable!(image_vectors -> images (image_seq));
diesel::joinable!(stage_jobs -> images (image_seq));
diesel::joinable!(stage_jobs -> stages (stage_id));
diesel::joinable!(sessions -> accounts (account_id));
diesel::joinable!(oauth_grants -> accounts (account_id));
diesel::joinable!(files -> images (image_seq));
diesel::joinable!(login_flows -> accounts (account_id));
diesel::joinable!(upload_parts -> uploads (upload_id));
diesel::joinable!(uploads -> accounts (account_id));
diesel::allow_tables_to_appear_in_same_query!(
    accounts,
    album_images,
    albums,
    api_keys,
    edited_images,
    edits,
    encoders,
    facets,
    files,
    grant_edits,
    image_edits,
    image_facets,
    image_vectors,
    images,
    index_jobs,
    login_flows,
    oauth_clients,
    oauth_grants,
    renditions,
    sessions,
    stage_jobs,
    stages,
    upload_parts,
    uploads,
);
