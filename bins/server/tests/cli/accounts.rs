use crate::program::{EMAIL, Instance};

#[test]
fn commands_leave_no_wal_files() {
    let instance = Instance::new();
    for plan in ["free", "paid"] {
        instance.ok(["account", "create", &format!("{plan}@example.org"), "--plan", plan]);
        assert_eq!(instance.files_of_store(), ["library.sqlite"]);
    }
}

#[test]
fn accounts_are_created_listed_changed_and_deleted() {
    let instance = Instance::new();
    let created = instance.ok(["account", "create", " Ann@Example.org"]);
    assert!(created.starts_with("Created the account ann@example.org.\n"), "{created}");
    let password = created.lines().last().unwrap().strip_prefix("Password, shown only now: ").unwrap();
    assert_eq!(password.len(), 23, "{created}");
    let free = instance.ok(["account", "create", "bob@example.org", "--plan", "free"]);
    assert!(free.starts_with("Created the account bob@example.org on the free plan.\n"), "{free}");

    let rows = || -> Vec<Vec<String>> {
        let listed = instance.ok(["account", "list"]);
        listed.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let listed = rows();
    assert_eq!(listed[0], ["EMAIL", "PLAN", "SYNC", "CREATED"]);
    assert_eq!(listed[1][..3], [EMAIL, "paid", "no"]);
    assert_eq!(listed[2][..3], ["bob@example.org", "free", "no"]);
    assert!(listed[1][3].ends_with('Z'));

    instance.ok(["account", "set-plan", EMAIL, "free"]);
    assert_eq!(rows()[1][1], "free");
    let changed = instance.ok(["account", "set-password", EMAIL]);
    assert!(changed.contains("Password, shown only now: ") && !changed.contains(password), "{changed}");

    instance.ok(["account", "delete", EMAIL, "--yes"]);
    assert_eq!(rows().len(), 2);
    instance.ok(["account", "create", EMAIL]);
}

#[test]
fn passwords_on_stdin_are_not_shown() {
    let instance = Instance::new();
    let create = ["account", "create", EMAIL, "--password-stdin"];
    let empty = instance.run_with_input(create, "\n");
    assert_eq!((empty.code, empty.stderr.as_str()), (Some(1), "error: the password on stdin is empty\n"));
    let created = instance.run_with_input(create, "correct horse\n");
    assert_eq!(created.code, Some(0), "{created:?}");
    let changed =
        instance.run_with_input(["account", "set-password", EMAIL, "--password-stdin"], "battery staple");
    assert_eq!(changed.code, Some(0), "{changed:?}");
    for outcome in [created, changed] {
        let written = outcome.stdout + &outcome.stderr;
        assert!(!written.contains("horse") && !written.contains("staple"), "{written}");
        assert!(!written.contains("Password"), "{written}");
    }
}

#[test]
fn errors_go_to_stderr() {
    let instance = Instance::with_account();
    let check = |outcome: crate::program::Outcome, code: i32, expect: &str| {
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        assert_eq!(outcome.stdout, "");
        assert!(outcome.stderr.contains(expect), "{outcome:?}");
    };
    check(instance.run(["account", "create", EMAIL]), 1, "There is already an account for ann@example.org");
    check(instance.run(["account", "create", "nobody"]), 2, "email: must be an address");
    check(instance.run(["account", "create", EMAIL, "--plan", "gold"]), 2, "must be free or paid");
    check(
        instance.run(["account", "set-plan", "bob@example.org", "free"]),
        1,
        "There is no account for bob@example.org",
    );
    check(
        instance.run(["account", "set-password", "bob@example.org"]),
        1,
        "There is no account for bob@example.org",
    );
    check(
        instance.run(["account", "delete", "bob@example.org", "--yes"]),
        1,
        "There is no account for bob@example.org",
    );
    check(instance.run(["account", "delete", EMAIL]), 2, "--yes");
    check(instance.run(["account"]), 2, "Usage");
    check(instance.run(["acount", "list"]), 2, "acount");
    assert!(instance.ok(["account", "list"]).contains(EMAIL));
}
