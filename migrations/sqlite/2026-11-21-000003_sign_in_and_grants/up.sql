-- Browser sessions, by the hash of their token.
CREATE TABLE sessions (
    hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    user_agent TEXT,
    address TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    last_seen_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_account ON sessions (account_id, created_at_ms);
CREATE INDEX sessions_expiry ON sessions (expires_at_ms);

-- Sign-ins that have begun and not succeeded. Email and address are stored as hashes.
CREATE TABLE sign_in_attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pair BLOB NOT NULL CHECK (length(pair) = 32),
    address BLOB NOT NULL CHECK (length(address) = 32),
    at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX sign_in_attempts_pair ON sign_in_attempts (pair, at_ms);
CREATE INDEX sign_in_attempts_address ON sign_in_attempts (address, at_ms);
CREATE INDEX sign_in_attempts_age ON sign_in_attempts (at_ms);

-- The keys that sign access tokens, encrypted with a secret that is not in this database.
CREATE TABLE signing_keys (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kid TEXT NOT NULL UNIQUE,
    sealed BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL,
    retired_at_ms INTEGER
) STRICT;

-- At most one key is active.
CREATE UNIQUE INDEX signing_keys_active ON signing_keys (retired_at_ms IS NULL) WHERE retired_at_ms IS NULL;

-- digest: hash of the metadata of a public client, which is registered once. secret_hash: only confidential clients.
CREATE TABLE oauth_clients (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    metadata TEXT NOT NULL,
    digest BLOB UNIQUE CHECK (length(digest) = 32),
    secret_hash BLOB CHECK (length(secret_hash) = 32),
    issued_at_ms INTEGER NOT NULL,
    CHECK (digest IS NULL OR secret_hash IS NULL)
) STRICT;

CREATE INDEX oauth_clients_age ON oauth_clients (issued_at_ms);

-- One row for the whole life of a grant: its authorization code and its current refresh token.
-- client_id has no foreign key, because a client may be a URL with a metadata document.
CREATE TABLE oauth_grants (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    client_id TEXT NOT NULL,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    resource TEXT NOT NULL,
    -- A JSON array of text.
    scopes TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    revoked_at_ms INTEGER,
    last_used_at_ms INTEGER,
    code_hash BLOB NOT NULL UNIQUE CHECK (length(code_hash) = 32),
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    code_expires_at_ms INTEGER NOT NULL,
    redeemed_at_ms INTEGER,
    -- When the latest access token expires.
    access_expires_at_ms INTEGER,
    -- The constant first part of the grant's refresh tokens, and the hash of the current token.
    refresh_handle BLOB UNIQUE CHECK (length(refresh_handle) = 32),
    refresh_hash BLOB CHECK (length(refresh_hash) = 32),
    refresh_generation INTEGER CHECK (refresh_generation BETWEEN 0 AND 4294967295),
    refresh_expires_at_ms INTEGER,
    -- A JSON array of times, latest first.
    recent_rotations TEXT,
    -- When it was revoked or its last token expired; null until its code is redeemed.
    ends_at_ms INTEGER GENERATED ALWAYS AS (
        coalesce(revoked_at_ms, max(access_expires_at_ms, coalesce(refresh_expires_at_ms, access_expires_at_ms)))
    ) VIRTUAL,
    CHECK ((redeemed_at_ms IS NULL) = (access_expires_at_ms IS NULL)),
    CHECK (redeemed_at_ms IS NOT NULL OR refresh_handle IS NULL),
    CHECK ((refresh_handle IS NULL) = (refresh_hash IS NULL)),
    CHECK ((refresh_handle IS NULL) = (refresh_generation IS NULL)),
    CHECK ((refresh_handle IS NULL) = (refresh_expires_at_ms IS NULL)),
    CHECK ((refresh_handle IS NULL) = (recent_rotations IS NULL))
) STRICT;

CREATE INDEX oauth_grants_account ON oauth_grants (account_id, created_at_ms);
CREATE INDEX oauth_grants_client ON oauth_grants (client_id);
CREATE INDEX oauth_grants_unredeemed ON oauth_grants (code_expires_at_ms) WHERE redeemed_at_ms IS NULL;
CREATE INDEX oauth_grants_end ON oauth_grants (ends_at_ms) WHERE ends_at_ms IS NOT NULL;
