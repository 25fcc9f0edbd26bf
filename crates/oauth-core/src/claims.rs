use serde::{Deserialize, Serialize};

/// What an access token says (RFC 9068, section 2.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessTokenClaims {
    /// The issuer.
    pub iss: String,
    /// The user who consented: an opaque value that is the same in all tokens of one client and differs between clients.
    pub sub: String,
    /// The one resource that it opens.
    pub aud: String,
    /// The client that it was issued to.
    pub client_id: String,
    /// What it allows, separated by spaces.
    pub scope: String,
    /// When it was issued, in seconds since 1970.
    pub iat: i64,
    /// When it expires, in seconds since 1970.
    pub exp: i64,
    /// Its own name, which no other token has.
    pub jti: String,
    /// The grant that it belongs to; it opens nothing once that has ended.
    pub grant_id: String,
}
