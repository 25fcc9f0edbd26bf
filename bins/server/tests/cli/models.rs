use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

use data_encoding::HEXLOWER;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};

use crate::program::{Instance, Outcome, files_below};

const NAME: &str = "ViT-Tiny__random";

/// The folder of a tiny model, from the tests of the crate `vision`.
fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/vision/tests/models/clip")
}

/// A response of the hub. `announced` is its `Content-Length`, which may differ from the body.
#[derive(Clone)]
struct StubResponse {
    status: u16,
    header: String,
    body: Vec<u8>,
    announced: usize,
}

impl StubResponse {
    fn ok(body: Vec<u8>) -> Self {
        Self { status: 200, header: String::new(), announced: body.len(), body }
    }

    fn redirect(to: &str) -> Self {
        Self { status: 302, header: format!("Location: {to}\r\n"), ..Self::ok(b"over there".to_vec()) }
    }
}

/// A hub with one model and configurable responses.
struct StubHub {
    address: String,
    responses: Arc<Mutex<BTreeMap<String, StubResponse>>>,
}

impl StubHub {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let hub = Self { address, responses: Arc::default() };
        let mut list = vec![r#"{"type":"directory","oid":"0","size":0,"path":"visual"}"#.to_owned()];
        // Files that the program must not download.
        list.push(r#"{"type":"file","oid":"0","size":9,"path":"visual/fp16/model.onnx"}"#.to_owned());
        list.push(r#"{"type":"file","oid":"0","size":9,"path":"README.md"}"#.to_owned());
        for path in files_below(&tiny()).into_iter().filter(|path| path != "expected.json") {
            let body = fs::read(tiny().join(&path)).unwrap();
            let size = body.len();
            let blob = [format!("blob {size}\0").as_bytes(), &body].concat();
            let oid = HEXLOWER.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &blob).as_ref());
            let sha256 = HEXLOWER.encode(digest(&SHA256, &body).as_ref());
            list.push(if path.ends_with(".onnx") {
                // The hub lists large files with the hash of the LFS pointer, and the size of the file.
                format!(
                    r#"{{"type":"file","oid":"00","size":{size},"path":"{path}",
                    "lfs":{{"oid":"{sha256}","size":{size},"pointerSize":134}}}}"#
                )
            } else {
                format!(r#"{{"type":"file","oid":"{oid}","size":{size},"path":"{path}"}}"#)
            });
            hub.set(&format!("/immich-app/{NAME}/resolve/main/{path}"), StubResponse::ok(body));
        }
        let tree = format!("/api/models/immich-app/{NAME}/tree/main");
        // The list has two pages; a `Link` header names the second.
        let (first, second) = list.split_at(4);
        let next = format!("Link: <{}{tree}/2>; rel=\"next\"\r\n", hub.address);
        hub.set(
            &tree,
            StubResponse { header: next, ..StubResponse::ok(format!("[{}]", first.join(",")).into_bytes()) },
        );
        hub.set(&format!("{tree}/2"), StubResponse::ok(format!("[{}]", second.join(",")).into_bytes()));
        let responses = hub.responses.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                respond(stream.unwrap(), &responses);
            }
        });
        hub
    }

    fn set(&self, path: &str, response: StubResponse) {
        self.responses.lock().unwrap().insert(path.to_owned(), response);
    }

    fn file(&self, path: &str, change: impl FnOnce(&mut StubResponse)) {
        let path = format!("/immich-app/{NAME}/resolve/main/{path}");
        change(self.responses.lock().unwrap().get_mut(&path).unwrap());
    }

    fn install(&self, instance: &Instance) -> Outcome {
        instance.run(["model", "install", NAME, "--from", &self.address])
    }
}

fn respond(mut stream: TcpStream, responses: &Mutex<BTreeMap<String, StubResponse>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let path = request.split([' ', '?']).nth(1).unwrap_or_default();
    let missing = StubResponse { status: 404, ..StubResponse::ok(b"nothing here".to_vec()) };
    let response = responses.lock().unwrap().get(path).cloned().unwrap_or(missing);
    let head = format!(
        "HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n",
        response.status, response.announced, response.header
    );
    // The client may close the connection early.
    let _ = stream.write_all(&[head.as_bytes(), &response.body].concat());
}

fn installed_models(instance: &Instance) -> Vec<String> {
    let entries = fs::read_dir(instance.data_dir().join("models")).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != ".lock");
    names.sort();
    names
}

