DROP TABLE watched_files;
DROP TABLE login_flows;
DROP TABLE upload_parts;
DROP TABLE uploads;
DROP TABLE file_locks;
DROP TABLE files;
-- The originals of partial files have no reference any more.
UPDATE blobs SET state = 'pending' WHERE kind = 'original' AND state = 'kept' AND NOT EXISTS (
    SELECT 1 FROM images WHERE images.original = blobs.hash
);
ALTER TABLE images DROP COLUMN deleted_with_files;
DELETE FROM api_keys WHERE kind = 'sync';
DROP INDEX api_keys_name_in_use;
CREATE UNIQUE INDEX api_keys_name_in_use ON api_keys (account_id, name) WHERE revoked_at_ms IS NULL;
ALTER TABLE api_keys DROP COLUMN kind;
DROP INDEX accounts_sync_handle;
ALTER TABLE accounts DROP COLUMN sync_handle;
ALTER TABLE accounts DROP COLUMN stored_bytes;
