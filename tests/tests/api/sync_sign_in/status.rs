use reqwest::Method;
use tests::TestApp;

#[tokio::test(flavor = "multi_thread")]
async fn the_status_needs_no_password() {
    let app = TestApp::start().await;
    let answer = app.fetch("/status.php").await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.text(),
        r#"{"installed":true,"maintenance":false,"needsDbUpgrade":false,"version":"32.0.1.2","versionstring":"32.0.1","edition":"","productname":"Photo library","extendedSupport":false}"#
    );
    assert_eq!(app.send(app.request(Method::HEAD, "/status.php")).await.expect(200).body.len(), 0);
    app.send(app.request(Method::POST, "/status.php")).await.expect(405);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connection_check_of_android_has_no_body() {
    let app = TestApp::start().await;
    let answer = app.fetch("/index.php/204").await.expect(204);
    assert_eq!(answer.body.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wipe_check_never_asks_an_app_to_delete_its_files() {
    let app = TestApp::start().await;
    let request = app.request(Method::POST, "/index.php/core/wipe/check").form(&[("token", "any")]);
    app.send(request).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_that_the_service_lacks_are_404() {
    let app = TestApp::start().await;
    for path in [
        "/ocs/v2.php/apps/notifications/api/v2/notifications?format=json",
        "/ocs/v2.php/apps/user_status/api/v1/user_status?format=json",
        "/ocs/v2.php/apps/activity/api/v2/activity?format=json",
        "/ocs/v1.php/apps/files_sharing/api/v1/sharees?format=json",
        "/ocs/v2.php/apps/recommendations/api/v1/recommendations?format=json",
        "/ocs/v2.php/apps/external/api/v1?format=json",
        "/ocs/v2.php/apps/dashboard/api/v1/widgets?format=json",
        "/ocs/v2.php/apps/files/api/v1/directEditing?format=json",
    ] {
        let answer = app.fetch(path).await.expect(404);
        assert_eq!(answer.json["ocs"]["meta"]["status"], "failure", "{path}");
        assert_eq!(answer.json["ocs"]["data"], serde_json::json!([]), "{path}");
    }
    let xml = app.fetch("/ocs/v2.php/apps/notifications/api/v2/notifications").await.expect(404);
    assert!(
        xml.text().contains("<statuscode>404</statuscode>") && xml.text().contains("<data/>"),
        "{}",
        xml.text()
    );
    for path in
        ["/index.php/avatar/anna/128", "/index.php/login/flow", "/index.php/apps/files", "/index.php/"]
    {
        app.fetch(path).await.expect(404);
    }
}