#[test]
fn a_model_is_downloaded_used_and_removed() {
    let (hub, instance) = (StubHub::start(), Instance::new());
    // Large files are redirected to another host.
    let weights = fs::read(tiny().join("visual/model.onnx")).unwrap();
    hub.set("/elsewhere/1", StubResponse::redirect("/elsewhere/2?signature=1"));
    hub.set("/elsewhere/2", StubResponse::ok(weights));
    hub.file("visual/model.onnx", |response| {
        *response = StubResponse::redirect(&format!("{}/elsewhere/1", hub.address));
    });

    let installed = hub.install(&instance);
    assert_eq!((installed.code, installed.stderr.as_str()), (Some(0), ""), "{installed:?}");
    assert!(
        installed.stdout.contains("16 dimensions") && installed.stdout.contains("server model use ViT-Tiny")
    );
    assert_eq!(installed_models(&instance), [NAME]);
    for path in ["visual/model.onnx", "textual/tokenizer.json", "config.json"] {
        let copy = fs::read(instance.data_dir().join("models").join(NAME).join(path)).unwrap();
        assert_eq!(copy, fs::read(tiny().join(path)).unwrap(), "{path}");
    }

    let listed = instance.ok(["model", "list"]);
    assert!(listed.contains("built-in") && listed.lines().nth(2).unwrap().ends_with("ok"), "{listed}");
    instance.ok(["model", "use", NAME]);
    assert!(instance.ok(["model", "list"]).lines().nth(2).unwrap().contains("in use"));
    let doctor = instance.ok(["doctor"]);
    assert!(doctor.contains(&format!("ok    vision model: {NAME}@")), "{doctor}");

    let used = instance.run(["model", "remove", NAME]);
    assert!(used.code == Some(1) && used.stderr.contains("in use"), "{used:?}");
    instance.ok(["model", "use", "built-in"]);
    instance.ok(["model", "remove", NAME]);
    assert_eq!(installed_models(&instance), ["in-use"]);
}

#[test]
fn failed_downloads_are_reported_and_removed() {
    let check = |change: &dyn Fn(&StubHub), expected: &str| {
        let (hub, instance) = (StubHub::start(), Instance::new());
        change(&hub);
        let outcome = hub.install(&instance);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{expected}: {outcome:?}");
        assert!(outcome.stderr.contains(expected), "{expected}: {outcome:?}");
        assert_eq!(installed_models(&instance), [""; 0], "{expected}");
    };
    let tree = format!("/api/models/immich-app/{NAME}/tree/main");
    check(
        &|hub| hub.file("visual/model.onnx", |response| response.body[1000] ^= 1),
        "visual/model.onnx does not match the checksum",
    );
    check(
        &|hub| hub.file("config.json", |response| response.body[0] = b' '),
        "config.json does not match the checksum that the hub lists",
    );
    check(
        &|hub| hub.file("visual/model.onnx", |response| response.body.truncate(1000)),
        "visual/model.onnx was interrupted",
    );
    check(
        &|hub| {
            hub.file("textual/model.onnx", |response| {
                *response = StubResponse::ok(response.body[..1000].to_vec());
            });
        },
        "textual/model.onnx has 1000 bytes instead of 2",
    );
    check(
        &|hub| {
            hub.file("textual/tokenizer.json", |response| {
                *response = StubResponse::ok(b"{}{}".repeat(1 << 20));
            });
        },
        "textual/tokenizer.json has ",
    );
    check(
        &|hub| hub.file("config.json", |response| response.status = 404),
        "config.json cannot be downloaded: 404",
    );
    check(&|hub| hub.file("config.json", |response| response.status = 500), "500");
    check(
        &|hub| hub.file("config.json", |response| *response = StubResponse::redirect("/again")),
        "/again cannot be downloaded: 404",
    );
    check(
        &|hub| {
            hub.set("/again", StubResponse::redirect("/again"));
            hub.file("config.json", |response| *response = StubResponse::redirect("/again"));
        },
        "too many redirects",
    );
    check(
        &|hub| hub.file("config.json", |response| *response = StubResponse::redirect("ftp://127.0.0.1/x")),
        "ftp://127.0.0.1/x",
    );
    check(
        &|hub| hub.set(&tree, StubResponse { status: 404, ..StubResponse::ok(Vec::new()) }),
        "has no model ViT-Tiny__random",
    );
    check(&|hub| hub.set(&tree, StubResponse::ok(b"<html>".to_vec())), "is not a list of files");
    check(&|hub| hub.set(&tree, StubResponse::ok(b"[]".to_vec())), "config.json is missing");
    check(&|hub| hub.set(&tree, StubResponse::ok(vec![b' '; 5 << 20])), "longer than");
    check(
        &|hub| {
            let next = "Link: <http://127.0.0.2/>; rel=\"next\"\r\n".to_owned();
            hub.set(&tree, StubResponse { header: next, ..StubResponse::ok(b"[]".to_vec()) });
        },
        "continues on another host",
    );
    check(
        &|hub| {
            let huge = r#"{"type":"file","oid":"0","size":99999999999999,"path":"PATH"}"#;
            let paths =
                ["config.json", "visual/model.onnx", "visual/preprocess_cfg.json", "textual/model.onnx"];
            let more = ["textual/tokenizer.json", "textual/tokenizer_config.json"];
            let items: Vec<_> = paths.iter().chain(&more).map(|path| huge.replace("PATH", path)).collect();
            hub.set(&tree, StubResponse::ok(format!("[{}]", items.join(",")).into_bytes()));
        },
        "more than the maximum of 17179869184",
    );
}

