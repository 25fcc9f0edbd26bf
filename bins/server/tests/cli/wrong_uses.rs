//! Wrong usage and broken environments: each gives one error message that says what to do.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use rustix::process::{Signal, geteuid};

use crate::program::{EMAIL, Instance, Outcome, Server, outcome, program};

/// Fragments of Rust's debug output, which no message may contain.
const DEBUG_OUTPUT: [&str; 6] = ["os error", "Os {", "kind:", "Error(", "panicked", "RUST_BACKTRACE"];

#[track_caller]
fn check(outcome: &Outcome, expect: &[&str]) {
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{outcome:?}");
    let sentence = outcome.stderr.strip_prefix("error: ").and_then(|rest| rest.strip_suffix('\n'));
    let sentence = sentence.unwrap_or_else(|| panic!("no single error: {outcome:?}"));
    assert!(!sentence.contains('\n'), "{outcome:?}");
    for part in expect {
        assert!(sentence.contains(part), "{part:?} is missing: {outcome:?}");
    }
    for noise in DEBUG_OUTPUT {
        assert!(!sentence.contains(noise), "{noise:?}: {outcome:?}");
    }
}

/// Runs the program with log level `error`.
fn run(instance: &Instance, arguments: &[&str]) -> Outcome {
    outcome(&mut quiet(instance, arguments), "")
}

fn quiet(instance: &Instance, arguments: &[&str]) -> Command {
    let mut command = program();
    command.args(arguments).arg("--data-dir").arg(instance.data_dir());
    command.env("RUST_LOG", "error").env("PHOTOS_OCR_LANGUAGES", "off");
    command
}

const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// The same command without the capabilities that let root bypass file modes.
fn without_privileges(command: &Command) -> Command {
    let mut unprivileged = if geteuid().is_root() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all"]);
        setpriv.arg(command.get_program());
        setpriv
    } else {
        Command::new(command.get_program())
    };
    unprivileged.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => unprivileged.env(name, value),
            None => unprivileged.env_remove(name),
        };
    }
    unprivileged
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_missing_data_folder_is_named_and_not_created() {
    let instance = Instance::without_folder();
    let folder = instance.data_dir();
    let folder = folder.to_str().unwrap();
    for arguments in [
        &["account", "list"][..],
        &["account", "create", EMAIL],
        &["account", "set-plan", EMAIL, "free"],
        &["account", "delete", EMAIL, "--yes"],
        &["key", "list", EMAIL],
        &["key", "create", EMAIL, "--name", "one"],
        &["signing-key", "rotate"],
        &["import", EMAIL, "."],
        &["mcp-config", "cursor", EMAIL],
        &["migrate"],
        &["migrate", "--status"],
        &["model", "list"],
        &["model", "use", "built-in"],
    ] {
        let outcome = run(&instance, arguments);
        check(&outcome, &["There is no folder ", folder, "`server serve`", "--data-dir"]);
        assert!(!instance.data_dir().exists(), "{arguments:?} created the folder");
    }
    // A relative path is shown as an absolute one.
    let mut command = program();
    command.args(["account", "list"]).current_dir(instance.beside(""));
    let relative = outcome(&mut command, "");
    check(&relative, &[instance.beside("data").to_str().unwrap()]);
    assert!(!instance.beside("data").exists());
}

#[test]
fn a_folder_without_a_library_is_named() {
    let instance = Instance::new();
    let folder = instance.data_dir();
    let expect = ["There is no library in ", folder.to_str().unwrap(), "`server serve`", "--data-dir"];
    for arguments in [
        &["account", "list"][..],
        &["key", "list", EMAIL],
        &["signing-key", "rotate"],
        &["import", EMAIL, "."],
        &["mcp-config", "cursor", EMAIL],
    ] {
        check(&run(&instance, arguments), &expect);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{arguments:?}");
    }
    // `account create` creates a library in an empty folder.
    instance.ok(["account", "create", EMAIL]);
    assert!(instance.ok(["account", "list"]).contains(EMAIL));
}

#[test]
fn serve_creates_the_folder() {
    let instance = Instance::without_folder();
    drop(instance.serve());
    assert!(instance.data_dir().is_dir());
}

#[test]
fn a_port_in_use() {
    let instance = Instance::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let outcome = run(&instance, &["serve", "--listen", &format!("127.0.0.1:{port}")]);
    check(&outcome, &[&format!("Port {port} is in use; choose another with --listen")]);
}

#[test]
fn a_second_server_on_the_same_folder() {
    let instance = Instance::with_account();
    let first = instance.serve();
    let pid = first.id();
    let same_port = run(&instance, &["serve", "--listen", &first.address]);
    let port = first.address.rsplit(':').next().unwrap();
    check(&same_port, &[&format!("Port {port} is in use"), &format!("process {pid}"), "already serves"]);

    let second = Server::start(&mut instance.command(SERVE));
    assert_eq!(second.get("/readyz", "").status, 200);
    let (_, _, _, stderr) = second.stop(Signal::TERM);
    assert!(stderr.contains("already serves") && stderr.contains(&pid.to_string()), "{stderr}");

    // The operating system releases the lock of a killed process.
    first.stop(Signal::KILL);
    let (_, _, _, stderr) = instance.serve().stop(Signal::TERM);
    assert!(!stderr.contains("already serves"), "{stderr}");
}

