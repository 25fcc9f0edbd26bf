//! The authorization server, from discovery to revocation.

mod authorize;
mod bearer;
mod client_assertions;
mod client_authentication;
mod client_documents;
mod client_documents_refused;
mod concurrency;
mod consent;
mod discovery;
mod limits;
mod redirect_uris;
mod refresh;
mod registration;
mod revocation;
mod sign_in;
mod token;
mod whole_flow;

use tests::{TestApp, TestResponse, oauth::OauthClient};

/// The decoded header and claims of a JWT.
fn decoded(token: &str) -> (serde_json::Value, serde_json::Value) {
    let mut parts = token.split('.').map(|part| {
        let bytes = data_encoding::BASE64URL_NOPAD.decode(part.as_bytes()).unwrap();
        serde_json::from_slice(&bytes).unwrap_or_default()
    });
    (parts.next().unwrap(), parts.next().unwrap())
}

/// Checks an error response (RFC 6749, section 5.2).
#[track_caller]
fn refused(answer: &TestResponse, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.oauth_error(), code, "{}", answer.text());
    assert!(answer.json["error_description"].as_str().is_some_and(|text| !text.is_empty()));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}

/// The fields of a valid token request for a code.
fn code_fields<'a>(client: &'a OauthClient, code: &'a str) -> Vec<(&'static str, &'a str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &client.redirect_uri),
        ("code_verifier", tests::oauth::VERIFIER),
        ("client_id", &client.id),
    ]
}

/// The same fields with one replaced, added, or (without a value) removed.
fn changed<'a>(
    fields: &[(&'static str, &'a str)],
    name: &'static str,
    value: Option<&'a str>,
) -> Vec<(&'static str, &'a str)> {
    let mut fields: Vec<_> = fields.iter().copied().filter(|(known, _)| *known != name).collect();
    fields.extend(value.map(|value| (name, value)));
    fields
}

/// Whether a token gives access to the current resource.
async fn opens(app: &TestApp, token: &str) -> bool {
    let answer = app.list_tools("/api/mcp/v1", token).await;
    assert!(matches!(answer.status, 200 | 401), "{}", answer.text());
    answer.status == 200
}