#[test]
fn invalid_hubs_are_reported() {
    let instance = Instance::new();
    let check = |source: &str, expected: &str| {
        let outcome = instance.run(["model", "install", NAME, "--from", source]);
        assert!(outcome.code == Some(1) && outcome.stderr.contains(expected), "{source}: {outcome:?}");
    };
    check("mirror", "must begin with https://");
    check("file:///etc/passwd", "must begin with https://");
    check("https://user:token@127.0.0.1", "reachable without");
    // No server listens on this port.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check(&format!("http://{free}"), "127.0.0.1 cannot be reached");
    check(&format!("https://{free}"), "127.0.0.1 cannot be reached");
    let mut by_variable = instance.command(["model", "install", NAME]);
    let outcome = crate::program::outcome(by_variable.env("PHOTOS_MODEL_SOURCE", "mirror"), "");
    assert!(outcome.stderr.contains("must begin with https://"), "{outcome:?}");
}

#[test]
fn folders_are_installed_unless_broken() {
    let instance = Instance::new();
    let folder = instance.beside("my-model");
    for part in ["visual", "textual"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    for path in files_below(&tiny()) {
        fs::copy(tiny().join(&path), folder.join(&path)).unwrap();
    }
    let path = folder.to_str().unwrap();
    assert!(instance.ok(["model", "install", path]).contains("Installed my-model (1 MB, 16 dimensions)"));
    instance.ok(["model", "use", "my-model"]);
    assert!(instance.ok(["model", "install", path]).contains("It is in use"));

    let installed = instance.data_dir().join("models/my-model/textual/model.onnx");
    fs::write(&installed, "broken").unwrap();
    let listed = instance.ok(["model", "list"]);
    assert!(listed.contains("the file has 6 bytes instead of"), "{listed}");
    let doctor = instance.run(["doctor"]);
    assert!(
        doctor.code == Some(1) && doctor.stdout.contains("FAIL  vision model: my-model is in use"),
        "{doctor:?}"
    );
    assert!(doctor.stdout.contains("server model install my-model"), "{doctor:?}");

    fs::remove_file(folder.join("config.json")).unwrap();
    let refused = instance.run(["model", "install", path]);
    assert!(refused.code == Some(1) && refused.stderr.contains("config.json is missing"), "{refused:?}");
    let absent = instance.run(["model", "install", "./absent"]);
    assert!(absent.code == Some(1) && absent.stderr.contains("no such folder"), "{absent:?}");
    for command in [["model", "use", "absent"], ["model", "remove", "absent"]] {
        let outcome = instance.run(command);
        assert!(
            outcome.code == Some(1) && outcome.stderr.contains("no model absent is installed"),
            "{outcome:?}"
        );
    }
}

#[test]
fn doctor_reports_an_unusable_runtime() {
    let instance = Instance::new();
    let path = tiny();
    instance.ok(["model", "install", path.to_str().unwrap(), "--onnx-runtime", "/nowhere/libonnxruntime.so"]);
    instance.ok(["model", "use", "clip", "--onnx-runtime", "/nowhere/libonnxruntime.so"]);
    let doctor = instance.ok(["doctor", "--onnx-runtime", "/nowhere/libonnxruntime.so"]);
    assert!(doctor.contains("run by tract"), "{doctor}");
    assert!(doctor.contains("ONNX Runtime at /nowhere/libonnxruntime.so can't be used"), "{doctor}");
    assert!(doctor.contains("docs/models.md"), "{doctor}");
}
