//! Tests the installation and selection of models.

use std::{fs, path::Path};

use tempfile::TempDir;
use vision::{
    clip::{Options, Runtime},
    models::{ActiveModel, BUILT_IN, Models},
};

use crate::support::TestModel;

fn options() -> Options {
    Options { runtime: Runtime::Tract, ..Options::default() }
}

fn models() -> (TempDir, Models) {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::new(folder.path().join("models"));
    (folder, models)
}

/// The entries of the folder, except the lock.
fn entries(models: &Models) -> Vec<String> {
    let found = fs::read_dir(models.folder()).into_iter().flatten();
    let mut names: Vec<_> = found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != ".lock");
    names.sort();
    names
}

fn install(models: &Models, source: &Path) -> Result<vision::models::InstalledModel, String> {
    models.install_folder(source, None, &options(), &mut |_, _, _| {}).map_err(|error| error.to_string())
}

#[test]
fn model_is_installed_selected_and_removed() {
    let (_folder, models) = models();
    assert_eq!(models.active_model().unwrap(), ActiveModel::BuiltIn);
    assert_eq!(models.list().unwrap(), []);

    let source = TestModel::new("clip");
    let mut copied = Vec::new();
    let progress = &mut |path: &str, done: u64, of: u64| copied.push((path.to_owned(), done == of));
    let installed = models.install_folder(source.folder(), None, &options(), progress).unwrap();
    assert_eq!((installed.name.as_str(), installed.dimensions, installed.in_use), ("clip", Some(16), false));
    assert!(installed.bytes > 300_000 && installed.problem.is_none());
    assert!(copied.contains(&("visual/model.onnx".to_owned(), true)));
    // The source is unchanged.
    assert!(!source.folder().join("manifest.json").exists());

    models.choose("clip", &options()).unwrap();
    let in_use = models.active_model().unwrap();
    assert!(
        matches!(&in_use, ActiveModel::Model { name, installed: Some(_) } if name == "clip"),
        "{in_use:?}"
    );
    assert_eq!(models.active_model().unwrap(), in_use);
    assert!(models.list().unwrap()[0].in_use);
    let error = models.remove("clip").unwrap_err().to_string();
    assert!(error.contains("in use"), "{error}");

    models.choose(BUILT_IN, &options()).unwrap();
    assert_eq!(models.active_model().unwrap(), ActiveModel::BuiltIn);
    models.remove("clip").unwrap();
    assert_eq!(entries(&models), ["in-use"]);
    assert!(models.remove("clip").unwrap_err().to_string().contains("no model clip"));
}

#[test]
fn failed_installation_leaves_nothing() {
    let (_folder, models) = models();
    let source = TestModel::new("clip");
    let weights = fs::read(source.folder().join("visual/model.onnx")).unwrap();
    fs::write(source.folder().join("visual/model.onnx"), &weights[..weights.len() / 2]).unwrap();
    let error = install(&models, source.folder()).unwrap_err();
    assert!(error.contains("clip/visual/model.onnx") && !error.contains(".installing"), "{error}");
    assert_eq!(entries(&models), [""; 0]);
    fs::remove_file(source.folder().join("textual/tokenizer.json")).unwrap();
    let error = install(&models, source.folder()).unwrap_err();
    assert!(error.contains("textual/tokenizer.json is missing"), "{error}");
    assert!(install(&models, Path::new("/nowhere/at-all")).unwrap_err().contains("/nowhere/at-all"));
}

#[test]
fn replacement_is_atomic() {
    let (_folder, models) = models();
    let source = TestModel::new("clip");
    install(&models, source.folder()).unwrap();
    models.choose("clip", &options()).unwrap();
    let running = models.load("clip", &options()).unwrap();
    let before = models.active_model().unwrap();

    source.edit("visual/preprocess_cfg.json", |text| text.replace("bicubic", "bilinear"));
    install(&models, source.folder()).unwrap();
    assert_ne!(models.active_model().unwrap(), before);
    // A running process must not mix the two models.
    assert!(running.self_test().unwrap_err().to_string().contains("was replaced"));
    assert_eq!(entries(&models), ["clip", "in-use"]);

    source.edit("visual/preprocess_cfg.json", |text| text.replace("bilinear", "nonsense"));
    let in_use = models.active_model().unwrap();
    install(&models, source.folder()).unwrap_err();
    assert_eq!(models.active_model().unwrap(), in_use);
    models.load("clip", &options()).unwrap().self_test().unwrap();
}

#[test]
fn interrupted_commands_are_cleaned_up() {
    let (_folder, models) = models();
    let source = TestModel::new("clip");
    install(&models, source.folder()).unwrap();
    fs::rename(models.folder().join("clip"), models.folder().join(".replaced-clip")).unwrap();
    fs::create_dir_all(models.folder().join(".installing-other/visual")).unwrap();
    assert_eq!(models.list().unwrap(), []);
    models.choose("clip", &options()).unwrap();
    assert_eq!(entries(&models), ["clip", "in-use"]);
}

#[test]
fn concurrent_commands_are_refused() {
    let (_folder, models) = models();
    let staged = models.stage("one").unwrap();
    let error = models.choose(BUILT_IN, &options()).unwrap_err().to_string();
    assert!(error.contains("another command"), "{error}");
    drop(staged);
    models.choose(BUILT_IN, &options()).unwrap();
    assert_eq!(entries(&models), ["in-use"]);
}

#[test]
fn broken_models_are_listed_with_the_error() {
    let (_folder, models) = models();
    for name in ["clip", "siglip2"] {
        install(&models, TestModel::new(name).folder()).unwrap();
    }
    fs::write(models.folder().join("clip/textual/model.onnx"), "cut off").unwrap();
    fs::create_dir(models.folder().join("empty")).unwrap();
    fs::write(models.folder().join("a-file"), "").unwrap();
    let listed = models.list().unwrap();
    let problems: Vec<_> =
        listed.iter().map(|model| (model.name.as_str(), model.problem.clone().unwrap_or_default())).collect();
    let [("clip", cut), ("empty", empty), ("siglip2", none)] = &problems[..] else { panic!("{problems:?}") };
    assert!(cut.contains("textual/model.onnx") && cut.contains("install the model again"), "{cut}");
    assert!(empty.contains("config.json is missing") && none.is_empty(), "{empty} {none}");
    let error = models.choose("clip", &options()).unwrap_err().to_string();
    assert!(error.contains("textual/model.onnx"), "{error}");
}

#[test]
fn names_outside_the_folder_are_refused() {
    let (_folder, models) = models();
    let source = TestModel::new("clip");
    for name in
        ["", ".", "..", "../x", "a/b", ".hidden", "-x", "built-in", "in-use", "a b", "ü", &"x".repeat(101)]
    {
        assert!(models.stage(name).is_err(), "{name:?}");
        assert!(models.load(name, &options()).is_err(), "{name:?}");
        assert!(models.remove(name).is_err(), "{name:?}");
        let installed = models.install_folder(source.folder(), Some(name), &options(), &mut |_, _, _| {});
        assert!(installed.is_err(), "{name:?}");
    }
    fs::create_dir_all(models.folder()).unwrap();
    fs::write(models.folder().join("in-use"), "../../etc").unwrap();
    let error = models.active_model().unwrap_err().to_string();
    assert!(error.contains("in-use") && error.contains("../../etc"), "{error}");
    fs::write(models.folder().join("in-use"), "gone\n").unwrap();
    assert_eq!(
        models.active_model().unwrap(),
        ActiveModel::Model { name: "gone".to_owned(), installed: None }
    );
}
