//! The container image: one layer with the program, the libraries that it links, certificates and an unprivileged user, in the
//! layout of the OCI image specification 1.1. No container engine and no other image is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::process::{ProcessError, Runner};

use super::program::Needs;
use super::tree::{Content, Owner, ROOT, Tree, gzip};
use super::{Release, sha256};

const USER: Owner = Owner { uid: 10_001, gid: 10_001 };
const USERS: &str =
    "root:x:0:0:root:/:/sbin/nologin\nphoto-library:x:10001:10001::/var/lib/photo-library:/sbin/nologin\n";
const PORT: u16 = 8080;
const DATA: &str = "var/lib/photo-library";
const PROGRAM: &str = "usr/lib/photo-library/server";
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";
/// Folders where the loader looks for libraries, without a cache of them.
const LIBRARY_FOLDERS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
];
/// glibc opens these by name to look up hosts.
const LOOK_UP: [&str; 3] = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];

/// The first bytes of a compressed layer. All other files of an image are JSON.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE: &str = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Why the image cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot write the image: {0}")]
    Write(#[from] io::Error),
    #[error("the library {0} was not found")]
    NoLibrary(String),
    #[error(
        "dpkg does not know which package {0} belongs to; make releases on Debian or Ubuntu, with ca-certificates"
    )]
    NoOwner(String),
    #[error("the image that was written is wrong: {0}")]
    Wrong(String),
}

/// The files of libraries, by their path in the image.
type Libraries = BTreeMap<String, PathBuf>;

/// The root file system of the image, without certificates and the licences of libraries.
pub(super) fn root(libraries: &Libraries, program: &Path, licences: &str) -> Tree {
    let mut tree = Tree::default();
    tree.file(PROGRAM, 0o755, Content::CopyOf(program.to_owned()));
    tree.folder(DATA, 0o700, USER);
    tree.folder("tmp", 0o1777, ROOT);
    // Container runtimes mount these, and cannot create them in a read-only file system.
    for folder in ["dev", "proc", "sys"] {
        tree.folder(folder, 0o755, ROOT);
    }
    tree.text("etc/passwd", USERS);
    tree.text("etc/group", "root:x:0:\nphoto-library:x:10001:\n");
    tree.text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
    tree.text("usr/share/doc/photo-library/THIRD-PARTY-LICENCES.txt", licences);
    for (path, library) in libraries {
        tree.file(path.trim_start_matches('/'), 0o755, Content::CopyOf(library.clone()));
    }
    tree
}

/// Adds certificates, and the licences of the packages to which certificates and libraries belong.
pub(super) fn add_certificates_and_licences(
    runner: &Runner,
    libraries: &Libraries,
    tree: &mut Tree,
) -> Result<(), ImageError> {
    let certificates = Path::new("/").join(CERTIFICATES);
    tree.file(CERTIFICATES, 0o644, Content::CopyOf(certificates));
    // The certificates are made by the scripts of their package, which has this program.
    let program = PathBuf::from("/usr/sbin/update-ca-certificates");
    for package in owners(runner, libraries.keys().map(PathBuf::from).chain([program]))? {
        let path = format!("usr/share/doc/{package}/copyright");
        tree.file(&path, 0o644, Content::CopyOf(Path::new("/").join(&path)));
    }
    Ok(())
}

/// All libraries that the program needs, also indirectly, and the loader.
pub(super) fn libraries(needs: &Needs) -> Result<Libraries, ImageError> {
    let mut wanted: Vec<String> = needs.libraries.clone();
    wanted.extend(LOOK_UP.map(str::to_owned));
    let (mut seen, mut found) = (BTreeSet::new(), BTreeMap::new());
    while let Some(name) = wanted.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let candidates = LIBRARY_FOLDERS.iter().map(|folder| Path::new(folder).join(&name));
        let Some((path, library)) = candidates.filter_map(|path| library(&path, needs)).next() else {
            return Err(ImageError::NoLibrary(name));
        };
        wanted.extend(library.libraries);
        found.insert(path.display().to_string(), path);
    }
    if let Some(loader) = &needs.loader {
        found.insert(loader.clone(), PathBuf::from(loader));
    }
    Ok(found)
}

/// A library for the processor of the program. Systems may have libraries for several.
fn library(path: &Path, needs: &Needs) -> Option<(PathBuf, Needs)> {
    let library = Needs::of(&std::fs::read(path).ok()?).ok()?;
    (library.machine == needs.machine).then(|| (path.to_owned(), library))
}

