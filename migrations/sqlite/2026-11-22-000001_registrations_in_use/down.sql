DROP INDEX oauth_clients_first_grant;
DROP INDEX oauth_clients_age;
ALTER TABLE oauth_clients DROP COLUMN registered_last_at_ms;
ALTER TABLE oauth_clients DROP COLUMN first_granted_at_ms;
ALTER TABLE oauth_clients DROP COLUMN registered_again_at_ms;
CREATE INDEX oauth_clients_age ON oauth_clients (issued_at_ms);
