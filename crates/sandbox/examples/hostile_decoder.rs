//! A worker that misbehaves, for the tests. It implements the protocol without the crate's code and sandboxes itself like a
//! real worker. A file that starts with `hostile:` names a misbehaviour; any other file is decoded correctly.
//!
//! With an argument, it misbehaves when it starts.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test program may panic")]

use std::{
    fs::File,
    io::{Read, Write},
    net::TcpStream,
    os::fd::AsFd,
    process::{Command, abort, exit},
    thread,
    time::Duration,
};

use domain::{FileInfo, Timestamp};
use media::{Limits, Rendered};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use sandbox::RequestedRenditions;
use serde_json::{Value, json};

fn main() {
    let mut hello = json!({
        "protocol": 4,
        "decoder_version": media::DECODER_VERSION,
        "protections": { "files": false, "system_calls": false, "capabilities": false, "limits": false },
        "ocr_status": "off",
    });
    match std::env::args().nth(1).as_deref() {
        Some("exit") => exit(3),
        Some("wrong-version") => hello["decoder_version"] = json!(u32::MAX),
        Some("wrong-protocol") => hello["protocol"] = json!(0),
        Some("garbage") => hello = json!("hello"),
        Some("reads") => hello["ocr_status"] = ocr_ready(),
        Some("complain") => {
            eprintln!("a message on stderr");
            abort();
        }
        _ => {}
    }
    let mut connection = Connection {
        input: std::io::stdin().as_fd().try_clone_to_owned().unwrap().into(),
        output: std::io::stdout().as_fd().try_clone_to_owned().unwrap().into(),
    };
    sandbox::confine();
    connection.send(&hello);
    for job in 1.. {
        serve(&mut connection, job);
    }
}

/// Claims that OCR is ready.
fn ocr_ready() -> Value {
    json!({ "ready": { "version": "9.9.9", "languages": ["eng"], "missing": [], "installed": ["eng"] } })
}

struct Connection {
    input: File,
    output: File,
}

impl Connection {
    fn send(&mut self, message: &Value) {
        let json = message.to_string();
        self.output.write_all(&u32::try_from(json.len()).unwrap().to_le_bytes()).unwrap();
        self.output.write_all(json.as_bytes()).unwrap();
    }

    fn bytes(&mut self, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        if self.input.read_exact(&mut bytes).is_err() {
            exit(0);
        }
        bytes
    }

    fn receive(&mut self) -> Value {
        let length = self.bytes(4);
        let length = u32::from_le_bytes(length.try_into().unwrap());
        serde_json::from_slice(&self.bytes(length.into())).unwrap()
    }

    fn refuse(&mut self, reason: &str) {
        self.send(&json!({ "refused": { "kind": "corrupt", "reason": reason } }));
    }
}

fn serve(connection: &mut Connection, job: u32) {
    let request = connection.receive();
    for sidecar in request["spec"]["render"]["file_info"]["sidecars"].as_array().into_iter().flatten() {
        connection.bytes(sidecar["bytes"].as_u64().unwrap());
    }
    let file = connection.bytes(request["file_bytes"].as_u64().unwrap());
    let misbehaviour = file.strip_prefix(b"hostile:").map(|name| String::from_utf8(name.to_vec()).unwrap());
    let analysis = &request["spec"]["analyze"];
    match misbehaviour {
        Some(misbehaviour) if request["spec"]["view"].is_object() => view(connection, &misbehaviour),
        Some(misbehaviour) if analysis.is_object() => analyze(connection, analysis, &misbehaviour),
        Some(misbehaviour) => misbehave(connection, &request, &misbehaviour, job),
        None => decode(connection, &request, &file, &Falsification::default()),
    }
}

/// Changes to a correct response before it is sent.
#[derive(Default)]
struct Falsification<'a> {
    inspected: Option<&'a dyn Fn(&mut Value)>,
    rendered: Option<&'a dyn Fn(&mut Rendered)>,
    response: Option<&'a dyn Fn(&mut Value)>,
    /// Excess bytes, written together with the last bytes of the response.
    leftover: Option<&'a [u8]>,
}

