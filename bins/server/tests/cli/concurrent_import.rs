//! Imports while a server runs: only one process decodes, so both share one memory budget.
#![cfg(target_os = "linux")]

use std::{
    fs,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    photos,
    program::{EMAIL, Instance},
};

pub(crate) const PHOTOS: u32 = 40;

/// The IDs of the running child processes.
pub(crate) fn children_of(process: u32) -> Vec<u32> {
    let parent_of = |id: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let processes = fs::read_dir("/proc").unwrap();
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id| parent_of(*id) == Some(process)).collect()
}

pub(crate) fn start_import(instance: &Instance) -> Child {
    let folder = instance.beside("photos");
    photos::generate(&folder, PHOTOS);
    let mut command = instance.command(["import", EMAIL, folder.to_str().unwrap()]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

pub(crate) fn image_count(instance: &Instance) -> u64 {
    let key = instance.create_key("test");
    let server = instance.serve();
    let library = server.get("/api/ext/v2/library", &key);
    library.body["result"]["totalImages"].as_u64().unwrap()
}

#[test]
fn the_server_decodes_for_an_import() {
    let instance = Instance::with_account();
    let server = instance.serve();
    let mut import = start_import(&instance);
    let mut decoded_by_server = false;
    let status = loop {
        assert!(children_of(import.id()).is_empty(), "the import started decoders");
        decoded_by_server |= !children_of(server.id()).is_empty();
        if let Some(status) = import.try_wait().unwrap() {
            break status;
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(0));
    assert!(decoded_by_server);
    drop(server);
    assert_eq!(image_count(&instance), u64::from(PHOTOS));
}

#[test]
fn an_import_continues_when_the_server_is_killed() {
    let instance = Instance::with_account();
    let server = instance.serve();
    let mut import = start_import(&instance);
    while children_of(server.id()).is_empty() {
        assert_eq!(import.try_wait().unwrap(), None, "the import ended before the server decoded");
        thread::sleep(Duration::from_millis(5));
    }
    server.stop(Signal::KILL);
    assert_eq!(import.wait().unwrap().code(), Some(0));
    assert_eq!(image_count(&instance), u64::from(PHOTOS));
}

#[test]
fn a_server_takes_over_from_a_running_import() {
    let instance = Instance::with_account();
    let mut import = start_import(&instance);
    while children_of(import.id()).is_empty() {
        assert_eq!(import.try_wait().unwrap(), None, "the import ended before it decoded");
        thread::sleep(Duration::from_millis(5));
    }
    let server = instance.serve();
    assert_eq!(import.wait().unwrap().code(), Some(0));
    drop(server);
    assert_eq!(image_count(&instance), u64::from(PHOTOS));
}
