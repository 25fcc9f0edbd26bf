use reqwest::{Method, header};
use serde_json::json;
use tests::{TestApp, redacted};

use super::{ANDROID, Device};

#[tokio::test(flavor = "multi_thread")]
async fn capabilities_have_the_members_that_apps_need_and_no_others() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    let names = [(app.base_url.as_str(), "[base URL]")];
    let json = phone.send(&app, Method::GET, "/ocs/v2.php/cloud/capabilities?format=json").await.expect(200);
    assert_eq!(json.header("content-type"), Some("application/json; charset=utf-8"));
    insta::assert_json_snapshot!("capabilities_json", redacted(json.json.clone(), &names));
    let xml = phone.send(&app, Method::GET, "/ocs/v1.php/cloud/capabilities").await.expect(200);
    assert_eq!(xml.header("content-type"), Some("application/xml; charset=utf-8"));
    let lines = xml.text().replace(&app.base_url, "[base URL]").replace("><", ">\n<");
    insta::assert_snapshot!("capabilities_xml", lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_capabilities_are_304() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    let path = "/ocs/v1.php/cloud/capabilities?format=json";
    let first = phone.send(&app, Method::GET, path).await.expect(200);
    let tag = first.header("etag").unwrap().to_owned();
    let conditional = |tag: &str| {
        let request = app.request(Method::GET, path).basic_auth(&phone.user, Some(&phone.password));
        app.send(request.header(header::IF_NONE_MATCH, tag))
    };
    let again = conditional(&tag).await.expect(304);
    assert_eq!((again.body.len(), again.header("etag")), (0, Some(&*tag)));
    conditional("\"another\"").await.expect(200);
    let xml = phone.send(&app, Method::GET, "/ocs/v1.php/cloud/capabilities").await.expect(200);
    assert_ne!(xml.header("etag"), Some(&*tag));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_the_user_is_the_handle_and_not_the_email() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let phone = Device::connected(&app, &browser, ANDROID).await;
    let user = json!({
        "id": super::handle_of(&app, &anna).await,
        "display-name": "anna@example.org",
        "displayname": "anna@example.org",
        "email": "anna@example.org",
        "quota": {"free": -3, "used": 0, "total": -3, "relative": 0, "quota": -3},
        "enabled": true,
    });
    for (version, code) in [("v1", 100), ("v2", 200)] {
        let path = format!("/ocs/{version}.php/cloud/user?format=json");
        let answer = phone.send(&app, Method::GET, &path).await.expect(200);
        let meta = json!({"status": "ok", "statuscode": code, "message": "OK"});
        assert_eq!(answer.json, json!({"ocs": {"meta": meta, "data": user}}));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    // iOS asks for JSON by the header.
    let request =
        app.request(Method::GET, "/ocs/v1.php/cloud/user").header(header::ACCEPT, "application/json");
    let answer = app.send(request.basic_auth(&phone.user, Some(&phone.password))).await.expect(200);
    assert_eq!(answer.json["ocs"]["data"], user);
    let xml = phone.send(&app, Method::GET, "/ocs/v1.php/cloud/user").await.expect(200).text();
    assert!(
        xml.contains(&format!("<id>{}</id>", phone.user)) && xml.contains("<enabled>1</enabled>"),
        "{xml}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_methods_are_405() {
    let app = TestApp::start().await;
    for (method, path, allow) in [
        (Method::POST, "/ocs/v2.php/cloud/user", "GET, HEAD"),
        (Method::PUT, "/ocs/v1.php/cloud/capabilities", "GET, HEAD"),
        (Method::GET, "/ocs/v2.php/core/apppassword", "DELETE"),
        (Method::POST, "/index.php/core/preview", "GET, HEAD"),
    ] {
        let answer = app.send(app.request(method, path)).await.expect(405);
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
}
