use reqwest::Method;
use tests::{
    TestApp, TestResponse,
    oauth::{Browser, HtmlForm, forms},
};

use super::{ANDROID, Device, SYNC, handle_of, listed};

const CONNECT: &str = "/account/sync/connect";
const DISCONNECT: &str = "/account/sync/disconnect";

async fn form(browser: &Browser<'_>, action: &str) -> HtmlForm {
    let page = browser.open(SYNC).await.expect(200).text();
    let found = forms(&page).into_iter().find(|form| form.action == action);
    found.unwrap_or_else(|| panic!("no form {action} in {page}"))
}

async fn connect(browser: &Browser<'_>, fields: &[(&str, &str)]) -> TestResponse {
    browser.submit(SYNC, &form(browser, CONNECT).await, fields).await
}

/// The new password that the page shows.
fn shown_password(page: &TestResponse) -> String {
    let text = page.text();
    let (_, rest) = text.split_once("data-copy=\"the sync password\"><pre><code>").unwrap();
    rest.split('<').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_sync_password_is_shown_once_with_its_qr_code() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let page = connect(&browser, &[("name", "Anna's <Mac>")]).await.expect(200);
    assert!(
        page.text().contains("Anna's &lt;Mac&gt;") && page.text().contains("<svg class=\"qr\""),
        "{}",
        page.text()
    );
    let password = shown_password(&page);
    let mac = Device { user: "anna@example.org".to_owned(), password: password.clone() };
    assert_eq!(mac.status(&app).await, 200);
    assert!(!browser.open(SYNC).await.text().contains(&password), "only once");
    // A name that is in use gets a number.
    connect(&browser, &[("name", "Anna's <Mac>")]).await.expect(200);
    assert_eq!(listed(&browser).await, ["Anna's &lt;Mac&gt; 2", "Anna's &lt;Mac&gt;"]);
    for name in [" ".to_owned(), "n".repeat(101)] {
        let refused = connect(&browser, &[("name", &name)]).await.expect(400);
        assert!(refused.text().contains("The name must have 1 to 100 characters."), "{}", refused.text());
        let again = forms(&refused.text()).into_iter().find(|form| form.action == CONNECT).unwrap();
        assert_eq!(again.fields["name"], name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_qr_code_can_be_shown_in_place_of_a_password() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let page = connect(&browser, &[("name", "Anna's phone"), ("show", "code")]).await.expect(200).text();
    assert!(page.contains("<svg class=\"qr\"") && page.contains("The code works once"), "{page}");
    assert!(!page.contains("the sync password"), "{page}");
    assert_eq!(listed(&browser).await, [""; 0], "until the code is scanned");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_device_is_refused_from_the_next_request_on() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let (phone, mac) = (
        Device::connected(&app, &browser, ANDROID).await,
        Device {
            user: "anna@example.org".to_owned(),
            password: shown_password(&connect(&browser, &[("name", "Mac")]).await),
        },
    );
    assert_eq!((phone.status(&app).await, mac.status(&app).await), (200, 200));
    let revoke = form(&browser, DISCONNECT).await;
    let answer = browser.submit(SYNC, &revoke, &[("name", "Nextcloud for Android")]).await.expect(303);
    assert_eq!(answer.header("location"), Some("/account/sync?done=device-disconnected"));
    assert_eq!((phone.status(&app).await, mac.status(&app).await), (401, 200));
    assert_eq!(listed(&browser).await, ["Mac"]);
    // Unknown names, and names of another person's devices, change nothing.
    let (_, bert) = app.signed_in("bert").await;
    Device::connected(&app, &bert, ANDROID).await;
    let berts = form(&bert, DISCONNECT).await;
    for name in ["Mac", "none", ""] {
        bert.submit(SYNC, &berts, &[("name", name)]).await.expect(303);
    }
    assert_eq!(mac.status(&app).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_without_their_token_are_refused() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    Device::connected(&app, &browser, ANDROID).await;
    for action in [CONNECT, DISCONNECT] {
        let form = form(&browser, action).await;
        let fields = [("csrf", ""), ("name", "Nextcloud for Android")];
        browser.submit(SYNC, &form, &fields).await.expect(403);
        app.browser().submit(SYNC, &form, &[("name", "x")]).await.expect(403);
        let shown = browser.send(browser.request(Method::GET, action)).await.expect(302);
        assert_eq!(shown.header("location"), Some(SYNC));
    }
    assert_eq!(listed(&browser).await, ["Nextcloud for Android"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_the_addresses_and_the_user_name_for_every_platform() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (base_url, handle) = (&app.base_url, handle_of(&app, &anna).await);
    let own = browser.open(SYNC).await.expect(200).text();
    let public = app.browser().open(SYNC).await.expect(200).text();
    for page in [&own, &public] {
        for words in [
            "Nextcloud app",
            "PhotoSync",
            "Finder",
            "Explorer",
            "rclone",
            "server import",
            "Upload Live Photos",
            "cannot be downloaded",
            &format!("{base_url}/dav/"),
            &format!("<code>{base_url}</code>"),
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
    assert!(own.contains(&format!("<code>{handle}</code>")), "{own}");
    assert!(own.contains(&format!("{base_url}/remote.php/dav/files/{handle} user={handle}")), "{own}");
    assert!(!public.contains("anna") && public.contains("/sign-in?return_to=/account/sync"), "{public}");
    let overview = browser.open("/account").await.expect(200).text();
    assert!(overview.contains("No devices are connected."), "{overview}");
}
