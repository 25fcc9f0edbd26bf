DROP TABLE oauth_grants;
DROP TABLE oauth_clients;
DROP TABLE signing_keys;
DROP TABLE sign_in_attempts;
DROP TABLE sessions;
