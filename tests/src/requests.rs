use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::{TestApp, TestResponse};

/// The path prefix of the image and album API.
const API: &str = "/api/ext/v2";

/// Requests to the HTTP surface.
impl TestApp {
    /// A request to a path of the service.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base_url))
    }

    /// A request to a path of the image and album API with a key.
    pub fn call(&self, method: Method, path: &str, key: &str) -> RequestBuilder {
        self.request(method, &format!("{API}{path}")).bearer_auth(key)
    }

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

    /// GET without a key: of a URL from a response, or of a path.
    pub async fn fetch(&self, url: &str) -> TestResponse {
        let path = url.strip_prefix(&self.base_url).unwrap_or(url);
        self.send(self.request(Method::GET, path)).await
    }

    /// The ids of all images, read page by page with `limit` and `endDate`, each once.
    ///
    /// # Panics
    /// If a page before the last contains no new id.
    pub async fn walk_images(&self, key: &str, limit: usize) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut path = format!("/images?limit={limit}");
        loop {
            let page = self.get(&path, key).await;
            let ids = page.ids();
            assert_eq!(page.json["pagination"]["total"], ids.len());
            // `endDate` is inclusive, so a page starts with the last image of the previous one.
            let known = usize::from(found.last().is_some() && found.last() == ids.first());
            found.extend(ids.iter().skip(known).cloned());
            if ids.len() < limit {
                return found;
            }
            assert!(ids.len() > known, "a page of {limit} contains nothing new");
            let last = page.results().last().unwrap()["capturedAt"].as_str().unwrap();
            path = format!("/images?limit={limit}&endDate={last}");
        }
    }
}
