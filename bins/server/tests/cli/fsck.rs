use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    photos,
    program::{EMAIL, Instance, Outcome, files_below},
};

fn imported(number: u32) -> Instance {
    let instance = Instance::with_account();
    let folder = instance.beside("photos");
    photos::generate(&folder, number);
    instance.ok(["import", EMAIL, folder.to_str().unwrap()]);
    instance
}

/// Every file of a kind of blobs.
fn blobs(instance: &Instance, kind: &str) -> Vec<PathBuf> {
    let folder = instance.data_dir().join("blobs").join(kind);
    files_below(&folder).into_iter().map(|name| folder.join(name)).collect()
}

fn report(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

#[test]
fn a_sound_library_passes_beside_a_server() {
    let instance = imported(2);
    let server = instance.serve();
    let text = instance.ok(["fsck", "--checksums"]);
    assert!(text.starts_with("checked: ") && text.ends_with("Everything agrees.\n"), "{text}");
    let outcome = instance.run(["fsck", "--json"]);
    assert_eq!((outcome.code, report(&outcome)["findings"].clone()), (Some(0), json!([])));
    drop(server);
}

#[test]
fn lost_renditions_are_made_again_with_and_without_a_server() {
    let instance = imported(2);
    for with_server in [false, true] {
        let server = with_server.then(|| instance.serve());
        let thumbs_and_mediums = blobs(&instance, "renditions");
        thumbs_and_mediums.iter().for_each(|path| fs::remove_file(path).unwrap());
        let found = instance.run(["fsck"]);
        assert_eq!(found.code, Some(1), "{found:?}");
        assert!(found.stdout.contains("photo-000.jpg") && found.stdout.contains("--repair"), "{found:?}");
        let repaired = instance.run(["fsck", "--repair", "--json"]);
        let report = report(&repaired);
        assert_eq!((repaired.code, &report["left"]), (Some(0), &json!(0)), "{repaired:?}");
        assert_eq!(report["findings"][0]["kind"], "lost-rendition");
        assert!(instance.ok(["fsck", "--checksums"]).ends_with("Everything agrees.\n"));
        drop(server);
    }
}

#[test]
fn a_lost_original_is_healed_by_the_same_file() {
    let instance = imported(1);
    fs::remove_file(&blobs(&instance, "originals")[0]).unwrap();
    let left = instance.run(["fsck", "--repair"]);
    assert_eq!(left.code, Some(1), "{left:?}");
    assert!(left.stdout.contains(&format!("{EMAIL}: photo-000.jpg")), "{left:?}");
    let photo = instance.beside("photos/photo-000.jpg");
    instance.ok(["import", EMAIL, photo.to_str().unwrap()]);
    assert!(instance.ok(["fsck", "--checksums"]).ends_with("Everything agrees.\n"));
}
