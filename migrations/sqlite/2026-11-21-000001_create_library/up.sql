-- Times are milliseconds since 1970-01-01T00:00:00Z, hashes are SHA-256 digests.

CREATE TABLE accounts (
    -- The place index stores this id as a 32-bit float, which is exact below 2^24.
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 16777215),
    email TEXT UNIQUE,
    password_hash TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (plan IN ('free', 'paid')),
    synced_at_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    deleted_at_ms INTEGER,
    -- Number of live images. Every change of an image updates it, so that counting needs no scan.
    live_images INTEGER NOT NULL DEFAULT 0 CHECK (live_images >= 0),
    CHECK ((email IS NULL) = (deleted_at_ms IS NOT NULL))
) STRICT;

CREATE INDEX accounts_deleted ON accounts (deleted_at_ms) WHERE deleted_at_ms IS NOT NULL;

CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER,
    revoked_at_ms INTEGER
) STRICT;

CREATE INDEX api_keys_account ON api_keys (account_id, created_at_ms);
CREATE UNIQUE INDEX api_keys_name_in_use ON api_keys (account_id, name) WHERE revoked_at_ms IS NULL;

-- pending: announced, or its last reference was removed; kept: referenced; removing: taken by a sweeper.
CREATE TABLE blobs (
    kind TEXT NOT NULL CHECK (kind IN ('original', 'rendition')),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    state TEXT NOT NULL CHECK (state IN ('pending', 'kept', 'removing')),
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX blobs_unreferenced ON blobs (since_ms) WHERE state = 'pending';
CREATE INDEX blobs_taken ON blobs (kind) WHERE state = 'removing';

CREATE TABLE images (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    state TEXT NOT NULL CHECK (state IN ('pending', 'ready', 'failed')),
    deleted_at_ms INTEGER,
    captured_at_ms INTEGER,
    latitude REAL CHECK (latitude BETWEEN -90 AND 90),
    longitude REAL CHECK (longitude BETWEEN -180 AND 180),
    live INTEGER NOT NULL GENERATED ALWAYS AS (state = 'ready' AND deleted_at_ms IS NULL) VIRTUAL,
    original BLOB NOT NULL CHECK (length(original) = 32),
    original_bytes INTEGER NOT NULL CHECK (original_bytes >= 0),
    media_type TEXT NOT NULL,
    modified_at_ms INTEGER,
    added_at_ms INTEGER NOT NULL,
    requested_captured_at_ms INTEGER,
    capture_wall TEXT,
    capture_offset_min INTEGER,
    capture_source TEXT CHECK (capture_source IN (
        'sidecar', 'exif-original', 'exif-digitized', 'embedded', 'gps', 'file-name', 'file-modified', 'added'
    )),
    width INTEGER CHECK (width > 0),
    height INTEGER CHECK (height > 0),
    decoder_version INTEGER,
    failure TEXT,
    damaged TEXT,
    file_name TEXT,
    camera_make TEXT,
    camera_model TEXT,
    place TEXT,
    description TEXT,
    ocr_text TEXT,
    UNIQUE (account_id, original),
    UNIQUE (account_id, captured_at_ms),
    CHECK ((state = 'ready') = (captured_at_ms IS NOT NULL)),
    CHECK ((state = 'ready') = (requested_captured_at_ms IS NOT NULL)),
    CHECK ((state = 'ready') = (capture_source IS NOT NULL)),
    CHECK ((state = 'ready') = (width IS NOT NULL)),
    CHECK ((state = 'ready') = (height IS NOT NULL)),
    CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CHECK ((state = 'pending') = (decoder_version IS NULL)),
    CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CHECK (latitude IS NULL OR state = 'ready')
) STRICT;

CREATE INDEX images_timeline ON images (account_id, live, captured_at_ms);
CREATE INDEX images_requested ON images (account_id, requested_captured_at_ms, captured_at_ms);
CREATE INDEX images_original ON images (original);
CREATE INDEX images_deleted ON images (deleted_at_ms) WHERE deleted_at_ms IS NOT NULL;
CREATE INDEX images_pending ON images (account_id) WHERE state = 'pending';
CREATE INDEX images_failed ON images (decoder_version, account_id) WHERE state = 'failed';

-- Shared by all images that have the same original.
CREATE TABLE renditions (
    original BLOB NOT NULL CHECK (length(original) = 32),
    name TEXT NOT NULL CHECK (name IN ('webp-full', 'webp-medium', 'webp-thumb')),
    blob BLOB NOT NULL CHECK (length(blob) = 32),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    PRIMARY KEY (original, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX renditions_blob ON renditions (blob);

CREATE TABLE index_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    image_seq INTEGER NOT NULL UNIQUE REFERENCES images (seq) ON DELETE CASCADE,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    not_before_ms INTEGER NOT NULL,
    leased_by TEXT,
    leased_until_ms INTEGER,
    CHECK ((leased_by IS NULL) = (leased_until_ms IS NULL))
) STRICT;

CREATE INDEX index_jobs_worker ON index_jobs (leased_by) WHERE leased_by IS NOT NULL;

CREATE TABLE albums (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 100),
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX albums_account ON albums (account_id, created_at_ms);

-- captured_at_ms and live are copies of the image's columns, so that counts, covers and pages of an album read one index.
CREATE TABLE album_images (
    album_seq INTEGER NOT NULL REFERENCES albums (seq) ON DELETE CASCADE,
    image_seq INTEGER NOT NULL REFERENCES images (seq) ON DELETE CASCADE,
    captured_at_ms INTEGER NOT NULL,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    PRIMARY KEY (album_seq, image_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX album_images_timeline ON album_images (album_seq, live, captured_at_ms);
CREATE INDEX album_images_image ON album_images (image_seq);

-- The account is the third dimension, so that a look-up never scans the places of another account.
CREATE VIRTUAL TABLE image_places USING rtree (
    seq,
    min_latitude, max_latitude,
    min_longitude, max_longitude,
    min_account, max_account
);

-- The account is not a word of the index: ranking a word that every row of an account contains would scan all of
-- these rows in each search.
CREATE VIRTUAL TABLE image_text USING fts5 (
    description, ocr_text, place, file_name,
    content = 'images',
    content_rowid = 'seq',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
