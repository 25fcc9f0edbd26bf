//! The log has the security events and no secret.

use reqwest::Url;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    apps::{BASE_URL, Browser, Http, PASSWORD},
    photos,
    program::{EMAIL, Instance, Server},
};

const WRONG_PASSWORD: &str = "mistyped-horse-battery-staple";

/// Strings that must not be in the log, each with a description.
#[derive(Default)]
struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    fn add(&mut self, name: &'static str, secret: &str) {
        assert!(secret.len() >= 16, "the {name} {secret:?} is too short to search for");
        self.0.push((name, secret.to_owned()));
    }
}

/// Uses every kind of secret, with and without success, and collects them.
async fn use_secrets(instance: &Instance, server: &Server, secrets: &mut Secrets) {
    let http = Http::to(server);
    let mut browser = Browser::new(http.clone());
    secrets.add("wrong password", WRONG_PASSWORD);
    browser.sign_in(WRONG_PASSWORD).await.expect(401);
    secrets.add("password", PASSWORD);
    browser.sign_in(PASSWORD).await.expect(303);

    let public = http.register(json!({"client_name": "A public app"})).await;
    let method = "client_secret_basic";
    let more = json!({"client_name": "A confidential app", "token_endpoint_auth_method": method});
    let confidential = http.register(more).await;
    secrets.add("client secret", confidential.secret.as_ref().unwrap());
    for app in [&public, &confidential] {
        let code = browser.consent(app).await;
        secrets.add("code", &code);
        let first = http.redeem(app, &code).await.unwrap().tokens();
        assert!(http.redeem(app, &code).await.unwrap().is_invalid_grant());
        assert_eq!(http.mcp_status(&first.access).await, 200);
        let second = http.refresh(app, &first.refresh).await.unwrap().tokens();
        assert!(http.refresh(app, &first.refresh).await.unwrap().is_invalid_grant());
        http.revoke(&second.refresh).await.unwrap().expect(200);
        assert_eq!(http.mcp_status(&second.access).await, 401);
        assert!(http.refresh(app, &second.refresh).await.unwrap().is_invalid_grant());
        for tokens in [first, second] {
            secrets.add("access token", &tokens.access);
            secrets.add("refresh token", &tokens.refresh);
        }
    }
    // A client ID metadata document on the server's own machine, which the SSRF guard refuses.
    let loopback_client = "/api/oauth/authorize?client_id=https%3A%2F%2Flocalhost%2Fapp&redirect_uri=https%3A%2F%2Fapp.example%2F";
    assert_eq!(http.request(reqwest::Method::GET, loopback_client).send().await.unwrap().status(), 400);
    let unknown_token = "eW91IGNhbm5vdCBndWVzcyB0aGlz";
    secrets.add("unknown token", unknown_token);
    assert!(http.refresh(&public, unknown_token).await.unwrap().is_invalid_grant());
    assert!(http.redeem(&public, unknown_token).await.unwrap().is_invalid_grant());
    http.revoke(unknown_token).await.unwrap().expect(200);
    for value in browser.received.iter().filter(|value| !value.is_empty()) {
        secrets.add("cookie or hidden field", value);
    }

    let key = instance.create_key("a key");
    let other = if key.ends_with('x') { 'y' } else { 'x' };
    let wrong_key = format!("{}{other}", &key[..key.len() - 1]);
    let listed = http.get("/api/ext/v2/images", &key).await.expect(200).json();
    for (name, key, status) in [("API key", &key, 200), ("wrong API key", &wrong_key, 401)] {
        secrets.add(name, key);
        http.get("/api/ext/v2/library", key).await.expect(status);
        http.get("/api/ext/v2/no/such/thing", key).await;
        assert_eq!(http.mcp_status(key).await, status);
    }

    let image = Url::parse(listed["results"][0]["url"].as_str().unwrap()).unwrap();
    let signature = image.query_pairs().find(|(name, _)| name == "sig").unwrap().1.into_owned();
    secrets.add("signature of a URL", &signature);
    let path = image.as_str().strip_prefix(BASE_URL).unwrap();
    let fetch = |path: &str| http.request(reqwest::Method::GET, path).send();
    assert_eq!(fetch(path).await.unwrap().status(), 200);
    assert_eq!(fetch(&path.replace("exp=", "exp=1")).await.unwrap().status(), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_events_and_no_secret() {
    let instance = Instance::with_password(PASSWORD);
    let folder = instance.beside("photos");
    photos::generate(&folder, 1);
    instance.ok(["import", EMAIL, folder.to_str().unwrap()]);
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--base-url", BASE_URL, "--log-format", "json"];
    let server = Server::start(instance.command(arguments).env("RUST_LOG", "debug"));
    let mut secrets = Secrets::default();
    use_secrets(&instance, &server, &mut secrets).await;
    secrets.add("secret file", std::fs::read_to_string(instance.data_dir().join("secret")).unwrap().trim());
    let (status, _, stdout, stderr) = server.stop(Signal::TERM);
    assert_eq!(status.code(), Some(0), "{stderr}");

    let leaked: Vec<&str> = secrets
        .0
        .iter()
        .filter(|(_, secret)| stderr.contains(secret.as_str()) || stdout.contains(secret.as_str()))
        .map(|(name, _)| *name)
        .collect();
    assert!(leaked.is_empty(), "the log contains {leaked:?}");
    assert_events(&stderr);
}

/// Every kind of event is logged with its fields.
fn assert_events(log: &str) {
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let check = |event: &str, fields: &[&str]| {
        let events: Vec<&Value> = lines
            .iter()
            .filter(|line| line["target"] == "security")
            .map(|line| &line["fields"])
            .filter(|fields| fields["event"] == event)
            .collect();
        assert!(!events.is_empty(), "no {event} in {log}");
        for event in events {
            assert_eq!(event["address"], "127.0.0.1", "{event}");
            assert!(fields.iter().all(|field| !event[field].is_null()), "{event} lacks one of {fields:?}");
        }
    };
    check("signed_in", &["account"]);
    check("sign_in_failed", &["reason"]);
    check("client_registered", &["client_id"]);
    check("consent_given", &["account", "client_id"]);
    check("code_redeemed", &["client_id"]);
    check("code_replayed", &["client_id", "grant_id"]);
    check("tokens_refreshed", &["client_id"]);
    check("refresh_token_replayed", &["client_id", "grant_id", "grant_ended"]);
    check("token_refused", &["client_id", "code"]);
    check("grant_revoked", &["grant_id"]);
    check("client_document_refused", &["client_id", "reason"]);
    assert!(log.contains("is not a public address"), "the log has the reason");
}
