use crate::program::Instance;

#[test]
fn migrations_are_listed_applied_and_reverted() {
    let instance = Instance::new();
    let status = || instance.ok(["migrate", "--status"]);
    let pending = status();
    let names: Vec<&str> = pending.lines().map(|line| line.strip_prefix("pending ").unwrap()).collect();
    assert!(names.first().unwrap().ends_with("_create_library"), "{pending}");

    let applied = instance.ok(["migrate"]);
    assert_eq!(applied, pending.replace("pending ", "applied "));
    assert_eq!(status(), applied);
    assert_eq!(instance.ok(["migrate"]), "nothing to apply\n");

    let last = names.last().unwrap();
    assert_eq!(instance.ok(["migrate", "--revert"]), format!("reverted {last}\n"));
    assert!(status().ends_with(&format!("pending {last}\n")));
    assert_eq!(instance.run(["migrate", "--revert", "--status"]).code, Some(2));
    // Every command applies pending migrations.
    instance.ok(["account", "list"]);
    assert_eq!(status(), applied);
}
