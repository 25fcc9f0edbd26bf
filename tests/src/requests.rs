use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::{TestApp, TestResponse};

/// Where the image and album API begins.
const API: &str = "/api/ext/v2";

/// The one place that touches the HTTP surface.
impl TestApp {
    /// A request to a path of the service, from the base URL on.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base_url))
    }

    /// A request to a path of the image and album API with a key.
    pub fn call(&self, method: Method, path: &str, key: &str) -> RequestBuilder {
        self.request(method, &format!("{API}{path}")).bearer_auth(key)
    }

    /// Sends a request.
    pub async fn send(&self, request: RequestBuilder) -> TestResponse {
        TestResponse::read(request.send().await.unwrap()).await
    }

    /// GET of a path of the image and album API, such as `/images?limit=2`.
    pub async fn get(&self, path: &str, key: &str) -> TestResponse {
        self.send(self.call(Method::GET, path, key)).await
    }

    /// POST of JSON to a path of the image and album API.
    pub async fn post(&self, path: &str, key: &str, body: &Value) -> TestResponse {
        self.send(self.call(Method::POST, path, key).json(body)).await
    }

    /// PATCH with JSON of a path of the image and album API.
    pub async fn patch(&self, path: &str, key: &str, body: &Value) -> TestResponse {
        self.send(self.call(Method::PATCH, path, key).json(body)).await
    }

    /// DELETE of a path of the image and album API.
    pub async fn delete(&self, path: &str, key: &str) -> TestResponse {
        self.send(self.call(Method::DELETE, path, key)).await
    }

    /// GET without a key: of a whole URL that the service gave, or of a path from the base URL on.
    pub async fn fetch(&self, url: &str) -> TestResponse {
        let path = url.strip_prefix(&self.base_url).unwrap_or(url);
        self.send(self.request(Method::GET, path)).await
    }

    /// Every page of List images, walked by `endDate` with pages of `limit`; each id once, in the order met.
    ///
    /// # Panics
    /// When a page brings nothing new before the walk is over.
    pub async fn walk_images(&self, key: &str, limit: usize) -> Vec<String> {
        let mut met: Vec<String> = Vec::new();
        let mut path = format!("/images?limit={limit}");
        loop {
            let page = self.get(&path, key).await;
            let ids = page.ids();
            assert_eq!(page.json["pagination"]["total"], ids.len());
            // The end is inclusive: a page begins with what the one before it ended with.
            let known = usize::from(met.last().is_some() && met.last() == ids.first());
            met.extend(ids.iter().skip(known).cloned());
            if ids.len() < limit {
                return met;
            }
            assert!(ids.len() > known, "a page of {limit} brings nothing new");
            let last = page.results().last().unwrap()["capturedAt"].as_str().unwrap();
            path = format!("/images?limit={limit}&endDate={last}");
        }
    }
}