/// The packages of these files, whose licences must accompany the files.
fn owners(runner: &Runner, files: impl Iterator<Item = PathBuf>) -> Result<BTreeSet<String>, ImageError> {
    let mut owners = BTreeSet::new();
    for file in files {
        // Where /lib is a link to /usr/lib, dpkg knows a file under either of the two.
        let other = match file.strip_prefix("/usr") {
            Ok(rest) => Path::new("/").join(rest),
            Err(_) => Path::new("/usr").join(file.strip_prefix("/").unwrap_or(&file)),
        };
        let mut query = Command::new("dpkg-query");
        // One of the two paths is unknown, so the exit status is a failure even if the owner is found.
        query.arg("--search").arg(&file).arg(other).stderr(std::process::Stdio::null());
        let answer = runner.capture(&mut query, "")?.stdout;
        let owner = answer.split(':').next().map(str::trim).filter(|name| !name.is_empty());
        owners.insert(owner.ok_or_else(|| ImageError::NoOwner(file.display().to_string()))?.to_owned());
    }
    Ok(owners)
}

/// A blob of the image.
struct Blob {
    kind: &'static str,
    digest: String,
    content: Vec<u8>,
}

impl Blob {
    fn new(kind: &'static str, content: Vec<u8>) -> Self {
        Self { kind, digest: digest(&content), content }
    }

    fn json(kind: &'static str, value: &Value) -> Self {
        Self::new(kind, value.to_string().into_bytes())
    }

    fn descriptor(&self) -> Value {
        json!({"mediaType": self.kind, "digest": self.digest, "size": self.content.len()})
    }

    fn path(&self) -> String {
        blob_path(&self.digest)
    }
}

fn digest(content: &[u8]) -> String {
    format!("sha256:{}", sha256(content))
}

fn blob_path(digest: &str) -> String {
    format!("blobs/{}", digest.replacen(':', "/", 1))
}

/// Writes the image as a tar archive of an OCI layout, and returns the digest of its manifest.
pub(super) fn write(
    release: &Release,
    needs: &Needs,
    root: &Tree,
    file: &Path,
) -> Result<String, ImageError> {
    let layer = root.write_tar(Vec::new(), release.seconds)?;
    let diff_id = digest(&layer);
    let mut encoder = gzip(Vec::new(), release.compression);
    io::copy(&mut layer.as_slice(), &mut encoder)?;
    let layer = Blob::new(LAYER_TYPE, encoder.finish()?);
    let config = Blob::json(CONFIG_TYPE, &config(release, needs, &diff_id));
    let manifest = Blob::json(
        MANIFEST_TYPE,
        &json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": config.descriptor(),
            "layers": [layer.descriptor()],
        }),
    );
    let mut entry = manifest.descriptor();
    entry["platform"] = json!({"architecture": needs.machine.name(), "os": "linux"});
    entry["annotations"] = json!({
        "org.opencontainers.image.ref.name": release.version,
        "io.containerd.image.name": format!("localhost/photo-library:{}", release.version),
    });
    let index = json!({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [entry]});

    let mut layout = Tree::default();
    layout.text("oci-layout", json!({"imageLayoutVersion": "1.0.0"}).to_string());
    layout.text("index.json", index.to_string());
    let name = manifest.digest.clone();
    for blob in [layer, config, manifest] {
        layout.file(&blob.path(), 0o644, Content::Bytes(blob.content));
    }
    layout.write_tar(File::create(file)?, release.seconds)?;
    verify(&mut File::open(file)?)?;
    Ok(name)
}

