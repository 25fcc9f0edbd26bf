//! Traces for an OpenTelemetry collector.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use data_encoding::BASE64;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use prost::Message as _;
use rustix::process::Signal;

use crate::{
    apps::{BASE_URL, Browser, Http, PASSWORD},
    http::{get_text_with, status},
    photos,
    program::{EMAIL, Instance, Server, outcome},
};

const LIBRARY: &str = "/api/ext/v2/library";
/// How long a span may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(60);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector. It runs until the tests end.
struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    bodies: Vec<u8>,
    resource: Vec<KeyValue>,
    spans: Vec<Span>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<Received>>::default();
        let kept = received.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                kept.lock().unwrap().add(&answer(stream.unwrap(), "200 OK"));
            }
        });
        Self { address, received }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until the spans have what `find` looks for.
    fn wait_for<T>(&self, what: &str, find: impl Fn(&[Span]) -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            let received = self.received.lock().unwrap();
            if let Some(found) = find(&received.spans) {
                return found;
            }
            let names: Vec<_> = received.spans.iter().map(|span| span.name.clone()).collect();
            drop(received);
            assert!(started.elapsed() < TIMEOUT, "no {what} in {names:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for_span(&self, name: &str) -> Span {
        self.wait_for(name, |spans| spans.iter().find(|span| span.name == name).cloned())
    }

    fn wait_for_child(&self, parent: &Span, name: &str) -> Span {
        self.wait_for(name, |spans| {
            let is_child = |span: &&Span| span.name == name && span.parent_span_id == parent.span_id;
            spans.iter().find(is_child).cloned()
        })
    }
}

impl Received {
    fn add(&mut self, body: &[u8]) {
        self.bodies.extend_from_slice(body);
        for of_resource in ExportTraceServiceRequest::decode(body).unwrap().resource_spans {
            self.resource = of_resource.resource.unwrap().attributes;
            self.spans.extend(of_resource.scope_spans.into_iter().flat_map(|of_scope| of_scope.spans));
        }
    }
}

/// Reads a request, answers it with this status and returns its body.
fn answer(mut stream: TcpStream, status: &str) -> Vec<u8> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    while reader.read_line(&mut head).unwrap() > 2 {
        let line = head.lines().last().unwrap().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("content-type: application/x-protobuf\r\n"), "{head}");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
    body
}

fn serve(instance: &Instance, collector: &Collector, options: &[&str]) -> Server {
    let mut command = instance.command(["serve", "--listen", "127.0.0.1:0"]);
    command.args(["--otlp-endpoint", &collector.url()]).args(options);
    Server::start(command.env("OTEL_BSP_SCHEDULE_DELAY", "50"))
}

fn attribute(attributes: &[KeyValue], name: &str) -> Option<Value> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    found.value.clone().unwrap().value
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    match attribute(attributes, name)? {
        Value::StringValue(text) => Some(text),
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn a_request_is_a_trace_with_its_operations() {
    let instance = Instance::with_account();
    let key = instance.create_key("first");
    let collector = Collector::start();
    let server = serve(&instance, &collector, &[]);
    let authorization = format!("Authorization: Bearer {key}\r\n");
    let (code, response) = get_text_with(&server.address, LIBRARY, &authorization);
    assert_eq!(code, 200, "{response}");

    let span = collector.wait_for_span("GET /api/ext/v2/library");
    assert_eq!((span.kind(), span.parent_span_id.len()), (SpanKind::Server, 0));
    assert_eq!(text(&span.attributes, "http.request.method").as_deref(), Some("GET"));
    assert_eq!(text(&span.attributes, "http.route").as_deref(), Some(LIBRARY));
    assert_eq!(attribute(&span.attributes, "http.response.status_code"), Some(Value::IntValue(200)));
    let id = response.lines().find_map(|line| line.strip_prefix("x-request-id: ")).unwrap();
    assert_eq!(text(&span.attributes, "id").as_deref(), Some(id));
    let operation = collector.wait_for_child(&span, "count_images");
    assert_eq!((operation.kind(), &operation.trace_id), (SpanKind::Client, &span.trace_id));
    assert_eq!(text(&operation.attributes, "db.system.name").as_deref(), Some("sqlite"));

    // The queries of background tasks are no traces of their own.
    let received = collector.received.lock().unwrap();
    let roots: Vec<_> = received.spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    assert_eq!(roots.len(), 1, "{roots:?}");
    assert_eq!(text(&received.resource, "service.name").as_deref(), Some("photo-library"));
}

#[test]
fn a_job_is_a_trace_and_names_no_photo() {
    let instance = Instance::with_account();
    let key = instance.create_key("first");
    let collector = Collector::start();
    let server = serve(&instance, &collector, &[]);
    let folder = instance.beside("photos");
    photos::generate(&folder, 1);
    let photo = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let photo = std::fs::read(photo).unwrap();
    let credentials = BASE64.encode(format!("{EMAIL}:{key}").as_bytes());
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "PUT /dav/secret-wedding.jpg HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {credentials}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        server.address,
        photo.len()
    )
    .unwrap();
    stream.write_all(&photo).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");

    collector.wait_for_span("PUT /dav/{*rest}");
    let job = collector.wait_for_span("index image");
    assert_eq!((job.kind(), job.parent_span_id.len()), (SpanKind::Internal, 0));
    collector.wait_for_child(&job, "decode");
    let operation = collector.wait_for_child(&job, "complete_job");
    assert_eq!(operation.trace_id, job.trace_id);

    let received = collector.received.lock().unwrap();
    let sent = String::from_utf8_lossy(&received.bodies);
    for secret in [EMAIL, key.as_str(), credentials.as_str(), "wedding"] {
        assert!(!sent.contains(secret), "{secret} is in the traces");
    }
}

