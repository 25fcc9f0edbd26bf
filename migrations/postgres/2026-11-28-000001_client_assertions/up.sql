-- Assertions with which clients authenticated, until they expire: each is accepted once. hash covers client and jti.
CREATE TABLE oauth_assertions (
    hash BYTEA PRIMARY KEY CHECK (length(hash) = 32),
    expires_at_ms BIGINT NOT NULL
);

CREATE INDEX oauth_assertions_age ON oauth_assertions (expires_at_ms);
