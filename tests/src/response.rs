use bytes::Bytes;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response of the service.
#[derive(Debug, Clone)]
pub struct TestResponse {
    /// The status code.
    pub status: u16,
    pub headers: HeaderMap,
    /// The body as received.
    pub body: Bytes,
    /// The body parsed as JSON; null if it is not JSON.
    pub json: Value,
}

impl TestResponse {
    pub(crate) async fn read(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.unwrap();
        let json = serde_json::from_slice(&body).unwrap_or_default();
        Self { status, headers, body, json }
    }

    /// The response, if it has this status.
    ///
    /// # Panics
    /// If it has another status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// The value of a header; `None` if it is absent.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The object of an envelope.
    pub fn result(&self) -> &Value {
        &self.json["result"]
    }

    /// The list of an envelope.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn results(&self) -> &[Value] {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json["results"].as_array().unwrap()
    }

    /// One field of every record of the list.
    #[track_caller]
    pub fn column(&self, field: &str) -> Vec<&Value> {
        self.results().iter().map(|record| &record[field]).collect()
    }

    /// The ids of the list, in order.
    #[track_caller]
    pub fn ids(&self) -> Vec<String> {
        self.column("id").into_iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    /// The message of an error whose body has only the field `error`.
    ///
    /// # Panics
    /// If the body is different.
    #[track_caller]
    pub fn error(&self) -> &str {
        let body = self.json.as_object().unwrap();
        assert_eq!(body.len(), 1, "{body:?}");
        body["error"].as_str().unwrap()
    }
}
