//! `server worker` beside `server serve` on one data folder.
#![cfg(target_os = "linux")]

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    concurrent_import::{PHOTOS, children_of, image_count, start_import},
    program::{EMAIL, Instance, Server},
};

/// A running worker, killed when dropped.
struct Worker(Child);

impl Worker {
    /// Starts a worker and waits until it is ready.
    fn start(instance: &Instance) -> Self {
        let mut command = instance.command(["worker"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let worker = Self(child);
        assert_eq!(line, "waiting for photos to index\n");
        worker
    }

    fn is_decoding(&self) -> bool {
        !children_of(self.0.id()).is_empty()
    }

    /// Sends a signal and returns the exit code; `None` after a kill.
    fn stop(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
        self.0.wait().unwrap().code()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the worker decodes photos of an import.
fn wait_until_decoding(worker: &Worker, import: &mut Child) {
    while !worker.is_decoding() {
        assert_eq!(import.try_wait().unwrap(), None, "the import ended before the worker decoded");
        thread::sleep(Duration::from_millis(5));
    }
}

fn finish(mut import: Child, server: Server, instance: &Instance) {
    assert_eq!(import.wait().unwrap().code(), Some(0));
    drop(server);
    assert_eq!(image_count(instance), u64::from(PHOTOS));
}

#[test]
fn a_worker_indexes_instead_of_the_server_until_it_is_stopped() {
    let instance = Instance::with_account();
    let worker = Worker::start(&instance);
    let server = instance.serve();
    let mut import = start_import(&instance);
    wait_until_decoding(&worker, &mut import);
    assert!(children_of(server.id()).is_empty(), "one process of a machine decodes");
    assert_eq!(worker.stop(Signal::TERM), Some(0));
    // The server indexes what is left.
    finish(import, server, &instance);
}

#[test]
fn the_photos_of_a_killed_worker_are_indexed_by_the_server() {
    let instance = Instance::with_account();
    let worker = Worker::start(&instance);
    let server = instance.serve();
    let mut import = start_import(&instance);
    wait_until_decoding(&worker, &mut import);
    assert_eq!(worker.stop(Signal::KILL), None);
    finish(import, server, &instance);
    assert!(instance.ok(["fsck"]).contains("Everything agrees."));
}

#[test]
fn a_worker_takes_over_from_a_running_server() {
    let instance = Instance::with_account();
    let server = instance.serve();
    let worker = Worker::start(&instance);
    // The server notices the worker within seconds. Until then it may index the photos itself.
    for round in 0.. {
        assert!(round < 50, "the worker never took over");
        let folder = instance.beside(&format!("photos-{round}"));
        crate::photos::generate_from(&folder, 100 * (round + 1), 5);
        instance.ok(["import", EMAIL, folder.to_str().unwrap()]);
        if worker.is_decoding() {
            break;
        }
    }
    assert!(children_of(server.id()).is_empty(), "the server stopped its decoders");
}

#[test]
fn a_worker_needs_a_library() {
    let outcome = Instance::new().run(["worker"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("There is no library"), "{outcome:?}");
}

#[test]
fn a_worker_needs_no_secret_and_makes_none() {
    let instance = Instance::with_account();
    let secret = instance.data_dir().join("secret");
    assert!(!secret.exists());
    let worker = Worker::start(&instance);
    assert_eq!(worker.stop(Signal::TERM), Some(0));
    assert!(!secret.exists());
}