#[test]
fn a_trusted_proxy_names_the_trace() {
    let instance = Instance::with_account();
    for (options, is_trusted) in [(&["--trusted-proxy", "127.0.0.1"][..], true), (&[], false)] {
        let collector = Collector::start();
        let server = serve(&instance, &collector, options);
        let parent = format!("traceparent: 00-{TRACE}-{PARENT}-01\r\n");
        assert_eq!(get_text_with(&server.address, "/healthz", &parent).0, 200);
        let span = collector.wait_for_span("GET /healthz");
        let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
        assert_eq!(hex(&span.trace_id) == TRACE, is_trusted, "{span:?}");
        assert_eq!(hex(&span.parent_span_id) == PARENT, is_trusted, "{span:?}");
    }
}

#[test]
fn a_failed_request_is_marked() {
    let instance = Instance::with_account();
    let collector = Collector::start();
    let server = serve(&instance, &collector, &[]);
    let blobs = instance.data_dir().join("blobs");
    std::fs::remove_dir_all(&blobs).unwrap();
    std::fs::write(blobs, "no folder").unwrap();
    assert_eq!(status(&server.address, "/readyz"), 503);
    let span = collector.wait_for_span("GET /readyz");
    assert_eq!(attribute(&span.attributes, "http.response.status_code"), Some(Value::IntValue(503)));
    assert_eq!(span.status.unwrap().code(), StatusCode::Error);
}

#[test]
fn a_failing_collector_is_logged_once_and_fails_no_request() {
    let instance = Instance::with_account();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = Collector { address: listener.local_addr().unwrap(), received: Arc::default() };
    let received = collector.received.clone();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            match number {
                0 | 1 => drop(stream.unwrap()),
                2 => drop(answer(stream.unwrap(), "404 Not Found")),
                _ => received.lock().unwrap().add(&answer(stream.unwrap(), "200 OK")),
            }
        }
    });
    let server = serve(&instance, &collector, &[]);
    collector.wait_for("span", |spans| {
        assert_eq!(status(&server.address, "/healthz"), 200);
        (!spans.is_empty()).then_some(())
    });
    let (_, _, _, log) = server.stop(Signal::TERM);
    let count = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(count("the collector does not accept traces"), 1, "{log}");
    assert_eq!(count("the collector accepts traces again"), 1, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_the_request_id_of_a_form_beside_traces() {
    let instance = Instance::with_password(PASSWORD);
    let collector = Collector::start();
    let mut command = instance.command(["serve", "--listen", "127.0.0.1:0", "--base-url", BASE_URL]);
    command.args(["--otlp-endpoint", &collector.url(), "--log-format", "json"]);
    let server = Server::start(command.env("RUST_LOG", "warn"));
    Browser::new(Http::to(&server)).sign_in("a wrong password").await;
    let (_, _, _, log) = server.stop(Signal::TERM);
    let line = log.lines().find(|line| line.contains("sign_in_failed"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let id = line["span"]["id"].as_str().unwrap();
    let span = collector.wait_for_span("POST /sign-in");
    assert_eq!(text(&span.attributes, "id").as_deref(), Some(id));
    collector.wait_for("hash password", |spans| {
        spans.iter().any(|it| it.name == "hash password" && it.trace_id == span.trace_id).then_some(())
    });
}

#[test]
fn variables_of_other_programs_do_not_stop_commands() {
    let instance = Instance::with_account();
    let run = |arguments: [&str; 2], variables: &[(&str, &str)]| {
        outcome(instance.command(arguments).envs(variables.iter().copied()), "")
    };
    let grpc = [("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317")];
    assert_eq!(run(["account", "list"], &grpc).code, Some(0));
    let refused = run(["serve", "--listen=127.0.0.1:0"], &grpc);
    assert!(refused.stderr.contains("OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL such as"), "{refused:?}");
    let grpc = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    let refused = run(["serve", "--listen=127.0.0.1:0"], &grpc);
    assert!(refused.stderr.contains("this program speaks http/protobuf only"), "{refused:?}");
    let mut off = instance.command(["serve", "--listen", "127.0.0.1:0"]);
    off.envs(grpc).env("OTEL_SDK_DISABLED", "true");
    assert_eq!(status(&Server::start(&mut off).address, "/healthz"), 200);
}

#[test]
fn the_usual_variables_name_a_collector_and_the_last_spans_are_sent_at_the_end() {
    let instance = Instance::with_account();
    let collector = Collector::start();
    let mut command = instance.command(["serve", "--listen", "127.0.0.1:0"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    command.env("OTEL_SERVICE_NAME", "photos-of-ann").env("OTEL_RESOURCE_ATTRIBUTES", "host.name=attic");
    // The delay is longer than the test, so only the shutdown sends spans.
    let server = Server::start(command.env("OTEL_BSP_SCHEDULE_DELAY", "600000"));
    assert_eq!(status(&server.address, "/healthz"), 200);
    assert_eq!(server.stop(Signal::TERM).0.code(), Some(0));
    collector.wait_for_span("GET /healthz");
    let received = collector.received.lock().unwrap();
    assert_eq!(text(&received.resource, "service.name").as_deref(), Some("photos-of-ann"));
    assert_eq!(text(&received.resource, "host.name").as_deref(), Some("attic"));
}
