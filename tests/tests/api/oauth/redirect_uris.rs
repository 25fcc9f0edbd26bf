use oauth_core::NewClient;
use serde_json::json;
use tests::{
    TestApp,
    oauth::{Authorize, OauthClient},
};

use super::refused;

#[tokio::test(flavor = "multi_thread")]
async fn https_loopback_and_custom_schemes_are_accepted() {
    let app = TestApp::start().await;
    for uri in [
        "https://app.example/callback",
        "https://app.example",
        "https://app.example:8443/cb?x=y&z",
        "https://192.0.2.7/cb",
        "http://localhost/cb",
        "http://localhost:33418",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
        "http://127.0.0.1:33418",
        "http://[::1]:7/cb",
        "cursor://anysphere.cursor-retrieval/oauth/user-x/callback",
        "com.example.app:/oauth2redirect",
        "com.example.app:callback",
        "vscode://vscode.github-authentication/did-authenticate",
        "myapp://cb",
        "myapp:/cb",
        "claude://oauth/callback",
        "chatgpt:/cb",
        "mst://cb",
        "msauth.com.example.app://auth",
        "tellme:/cb",
    ] {
        let answer =
            app.register(&json!({"client_name": "An app", "redirect_uris": [uri]})).await.expect(201);
        assert_eq!(answer.json["redirect_uris"], json!([uri]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_files_and_remote_http_are_refused() {
    let app = TestApp::start().await;
    let long = format!("https://app.example/{}", "x".repeat(2_000));
    for uri in [
        "http://app.example/cb",
        "http://localhost.evil.com/cb",
        "http://127.0.0.1.evil.com/cb",
        "http://127.0.0.1:p@evil.com/cb",
        "http://localhost@evil.com/cb",
        "http://localhost\\@evil.com/cb",
        "http://127.1/cb",
        "http://2130706433/cb",
        "http://0x7f.0.0.1/cb",
        "http://0.0.0.0/cb",
        "http://127.0.0.2/cb",
        "http://[::ffff:127.0.0.1]/cb",
        "http://１２７.0.0.1/cb",
        "http://LOCALHOST.evil/cb",
        "http://%6c%6f%63alhost/cb",
        "file:///etc/passwd",
        "data:text/html,x",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "vbscript:x",
        "blob:https://app.example/x",
        "about:blank",
        "https://*.app.example/cb",
        "https://user@app.example/cb",
        "https://user:pw@app.example/cb",
        "https://app.example/cb#fragment",
        "https://app.example/cb#",
        "https:///cb",
        "https://",
        "https://app.example/a b",
        " https://app.example/",
        "https://app.example/\u{9}x",
        "https://app.example/\r\nx: y",
        "https://app.example/\u{0}",
        "/callback",
        "//app.example/cb",
        "callback",
        "",
        "myapp:",
        "myapp",
        "1app://cb",
        long.as_str(),
    ] {
        let answer = app.register(&json!({"client_name": "An app", "redirect_uris": [uri]})).await;
        refused(&answer, 400, "invalid_redirect_uri");
        let beside = json!({"client_name": "An app", "redirect_uris": ["https://app.example/", uri]});
        refused(&app.register(&beside).await, 400, "invalid_redirect_uri");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn schemes_with_a_system_handler_are_refused() {
    let app = TestApp::start().await;
    for uri in [
        "intent://app.example/#Intent",
        "intent://app.example/x",
        "INTENT:/x",
        "content://com.example/x",
        "ms-settings:/x",
        "ms-word:/ofe",
        "Ms-Anything-At-All:/x",
        "search-ms:/query=x",
        "search:/x",
        "itms-services:/?action=x",
        "smb://app.example/share",
        "ssh://app.example/",
        "sms:/1",
        "tel:/1",
        "mailto:a/b",
        "ldap://app.example/x",
        "jar:/x",
        "mk:/x",
        "chrome://settings/",
        "about:/x",
        "view-source:/x",
        "shell:/x",
        "facetime:/x",
        "geo:/x",
        "webcal://app.example/x",
        "microsoft-edge:/x",
        "android-app://app.example/x",
        "telnet://app.example/",
        "magnet:/x",
        "jscript:/x",
        "vbs:/x",
        "vnd.ms.radio:/x",
        "chrome-extension://abcdefgh/cb",
        "moz-extension://x/cb",
        "safari-web-extension://x/cb",
        "steam://run/1",
        "zoommtg://app.example/x",
        "x-apple.systempreferences:/x",
        "openid4vp://app.example/x",
    ] {
        let answer = app.register(&json!({"client_name": "An app", "redirect_uris": [uri]})).await;
        refused(&answer, 400, "invalid_redirect_uri");
    }
}

/// Stores a client with a redirect URI that is refused today, as an earlier version may have accepted it.
async fn client_of_earlier_rules(app: &TestApp, uri: &str) -> OauthClient {
    let client = app.client_with(&["https://app.example/callback"], json!({"client_name": uri})).await;
    let mut stored = app.library.accounts.grants().client(&client.id).await.unwrap().unwrap();
    stored.id = format!("old-{}", stored.id);
    stored.metadata.redirect_uris = vec![uri.to_owned(), client.redirect_uri];
    let new = NewClient { client: stored, digest: None, eviction: None };
    let id = app.library.accounts.grants().register_client(new).await.unwrap().id;
    OauthClient { id, secret: None, redirect_uri: uri.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registered_uri_is_checked_again_at_authorize() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser().signed_in(&person).await;
    for uri in [
        "intent://app.example/x",
        "ms-settings:/x",
        "steam://run/1",
        "javascript:alert(1)",
        "http://app.example/",
    ] {
        let client = client_of_earlier_rules(&app, uri).await;
        let request = Authorize::of(&app, &client);
        let page = browser.open(&request.path()).await.expect(400);
        assert!(page.header("location").is_none());
        assert!(page.text().contains("This app cannot be connected"), "{}", page.text());
        assert!(!page.text().contains("name=\"decision\""));
        // The other redirect URI of the client still works.
        let good = request.with("redirect_uri", "https://app.example/callback");
        browser.open(&good.path()).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_of_widely_used_clients_are_accepted() {
    let app = TestApp::start().await;
    let cursor = [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ];
    let code = ["http://127.0.0.1/", "http://127.0.0.1:33418/", "https://vscode.dev/redirect"];
    for uris in [cursor, code] {
        let answer = app.register(&json!({"client_name": "An app", "redirect_uris": uris})).await.expect(201);
        assert_eq!(answer.json["redirect_uris"], json!(uris));
    }
}
