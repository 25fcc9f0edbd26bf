//! The sign-in of sync apps, and the endpoints for Nextcloud's apps other than WebDAV.

mod devices;
mod login_flow;
mod login_page;
mod ocs;
mod one_time;
mod preview;
mod status;
mod sync_page;

use reqwest::{Method, header};
use serde_json::Value;
use tests::{
    TestAccount, TestApp, TestResponse,
    oauth::{Browser, HtmlForm, forms},
};

pub(crate) const ANDROID: &str = "Mozilla/5.0 (Android) Nextcloud-android/3.33.0";
const IPHONE: &str = "Anna's iPhone (Nextcloud iOS)";
const SYNC: &str = "/account/sync";

/// A login flow that a device has begun.
pub(crate) struct Flow {
    token: String,
    /// The path that the device polls.
    poll: String,
    /// The path of the page that asks the person for a decision.
    page: String,
}

impl Flow {
    pub(crate) async fn begin(app: &TestApp, user_agent: &str) -> Self {
        let request = app.request(Method::POST, "/index.php/login/v2").header(header::USER_AGENT, user_agent);
        let begun = app.send(request).await.expect(200);
        let path = |url: &Value| url.as_str().unwrap().strip_prefix(&app.service_url).unwrap().to_owned();
        Self {
            token: begun.json["poll"]["token"].as_str().unwrap().to_owned(),
            poll: path(&begun.json["poll"]["endpoint"]),
            page: path(&begun.json["login"]),
        }
    }

    /// Polls as the app for Android does.
    pub(crate) async fn poll(&self, app: &TestApp) -> TestResponse {
        app.send(app.request(Method::POST, &self.poll).form(&[("token", &self.token)])).await
    }

    /// Polls as the app for iOS does.
    async fn poll_by_query(&self, app: &TestApp) -> TestResponse {
        app.send(app.request(Method::POST, &format!("{}?token={}", self.poll, self.token))).await
    }

    /// The form of the page that asks for a decision.
    async fn form(&self, browser: &Browser<'_>) -> HtmlForm {
        let page = browser.open(&self.page).await.expect(200);
        forms(&page.text()).into_iter().find(|form| form.action == self.page).unwrap()
    }

    pub(crate) async fn answer(&self, browser: &Browser<'_>, decision: &str) -> TestResponse {
        let form = self.form(browser).await;
        browser.submit(&self.page, &form, &[("decision", decision)]).await
    }

    /// Checks that the device does not get its password: the response is the same before a decision and after the end of the flow.
    #[track_caller]
    fn check_waiting(answer: &TestResponse) {
        assert_eq!((answer.status, answer.body.len()), (404, 0), "{}", answer.text());
    }
}

/// The credentials of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    user: String,
    password: String,
}

impl Device {
    /// Reads the credentials from the response to the last poll.
    pub(crate) fn of(answer: &TestResponse) -> Self {
        let text = |name: &str| answer.json[name].as_str().unwrap().to_owned();
        Self { user: text("loginName"), password: text("appPassword") }
    }

    /// A device that a person connects by the login flow.
    async fn connected(app: &TestApp, browser: &Browser<'_>, user_agent: &str) -> Self {
        let flow = Flow::begin(app, user_agent).await;
        flow.answer(browser, "allow").await.expect(200);
        Self::of(&flow.poll(app).await.expect(200))
    }

    async fn send(&self, app: &TestApp, method: Method, path: &str) -> TestResponse {
        app.send(app.request(method, path).basic_auth(&self.user, Some(&self.password))).await
    }

    /// The status of a request that needs a sync password.
    pub(crate) async fn status(&self, app: &TestApp) -> u16 {
        self.send(app, Method::GET, "/ocs/v2.php/cloud/capabilities").await.status
    }
}

async fn handle_of(app: &TestApp, account: &TestAccount) -> String {
    app.store.account(account.id).await.unwrap().unwrap().sync_handle.to_string()
}

/// The names of the devices that the page lists.
async fn listed(browser: &Browser<'_>) -> Vec<String> {
    let page = browser.open(SYNC).await.expect(200).text();
    let names = page.split("id=\"device-").skip(1).filter_map(|rest| rest.split_once("\">"));
    let names = names.filter(|(id, _)| id.bytes().all(|byte| byte.is_ascii_digit()));
    names.map(|(_, rest)| rest.split('<').next().unwrap().to_owned()).collect()
}
