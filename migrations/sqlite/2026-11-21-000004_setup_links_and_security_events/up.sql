-- What may create the first account: the hashes of links that an operator was shown.
CREATE TABLE setup_links (
    hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What happened to an account that its owner should know of; the same thing in a row is one row that counts.
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
