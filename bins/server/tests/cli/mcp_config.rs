use crate::program::{EMAIL, Instance, Outcome};

#[test]
fn every_app_has_instructions() {
    let instance = Instance::with_account();
    for (app, expect) in [
        ("claude", "Add custom connector"),
        ("claude-desktop", "claude_desktop_config.json"),
        ("claude-code", "\nclaude mcp add --transport http photos http://127.0.0.1:8080/api/mcp/v1\n"),
        ("chatgpt", "developer mode"),
        ("vscode", ".vscode/mcp.json"),
        ("cursor", "~/.cursor/mcp.json"),
        ("inspector", "npx @modelcontextprotocol/inspector"),
    ] {
        let text = instance.ok(["mcp-config", app, EMAIL]);
        for words in [expect, "http://127.0.0.1:8080/api/mcp/v1", "Sign in as ann@example.org.", "Bearer KEY"]
        {
            assert!(text.contains(words), "{app}: {words} is missing in {text}");
        }
        assert_eq!(text.contains("Warning: "), ["claude", "chatgpt"].contains(&app), "{text}");
    }
    assert!(instance.ok(["key", "list", EMAIL]).lines().count() == 1, "no key is created");
}

#[test]
fn only_snippet_prints_the_file_content() {
    let instance = Instance::with_account();
    let base_url = "https://photos.example.org";
    let arguments = ["mcp-config", "vscode", EMAIL, "--only-snippet", "--base-url", base_url];
    let expect = serde_json::json!({
        "servers": { "photos": { "type": "http", "url": "https://photos.example.org/api/mcp/v1" } }
    });
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(read(&instance.ok(arguments)), expect);
    let outcome = crate::program::outcome(
        instance.command(["mcp-config", "vscode", EMAIL, "--only-snippet"]).env("PHOTOS_BASE_URL", base_url),
        "",
    );
    assert_eq!(read(&outcome.stdout), expect, "{outcome:?}");
    assert_eq!(outcome.stderr, "");
    let default = instance.run(["mcp-config", "vscode", EMAIL, "--only-snippet"]);
    let expect =
        "Using the default base URL http://127.0.0.1:8080. If `serve` uses another one, set --base-url\n";
    assert_eq!((default.code, default.stderr.as_str()), (Some(0), expect));
    read(&default.stdout);
    let claude = instance.ok(["mcp-config", "claude", EMAIL, "--base-url", base_url]);
    assert!(!claude.contains("Warning: "), "{claude}");
}

#[test]
fn errors_go_to_stderr() {
    let instance = Instance::with_account();
    let check = |outcome: Outcome, code: i32, expect: &str| {
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{outcome:?}");
        assert!(outcome.stderr.contains(expect), "{outcome:?}");
    };
    check(
        instance.run(["mcp-config", "vscode", "bob@example.org"]),
        1,
        "There is no account for bob@example.org",
    );
    check(instance.run(["mcp-config", "emacs", EMAIL]), 2, "claude-code");
    check(instance.run(["mcp-config", "vscode"]), 2, "EMAIL");
    check(instance.run(["mcp-config", "vscode", EMAIL, "--base-url", "photos"]), 2, "base-url");
}

#[test]
fn the_registry_entry_needs_no_account() {
    let instance = Instance::new();
    let entry = instance.ok(["mcp-config", "registry", "--base-url", "https://photos.example.org"]);
    let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
    assert_eq!(entry["name"], "org.example.photos/photo-library");
    assert_eq!(entry["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(entry["remotes"][0]["variables"]["host"]["default"], "photos.example.org");
    let default = instance.run(["mcp-config", "registry"]);
    assert_eq!(default.code, Some(0), "{default:?}");
    assert!(default.stderr.starts_with("Using the default base URL "), "{default:?}");
    assert!(std::fs::read_dir(instance.data_dir()).map_or(0, Iterator::count) == 0, "nothing is created");
}
