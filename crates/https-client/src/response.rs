use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, response::Parts};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::{task::JoinHandle, time::timeout};

use crate::Error;

/// The task that drives a connection; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Connection(JoinHandle<()>);

impl Connection {
    pub(crate) fn spawn<E>(connection: impl Future<Output = Result<(), E>> + Send + 'static) -> Self {
        Self(tokio::spawn(async move {
            // The reader of the response gets the error.
            let _ = connection.await;
        }))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A response whose body is still to be read.
#[derive(Debug)]
pub struct Response {
    head: Parts,
    body: Incoming,
    step_timeout: Duration,
    _connection: Connection,
}

pub(crate) fn new_response(
    response: http::Response<Incoming>,
    connection: Connection,
    step_timeout: Duration,
) -> Response {
    let (head, body) = response.into_parts();
    Response { head, body, step_timeout, _connection: connection }
}

impl Response {
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The next part of the body; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = timeout(self.step_timeout, self.body.frame()).await.map_err(|_| Error::Timeout)?;
            match frame.transpose().map_err(Error::Body)? {
                None => return Ok(None),
                // Trailers are skipped.
                Some(frame) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// The whole body. A body that is announced as longer than `max` bytes is not read.
    pub async fn bytes(mut self, max: u64) -> Result<Vec<u8>, Error> {
        let too_long = || Error::BodyTooLong { max };
        if self.body.size_hint().lower() > max {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() as u64 > max {
                return Err(too_long());
            }
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, header};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;
    use crate::{HttpsClient, Limits, Roots};

    const LIMITS: Limits =
        Limits { max_head_bytes: 8192, max_headers: 20, step_timeout: Duration::from_secs(30) };

    /// A host that reads the head of one request and sends `answer`. The task returns the head and the open connection.
    fn host(answer: &str) -> (DuplexStream, JoinHandle<(String, DuplexStream)>) {
        let (ours, mut theirs) = duplex(1 << 20);
        let answer = answer.to_owned();
        let host = tokio::spawn(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(theirs.read_u8().await.unwrap());
            }
            theirs.write_all(answer.as_bytes()).await.unwrap();
            (String::from_utf8(head).unwrap(), theirs)
        });
        (ours, host)
    }

    /// The body of at most 100 bytes that a client reads, and the head of its request. The host closes the connection.
    async fn exchange(answer: &str) -> (Result<Vec<u8>, Error>, String) {
        let (ours, host) = host(answer);
        let host = tokio::spawn(async move { host.await.unwrap().0 });
        let client = HttpsClient::new(&Roots::WebPki, "tests/1", LIMITS).unwrap();
        let accept = (header::ACCEPT, HeaderValue::from_static("text/plain"));
        let body = match client.get(ours, "a.example:8443", "/b?c", accept).await {
            Ok(response) => response.bytes(100).await,
            Err(error) => Err(error),
        };
        (body, host.await.unwrap())
    }

    #[tokio::test]
    async fn a_request_has_these_headers_and_no_others() {
        let (body, head) = exchange("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        assert_eq!(body.unwrap(), b"ok");
        assert_eq!(
            head,
            "GET /b?c HTTP/1.1\r\nhost: a.example:8443\r\naccept: text/plain\r\nuser-agent: tests/1\r\n\
             connection: close\r\n\r\n"
        );
    }

    #[tokio::test]
    async fn bodies_are_read_to_the_limit_and_not_beyond() {
        let hundred = "x".repeat(100);
        let chunked =
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n65\r\n{hundred}x\r\n0\r\n\r\n");
        for (answer, expect) in [
            (format!("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{hundred}"), Some("")),
            (format!("HTTP/1.1 200 OK\r\n\r\n{hundred}"), Some("")),
            (format!("HTTP/1.1 200 OK\r\n\r\n{hundred}x"), None),
            ("HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n".to_owned(), None),
            (chunked, None),
        ] {
            let (body, _) = exchange(&answer).await;
            match expect {
                Some(_) => assert_eq!(body.unwrap(), hundred.as_bytes(), "{answer}"),
                None => assert!(matches!(body, Err(Error::BodyTooLong { max: 100 })), "{answer}"),
            }
        }
    }

    #[tokio::test]
    async fn an_incomplete_response_is_an_error() {
        for answer in [
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nonly",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nonly\r\n",
        ] {
            assert!(matches!(exchange(answer).await.0, Err(Error::Body(_))), "{answer}");
        }
        let long_head = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(9000));
        let many_headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(21));
        for answer in ["", "<html>", &long_head, &many_headers] {
            assert!(matches!(exchange(answer).await.0, Err(Error::Response(_))), "{answer:.40}");
        }
    }

    #[tokio::test]
    async fn a_silent_host_times_out() {
        let no_time = Limits { step_timeout: Duration::ZERO, ..LIMITS };
        let client = HttpsClient::new(&Roots::WebPki, "tests/1", no_time).unwrap();
        let accept = || (header::ACCEPT, HeaderValue::from_static("*/*"));
        let (ours, _host) = duplex(1024);
        assert!(matches!(client.encrypt("a.example", ours).await, Err(Error::Timeout)));
        let (ours, _host) = duplex(1024);
        assert!(matches!(client.get(ours, "a.example", "/", accept()).await, Err(Error::Timeout)));

        let client = HttpsClient::new(&Roots::WebPki, "tests/1", LIMITS).unwrap();
        let (ours, host) = host("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n");
        let mut response = client.get(ours, "a.example", "/", accept()).await.unwrap();
        let _open = host.await.unwrap();
        response.step_timeout = Duration::ZERO;
        assert!(matches!(response.bytes(100).await, Err(Error::Timeout)));
    }
}
