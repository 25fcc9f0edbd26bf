//! Replays requests as a client sends them.

use std::fmt::Write as _;

use reqwest::Method;
use tests::{TestAccount, TestApp, TestAppBuilder, TestResponse, fixture};

/// A service with an account whose owner uses a WebDAV client.
pub(super) struct Client {
    pub(super) app: TestApp,
    pub(super) account: TestAccount,
    /// The sync handle, which is the user name.
    pub(super) handle: String,
    /// The last `ETag`.
    tag: String,
    /// The last `Lock-Token`, with its angle brackets.
    lock: String,
}

/// A request with the expected response. In texts, `{id}` is the sync handle, `{tag}` the last entity tag with its quotes,
/// `{lock}` the last lock token with its brackets.
pub(super) struct Step {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    status: u16,
    expected_headers: Vec<(&'static str, String)>,
    contains: Vec<String>,
    lacks: Vec<&'static str>,
}

/// A request such as `PUT /dav/a.jpg`, and the expected status.
pub(super) fn step(request: &'static str, status: u16) -> Step {
    let (method, path) = request.split_once(' ').unwrap();
    Step {
        method,
        path: path.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        status,
        expected_headers: Vec::new(),
        contains: Vec::new(),
        lacks: Vec::new(),
    }
}

impl Step {
    /// Sends a header.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Appends text to the path.
    pub(super) fn at(mut self, path: &str) -> Self {
        self.path.push_str(path);
        self
    }

    /// Sends a body.
    pub(super) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Expects a header; an empty value stands for any.
    pub(super) fn gives(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.expected_headers.push((name, value.into()));
        self
    }

    /// Expects text in the body.
    pub(super) fn shows(mut self, text: impl Into<String>) -> Self {
        self.contains.push(text.into());
        self
    }

    /// Expects that text is not in the body.
    pub(super) fn lacks(mut self, text: &'static str) -> Self {
        self.lacks.push(text);
        self
    }
}

impl Client {
    pub(super) async fn start() -> Self {
        Self::start_with(TestApp::builder()).await
    }

    pub(super) async fn start_with(builder: TestAppBuilder) -> Self {
        let app = builder.start().await;
        let account = app.account("ann").await;
        let handle = app.library.accounts.account(&account.email).await.unwrap().sync_handle.to_string();
        Self { app, account, handle, tag: String::new(), lock: String::new() }
    }

    /// Sends a request with the user name and password of the account.
    pub(super) async fn send(&mut self, step: &Step) -> TestResponse {
        let method = Method::from_bytes(step.method.as_bytes()).unwrap();
        let mut request = self.app.request(method, &self.fill(&step.path));
        request = request.basic_auth(&self.handle, Some(&self.account.key));
        for (name, value) in &step.headers {
            request = request.header(*name, self.fill(value));
        }
        let response = self.app.send(request.body(step.body.clone())).await;
        if let Some(tag) = response.header("etag") {
            tag.clone_into(&mut self.tag);
        }
        if let Some(lock) = response.header("lock-token") {
            lock.clone_into(&mut self.lock);
        }
        response
    }

    /// Sends a request and checks the response.
    pub(super) async fn run(&mut self, step: Step) -> TestResponse {
        let response = self.send(&step).await;
        let text = String::from_utf8_lossy(&response.body).into_owned();
        let request = format!("{} {}", step.method, step.path);
        assert_eq!(response.status, step.status, "{request}: {text}");
        for (name, value) in &step.expected_headers {
            let found = response.header(name);
            assert!(found.is_some(), "{request}: the response has no {name}");
            assert!(value.is_empty() || found == Some(&self.fill(value)), "{request}: {name}: {found:?}");
        }
        for part in &step.contains {
            let part = self.fill(part);
            assert!(text.contains(&part), "{request}: {part} is not in {text}");
        }
        for part in step.lacks {
            assert!(!text.contains(part), "{request}: {part} is in {text}");
        }
        response
    }

    /// Runs a sequence of requests.
    pub(super) async fn replay(&mut self, steps: impl IntoIterator<Item = Step>) {
        for step in steps {
            self.run(step).await;
        }
    }

    /// The number of photos of all accounts that wait to be indexed.
    pub(super) async fn images(&self) -> u64 {
        self.app.store.queue_length().await.unwrap().pending
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{id}", &self.handle).replace("{tag}", &self.tag).replace("{lock}", &self.lock)
    }
}

/// A JPEG that differs for each number.
pub(super) fn jpeg(number: u8) -> Vec<u8> {
    let mut bytes = std::fs::read(fixture("media/date-and-position.jpg")).unwrap();
    bytes.push(number);
    bytes
}

/// `OC-Checksum` with the SHA-1 of bytes.
pub(super) fn sha1(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, bytes);
    digest.as_ref().iter().fold("SHA1:".to_owned(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
