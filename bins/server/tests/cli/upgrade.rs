//! The data folder of an earlier version. `fixtures/README.md` says how it was made.

use std::{fs, path::Path};

use rustix::process::Signal;

use crate::{
    http,
    program::{EMAIL, Instance, files_below},
};

const KEY: &str = "photos_3ulb4xxnwcl7ez3dsx3vfirlkbeqapeb";
/// The last migration of that version.
const LAST: &str = "2026-11-23-000002_library_state";

fn earlier_version() -> Instance {
    let instance = Instance::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/earlier-version");
    for name in files_below(&from) {
        let to = instance.data_dir().join(&name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from.join(&name), to).unwrap();
    }
    instance
}

#[test]
fn a_library_of_an_earlier_version_keeps_everything() {
    let instance = earlier_version();
    let status = instance.ok(["migrate", "--status"]);
    let (applied, pending): (Vec<&str>, Vec<&str>) =
        status.lines().partition(|line| line.starts_with("applied "));
    assert!(applied.last().unwrap().ends_with(LAST) && pending.len() >= 5, "{status}");

    let server = instance.serve();
    let get = |path: &str| {
        let response = server.get(path, KEY);
        assert_eq!(response.status, 200, "{path}: {response:?}");
        response.body
    };
    // The fourth photo is deleted.
    let images = get("/api/ext/v2/images?limit=10");
    let ids: Vec<&str> =
        images["results"].as_array().unwrap().iter().map(|image| image["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3, "{images}");
    for id in &ids {
        let image = get(&format!("/api/ext/v2/images/{id}"));
        for (name, url) in image["result"]["renditions"].as_object().unwrap() {
            let path = url.as_str().unwrap().split_once(&server.address).unwrap().1;
            assert_eq!(http::status(&server.address, path), 200, "{id}: {name}");
        }
    }
    let albums = get("/api/ext/v2/albums");
    let album = &albums["results"][0];
    assert_eq!(album["title"], "Walks", "{albums}");
    let path = format!("/api/ext/v2/search?albumId={}", album["id"].as_str().unwrap());
    assert_eq!(get(&path)["results"].as_array().unwrap().len(), 1);
    for query in
        ["query=cyclamen", "query=green&channels=image", "latitude=39&longitude=-108&radiusMeters=50000"]
    {
        let found = get(&format!("/api/ext/v2/search?{query}"));
        assert!(!found["results"].as_array().unwrap().is_empty(), "{query}: {found}");
    }
    let (_, _, _, log) = server.stop(Signal::TERM);
    assert!(!log.contains("ERROR"), "{log}");

    assert!(instance.ok(["fsck", "--checksums"]).ends_with("Everything agrees.\n"));
    let samples = crate::photos::samples();
    let again = instance.ok(["import", EMAIL, samples.join("cyclamen.jpg").to_str().unwrap(), "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&again["imported"], &again["duplicates"]), (&0.into(), &1.into()), "{again}");
}

#[test]
fn the_earlier_version_can_be_used_again_after_its_migrations_are_reverted() {
    let instance = earlier_version();
    let before = instance.ok(["migrate", "--status"]);
    let pending = before.lines().filter(|line| line.starts_with("pending ")).count();
    instance.ok(["account", "list"]);
    for _ in 0..pending {
        instance.ok(["migrate", "--revert"]);
    }
    assert_eq!(instance.ok(["migrate", "--status"]), before);
    assert!(instance.ok(["fsck"]).ends_with("Everything agrees.\n"));
}
