use crate::program::{outcome, program};

#[test]
fn documents_need_no_library() {
    let folder = tempfile::tempdir().unwrap();
    let print = |arguments: &[&str], columns: &str| {
        let mut command = program();
        command
            .args(arguments)
            .current_dir(folder.path())
            .env("COLUMNS", columns)
            .env("PHOTOS_LISTEN", "bad");
        let outcome = outcome(&mut command, "");
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        outcome.stdout
    };
    let openapi = print(&["openapi"], "80");
    let document: serde_json::Value = serde_json::from_str(&openapi).unwrap();
    assert!(document["openapi"].is_string() && openapi.ends_with("}\n"));

    let manual = print(&["help-markdown"], "40");
    assert_eq!(manual, print(&["help-markdown"], "200"));
    assert!(manual.contains("## `server serve`"), "{manual}");

    let connecting = print(&["connecting-markdown"], "80");
    assert!(connecting.contains("## VS Code\n"), "{connecting}");

    let help = print(&["--help"], "100");
    for command in
        ["serve", "migrate", "account", "key", "signing-key", "import", "mcp-config", "fsck", "doctor"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
    assert!(!help.contains("help-markdown"), "{help}");
    assert!(print(&["import", "--help"], "100").contains("--data-dir"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
