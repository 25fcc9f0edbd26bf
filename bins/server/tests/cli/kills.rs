//! Whatever is killed when, a second run makes the library that an undisturbed one would have made.

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    photos,
    program::{EMAIL, Instance, files_below},
};

/// How often an import is killed; with `PHOTOS_TEST_FULL` set, the second.
const ROUNDS: (u64, u64) = (3, 40);
const GENERATED: u32 = 30;

/// What an import made: its blobs and its images.
#[derive(Debug, PartialEq)]
struct Made {
    blobs: Vec<String>,
    images: Vec<Value>,
}

#[test]
fn a_killed_import_is_completed_by_the_next() {
    let sources = tempfile::tempdir().unwrap();
    write_photos(sources.path());
    let paths = sources.path().to_str().unwrap();

    let undisturbed = Instance::with_account();
    let began = Instant::now();
    undisturbed.ok(["import", EMAIL, paths]);
    let mut duration = began.elapsed();
    let expect = made(&undisturbed);
    assert!(expect.images.len() >= GENERATED as usize);

    let full = std::env::vars_os().any(|(name, value)| name == "PHOTOS_TEST_FULL" && value == "1");
    let rounds = if full { ROUNDS.1 } else { ROUNDS.0 };
    let mut killed = 0;
    for seed in 0..rounds {
        if kill_and_repeat(Beside::Nobody, seed, duration, paths, &expect) {
            killed += 1;
        } else {
            // The first one had a slower machine.
            duration /= 2;
        }
    }
    assert!(killed > 0, "every import was quicker than its killer");
    // Here the jobs of the killed wait for their leases to run out, so there are fewer rounds.
    for seed in 0..rounds.div_ceil(4) {
        kill_and_repeat(Beside::Server, seed, duration, paths, &expect);
    }
}

/// What else uses the library while an import is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Beside {
    Nobody,
    Server,
}

/// Kills an import at a moment that the seed chooses, repeats it, and compares. `false`: it had ended before.
fn kill_and_repeat(beside: Beside, seed: u64, undisturbed: Duration, paths: &str, expect: &Made) -> bool {
    let instance = Instance::with_account();
    let server = (beside == Beside::Server).then(|| instance.serve());
    let mut command = instance.command(["import", EMAIL, paths]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(undisturbed.mul_f64(fraction(seed)));
    child.kill().unwrap();
    let killed = child.wait().unwrap().code().is_none();
    instance.ok(["import", EMAIL, paths]);
    drop(server);
    let made = made(&instance);
    assert_eq!(made.blobs, expect.blobs, "{beside:?}, seed {seed}");
    assert_eq!(made.images, expect.images, "{beside:?}, seed {seed}");
    killed
}

/// A moment between 5 % and 85 % of an import (splitmix64).
fn fraction(seed: u64) -> f64 {
    let mut mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let thousandths = u32::try_from((mixed ^ (mixed >> 31)) % 1000).unwrap();
    0.05 + 0.8 * f64::from(thousandths) / 1000.0
}

/// Photos unlike one another, and the samples; no two of one moment, so that none has to make room for another in
/// whatever order they are indexed.
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

fn made(instance: &Instance) -> Made {
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
    // The server makes full renditions when nothing else waits.
    let deadline = Instant::now() + Duration::from_secs(120);
    while instance.run(["doctor"]).stdout.contains("full renditions wait") {
        assert!(Instant::now() < deadline, "full renditions are not made");
        thread::sleep(Duration::from_millis(200));
    }
    Made { blobs: files_below(&instance.data_dir().join("blobs")), images }
}
