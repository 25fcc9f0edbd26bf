//! Paths that several interfaces share.

/// The path prefix of the OAuth endpoints.
pub const OAUTH_PREFIX: &str = "/api/oauth/";

/// The authorization endpoint: the page that asks for sign-in and consent.
pub const AUTHORIZE_PATH: &str = "/api/oauth/authorize";

/// The path prefix of the page that confirms the login flow of a sync app; the token of the flow follows. Nextcloud's apps
/// expect this path.
pub const LOGIN_PAGE_PREFIX: &str = "/index.php/login/v2/flow/";
