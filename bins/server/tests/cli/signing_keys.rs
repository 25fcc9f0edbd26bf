use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use crate::{
    apps::{Browser, Http, PASSWORD, Tokens, serve},
    program::{Instance, outcome},
};

/// The key ID on the last line.
fn key_id(report: &str) -> String {
    let id = report.lines().last().unwrap();
    assert!(report.ends_with('\n') && id.len() == 43 && !id.contains(' '), "{report}");
    id.to_owned()
}

/// The `kid` in the header of the access token.
fn signing_key_of(tokens: &Tokens) -> String {
    let header = BASE64URL_NOPAD.decode(tokens.access.split('.').next().unwrap().as_bytes()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_uses_the_new_key() {
    let instance = Instance::with_password(PASSWORD);
    let first = key_id(&instance.ok(["signing-key", "rotate"]));
    let server = serve(&instance);
    let http = Http::to(&server);
    let mut browser = Browser::new(http.clone());
    browser.sign_in(PASSWORD).await.expect(303);
    let app = http.register(json!({"client_name": "An app"})).await;
    let code = browser.consent(&app).await;
    let before = http.redeem(&app, &code).await.unwrap().tokens();
    assert_eq!(signing_key_of(&before), first);

    let second = key_id(&instance.ok(["signing-key", "rotate"]));
    assert_ne!(first, second);
    let after = http.refresh(&app, &before.refresh).await.unwrap().tokens();
    assert_eq!(signing_key_of(&after), second);
    for tokens in [&before, &after] {
        assert_eq!(http.mcp_status(&tokens.access).await, 200, "{}", signing_key_of(tokens));
    }
    let keys = server.get("/api/oauth/jwks", "").body["keys"].as_array().unwrap().clone();
    let ids: Vec<&str> = keys.iter().map(|key| key["kid"].as_str().unwrap()).collect();
    assert_eq!(ids, [second.as_str(), &first]);

    // A new server process has verified none of the tokens yet.
    drop(server);
    let server = serve(&instance);
    let http = Http::to(&server);
    for tokens in [&before, &after] {
        assert_eq!(http.mcp_status(&tokens.access).await, 200, "{}", signing_key_of(tokens));
    }
}

#[test]
fn another_secret_needs_lost_secret() {
    let instance = Instance::with_account();
    instance.ok(["signing-key", "rotate"]);
    let with_other_secret = |arguments: [&str; 2], more: &[&str]| {
        let mut command = instance.command(arguments);
        outcome(command.args(more).env("PHOTOS_SECRET", "another secret of many characters"), "")
    };
    let refused = with_other_secret(["signing-key", "rotate"], &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    for part in ["differs from the one that the key was sealed with", "--lost-secret"] {
        assert!(refused.stderr.contains(part), "{refused:?}");
    }
    instance.ok(["signing-key", "rotate"]);
    let replaced = with_other_secret(["signing-key", "rotate"], &["--lost-secret"]);
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    key_id(&replaced.stdout);
    assert_eq!(with_other_secret(["signing-key", "rotate"], &[]).code, Some(0));
    assert_eq!(instance.run(["signing-key"]).code, Some(2));
}
