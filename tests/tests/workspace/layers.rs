//! Checks that each crate depends only on crates of lower layers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The allowed dependencies of each crate. Adding one changes the architecture.
const LAYERS: [(&str, &[&str]); 47] = [
    ("domain", &[]),
    ("strict-json", &[]),
    ("https-client", &[]),
    ("mcp-wire", &["strict-json"]),
    ("oauth-core", &["strict-json"]),
    ("client-documents", &["oauth-core", "https-client"]),
    ("keys", &["oauth-core", "strict-json"]),
    ("storage", &["domain", "oauth-core"]),
    ("blobs", &["domain"]),
    ("s3-test-server", &[]),
    ("test-postgres", &[]),
    ("system-library", &[]),
    ("heif", &["system-library"]),
    ("webp-encoder", &[]),
    ("media", &["domain", "heif", "places", "webp-encoder"]),
    ("places", &["words", "domain"]),
    ("dav-protocol", &["domain"]),
    ("words", &[]),
    ("vectors", &[]),
    ("vision", &[]),
    ("tesseract", &["system-library"]),
    ("ocr", &["tesseract"]),
    ("sandbox", &["domain", "media", "ocr"]),
    ("exports", &["domain", "media"]),
    ("clock", &["domain", "storage"]),
    ("threads", &["domain"]),
    ("roles", &["clock", "domain", "storage", "blobs", "keys"]),
    // Each use case has its own crate. Only the crates that need them depend on media formats, the sandbox and vision models.
    ("accounts", &["clock", "threads", "domain", "storage", "keys", "oauth-core"]),
    (
        "indexer",
        &[
            "clock", "threads", "roles", "domain", "storage", "blobs", "keys", "media", "places", "sandbox",
            "vectors", "vision",
        ],
    ),
    (
        "catalogue",
        &[
            "accounts", "indexer", "clock", "threads", "domain", "storage", "blobs", "keys", "places",
            "vectors", "vision", "words",
        ],
    ),
    (
        "ingest",
        &[
            "accounts",
            "catalogue",
            "indexer",
            "roles",
            "clock",
            "domain",
            "storage",
            "blobs",
            "keys",
            "exports",
            "media",
        ],
    ),
    (
        "upkeep",
        &[
            "accounts",
            "catalogue",
            "indexer",
            "ingest",
            "roles",
            "clock",
            "domain",
            "storage",
            "blobs",
            "keys",
        ],
    ),
    // Combines the use cases above for the web crates and the server.
    (
        "library",
        &[
            "accounts",
            "catalogue",
            "indexer",
            "ingest",
            "upkeep",
            "roles",
            "clock",
            "storage",
            "blobs",
            "keys",
        ],
    ),
    ("library-copy", &["domain", "storage", "blobs"]),
    ("library-backup", &["domain", "storage", "blobs", "library-copy"]),
    ("storage-sqlite", &["domain", "storage", "oauth-core", "places", "words"]),
    ("storage-postgres", &["domain", "storage", "oauth-core", "places", "words"]),
    ("storage-conformance", &["domain", "storage", "oauth-core"]),
    ("http-server", &[]),
    ("web-auth", &["http-server", "library", "oauth-core", "client-documents", "keys", "domain"]),
    // The interfaces for programs and the pages for people do not depend on each other.
    (
        "web-api",
        &["http-server", "web-auth", "library", "oauth-core", "mcp-wire", "strict-json", "keys", "domain"],
    ),
    ("web-pages", &["http-server", "web-auth", "library", "oauth-core", "places", "keys", "domain"]),
    ("web-sync", &["dav-protocol", "http-server", "web-auth", "library", "keys", "domain"]),
    (
        "web",
        &[
            "http-server",
            "web-auth",
            "web-api",
            "web-pages",
            "web-sync",
            "library",
            "client-documents",
            "keys",
            "domain",
        ],
    ),
    // The developer tool builds without the other crates, so that it can install what they need.
    ("xtask", &["words"]),
    // These may depend on every crate, and no crate may depend on them.
    ("fuzz", ANYTHING),
    ("server", ANYTHING),
];
const ANYTHING: &[&str] = &["*"];
/// Crates of the top layer. Not even tests of other crates may depend on them.
const TOP: [&str; 9] =
    ["web-auth", "web-api", "web-pages", "web-sync", "web", "server", "tests", "fuzz", "xtask"];

/// Lists forbidden dependencies, and crates without a layer.
fn violations(packages: &[Value]) -> Vec<String> {
    let layers: BTreeMap<&str, &[&str]> = LAYERS.into_iter().chain([("tests", ANYTHING)]).collect();
    let ours: Vec<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let mut wrong = Vec::new();
    for package in packages {
        let from = package["name"].as_str().unwrap();
        let Some(allowed) = layers.get(from) else {
            wrong.push(format!("{from} has no layer"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = dependency["name"].as_str().unwrap();
            let for_tests = dependency["kind"] == "dev";
            let fine = *allowed == ANYTHING
                || (for_tests && !TOP.contains(&to))
                || (!for_tests && allowed.contains(&to));
            if ours.contains(&to) && !fine {
                wrong.push(format!("{from} must not depend on {to}"));
            }
        }
    }
    wrong
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let packages = super::packages();
    assert!(packages.len() > 10, "all packages are listed");
    assert_eq!(violations(&packages), [""; 0]);
}

#[test]
fn a_dependency_on_a_higher_layer_is_found() {
    let package = |name: &str, dependencies: Value| json!({"name": name, "dependencies": dependencies});
    let needs = |name: &str, kind: Value| json!({"name": name, "kind": kind});
    let packages = [
        package("domain", json!([needs("serde", json!(null)), needs("keys", json!("build"))])),
        package("keys", json!([needs("web", json!("dev")), needs("storage-sqlite", json!("dev"))])),
        package("storage-sqlite", json!([needs("library", json!(null))])),
        package("library", json!([needs("storage-sqlite", json!("dev")), needs("web", json!(null))])),
        package("web", json!([needs("library", json!(null)), needs("storage-sqlite", json!(null))])),
        package("server", json!([needs("web", json!(null)), needs("storage-sqlite", json!(null))])),
        package("utils", json!([])),
    ];
    assert_eq!(
        violations(&packages),
        [
            "domain must not depend on keys",
            "keys must not depend on web",
            "storage-sqlite must not depend on library",
            "library must not depend on web",
            "web must not depend on storage-sqlite",
            "utils has no layer",
        ]
    );
}
