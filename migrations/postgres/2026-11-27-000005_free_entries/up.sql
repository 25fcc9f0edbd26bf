-- Counts the entries of an account that take no room in its quota.
CREATE INDEX files_empty ON files (account_id, kind) WHERE kind IN ('folder', 'junk', 'placeholder');

-- Finds the oldest finished uploads of an account.
CREATE INDEX uploads_finished ON uploads (account_id, protocol, touched_at_ms, id) WHERE result IS NOT NULL;
