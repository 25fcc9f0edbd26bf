-- Unused registrations expire some time after the last registration. A client that had a grant is never evicted.
ALTER TABLE oauth_clients ADD COLUMN registered_again_at_ms INTEGER;
ALTER TABLE oauth_clients ADD COLUMN first_granted_at_ms INTEGER;
ALTER TABLE oauth_clients ADD COLUMN registered_last_at_ms INTEGER GENERATED ALWAYS AS (
    coalesce(registered_again_at_ms, issued_at_ms)
) VIRTUAL;

UPDATE oauth_clients SET first_granted_at_ms = (
    SELECT min(created_at_ms) FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.id
);

DROP INDEX oauth_clients_age;
CREATE INDEX oauth_clients_age ON oauth_clients (registered_last_at_ms);
-- first_granted_at_ms is null for clients that never had a grant.
CREATE INDEX oauth_clients_first_grant ON oauth_clients (first_granted_at_ms, registered_last_at_ms);