fn decode(connection: &mut Connection, request: &Value, file: &[u8], changes: &Falsification<'_>) {
    let limits = Limits { max_pixels: request["max_pixels"].as_u64().unwrap() };
    let probe = match media::probe(file, &limits) {
        Ok(probe) => probe,
        Err(error) => return connection.refuse(&error.to_string()),
    };
    let size = probe.upright_size;
    let requested = RequestedRenditions::Displayable.for_size(size);
    let mut inspected = json!({ "picture": {
        "upright_size": [size.width, size.height],
        "memory_bytes": probe.decode_memory_bytes(&requested),
    } });
    if let Some(change) = changes.inspected {
        change(&mut inspected["picture"]);
    }
    connection.send(&inspected);
    connection.receive();
    let mut rendered = media::render(file, &requested, &limits).unwrap();
    if let Some(change) = changes.rendered {
        change(&mut rendered);
    }
    let lengths: Vec<usize> = rendered.renditions.iter().map(|rendition| rendition.webp.len()).collect();
    let metadata = (!request["spec"]["render"]["file_info"].is_null())
        .then(|| media::metadata(file, &FileInfo::added_at(Timestamp::MAX)));
    let thumbhash = rendered.thumbhash.as_ref().map(domain::Thumbhash::as_bytes);
    let mut response = json!({
        "rendered": { "damaged": null, "webp_bytes": lengths, "metadata": metadata, "thumbhash": thumbhash }
    });
    if let Some(change) = changes.response {
        change(&mut response["rendered"]);
    }
    connection.send(&response);
    let webp: Vec<u8> = rendered.renditions.into_iter().flat_map(|rendition| rendition.webp).collect();
    let (most, last) = webp.split_at(webp.len().saturating_sub(1000));
    connection.output.write_all(most).unwrap();
    // A write this small to a pipe is atomic.
    connection.output.write_all(&[last, changes.leftover.unwrap_or_default()].concat()).unwrap();
}

/// Pretends to analyze a picture of 30 x 20 pixels.
fn analyze(connection: &mut Connection, analysis: &Value, misbehaviour: &str) {
    connection.send(&json!({ "picture": { "upright_size": [30, 20], "memory_bytes": 1 << 20 } }));
    connection.receive();
    let mut pixels = if analysis["max_side_px"].is_null() { Vec::new() } else { vec![7; 30 * 20 * 3] };
    let mut text = (!analysis["read_text_ms"].is_null()).then(|| "honest words".to_owned());
    match misbehaviour {
        "honest" => {}
        "eat" => drop(vec![1_u8; 8 << 30]),
        "abort" => abort(),
        "sleep" => thread::sleep(Duration::from_secs(3600)),
        "words" => text = Some("unasked".into()),
        "long-words" => text = Some(format!("a\u{0}b\n{}", "é".repeat(20_000))),
        "too-long-words" => text = Some("x".repeat(300_000)),
        "few-pixels" => pixels.truncate(100),
        "many-pixels" => pixels.extend([7; 100]),
        "rendered" => {
            return connection
                .send(&json!({ "rendered": { "damaged": null, "webp_bytes": [], "metadata": null } }));
        }
        other => panic!("{other} is unknown"),
    }
    let response = json!({ "analyzed": { "text": text } });
    connection.send(&response);
    connection.output.write_all(&pixels).unwrap();
    if misbehaviour == "few-pixels" {
        exit(0);
    }
}

/// Pretends to view a picture of 30 x 20 pixels.
fn view(connection: &mut Connection, misbehaviour: &str) {
    connection.send(&json!({ "picture": { "upright_size": [30, 20], "memory_bytes": 1 << 20 } }));
    connection.receive();
    let views: &[&[u8]] = match misbehaviour {
        "abort" => abort(),
        "no-view" => &[],
        "two-views" => &[b"1", b"2"],
        "long-view" => &[&[0; 60_000]],
        "no-jpeg" => &[b"RIFF"],
        "exif" => &[b"\xFF\xD8\xFF\xE1\0\x08Exif\0\0"],
        other => panic!("{other} is unknown"),
    };
    let lengths: Vec<usize> = views.iter().map(|view| view.len()).collect();
    connection.send(&json!({ "viewed": { "jpeg_bytes": lengths } }));
    connection.output.write_all(&views.concat()).unwrap();
}

/// A photo larger than a medium rendition.
const PHOTO: &[u8] = include_bytes!("../../../fixtures/samples/wisteria.jpg");

