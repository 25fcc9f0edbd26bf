//! The Debian package: an `ar` archive of two compressed tar archives, as deb(5) describes it.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

use crate::workspace;

use super::program::Needs;
use super::tree::{Content, Tree, gzip};
use super::{Release, add_documents};

const MAINTAINER: &str = "Photo library developers <photo-library@localhost>";
/// The folder of the package's own documents.
const DOCUMENTS: &str = "usr/share/doc/photo-library";

/// The version in Debian's form, in which `~` sorts before the release: `1.0.0-rc.1` becomes `1.0.0~rc.1`.
fn debian_version(version: &str) -> String {
    version.replacen('-', "~", 1)
}

/// The file name of the package.
pub(super) fn file_name(release: &Release, needs: &Needs) -> String {
    format!("photo-library_{}_{}.deb", debian_version(&release.version), needs.machine.name())
}

/// Writes the package.
pub(super) fn write(
    release: &Release,
    needs: &Needs,
    dependencies: &[String],
    program: &Path,
    licences: &str,
    output: impl Write,
) -> io::Result<()> {
    let files = files(release, program, licences)?;
    let control = control(release, needs, dependencies, files.bytes()?);
    let seconds = release.seconds;
    let mut archive = ar::Builder::new(output);
    let mut append = |name: &str, content: &[u8]| {
        let mut header = ar::Header::new(name.into(), content.len() as u64);
        header.set_mode(0o100_644);
        header.set_mtime(seconds);
        archive.append(&header, content)
    };
    append("debian-binary", b"2.0\n")?;
    append(
        "control.tar.gz",
        &control_files(&control).write_tar_gz(Vec::new(), seconds, release.compression)?,
    )?;
    append("data.tar.gz", &files.write_tar_gz(Vec::new(), seconds, release.compression)?)?;
    archive.into_inner()?.flush()
}

fn control_files(control: &str) -> Tree {
    let mut tree = Tree::default();
    tree.text("control", control);
    tree.text("conffiles", "/etc/photo-library/config.toml\n");
    for script in ["postinst", "prerm", "postrm"] {
        tree.file(script, 0o755, Content::CopyOf(workspace::path("deploy/debian").join(script)));
    }
    tree
}

fn control(release: &Release, needs: &Needs, dependencies: &[String], bytes: u64) -> String {
    let mut depends = dependencies.to_vec();
    depends.insert(0, "adduser".to_owned());
    format!(
        "Package: photo-library\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {}\n\
         Depends: {}\n\
         Recommends: ca-certificates, libheif1, tesseract-ocr\n\
         Suggests: nginx | caddy\n\
         Section: web\n\
         Priority: optional\n\
         Description: self-hosted photo library with a REST API and an MCP server\n \
         Phones, folders and browsers bring photos in. They can be seen, searched\n \
         and organised in the browser, and by scripts, apps and AI assistants.\n \
         .\n \
         libheif1 adds HEIC and AVIF photos, and tesseract-ocr the search for\n \
         text in photos.\n",
        debian_version(&release.version),
        needs.machine.name(),
        bytes.div_ceil(1024),
        depends.join(", "),
    )
}

fn files(release: &Release, program: &Path, licences: &str) -> io::Result<Tree> {
    let source = |name: &str| Content::CopyOf(workspace::path("deploy/debian").join(name));
    let mut tree = Tree::default();
    tree.file("usr/lib/photo-library/server", 0o755, Content::CopyOf(program.to_owned()));
    tree.file("usr/bin/photo-library", 0o755, source("photo-library"));
    tree.file("usr/lib/systemd/system/photo-library.service", 0o644, source("photo-library.service"));
    tree.file("etc/photo-library/config.toml", 0o640, source("config.toml"));
    tree.file(&format!("{DOCUMENTS}/copyright"), 0o644, source("copyright"));
    for (name, text) in [("THIRD-PARTY-LICENCES.txt.gz", licences), ("changelog.gz", &changelog(release))] {
        tree.file(&format!("{DOCUMENTS}/{name}"), 0o644, Content::Bytes(compressed(text)?));
    }
    add_documents(&mut tree, DOCUMENTS)?;
    Ok(tree)
}

