use crate::program::{EMAIL, Instance, Outcome};

#[test]
fn keys_are_created_listed_and_revoked() {
    let instance = Instance::with_account();
    let created = instance.ok(["key", "create", EMAIL, "--name", "my phone"]);
    let key = created.lines().last().unwrap();
    assert!(key.starts_with("photos_") && !key.contains(' ') && created.ends_with('\n'), "{created}");

    let listed = instance.ok(["key", "list", EMAIL]);
    assert!(listed.starts_with("NAME"), "{listed}");
    assert!(listed.contains("my phone") && !listed.contains(key), "{listed}");

    assert_eq!(
        instance.ok(["key", "revoke", EMAIL, "my phone"]),
        format!("Revoked the key my phone of {EMAIL}.\n")
    );
    let revoked = instance.ok(["key", "list", EMAIL]);
    assert_eq!(revoked.lines().count(), 2, "{revoked}");
    assert!(!revoked.lines().last().unwrap().ends_with('-'), "{revoked}");
    instance.ok(["key", "create", EMAIL, "--name", "my phone"]);
}

#[test]
fn errors_go_to_stderr() {
    let instance = Instance::with_account();
    instance.create_key("one");
    let check = |outcome: Outcome, code: i32, expect: &str| {
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{outcome:?}");
        assert!(outcome.stderr.contains(expect), "{outcome:?}");
    };
    check(instance.run(["key", "create", EMAIL, "--name", "one"]), 1, "already a key of this name");
    check(instance.run(["key", "create", EMAIL, "--name", " "]), 2, "1 to 100 characters");
    check(instance.run(["key", "create", EMAIL]), 2, "--name");
    check(
        instance.run(["key", "create", "bob@example.org", "--name", "one"]),
        1,
        "There is no account for bob@example.org",
    );
    check(instance.run(["key", "list", "bob@example.org"]), 1, "There is no account for bob@example.org");
    check(instance.run(["key", "revoke", EMAIL, "two"]), 1, "There is no active key named two");
}