fn misbehave(connection: &mut Connection, request: &Value, misbehaviour: &str, job: u32) {
    let honest = Falsification::default();
    let mut send = |changes: &Falsification<'_>| decode(connection, request, PHOTO, changes);
    match misbehaviour {
        // The process ends.
        "abort" => abort(),
        "panic" => panic!("a decoder's mistake"),
        "overflow" => drop(recurse(0)),
        "exit" => exit(0),
        "abort-late" => send(&Falsification { rendered: Some(&|_| abort()), ..honest }),
        "abort-unless-fresh" if job > 1 => abort(),
        "abort-unless-fresh" => send(&honest),
        // The process exceeds a limit.
        "sleep" => thread::sleep(Duration::from_secs(3600)),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "eat" => drop(vec![1_u8; 8 << 30]),
        "eat-late" => send(&Falsification { rendered: Some(&|_| drop(vec![1_u8; 8 << 30])), ..honest }),
        "nap" => {
            thread::sleep(Duration::from_millis(200));
            connection.refuse("it slept");
        }
        // The process sends something invalid.
        "huge-head" => connection.output.write_all(&[0xFF; 64]).unwrap(),
        "half-head" => {
            connection.output.write_all(b"\x40\0\0\0{\"pic").unwrap();
            exit(0);
        }
        "flood" => while connection.output.write_all(&[b' '; 4096]).is_ok() {},
        "complain" => {
            for _ in 0..2000 {
                eprintln!(
                    "a warning of about a hundred bytes, as libraries print them, repeated until the pipe is full"
                );
            }
            send(&honest);
        }
        "no-json" => connection.output.write_all(b"\x04\0\0\0nope").unwrap(),
        "other-message" => connection.send(&json!({ "rendered": {} })),
        "no-reason" => connection.refuse(""),
        "no-pixels" => {
            send(&Falsification {
                inspected: Some(&|message| message["upright_size"] = json!([0, 9])),
                ..honest
            });
        }
        "other-size" => {
            send(&Falsification {
                inspected: Some(&|message| message["upright_size"] = json!([1300, 1300])),
                ..honest
            });
        }
        "much-memory" => {
            send(&Falsification {
                inspected: Some(&|message| message["memory_bytes"] = json!(u64::MAX)),
                ..honest
            });
        }
        "long-blob" => {
            send(&Falsification {
                response: Some(&|message| message["webp_bytes"][0] = json!(u64::MAX)),
                ..honest
            });
        }
        "few-blobs" => {
            send(&Falsification { response: Some(&|message| message["webp_bytes"] = json!([10])), ..honest });
        }
        "long-preview" => {
            let preview = json!(vec![0; 26]);
            send(&Falsification {
                response: Some(&move |message| message["thumbhash"] = preview.clone()),
                ..honest
            });
        }
        "unwanted-metadata" => {
            let metadata = json!({ "capture": { "at": 0, "source": "added" }, "details": {} });
            send(&Falsification {
                response: Some(&move |message| message["metadata"] = metadata.clone()),
                ..honest
            });
        }
        "swapped" => {
            send(&Falsification { rendered: Some(&|rendered| rendered.renditions.reverse()), ..honest });
        }
        "exif" => send(&Falsification {
            rendered: Some(&|rendered| add_exif(&mut rendered.renditions[0].webp)),
            ..honest
        }),
        "no-webp" => {
            send(&Falsification {
                rendered: Some(&|rendered| rendered.renditions[1].webp = PHOTO[..9000].to_vec()),
                ..honest
            });
        }
        "leftover" => {
            let refusal = r#"{"refused":{"kind":"corrupt","reason":"unsolicited"}}"#;
            let length = u32::try_from(refusal.len()).unwrap().to_le_bytes();
            send(&Falsification { leftover: Some(&[&length, refusal.as_bytes()].concat()), ..honest });
        }
        "who" => connection.refuse(&format!("{} {job}", std::process::id())),
        escape => {
            let outcome = try_to_escape(escape);
            connection.refuse(&outcome);
        }
    }
}

fn add_exif(webp: &mut Vec<u8>) {
    webp.extend(b"EXIF\x04\0\0\0II*\0");
    let length = u32::try_from(webp.len() - 8).unwrap();
    webp[4..8].copy_from_slice(&length.to_le_bytes());
}

/// Overflows the stack.
fn recurse(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + room[1] }
}

/// Attempts to escape from the sandbox, as a process that was taken over may make.
fn try_to_escape(how: &str) -> String {
    let describe =
        |outcome: std::io::Result<()>| outcome.map_or_else(|error| error.to_string(), |()| "done".into());
    match how {
        "read-file" => describe(std::fs::read("/proc/self/status").map(drop)),
        "write-file" => describe(std::fs::write("/tmp/escaped", "x")),
        "list-folder" => describe(std::fs::read_dir("/").map(drop)),
        "remove-file" => describe(std::fs::remove_file("/tmp/escaped")),
        "read-metadata" => describe(std::fs::metadata("/etc/passwd").map(drop)),
        "run-program" => describe(Command::new("/bin/true").status().map(drop)),
        "raise-limit" => {
            let unlimited = Rlimit { current: None, maximum: None };
            describe(setrlimit(Resource::As, unlimited).map_err(Into::into))
        }
        "connect" => describe(TcpStream::connect("127.0.0.1:9").map(drop)),
        "kill" => describe(kill_process(Pid::INIT, Signal::TERM).map_err(Into::into)),
        // Decoding may need this, so it works.
        "thread" => thread::spawn(|| "a thread ran".to_owned()).join().unwrap(),
        other => format!("{other} is unknown"),
    }
}
