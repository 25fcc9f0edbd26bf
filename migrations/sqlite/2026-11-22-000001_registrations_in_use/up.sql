-- Registrations are kept from the last time that the client registered, and from its first grant on they are never
-- evicted.
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
-- The clients that never had a grant are those whose first column is null.
CREATE INDEX oauth_clients_first_grant ON oauth_clients (first_granted_at_ms, registered_last_at_ms);
