-- Links that can create the first account, by the hash of their secret.
CREATE TABLE setup_links (
    hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Security events of accounts, shown to their owners. Repeated events share a row, which counts them.
CREATE TABLE security_events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    address TEXT,
    detail TEXT,
    at_ms INTEGER NOT NULL,
    times INTEGER NOT NULL CHECK (times BETWEEN 1 AND 4294967295)
) STRICT;

CREATE INDEX security_events_kind ON security_events (account_id, kind, seq);
