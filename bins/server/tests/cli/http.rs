//! A minimal HTTP client.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

/// A response with a JSON body.
#[derive(Debug)]
pub(crate) struct JsonResponse {
    pub(crate) status: u16,
    pub(crate) body: serde_json::Value,
}

pub(crate) fn get(address: &str, path: &str, key: &str) -> JsonResponse {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let authorization =
        if key.is_empty() { String::new() } else { format!("Authorization: Bearer {key}\r\n") };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{authorization}Connection: close\r\n\r\n")
        .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(!head.to_ascii_lowercase().contains("transfer-encoding"), "{head}");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    JsonResponse { status, body: serde_json::from_str(body).unwrap_or(serde_json::Value::Null) }
}

/// The status and the text of a response, with its head.
pub(crate) fn get_text(address: &str, path: &str) -> (u16, String) {
    get_text_with(address, path, "")
}

/// The same with more headers, each with its line end.
pub(crate) fn get_text_with(address: &str, path: &str, headers: &str) -> (u16, String) {
    send_text(
        address,
        &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n"),
    )
}

/// The status and the text of the response to a request that closes the connection.
pub(crate) fn send_text(address: &str, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let text = String::from_utf8_lossy(&response).into_owned();
    (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
}

/// The status of a response with any body.
pub(crate) fn status(address: &str, path: &str) -> u16 {
    get_text(address, path).0
}
