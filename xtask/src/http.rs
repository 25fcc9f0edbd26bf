//! A minimal HTTP client for servers on this machine.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Why there was no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("no response from port {port}: {source}")]
    Connection { port: u16, source: std::io::Error },
    #[error("the response from port {port} is not HTTP")]
    NotHttp { port: u16 },
}

/// A response without its headers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// Gets `path` from 127.0.0.1, with an API key if one is given.
///
/// The request is HTTP/1.0, so the body ends with the connection and is never chunked.
pub(crate) fn get(port: u16, path: &str, key: Option<&str>) -> Result<Response, HttpError> {
    let bytes = exchange(port, path, key).map_err(|source| HttpError::Connection { port, source })?;
    parse(&bytes).ok_or(HttpError::NotHttp { port })
}

fn exchange(port: u16, path: &str, key: Option<&str>) -> std::io::Result<Vec<u8>> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    let authorization = key.map_or_else(String::new, |key| format!("Authorization: Bearer {key}\r\n"));
    stream.write_all(
        format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{authorization}\r\n").as_bytes(),
    )?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Option<Response> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some(Response { status, body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::TcpListener;

    #[test]
    fn get_sends_the_key_and_reads_the_response() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            stream.write_all(b"HTTP/1.0 409 Conflict\r\nContent-Type: text/plain\r\n\r\nnot yet").unwrap();
            String::from_utf8(request).unwrap()
        });
        let response = get(port, "/x?y=z", Some("secret")).unwrap();
        assert_eq!(response, Response { status: 409, body: "not yet".to_owned() });
        let request = server.join().unwrap();
        assert!(request.starts_with("GET /x?y=z HTTP/1.0\r\n"), "{request}");
        assert!(request.contains("\r\nAuthorization: Bearer secret\r\n"), "{request}");
    }

    #[test]
    fn other_protocols_are_refused() {
        for bytes in
            ["", "\r\n\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK"]
        {
            assert_eq!(parse(bytes.as_bytes()), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn status_and_body_survive(status in 100_u16..600, body in "\\PC{0,80}") {
            let response = parse(format!("HTTP/1.1 {status} X\r\nA: b\r\n\r\n{body}").as_bytes());
            prop_assert_eq!(response, Some(Response { status, body }));
        }
    }
}
