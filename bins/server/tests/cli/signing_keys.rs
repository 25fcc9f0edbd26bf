use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use crate::{
    apps::{Browser, Http, PASSWORD, Tokens, serve},
    program::{Instance, outcome},
};

/// The name on the last line, alone.
fn name(report: &str) -> String {
    let name = report.lines().last().unwrap();
    assert!(report.ends_with('\n') && name.len() == 43 && !name.contains(' '), "{report}");
    name.to_owned()
}

/// The key that a token says it was signed with.
fn signed_with(tokens: &Tokens) -> String {
    let header = BASE64URL_NOPAD.decode(tokens.access.split('.').next().unwrap().as_bytes()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_replaced_beside_a_running_server() {
    let instance = Instance::with_password(PASSWORD);
    let first = name(&instance.ok(["signing-key", "rotate"]));
    let server = serve(&instance);
    let http = Http::to(&server);
    let mut browser = Browser::new(http.clone());
    browser.sign_in(PASSWORD).await.expect(303);
    let app = http.register(json!({"client_name": "An app"})).await;
    let code = browser.consent(&app).await;
    let before = http.redeem(&app, &code).await.unwrap().tokens();
    assert_eq!(signed_with(&before), first);

    let second = name(&instance.ok(["signing-key", "rotate"]));
    assert_ne!(first, second);
    let after = http.refresh(&app, &before.refresh).await.unwrap().tokens();
    assert_eq!(signed_with(&after), second);
    for tokens in [&before, &after] {
        assert_eq!(http.call(&tokens.access).await, 200, "{}", signed_with(tokens));
    }
    let keys = server.get("/api/oauth/jwks", "").body["keys"].as_array().unwrap().clone();
    let names: Vec<&str> = keys.iter().map(|key| key["kid"].as_str().unwrap()).collect();
    assert_eq!(names, [second.as_str(), &first]);

    // A token that the server has not seen, of a key that another server process signs with.
    drop(server);
    let server = serve(&instance);
    let http = Http::to(&server);
    for tokens in [&before, &after] {
        assert_eq!(http.call(&tokens.access).await, 200, "{}", signed_with(tokens));
    }
}

#[test]
fn with_another_secret_nothing_is_replaced_unless_the_first_is_lost() {
    let instance = Instance::with_account();
    instance.ok(["signing-key", "rotate"]);
    let with_another = |arguments: [&str; 2], more: &[&str]| {
        let mut command = instance.command(arguments);
        outcome(command.args(more).env("PHOTOS_SECRET", "another secret of many characters"), "")
    };
    let refused = with_another(["signing-key", "rotate"], &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    for part in ["differs from the one that the key was sealed with", "--lost-secret"] {
        assert!(refused.stderr.contains(part), "{refused:?}");
    }
    instance.ok(["signing-key", "rotate"]);
    let replaced = with_another(["signing-key", "rotate"], &["--lost-secret"]);
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    name(&replaced.stdout);
    assert_eq!(with_another(["signing-key", "rotate"], &[]).code, Some(0));
    assert_eq!(instance.run(["signing-key"]).code, Some(2));
}
