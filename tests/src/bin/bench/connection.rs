use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ::tests::black_box::AnyError;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde_json::Value;

use crate::closed_loop::LoadClient;

/// Time-out of connecting, reading and writing.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum length of a response body, in bytes.
const MAX_BODY_BYTES: usize = 1 << 20;

/// A stream with or without TLS.
trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// A keep-alive HTTP connection. It implements only what the benchmarked servers use, so that the client takes little
/// processor time from the server.
pub(crate) struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    host: SocketAddr,
    request: Vec<u8>,
    body: Vec<u8>,
    line: String,
}

impl Connection {
    /// Connects to a base URL such as `http://127.0.0.1:8080`.
    pub(crate) fn open(base_url: &str) -> Result<Self, AnyError> {
        let host: SocketAddr = base_url.strip_prefix("http://").unwrap_or(base_url).parse()?;
        Ok(Self::over(Box::new(tcp_stream(host)?), host))
    }

    /// Connects to a base URL such as `https://127.0.0.1:8443`.
    pub(crate) fn open_tls(base_url: &str, config: Arc<ClientConfig>) -> Result<Self, AnyError> {
        let host: SocketAddr = base_url.strip_prefix("https://").unwrap_or(base_url).parse()?;
        let tls = ClientConnection::new(config, host.ip().into())?;
        Ok(Self::over(Box::new(StreamOwned::new(tls, tcp_stream(host)?)), host))
    }

    fn over(stream: Box<dyn Stream>, host: SocketAddr) -> Self {
        let stream = BufReader::with_capacity(16 * 1024, stream);
        Self { stream, host, request: Vec::new(), body: Vec::new(), line: String::new() }
    }

    /// Sends a GET with an optional bearer token, and returns the status.
    pub(crate) fn get(&mut self, path: &str, token: Option<&str>) -> Result<u16, AnyError> {
        self.request.clear();
        write!(self.request, "GET {path} HTTP/1.1\r\nHost: {}\r\n", self.host)?;
        self.authorize(token)?;
        self.finish(b"")
    }

    /// Sends a form, and returns status and JSON body.
    pub(crate) fn form(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<(u16, Value), AnyError> {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.begin(path, "application/x-www-form-urlencoded", form.len())?;
        let status = self.finish(form.as_bytes())?;
        Ok((status, serde_json::from_slice(&self.body)?))
    }

    /// Sends JSON with an optional bearer token, and returns the status.
    pub(crate) fn json(&mut self, path: &str, token: Option<&str>, body: &str) -> Result<u16, AnyError> {
        self.json_with(path, token, &[], body)
    }

    /// Like `json`, with additional headers.
    pub(crate) fn json_with(
        &mut self,
        path: &str,
        token: Option<&str>,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<u16, AnyError> {
        self.begin(path, "application/json", body.len())?;
        self.authorize(token)?;
        for (name, value) in headers {
            write!(self.request, "{name}: {value}\r\n")?;
        }
        self.finish(body.as_bytes())
    }

    /// Sends a file, and returns the status.
    pub(crate) fn put(&mut self, path: &str, authorization: &str, body: &[u8]) -> Result<u16, AnyError> {
        self.request.clear();
        write!(
            self.request,
            "PUT {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {authorization}\r\nContent-Length: {}\r\n",
            self.host,
            body.len()
        )?;
        self.finish(body)
    }

    /// The body of the last response.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    fn begin(&mut self, path: &str, kind: &str, length: usize) -> Result<(), AnyError> {
        self.request.clear();
        write!(
            self.request,
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             Accept: application/json, text/event-stream\r\n",
            self.host,
        )?;
        Ok(())
    }

    fn authorize(&mut self, token: Option<&str>) -> Result<(), AnyError> {
        if let Some(token) = token {
            write!(self.request, "Authorization: Bearer {token}\r\n")?;
        }
        Ok(())
    }

    fn finish(&mut self, body: &[u8]) -> Result<u16, AnyError> {
        self.request.extend(b"\r\n");
        self.request.extend(body);
        self.stream.get_mut().write_all(&self.request)?;
        self.read_response()
    }

    /// Reads a response into `body`, and returns its status.
    fn read_response(&mut self) -> Result<u16, AnyError> {
        let status = self.read_line()?.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or("a response without a status")?;
        let mut length = None;
        loop {
            let line = self.read_line()?;
            if line.is_empty() {
                break;
            }
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = Some(value.trim().parse::<usize>()?);
                }
                _ => {}
            }
        }
        let length = length.filter(|&length| length <= MAX_BODY_BYTES);
        self.body.resize(length.ok_or("a response without a length, or with one that is too large")?, 0);
        self.stream.read_exact(&mut self.body)?;
        Ok(status)
    }

    fn read_line(&mut self) -> Result<&str, AnyError> {
        self.line.clear();
        if self.stream.read_line(&mut self.line)? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(self.line.trim_end())
    }
}

fn tcp_stream(host: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&host, TIMEOUT)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Clients that together request each path once, with an API key. A status other than 200 is an error, because figures of
/// failed requests are useless.
pub(crate) fn getters(
    base_url: &str,
    key: &str,
    paths: Vec<String>,
    connections: usize,
) -> Result<Vec<LoadClient>, AnyError> {
    let paths = Arc::new(paths);
    let next = Arc::new(AtomicUsize::new(0));
    let client = |_| {
        let (mut connection, key) = (Connection::open(base_url)?, key.to_owned());
        let (paths, next) = (paths.clone(), next.clone());
        let client: LoadClient = Box::new(move || {
            let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(false) };
            check_status(connection.get(path, Some(&key))?, 200, path)?;
            Ok(true)
        });
        Ok(client)
    };
    (0..connections).map(client).collect()
}

/// Fails if the status is another one.
pub(crate) fn check_status(status: u16, expect: u16, path: &str) -> Result<(), AnyError> {
    if status == expect { Ok(()) } else { Err(format!("{path} answered {status}, not {expect}").into()) }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    #[test]
    fn a_connection_is_reused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            for response in [
                "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}",
                "HTTP/1.1 401 Unauthorized\r\nContent-Type: x\r\ncontent-length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\r\n",
            ] {
                assert!(stream.read(&mut request).unwrap() > 0);
                stream.write_all(response.as_bytes()).unwrap();
            }
        });
        let mut connection = Connection::open(&base_url).unwrap();
        let (status, json) = connection.form("/token", &[("a", "b c")]).unwrap();
        assert_eq!((status, json["a"].as_u64()), (200, Some(1)));
        assert_eq!(connection.json("/", Some("t"), "{}").unwrap(), 401);
        assert!(connection.json("/", None, "{}").is_err());
        assert!(connection.json("/", None, "{}").is_err());
        server.join().unwrap();
    }
}
