use crate::program::{Instance, outcome};

/// The name on the last line, alone.
fn name(report: &str) -> String {
    let name = report.lines().last().unwrap();
    assert!(report.ends_with('\n') && name.len() == 43 && !name.contains(' '), "{report}");
    name.to_owned()
}

#[test]
fn a_key_is_replaced_beside_a_running_server() {
    let instance = Instance::new();
    let first = name(&instance.ok(["signing-key", "rotate"]));
    let server = instance.serve();
    let second = name(&instance.ok(["signing-key", "rotate"]));
    assert_ne!(first, second);
    assert_eq!(server.get("/readyz", "").status, 200);
    assert_ne!(name(&instance.ok(["signing-key", "rotate"])), second);
}

#[test]
fn with_another_secret_nothing_is_replaced_unless_the_first_is_lost() {
    let instance = Instance::new();
    instance.ok(["signing-key", "rotate"]);
    let with_another = |arguments: [&str; 2], more: &[&str]| {
        let mut command = instance.command(arguments);
        outcome(command.args(more).env("PHOTOS_SECRET", "another secret of many characters"), "")
    };
    let refused = with_another(["signing-key", "rotate"], &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    for part in ["differs from the one that the key was sealed with", "--lost-secret"] {
        assert!(refused.stderr.contains(part), "{refused:?}");
    }
    instance.ok(["signing-key", "rotate"]);
    let replaced = with_another(["signing-key", "rotate"], &["--lost-secret"]);
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    name(&replaced.stdout);
    assert_eq!(with_another(["signing-key", "rotate"], &[]).code, Some(0));
    assert_eq!(instance.run(["signing-key"]).code, Some(2));
}