fn config(release: &Release, needs: &Needs, diff_id: &str) -> Value {
    json!({
        "created": release.created(),
        "architecture": needs.machine.name(),
        "os": "linux",
        "config": {
            "User": format!("{}:{}", USER.uid, USER.gid),
            "ExposedPorts": {format!("{PORT}/tcp"): {}},
            "Env": [format!("PHOTOS_DATA_DIR=/{DATA}"), format!("PHOTOS_LISTEN=0.0.0.0:{PORT}")],
            "Entrypoint": [format!("/{PROGRAM}")],
            "Cmd": ["serve"],
            "Volumes": {format!("/{DATA}"): {}},
            "WorkingDir": format!("/{DATA}"),
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "photo-library",
                "org.opencontainers.image.description": "Self-hosted photo library with a REST API and an MCP server",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "history": [{"created": release.created(), "created_by": "cargo xtask dist"}],
    })
}

#[derive(Deserialize)]
struct Index {
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Manifest {
    config: Descriptor,
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Descriptor {
    digest: String,
    size: u64,
}

#[derive(Deserialize)]
struct Config {
    rootfs: RootFs,
}

#[derive(Deserialize)]
struct RootFs {
    diff_ids: Vec<String>,
}

/// Unpacks the layers of an image into a folder.
pub(super) fn unpack(image: &Path, folder: &Path) -> Result<(), ImageError> {
    let files = verify(&mut File::open(image)?)?;
    for layer in files.values().filter(|content| content.starts_with(&GZIP)) {
        tar::Archive::new(flate2::read::GzDecoder::new(layer.as_slice())).unpack(folder)?;
    }
    Ok(())
}

/// Reads an image back, compares every digest and size, and returns its files.
fn verify(archive: &mut impl Read) -> Result<BTreeMap<String, Vec<u8>>, ImageError> {
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries()? {
        let mut entry = entry?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        files.insert(entry.path()?.display().to_string(), content);
    }
    let index: Index = parse(files.get("index.json").ok_or_else(|| wrong("it has no index.json"))?)?;
    for manifest in &index.manifests {
        let manifest: Manifest = parse(blob(&files, manifest)?)?;
        let config: Config = parse(blob(&files, &manifest.config)?)?;
        if config.rootfs.diff_ids.len() != manifest.layers.len() {
            return Err(wrong("it has more or fewer layers than its configuration names"));
        }
        for (layer, diff_id) in manifest.layers.iter().zip(&config.rootfs.diff_ids) {
            let mut content = Vec::new();
            flate2::read::GzDecoder::new(blob(&files, layer)?).read_to_end(&mut content)?;
            if digest(&content) != *diff_id {
                return Err(wrong(&format!(
                    "the layer {} does not have the diff ID {diff_id}",
                    layer.digest
                )));
            }
        }
    }
    Ok(files)
}

fn blob<'f>(files: &'f BTreeMap<String, Vec<u8>>, descriptor: &Descriptor) -> Result<&'f [u8], ImageError> {
    let name = &descriptor.digest;
    let content = files.get(&blob_path(name)).ok_or_else(|| wrong(&format!("it has no blob {name}")))?;
    if content.len() as u64 != descriptor.size || digest(content) != *name {
        return Err(wrong(&format!("the blob {name} has other bytes")));
    }
    Ok(content)
}

fn parse<'j, T: Deserialize<'j>>(content: &'j [u8]) -> Result<T, ImageError> {
    serde_json::from_slice(content).map_err(|error| wrong(&error.to_string()))
}

fn wrong(reason: &str) -> ImageError {
    ImageError::Wrong(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::program::Machine;

    fn needs() -> Needs {
        Needs {
            machine: Machine::Arm64,
            loader: None,
            libraries: Vec::new(),
            glibc: None,
            latest_symbols: Vec::new(),
        }
    }

    fn image() -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("image.tar");
        let mut root = Tree::default();
        root.text("etc/hello", "hello");
        root.folder(DATA, 0o700, USER);
        let release = Release {
            version: "1.2.0".to_owned(),
            seconds: 1_767_323_045,
            compression: flate2::Compression::best(),
        };
        write(&release, &needs(), &root, &file).unwrap();
        std::fs::read(file).unwrap()
    }

    fn content(image: &[u8], path: &str) -> Vec<u8> {
        let mut archive = tar::Archive::new(image);
        let mut entry = archive
            .entries()
            .unwrap()
            .map(Result::unwrap)
            .find(|entry| entry.path().unwrap() == Path::new(path))
            .unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        content
    }

    #[test]
    fn the_image_runs_the_server_as_an_unprivileged_user() {
        let image = image();
        let json = |path: &str| serde_json::from_slice::<Value>(&content(&image, path)).unwrap();
        assert_eq!(json("oci-layout")["imageLayoutVersion"], "1.0.0");
        let index = json("index.json");
        let entry = &index["manifests"][0];
        assert_eq!(entry["platform"]["architecture"], "arm64");
        let manifest = json(&blob_path(entry["digest"].as_str().unwrap()));
        let config = json(&blob_path(manifest["config"]["digest"].as_str().unwrap()));
        assert_eq!(config["created"], "2026-01-02T03:04:05Z");
        assert_eq!(config["config"]["User"], "10001:10001");
        assert_eq!(config["config"]["Entrypoint"], json!(["/usr/lib/photo-library/server"]));
        assert_eq!(config["config"]["Volumes"], json!({"/var/lib/photo-library": {}}));
    }

    #[test]
    fn the_same_root_becomes_the_same_image() {
        assert!(image() == image());
    }

    #[test]
    fn damage_is_found() {
        let image = image();
        verify(&mut image.as_slice()).unwrap();
        let index: Index = parse(&content(&image, "index.json")).unwrap();
        let manifest_path = blob_path(&index.manifests[0].digest);
        let manifest: Manifest = serde_json::from_slice(&content(&image, &manifest_path)).unwrap();
        for path in [manifest_path, blob_path(&manifest.config.digest), blob_path(&manifest.layers[0].digest)]
        {
            let good = content(&image, &path);
            let at = image.windows(good.len()).position(|window| window == good).unwrap();
            let mut damaged = image.clone();
            damaged[at + good.len() / 2] ^= 1;
            let error = verify(&mut damaged.as_slice()).unwrap_err();
            assert!(error.to_string().contains("has other bytes"), "{path}: {error}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn libraries_are_found_with_those_that_they_need() {
        let this = Needs::of(&std::fs::read(std::env::current_exe().unwrap()).unwrap()).unwrap();
        let found = libraries(&this).unwrap();
        let has = |name: &str| found.keys().any(|path| path.ends_with(name));
        assert!(has("/libc.so.6") && found.contains_key(this.loader.as_deref().unwrap()), "{found:?}");
        let mut lost = this;
        lost.libraries.push("libabsent.so.1".to_owned());
        assert_eq!(libraries(&lost).unwrap_err().to_string(), "the library libabsent.so.1 was not found");
    }
}
