//! A worker that misbehaves, for the tests. It speaks the protocol without the crate's own code, closes itself off
//! like a real worker, and does what a file tells it: one that begins with `hostile:` names a misdeed, any other is
//! decoded honestly.
//!
//! With an argument it misbehaves at its start.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test program may panic; that is its purpose")]

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
        "protocol": 3,
        "decoder_version": media::DECODER_VERSION,
        "protections": { "files": false, "system_calls": false, "limits": false },
        "text_reading": "off",
    });
    match std::env::args().nth(1).as_deref() {
        Some("exit") => exit(3),
        Some("wrong-version") => hello["decoder_version"] = json!(u32::MAX),
        Some("wrong-protocol") => hello["protocol"] = json!(0),
        Some("garbage") => hello = json!("hello"),
        Some("reads") => hello["text_reading"] = ready(),
        Some("complain") => {
            eprintln!("I do not feel well");
            abort();
        }
        _ => {}
    }
    let mut wire = Wire {
        input: std::io::stdin().as_fd().try_clone_to_owned().unwrap().into(),
        output: std::io::stdout().as_fd().try_clone_to_owned().unwrap().into(),
    };
    sandbox::confine();
    wire.say(&hello);
    for job in 1.. {
        serve(&mut wire, job);
    }
}

/// The claim to read words.
fn ready() -> Value {
    json!({ "ready": { "version": "9.9.9", "languages": ["eng"], "missing": [], "installed": ["eng"] } })
}

struct Wire {
    input: File,
    output: File,
}

impl Wire {
    fn say(&mut self, message: &Value) {
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

    fn hear(&mut self) -> Value {
        let length = self.bytes(4);
        let length = u32::from_le_bytes(length.try_into().unwrap());
        serde_json::from_slice(&self.bytes(length.into())).unwrap()
    }

    fn refuse(&mut self, reason: &str) {
        self.say(&json!({ "refused": { "kind": "corrupt", "reason": reason } }));
    }
}

fn serve(wire: &mut Wire, job: u32) {
    let request = wire.hear();
    for sidecar in request["order"]["render"]["file_info"]["sidecars"].as_array().into_iter().flatten() {
        wire.bytes(sidecar["bytes"].as_u64().unwrap());
    }
    let file = wire.bytes(request["file_bytes"].as_u64().unwrap());
    let misdeed = file.strip_prefix(b"hostile:").map(|name| String::from_utf8(name.to_vec()).unwrap());
    let look = &request["order"]["look"];
    match misdeed {
        Some(misdeed) if look.is_object() => look_falsely(wire, look, &misdeed),
        Some(misdeed) => misbehave(wire, &request, &misdeed, job),
        None => decode(wire, &request, &file, &Change::default()),
    }
}

/// How an honest answer is changed before it goes out.
#[derive(Default)]
struct Change<'a> {
    inspected: Option<&'a dyn Fn(&mut Value)>,
    rendered: Option<&'a dyn Fn(&mut Rendered)>,
    answer: Option<&'a dyn Fn(&mut Value)>,
    /// Said in one breath with the last bytes.
    leftover: Option<&'a [u8]>,
}

fn decode(wire: &mut Wire, request: &Value, file: &[u8], change: &Change<'_>) {
    let limits = Limits { max_pixels: request["max_pixels"].as_u64().unwrap() };
    let probe = match media::probe(file, &limits) {
        Ok(probe) => probe,
        Err(error) => return wire.refuse(&error.to_string()),
    };
    let size = probe.upright_size;
    let wanted = RequestedRenditions::Displayable.renditions(size);
    let mut inspected = json!({ "picture": {
        "upright_size": [size.width, size.height],
        "memory_bytes": probe.decode_memory_bytes(&wanted),
    } });
    if let Some(change) = change.inspected {
        change(&mut inspected["picture"]);
    }
    wire.say(&inspected);
    wire.hear();
    let mut rendered = media::render(file, &wanted, &limits).unwrap();
    if let Some(change) = change.rendered {
        change(&mut rendered);
    }
    let lengths: Vec<usize> = rendered.renditions.iter().map(|made| made.webp.len()).collect();
    let metadata = (!request["order"]["render"]["file_info"].is_null())
        .then(|| media::metadata(file, &FileInfo::added_at(Timestamp::MAX)));
    let mut answer = json!({ "rendered": { "damaged": null, "webp_bytes": lengths, "metadata": metadata } });
    if let Some(change) = change.answer {
        change(&mut answer["rendered"]);
    }
    wire.say(&answer);
    let webp: Vec<u8> = rendered.renditions.into_iter().flat_map(|made| made.webp).collect();
    let (most, last) = webp.split_at(webp.len().saturating_sub(1000));
    wire.output.write_all(most).unwrap();
    // So little comes through a pipe in one piece or not at all.
    wire.output.write_all(&[last, change.leftover.unwrap_or_default()].concat()).unwrap();
}

/// Looks at a picture of 30 x 20 pixels, and lies.
fn look_falsely(wire: &mut Wire, look: &Value, misdeed: &str) {
    wire.say(&json!({ "picture": { "upright_size": [30, 20], "memory_bytes": 1 << 20 } }));
    wire.hear();
    let mut pixels = if look["max_side_px"].is_null() { Vec::new() } else { vec![7; 30 * 20 * 3] };
    let mut text = (!look["read_text_ms"].is_null()).then(|| "honest words".to_owned());
    match misdeed {
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
            return wire.say(&json!({ "rendered": { "damaged": null, "webp_bytes": [], "metadata": null } }));
        }
        other => panic!("{other} is unknown"),
    }
    let answer = json!({ "looked": { "text": text } });
    wire.say(&answer);
    wire.output.write_all(&pixels).unwrap();
    if misdeed == "few-pixels" {
        exit(0);
    }
}

