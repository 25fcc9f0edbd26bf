//! An import killed at any moment and then repeated gives the same library as an uninterrupted one.

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::Value;

use crate::{
    photos,
    program::{EMAIL, Instance, files_below},
};

/// How often an import is killed.
const ROUNDS: u64 = 3;
/// The same with `PHOTOS_TEST_FULL=1`.
const FULL_ROUNDS: u64 = 40;
const GENERATED: u32 = 30;

/// The contents of a library.
#[derive(Debug, PartialEq)]
struct Contents {
    blobs: Vec<String>,
    images: Vec<Value>,
}

#[test]
fn a_killed_import_is_completed_by_the_next() {
    let sources = tempfile::tempdir().unwrap();
    write_photos(sources.path());
    let paths = sources.path().to_str().unwrap();

    let uninterrupted = Instance::with_account();
    let began = Instant::now();
    uninterrupted.ok(["import", EMAIL, paths]);
    let mut duration = began.elapsed();
    let expect = contents(&uninterrupted);
    assert!(expect.images.len() >= GENERATED as usize);

    let full = std::env::vars_os().any(|(name, value)| name == "PHOTOS_TEST_FULL" && value == "1");
    let rounds = if full { FULL_ROUNDS } else { ROUNDS };
    let mut killed = 0;
    for seed in 0..rounds {
        if kill_and_repeat(Concurrent::Nothing, seed, duration, paths, &expect) {
            killed += 1;
        } else {
            // The import was faster than the measured one; kill the next ones earlier.
            duration /= 2;
        }
    }
    assert!(killed > 0, "every import ended before it was killed");
    // Fewer rounds, because the jobs of the killed import wait until their leases expire.
    for seed in 0..rounds.div_ceil(4) {
        kill_and_repeat(Concurrent::Server, seed, duration, paths, &expect);
    }
}

/// What runs at the same time as the import.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Concurrent {
    Nothing,
    Server,
}

/// Kills an import at a time chosen by the seed, repeats it, and compares the library. Returns `false` if the import
/// ended before it was killed.
fn kill_and_repeat(
    concurrent: Concurrent,
    seed: u64,
    uninterrupted: Duration,
    paths: &str,
    expect: &Contents,
) -> bool {
    let instance = Instance::with_account();
    let server = (concurrent == Concurrent::Server).then(|| instance.serve());
    let mut command = instance.command(["import", EMAIL, paths]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(uninterrupted.mul_f64(0.05 + 0.8 * Rng::with_seed(seed).f64()));
    child.kill().unwrap();
    let killed = child.wait().unwrap().code().is_none();
    instance.ok(["import", EMAIL, paths]);
    drop(server);
    let contents = contents(&instance);
    assert_eq!(contents.blobs, expect.blobs, "{concurrent:?}, seed {seed}");
    assert_eq!(contents.images, expect.images, "{concurrent:?}, seed {seed}");
    killed
}

/// Writes generated photos and the samples. All capture times differ: equal ones would be moved apart, depending on the
/// order of indexing.
fn write_photos(folder: &Path) {
    photos::generate(&folder.join("generated"), GENERATED);
    let samples = photos::samples();
    for (index, name) in (GENERATED..).zip(files_below(&samples)) {
        let copy = folder.join("samples").join(&name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(samples.join(&name), &copy).unwrap();
        photos::set_modified(&copy, index);
    }
}

fn contents(instance: &Instance) -> Contents {
    let key = instance.create_key("test");
    let server = instance.serve();
    let response = server.get("/api/ext/v2/images?limit=100", &key);
    assert_eq!(response.status, 200, "{response:?}");
    let mut images = response.body["results"].as_array().unwrap().clone();
    for image in &mut images {
        let image = image.as_object_mut().unwrap();
        for differs in ["id", "addedAt", "url", "renditions"] {
            assert!(image.remove(differs).is_some(), "{differs}");
        }
    }
    // The server makes full renditions when it is idle.
    let deadline = Instant::now() + Duration::from_secs(120);
    while instance.run(["doctor"]).stdout.contains("full renditions and") {
        assert!(Instant::now() < deadline, "full renditions are missing");
        thread::sleep(Duration::from_millis(200));
    }
    Contents { blobs: files_below(&instance.data_dir().join("blobs")), images }
}
