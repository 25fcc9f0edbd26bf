-- Who is signed in, by the hash of what their browser holds.
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

-- Sign-ins that were begun and did not succeed. Who tried and from where are hashes.
CREATE TABLE sign_in_attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pair BLOB NOT NULL CHECK (length(pair) = 32),
    address BLOB NOT NULL CHECK (length(address) = 32),
    at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX sign_in_attempts_pair ON sign_in_attempts (pair, at_ms);
CREATE INDEX sign_in_attempts_address ON sign_in_attempts (address, at_ms);
CREATE INDEX sign_in_attempts_age ON sign_in_attempts (at_ms);

-- The keys that access tokens are signed with, sealed by a secret that is not in this file.
CREATE TABLE signing_keys (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kid TEXT NOT NULL UNIQUE,
    sealed BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL,
    retired_at_ms INTEGER
) STRICT;

-- One key at most is active.
CREATE UNIQUE INDEX signing_keys_active ON signing_keys (retired_at_ms IS NULL) WHERE retired_at_ms IS NULL;

-- digest is of the metadata of a public client, which is registered once; secret_hash is a confidential client's.
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

-- One row from consent to the end: the grant, the code that stood for it, and the refresh token that it has now.
-- A client may be one that describes itself elsewhere, so client_id refers to no row.
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
    -- What all refresh tokens of the grant begin with, and the hash of the current one.
    refresh_handle BLOB UNIQUE CHECK (length(refresh_handle) = 32),
    refresh_hash BLOB CHECK (length(refresh_hash) = 32),
    refresh_generation INTEGER CHECK (refresh_generation BETWEEN 0 AND 4294967295),
    refresh_expires_at_ms INTEGER,
    -- A JSON array of moments, the last one first.
    recent_rotations TEXT,
    -- When it is over: revoked, or its last token expired; null as long as its code waits.
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