/// A photo whose size is more than a medium rendition's.
const PHOTO: &[u8] = include_bytes!("../../../fixtures/samples/wisteria.jpg");

fn misbehave(wire: &mut Wire, request: &Value, misdeed: &str, job: u32) {
    let honest = Change::default();
    let mut lie = |change: &Change<'_>| decode(wire, request, PHOTO, change);
    match misdeed {
        // How it dies.
        "abort" => abort(),
        "panic" => panic!("a decoder's mistake"),
        "overflow" => drop(recurse(0)),
        "exit" => exit(0),
        "abort-late" => lie(&Change { rendered: Some(&|_| abort()), ..honest }),
        "abort-unless-fresh" if job > 1 => abort(),
        "abort-unless-fresh" => lie(&honest),
        // What it takes.
        "sleep" => thread::sleep(Duration::from_secs(3600)),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "eat" => drop(vec![1_u8; 8 << 30]),
        "eat-late" => lie(&Change { rendered: Some(&|_| drop(vec![1_u8; 8 << 30])), ..honest }),
        "nap" => {
            thread::sleep(Duration::from_millis(200));
            wire.refuse("it is well rested");
        }
        // What it says.
        "huge-head" => wire.output.write_all(&[0xFF; 64]).unwrap(),
        "half-head" => {
            wire.output.write_all(b"\x40\0\0\0{\"pic").unwrap();
            exit(0);
        }
        "flood" => while wire.output.write_all(&[b' '; 4096]).is_ok() {},
        "complain" => {
            for _ in 0..2000 {
                eprintln!(
                    "a warning that is about a hundred bytes long, as libraries are fond of writing them, see"
                );
            }
            lie(&honest);
        }
        "no-json" => wire.output.write_all(b"\x04\0\0\0nope").unwrap(),
        "other-message" => wire.say(&json!({ "rendered": {} })),
        "no-reason" => wire.refuse(""),
        "no-pixels" => {
            lie(&Change { inspected: Some(&|said| said["upright_size"] = json!([0, 9])), ..honest });
        }
        "other-size" => {
            lie(&Change { inspected: Some(&|said| said["upright_size"] = json!([1300, 1300])), ..honest });
        }
        "much-memory" => {
            lie(&Change { inspected: Some(&|said| said["memory_bytes"] = json!(u64::MAX)), ..honest });
        }
        "long-blob" => {
            lie(&Change { answer: Some(&|said| said["webp_bytes"] = json!([u64::MAX, 1])), ..honest });
        }
        "few-blobs" => lie(&Change { answer: Some(&|said| said["webp_bytes"] = json!([10])), ..honest }),
        "unwanted-metadata" => {
            let metadata = json!({ "capture": { "at": 0, "source": "added" }, "details": {} });
            lie(&Change { answer: Some(&move |said| said["metadata"] = metadata.clone()), ..honest });
        }
        "swapped" => lie(&Change { rendered: Some(&|made| made.renditions.reverse()), ..honest }),
        "exif" => lie(&Change { rendered: Some(&|made| add_exif(&mut made.renditions[0].webp)), ..honest }),
        "no-webp" => {
            lie(&Change {
                rendered: Some(&|made| made.renditions[1].webp = PHOTO[..9000].to_vec()),
                ..honest
            });
        }
        "leftover" => {
            let refusal = r#"{"refused":{"kind":"corrupt","reason":"said before it was asked"}}"#;
            let length = u32::try_from(refusal.len()).unwrap().to_le_bytes();
            lie(&Change { leftover: Some(&[&length, refusal.as_bytes()].concat()), ..honest });
        }
        "who" => wire.refuse(&format!("{} {job}", std::process::id())),
        escape => {
            let outcome = try_to_escape(escape);
            wire.refuse(&outcome);
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

/// What a process that was taken over would try.
fn try_to_escape(how: &str) -> String {
    let told =
        |outcome: std::io::Result<()>| outcome.map_or_else(|error| error.to_string(), |()| "done".into());
    match how {
        "read-file" => told(std::fs::read("/proc/self/status").map(drop)),
        "write-file" => told(std::fs::write("/tmp/escaped", "x")),
        "list-folder" => told(std::fs::read_dir("/").map(drop)),
        "remove-file" => told(std::fs::remove_file("/tmp/escaped")),
        "look-at-file" => told(std::fs::metadata("/etc/passwd").map(drop)),
        "run-program" => told(Command::new("/bin/true").status().map(drop)),
        "raise-limit" => {
            let unlimited = Rlimit { current: None, maximum: None };
            told(setrlimit(Resource::As, unlimited).map_err(Into::into))
        }
        "connect" => told(TcpStream::connect("127.0.0.1:9").map(drop)),
        "kill" => told(kill_process(Pid::INIT, Signal::TERM).map_err(Into::into)),
        // What decoding may need works.
        "thread" => thread::spawn(|| "a thread ran".to_owned()).join().unwrap(),
        other => format!("{other} is unknown"),
    }
}
