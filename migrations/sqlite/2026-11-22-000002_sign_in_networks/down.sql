DROP INDEX sign_in_attempts_network;
ALTER TABLE sign_in_attempts DROP COLUMN network;
