use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    photos,
    program::{EMAIL, Instance},
};

/// A running `import --watch --json`, killed when dropped.
struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    fn start(instance: &Instance, folder: &Path) -> Self {
        let mut command = instance.command(["import", EMAIL, "--json", "--watch", folder.to_str().unwrap()]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next event of a kind.
    fn wait_for(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended before {kind}");
            let event: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if event["event"] == kind {
                return event;
            }
        }
    }

    /// Sends a signal, and returns the exit code and the remaining output.
    fn stop(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_watched_folder_is_kept_in_step_until_a_signal() {
    for (signal, with_server) in [(Signal::TERM, false), (Signal::INT, true)] {
        let instance = Instance::with_account();
        let server = with_server.then(|| instance.serve());
        let folder = instance.beside("photos");
        photos::generate(&folder, 1);
        let mut watching = Watching::start(&instance, &folder);
        assert_eq!(watching.wait_for("imported")["imported"], 1);
        watching.wait_for("in-step");
        photos::generate(&folder.join("new"), 3);
        let mut settled = 0;
        while settled < 3 {
            let event = watching.wait_for("imported");
            assert_eq!(event["folder"], folder.join("new").to_str().unwrap());
            settled += event["imported"].as_u64().unwrap() + event["duplicates"].as_u64().unwrap();
        }
        fs::remove_dir_all(folder.join("new")).unwrap();
        let (code, rest) = watching.stop(signal);
        assert_eq!(code, Some(0), "{rest}");
        assert_eq!(rest, "{\"event\":\"stopped\",\"imported\":3,\"duplicates\":1,\"failed\":0}\n");
        drop(server);
    }
}

#[test]
fn wrong_uses_of_watch_are_explained() {
    let instance = Instance::with_account();
    let absent = instance.beside("absent");
    let absent = absent.to_str().unwrap();
    let both = instance.run(["import", EMAIL, ".", "--watch", absent]);
    assert_eq!(both.code, Some(2), "{both:?}");
    let outcome = instance.run(["import", EMAIL, "--watch", absent]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.starts_with(&format!("error: {absent} cannot be read")), "{outcome:?}");
}
