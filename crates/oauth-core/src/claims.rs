use serde::{Deserialize, Serialize};

/// The claims of an access token (RFC 9068, section 2.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessTokenClaims {
    /// The issuer.
    pub iss: String,
    /// A pseudonym of the user: the same in all tokens of one client, different between clients. With
    /// [`Policies::reveals_subject`](crate::Policies::reveals_subject), the user's id.
    pub sub: String,
    /// The URL of the one resource that it gives access to.
    pub aud: String,
    /// The client that it was issued to.
    pub client_id: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// When it was issued, in seconds since 1970.
    pub iat: i64,
    /// When it expires, in seconds since 1970.
    pub exp: i64,
    /// A unique id of the token.
    pub jti: String,
    /// The id of the grant. The token is invalid once the grant is revoked.
    pub grant_id: String,
}