fn compressed(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = gzip(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

fn changelog(release: &Release) -> String {
    let date = rfc2822::to_string(&release.time().to_zoned(TimeZone::UTC)).unwrap_or_default();
    format!(
        "photo-library ({}) unstable; urgency=medium\n\n  * Release {}.\n\n -- {MAINTAINER}  {date}\n",
        debian_version(&release.version),
        release.version
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::program::{Glibc, Machine};
    use std::collections::BTreeMap;
    use std::io::Read as _;

    fn release(version: &str) -> Release {
        Release { version: version.to_owned(), seconds: 1_767_323_045, compression: Compression::best() }
    }

    fn needs() -> Needs {
        Needs {
            machine: Machine::Amd64,
            loader: None,
            libraries: Vec::new(),
            glibc: Some(Glibc(2, 31)),
            latest_symbols: Vec::new(),
        }
    }

    /// The members of the archive, and the files in its compressed archives.
    fn unpack(package: &[u8]) -> (Vec<String>, BTreeMap<String, (u32, String)>) {
        let (mut members, mut files) = (Vec::new(), BTreeMap::new());
        let mut archive = ar::Archive::new(package);
        while let Some(entry) = archive.next_entry() {
            let entry = entry.unwrap();
            let name = String::from_utf8(entry.header().identifier().to_vec()).unwrap();
            members.push(name.clone());
            if !name.ends_with(".tar.gz") {
                continue;
            }
            let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(entry));
            for file in archive.entries().unwrap() {
                let mut file = file.unwrap();
                let mut content = Vec::new();
                file.read_to_end(&mut content).unwrap();
                let path = file.path().unwrap().display().to_string();
                let mode = file.header().mode().unwrap();
                files.insert(path, (mode, String::from_utf8_lossy(&content).into_owned()));
            }
        }
        (members, files)
    }

    #[test]
    fn the_package_has_its_files_with_their_modes() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("server");
        std::fs::write(&program, "program").unwrap();
        let package = || {
            let mut package = Vec::new();
            let dependencies = ["libc6 (>= 2.31)".to_owned()];
            write(&release("1.2.0-rc.1"), &needs(), &dependencies, &program, "licences", &mut package)
                .unwrap();
            package
        };
        let (members, files) = unpack(&package());
        assert_eq!(members, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
        for (path, mode) in [
            ("postinst", 0o755),
            ("prerm", 0o755),
            ("postrm", 0o755),
            ("usr/lib/photo-library/server", 0o755),
            ("usr/bin/photo-library", 0o755),
            ("usr/lib/systemd/system/photo-library.service", 0o644),
            ("etc/photo-library/config.toml", 0o640),
            ("usr/share/doc/photo-library/docs/operations.md", 0o644),
            ("usr/share/doc/photo-library/deploy/monitoring/alerts.yml", 0o644),
        ] {
            assert_eq!(files[path].0, mode, "{path}");
        }
        assert_eq!(files["usr/lib/photo-library/server"].1, "program");
        for path in files["conffiles"].1.lines() {
            assert!(files.contains_key(path.trim_start_matches('/')), "{path}");
        }
        assert_eq!(package(), package(), "the same input makes the same package");
    }

    #[test]
    fn the_control_file_is_well_formed() {
        let text = control(&release("1.2.0-rc.1"), &needs(), &["libc6 (>= 2.31)".to_owned()], 2049);
        let fields: BTreeMap<_, _> = text
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split_once(": ").unwrap())
            .collect();
        assert_eq!(fields["Version"], "1.2.0~rc.1");
        assert_eq!(fields["Architecture"], "amd64");
        assert_eq!(fields["Depends"], "adduser, libc6 (>= 2.31)");
        assert_eq!(fields["Installed-Size"], "3");
        assert!(text.lines().all(|line| !line.trim().is_empty() && line.chars().count() <= 80), "{text}");
        assert!(text.ends_with("photos.\n"), "{text}");
    }

    #[test]
    fn the_changelog_has_the_time_of_the_release() {
        let text = changelog(&release("1.2.0"));
        assert!(text.starts_with("photo-library (1.2.0) "), "{text}");
        assert!(text.ends_with("  Fri, 2 Jan 2026 03:04:05 +0000\n"), "{text}");
    }

    /// The manual has every setting of the configuration file, and the service reads this file.
    #[test]
    fn the_configuration_file_has_existing_settings() {
        let read = |name: &str| std::fs::read_to_string(workspace::path(name)).unwrap();
        let configuration = read("deploy/debian/config.toml");
        let every_setting: String = configuration
            .lines()
            .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line))
            .map(|line| format!("{line}\n"))
            .collect();
        let settings: toml::Table = toml::from_str(&every_setting).unwrap();
        let manual = read("docs/cli.md");
        for name in settings.keys() {
            let variable = format!("[env: PHOTOS_{}]", name.replace('-', "_").to_uppercase());
            assert!(manual.contains(&variable), "{name}");
        }
        assert!(settings.len() > 5, "{settings:?}");
        assert_eq!(toml::from_str::<toml::Table>(&configuration).unwrap().len(), 1);
        let unit = read("deploy/debian/photo-library.service");
        assert!(unit.contains("PHOTOS_CONFIG=/etc/photo-library/config.toml\n"));
        // With `Type=notify` alone, systemd would end a start that takes longer than 90 s.
        assert!(unit.contains("Type=notify\nTimeoutStartSec=infinity\n"));
    }
}