#[test]
fn addresses_that_cannot_be_listened_on() {
    let instance = Instance::new();
    let serve = |listen: &str| run(&instance, &["serve", "--listen", listen]);
    check(&serve("nowhere.invalid:8080"), &["nowhere.invalid", "--listen"]);
    // TEST-NET-3 is reserved for documentation (RFC 5737).
    check(&serve("203.0.113.7:8080"), &["203.0.113.7", "is not an address of this machine", "--listen"]);
    for wrong in ["8080", "localhost", ":8080", "127.0.0.1:99999", "http://localhost:8080"] {
        let outcome = serve(wrong);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("such as 127.0.0.1:8080 or localhost:8080"), "{outcome:?}");
    }
}

#[test]
fn a_data_folder_that_is_a_file() {
    let instance = Instance::without_folder();
    fs::write(instance.data_dir(), "not a folder").unwrap();
    let expect =
        [instance.data_dir().to_str().unwrap().to_owned(), " is not a folder".into(), "--data-dir".into()];
    let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
    for arguments in
        [&SERVE[..], &["account", "list"], &["account", "create", EMAIL], &["import", EMAIL, "."]]
    {
        check(&run(&instance, arguments), &expect);
    }
}

#[test]
fn a_data_folder_without_permission() {
    let instance = Instance::new();
    let folder = instance.data_dir();
    // A folder of another user is at most readable.
    set_mode(&folder, 0o500);
    for arguments in [&SERVE[..], &["account", "create", EMAIL]] {
        let outcome = outcome(&mut without_privileges(&quiet(&instance, arguments)), "");
        check(&outcome, &[folder.to_str().unwrap(), "permission", "chown"]);
    }
    set_mode(&folder, 0o000);
    let listed = outcome(&mut without_privileges(&quiet(&instance, &["account", "list"])), "");
    check(&listed, &[folder.to_str().unwrap(), "permission"]);
    set_mode(&folder, 0o700);
    // The parent folder is not writable.
    let above = Instance::without_folder();
    set_mode(&above.beside(""), 0o500);
    let outcome = outcome(&mut without_privileges(&quiet(&above, &SERVE)), "");
    check(&outcome, &[above.data_dir().to_str().unwrap(), "permission"]);
    set_mode(&above.beside(""), 0o700);
}

#[test]
fn no_room_on_the_disk() {
    let instance = Instance::new();
    let quiet = quiet(&instance, &SERVE);
    // A limit on the file size makes writes fail as on a full disk.
    let mut small = Command::new("sh");
    small
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(quiet.get_program())
        .args(quiet.get_args());
    small.env("RUST_LOG", "error").env("PHOTOS_OCR_LANGUAGES", "off");
    check(&outcome(&mut small, ""), &["free space"]);
    assert!(instance.run(["account", "create", EMAIL]).code == Some(0), "it works with free space");
}

#[test]
fn a_damaged_database() {
    let instance = Instance::with_account();
    fs::write(instance.data_dir().join("library.sqlite"), "this is no database, whatever its name").unwrap();
    for arguments in [&SERVE[..], &["account", "list"], &["import", EMAIL, "."]] {
        check(&run(&instance, arguments), &["library.sqlite", "damaged", "backup"]);
    }
}

#[test]
fn secrets_that_cannot_be_used() {
    let instance = Instance::with_account();
    let serve = |variable: &str, value: &str| outcome(quiet(&instance, &SERVE).env(variable, value), "");
    let nowhere = instance.beside("nowhere/secret");
    let missing = serve("PHOTOS_SECRET_FILE", nowhere.to_str().unwrap());
    check(&missing, &[nowhere.parent().unwrap().to_str().unwrap(), "There is no folder", "--secret-file"]);
    let folder = serve("PHOTOS_SECRET_FILE", instance.data_dir().to_str().unwrap());
    check(&folder, &["is a folder", "--secret-file"]);

    let short = instance.beside("short");
    fs::write(&short, "short\n").unwrap();
    set_mode(&short, 0o600);
    let short = serve("PHOTOS_SECRET_FILE", short.to_str().unwrap());
    check(&short, &["at least 32 characters"]);
}

#[test]
fn short_passwords_are_refused_as_on_the_web() {
    let instance = Instance::with_account();
    for arguments in [
        ["account", "create", "bob@example.org", "--password-stdin"],
        ["account", "set-password", EMAIL, "--password-stdin"],
    ] {
        for short in ["123456789", "qq", "    spaces    "] {
            let outcome = outcome(&mut quiet(&instance, &arguments), &format!("{short}\n"));
            check(&outcome, &["The password must have at least 10 characters."]);
            assert!(!outcome.stderr.contains(short), "{outcome:?}");
        }
    }
    assert!(!instance.ok(["account", "list"]).contains("bob@"));
    let outcome =
        instance.run_with_input(["account", "set-password", EMAIL, "--password-stdin"], "äöüäöüäöüä\n");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn unknown_accounts_and_keys() {
    let instance = Instance::with_account();
    for arguments in [
        &["key", "create", "bob@example.org", "--name", "one"][..],
        &["account", "set-plan", "bob@example.org", "free"],
        &["import", "bob@example.org", "."],
        &["mcp-config", "cursor", "bob@example.org"],
    ] {
        let expect = format!(
            "There is no account for bob@example.org in {}. `server account list` shows the accounts",
            instance.data_dir().display()
        );
        check(&run(&instance, arguments), &[&expect]);
    }
    let expect = format!("There is no active key named one. `server key list {EMAIL}` shows the keys");
    check(&run(&instance, &["key", "revoke", EMAIL, "one"]), &[&expect]);
}

#[test]
fn a_closed_pipe_causes_no_panic() {
    let instance = Instance::with_account();
    let mut child =
        quiet(&instance, &["account", "list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
}
