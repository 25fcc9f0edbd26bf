//! Tests of the files in `deploy`: they parse, name this version, existing settings, and each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use saphyr::{LoadableYamlNode as _, Yaml};

use super::VERSION;
use crate::workspace;

fn documents(folder: &str) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(workspace::path(folder)).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    files
}

fn yaml(text: &str) -> Yaml<'_> {
    let mut documents = Yaml::load_from_str(text).unwrap();
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn text<'y>(value: &'y Yaml<'_>) -> &'y str {
    value.as_str().unwrap()
}

/// The variables in the manual of the server. `PHOTOS_SECRET` is described there without a flag of its own.
fn settings() -> BTreeSet<String> {
    let manual = fs::read_to_string(workspace::path("docs/cli.md")).unwrap();
    let name = |part: &str| part.split(']').next().unwrap().to_owned();
    let mut names: BTreeSet<_> = manual.split("[env: ").skip(1).map(name).collect();
    names.insert("PHOTOS_SECRET".to_owned());
    names
}

fn assert_settings_exist(text: &str) -> usize {
    let settings = settings();
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let used: Vec<_> = text.split(|c| !is_name(c)).filter(|word| word.starts_with("PHOTOS_")).collect();
    for name in &used {
        assert!(settings.contains(*name), "there is no setting {name}");
    }
    used.len()
}

#[test]
fn compose_files_run_this_version_unprivileged() {
    let files = documents("deploy/compose");
    assert_eq!(files.len(), 2);
    for (path, content) in &files {
        let file = yaml(content);
        let services = file["services"].as_mapping().unwrap();
        let mut own = 0;
        for (name, service) in services {
            // The parser copies aliases, but leaves merging them (`<<`) to Compose.
            let settings = if service.contains_mapping_key("<<") { &service["<<"] } else { service };
            if !text(&settings["image"]).contains("photo-library") {
                continue;
            }
            own += 1;
            let name = format!("{}: {}", path.display(), text(name));
            assert_eq!(text(&settings["image"]), format!("localhost/photo-library:{VERSION}"), "{name}");
            assert_eq!(settings["read_only"].as_bool(), Some(true), "{name}");
            assert_eq!(text(&settings["cap_drop"][0]), "ALL", "{name}");
            assert!(!settings["environment"].as_mapping().unwrap().is_empty(), "{name}");
        }
        assert!(own > 0, "{}", path.display());
        assert!(assert_settings_exist(content) > 0, "{}", path.display());
    }
    let cluster = yaml(&files[0].1);
    let services = &cluster["services"];
    let shared = &services["worker"]["<<"]["environment"];
    assert!(
        shared["PHOTOS_DATABASE_URL"].as_str().is_some() && !shared.contains_mapping_key("PHOTOS_SECRET")
    );
    assert!(!services["worker"].as_mapping().unwrap().keys().any(|key| text(key) == "environment"));
    assert!(services["replica"]["environment"]["PHOTOS_SECRET"].as_str().is_some());
    assert_eq!(cluster["services"]["replica"]["deploy"]["replicas"].as_integer(), Some(3));
}

#[test]
fn files_that_compose_mounts_exist() {
    for (_, content) in documents("deploy/compose") {
        for line in content.lines().filter_map(|line| line.trim().strip_prefix("- ./")) {
            let name = line.split(':').next().unwrap();
            assert!(workspace::path("deploy/compose").join(name).is_file(), "{name}");
        }
    }
}

#[test]
fn manifests_run_replicas_and_workers_unprivileged() {
    let folder = workspace::path("deploy/kubernetes");
    let kustomization = fs::read_to_string(folder.join("kustomization.yaml")).unwrap();
    let kustomization = yaml(&kustomization);
    assert_eq!(text(&kustomization["images"][0]["newTag"]), VERSION);
    let resources: BTreeSet<_> =
        kustomization["resources"].as_vec().unwrap().iter().map(|name| text(name).to_owned()).collect();
    let mut found = BTreeSet::from(["kustomization.yaml".to_owned()]);
    let mut commands = BTreeSet::new();
    for (path, content) in documents("deploy/kubernetes") {
        found.insert(path.file_name().unwrap().to_string_lossy().into_owned());
        let manifest = yaml(&content);
        if text(&manifest["kind"]) != "Deployment" {
            continue;
        }
        let pod = &manifest["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        commands.insert(text(&container["args"][0]).to_owned());
        assert_eq!(pod["securityContext"]["runAsNonRoot"].as_bool(), Some(true), "{}", path.display());
        let context = &container["securityContext"];
        assert_eq!(context["readOnlyRootFilesystem"].as_bool(), Some(true), "{}", path.display());
        assert_eq!(context["allowPrivilegeEscalation"].as_bool(), Some(false), "{}", path.display());
        let secrets: Vec<&str> = container["envFrom"]
            .as_vec()
            .unwrap()
            .iter()
            .filter_map(|source| source.as_mapping_get("secretRef")?["name"].as_str())
            .collect();
        let of_replica = ["photos-stores", "photos-secret"];
        let needed = if text(&container["args"][0]) == "serve" { &of_replica[..] } else { &of_replica[..1] };
        assert_eq!(secrets, needed, "{}", path.display());
        if text(&container["args"][0]) == "serve" {
            assert_eq!(text(&container["readinessProbe"]["httpGet"]["path"]), "/readyz");
            assert_eq!(text(&container["livenessProbe"]["httpGet"]["path"]), "/healthz");
            assert_eq!(manifest["spec"]["replicas"].as_integer(), Some(3));
        }
    }
    let expect: BTreeSet<_> = resources.into_iter().chain(["kustomization.yaml".to_owned()]).collect();
    assert_eq!(found, expect, "the kustomization lists every manifest");
    assert_eq!(commands, BTreeSet::from(["serve".to_owned(), "worker".to_owned()]));
    for name in ["settings.example.env", "stores.example.env", "secret.example.env"] {
        let content = fs::read_to_string(folder.join(name)).unwrap();
        assert!(assert_settings_exist(&content) > 0, "{name}");
        assert_eq!(content.contains("PHOTOS_SECRET="), name == "secret.example.env", "{name}");
    }
}

#[test]
fn workflows_have_least_permissions_and_pinned_actions() {
    for name in ["ci.yml", "release.yml"] {
        let content = fs::read_to_string(workspace::path(".github/workflows").join(name)).unwrap();
        let workflow = yaml(&content);
        assert_eq!(text(&workflow["permissions"]["contents"]), "read", "{name}");
        for action in content.lines().filter_map(|line| line.split("uses: ").nth(1)) {
            assert!(action.starts_with("./") || action.contains("@v"), "{name}: {action}");
        }
    }
}
