-- The bytes that an account stores: the originals of its images until they are purged, its partial files and sidecars, and
-- the parts of its uploads.
ALTER TABLE accounts ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0);
UPDATE accounts SET stored_bytes = (
    SELECT coalesce(sum(original_bytes), 0) FROM images WHERE images.account_id = accounts.id
);

-- The name of the account in sync apps; null for a deleted account.
ALTER TABLE accounts ADD COLUMN sync_handle TEXT;
UPDATE accounts SET sync_handle = lower(hex(randomblob(12)));
CREATE UNIQUE INDEX accounts_sync_handle ON accounts (sync_handle);

-- api: an API key; sync: a sync password.
ALTER TABLE api_keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'api' CHECK (kind IN ('api', 'sync'));
DROP INDEX api_keys_name_in_use;
CREATE UNIQUE INDEX api_keys_name_in_use ON api_keys (account_id, kind, name) WHERE revoked_at_ms IS NULL;

-- Whether the image was deleted because its last file was. Such an image is restored when its bytes are added again.
ALTER TABLE images ADD COLUMN deleted_with_files INTEGER NOT NULL DEFAULT 0 CHECK (deleted_with_files IN (0, 1));

-- The synced files and folders of an account, as a tree.
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- Null for the root folder, and for an entry that left the tree and waits to be swept.
    parent_id INTEGER REFERENCES files (id),
    -- Empty for the root folder.
    name TEXT NOT NULL,
    deleted_at_ms INTEGER,
    kind TEXT NOT NULL CHECK (kind IN ('folder', 'photo', 'partial', 'sidecar', 'junk', 'placeholder')),
    -- Of a folder, the sum of all files below it.
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    version INTEGER NOT NULL,
    modified_at_ms INTEGER,
    created_at_ms INTEGER,
    received_at_ms INTEGER NOT NULL,
    -- The order in which clients search for photos.
    last_modified_ms INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(modified_at_ms, received_at_ms)) VIRTUAL,
    sha1 BLOB CHECK (length(sha1) = 20),
    original BLOB CHECK (length(original) = 32),
    media_type TEXT,
    -- Null when the image was purged.
    image_seq INTEGER REFERENCES images (seq) ON DELETE SET NULL,
    sidecar_kind TEXT,
    sidecar BLOB,
    CHECK ((original IS NOT NULL) = (kind IN ('photo', 'partial'))),
    CHECK ((media_type IS NOT NULL) = (kind = 'partial')),
    CHECK (image_seq IS NULL OR kind = 'photo'),
    CHECK ((sidecar_kind IS NOT NULL) = (kind = 'sidecar')),
    CHECK ((sidecar IS NOT NULL) = (kind = 'sidecar')),
    CHECK (deleted_at_ms IS NULL OR parent_id IS NULL)
) STRICT;

-- Without a condition, because the deletion of an account looks for its files. Null parents are distinct.
CREATE UNIQUE INDEX files_name ON files (account_id, parent_id, name);
CREATE UNIQUE INDEX files_root ON files (account_id) WHERE parent_id IS NULL AND deleted_at_ms IS NULL;
CREATE INDEX files_parent ON files (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX files_folders ON files (parent_id) WHERE kind = 'folder' AND parent_id IS NOT NULL;
CREATE INDEX files_deleted ON files (account_id, id) WHERE deleted_at_ms IS NOT NULL;
CREATE INDEX files_modified ON files (account_id, last_modified_ms) WHERE parent_id IS NOT NULL;
CREATE INDEX files_image ON files (image_seq) WHERE image_seq IS NOT NULL;
CREATE INDEX files_original ON files (original, account_id) WHERE original IS NOT NULL;
-- An original may have very many photo files, but few partial ones.
CREATE INDEX files_partial ON files (original, account_id) WHERE kind = 'partial';
CREATE INDEX files_sidecars ON files (account_id, parent_id, name) WHERE kind = 'sidecar';

INSERT INTO files (account_id, name, kind, bytes, version, received_at_ms)
SELECT id, '', 'folder', 0, 1, created_at_ms FROM accounts WHERE deleted_at_ms IS NULL;

-- Exclusive write locks of WebDAV clients.
CREATE TABLE file_locks (
    token TEXT NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    is_deep INTEGER NOT NULL CHECK (is_deep IN (0, 1)),
    owner TEXT,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX file_locks_account ON file_locks (account_id);
CREATE INDEX file_locks_file ON file_locks (file_id);

-- Uploads in progress. The bytes of their parts are in files.
CREATE TABLE uploads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    protocol TEXT NOT NULL CHECK (protocol IN ('tus', 'chunked')),
    name TEXT NOT NULL,
    total_bytes INTEGER CHECK (total_bytes >= 0),
    metadata TEXT NOT NULL,
    -- What came of it; null while it is in progress.
    result TEXT,
    touched_at_ms INTEGER NOT NULL,
    UNIQUE (account_id, protocol, name)
) STRICT;

CREATE INDEX uploads_age ON uploads (protocol, touched_at_ms);
CREATE INDEX uploads_unfinished ON uploads (account_id, protocol) WHERE result IS NULL;

CREATE TABLE upload_parts (
    upload_id INTEGER NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    file TEXT NOT NULL UNIQUE,
    received_at_ms INTEGER NOT NULL,
    PRIMARY KEY (upload_id, number)
) STRICT, WITHOUT ROWID;

-- Devices that wait until their user confirms them in the browser. page and poll are hashes of tokens.
CREATE TABLE login_flows (
    page BLOB NOT NULL PRIMARY KEY CHECK (length(page) = 32),
    poll BLOB NOT NULL UNIQUE CHECK (length(poll) = 32),
    device TEXT NOT NULL,
    account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX login_flows_age ON login_flows (expires_at_ms);

-- Versions of files in watched folders that were imported: a hash of account, path, length and modification time.
CREATE TABLE watched_files (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    version BLOB NOT NULL CHECK (length(version) = 16),
    seen_at_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX watched_files_age ON watched_files (seen_at_ms);
