use std::{collections::BTreeMap, sync::Mutex};

use reqwest::{Client, Method, RequestBuilder, header, redirect::Policy};

use super::{PASSWORD, forms, html::HtmlForm};
use crate::{TestAccount, TestApp, TestResponse};

/// A browser with its own cookies. It does not follow redirects.
pub struct Browser<'a> {
    app: &'a TestApp,
    client: Client,
    cookies: Mutex<BTreeMap<String, String>>,
}

impl TestApp {
    /// A browser without cookies.
    ///
    /// # Panics
    /// If no HTTP client can be created.
    pub fn browser(&self) -> Browser<'_> {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Browser { app: self, client, cookies: Mutex::default() }
    }

    /// A new person, and a browser in which they are signed in.
    pub async fn signed_in(&self, name: &str) -> (TestAccount, Browser<'_>) {
        let person = self.person(name).await;
        let browser = self.browser().signed_in(&person).await;
        (person, browser)
    }
}

impl Browser<'_> {
    /// A request with this browser's cookies.
    ///
    /// # Panics
    /// If an earlier test panicked while it held the lock.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.app.base_url));
        let cookies: Vec<String> =
            self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if cookies.is_empty() { request } else { request.header(header::COOKIE, cookies.join("; ")) }
    }

    /// Sends a request and stores the cookies of the response.
    ///
    /// # Panics
    /// If there is no response.
    pub async fn send(&self, request: RequestBuilder) -> TestResponse {
        let answer = TestResponse::read(request.send().await.unwrap()).await;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            let mut cookies = self.cookies.lock().unwrap();
            match value {
                "" => cookies.remove(name),
                value => cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        answer
    }

    /// Opens a page.
    pub async fn open(&self, path: &str) -> TestResponse {
        self.send(self.request(Method::GET, path)).await
    }

    /// Submits a form of the page at `path` with some fields filled in.
    pub async fn submit(&self, path: &str, form: &HtmlForm, filled: &[(&str, &str)]) -> TestResponse {
        let action = if form.action.is_empty() { path } else { &form.action };
        self.send(self.form_request(action, form, filled)).await
    }

    /// The request of [`Browser::submit`], so that a test can change it before it is sent.
    pub fn form_request(&self, action: &str, form: &HtmlForm, filled: &[(&str, &str)]) -> RequestBuilder {
        let mut fields = form.fields.clone();
        for (name, value) in filled {
            fields.insert((*name).to_owned(), (*value).to_owned());
        }
        self.request(Method::POST, action).header(header::ORIGIN, &self.app.service_url).form(&fields)
    }

    /// Signs in with the form of this page and returns the response.
    ///
    /// # Panics
    /// If the page has no form.
    pub async fn sign_in(&self, path: &str, account: &TestAccount, password: &str) -> TestResponse {
        let page = self.open(path).await;
        let form = forms(&page.text()).remove(0);
        self.submit(path, &form, &[("email", account.email.as_str()), ("password", password)]).await
    }

    /// This browser, signed in.
    ///
    /// # Panics
    /// If sign-in fails.
    pub async fn signed_in(self, account: &TestAccount) -> Self {
        self.sign_in("/sign-in", account, PASSWORD).await.expect(303);
        self
    }

    /// The same browser, whose next requests go to another replica.
    ///
    /// # Panics
    /// If an earlier test panicked while it held the lock.
    pub fn moved_to<'b>(&self, replica: &'b TestApp) -> Browser<'b> {
        let cookies = self.cookies.lock().unwrap().clone();
        Browser { app: replica, client: self.client.clone(), cookies: Mutex::new(cookies) }
    }

    /// A cookie of the browser.
    ///
    /// # Panics
    /// If an earlier test panicked while it held the lock.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    /// Sets a cookie in the browser.
    ///
    /// # Panics
    /// If an earlier test panicked while it held the lock.
    pub fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }
}
