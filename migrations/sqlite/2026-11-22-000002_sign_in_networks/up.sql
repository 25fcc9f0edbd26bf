-- A hash of the client's network, an IPv4 /24 or an IPv6 /48. Attempts of earlier versions have none.
ALTER TABLE sign_in_attempts ADD COLUMN network BLOB CHECK (length(network) = 32);

CREATE INDEX sign_in_attempts_network ON sign_in_attempts (network, at_ms);
