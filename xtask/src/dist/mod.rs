//! `dist`: makes the files of a release.
//!
//! To add a file: write it in [`run`], which lists all files with their checksums at the end.

mod debian;
mod image;
mod licences;
mod packages;
mod portable;
mod program;
mod sbom;
mod tree;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use data_encoding::HEXLOWER;
use flate2::Compression;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::process::{ProcessError, Runner};
use crate::system::{self, SystemError, Tools};
use crate::venv::VenvError;
use crate::workspace;
use image::ImageError;
use licences::LicencesError;
use packages::PackagesError;
use program::{Glibc, Needs, ProgramError};
use tree::{Content, Tree};

/// The version of this program is that of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The oldest glibc that a release should run with: that of Debian 11 and Ubuntu 20.04.
const OLDEST_GLIBC: Glibc = Glibc(2, 31);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Package this program instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Folder for the files of the release, which is emptied first [default: `dist` in the build folder]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Why the release is incomplete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DistError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error(transparent)]
    Packages(#[from] PackagesError),
    #[error(transparent)]
    Licences(#[from] LicencesError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error("{}: {source}", path.display())]
    Program { path: PathBuf, source: ProgramError },
    #[error("the program needs glibc {glibc}, which is newer than {OLDEST_GLIBC}, because it uses {symbols}")]
    Glibc { glibc: Glibc, symbols: String },
    #[error("cannot read or write {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("the time of the release is not a number of seconds since 1970: {0}")]
    Time(String),
}

/// Version and time of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Release {
    version: String,
    /// The time of all files in archives, in seconds since 1970.
    seconds: u64,
    compression: Compression,
}

impl Release {
    /// The time is `SOURCE_DATE_EPOCH`, or else that of the commit, so that the same sources become the same files.
    fn find(runner: &Runner) -> Result<Self, DistError> {
        let given = std::env::var_os("SOURCE_DATE_EPOCH").map(|text| text.to_string_lossy().into_owned());
        let text = match given {
            Some(text) => text,
            None => {
                let mut log = Command::new("git");
                log.args(["log", "-1", "--format=%ct"]).current_dir(workspace::root());
                runner.output(&mut log, "")?
            }
        };
        let seconds = text.trim().parse().map_err(|_| DistError::Time(text.trim().to_owned()))?;
        Ok(Self { version: VERSION.to_owned(), seconds, compression: Compression::best() })
    }

    /// A release that is written fast.
    fn for_test(version: &str) -> Self {
        Self { version: version.to_owned(), seconds: 0, compression: Compression::fast() }
    }

    fn time(&self) -> Timestamp {
        let seconds = i64::try_from(self.seconds).unwrap_or_default();
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// The time in RFC 3339.
    fn created(&self) -> String {
        self.time().to_string()
    }
}

/// The program of a release, without debugging symbols.
struct Program {
    path: PathBuf,
    content: Vec<u8>,
    needs: Needs,
    /// The dependencies of a Debian package with it.
    dependencies: Vec<String>,
}

impl Program {
    /// Copies a program to `path` without its symbols, and reads what it needs.
    fn stripped(runner: &Runner, source: &Path, path: PathBuf) -> Result<Self, DistError> {
        fs::copy(source, &path).map_err(|error| file_error(source, error))?;
        runner.run(Command::new("strip").arg(&path))?;
        let content = read(&path)?;
        let failed = |source| DistError::Program { path: path.clone(), source };
        let needs = Needs::of(&content).map_err(failed)?;
        let dependencies = program::dependencies(&needs).map_err(failed)?;
        Ok(Self { path, content, needs, dependencies })
    }

    fn write_package(&self, release: &Release, licences: &str, package: &Path) -> Result<(), DistError> {
        let Self { path, needs, dependencies, .. } = self;
        create(package)
            .and_then(|file| debian::write(release, needs, dependencies, path, licences, file))
            .map_err(|source| file_error(package, source))
    }
}

/// Makes all files of a release.
pub(crate) fn run(runner: &Runner, options: &Options) -> Result<(), DistError> {
    system::ensure(runner, Tools::Release)?;
    let release = Release::find(runner)?;
    let output = options.output.clone().unwrap_or_else(|| workspace::target("dist"));
    empty(&output)?;

    let source = match &options.binary {
        Some(file) => file.clone(),
        None => portable::build(runner)?,
    };
    // Outside of the output folder, which has only files of the release.
    let program = Program::stripped(runner, &source, workspace::target("dist-server"))?;
    let Program { path, content, needs, .. } = &program;
    println!("The program links {}.", needs.libraries.join(", "));
    if let Some(glibc) = needs.glibc {
        println!("It runs with glibc {glibc} and later.");
        // A program that was given may be for newer systems only.
        if options.binary.is_none() && glibc > OLDEST_GLIBC {
            return Err(DistError::Glibc { glibc, symbols: needs.latest_symbols.join(", ") });
        }
    }

    let packages = packages::of_server(runner, needs.machine)?;
    let data = read_text(&workspace::path("docs/data.md"))?;
    let licences = licences::of(&packages, &data)?;
    let name = format!("photo-library-{}", release.version);

    write(&output.join("THIRD-PARTY-LICENCES.txt"), licences.as_bytes())?;
    let bill = sbom::of(&release.version, &release.created(), &sha256(content), &packages);
    write(&output.join(format!("{name}.cdx.json")), format!("{bill:#}\n").as_bytes())?;
    let archive = output.join(format!("{name}-linux-{}.tar.gz", needs.machine.name()));
    let unreadable = |source| file_error(workspace::root(), source);
    write_archive(&program_archive(&name, path, &licences).map_err(unreadable)?, &release, &archive)?;
    let deploy = deploy_archive(&name).map_err(unreadable)?;
    write_archive(&deploy, &release, &output.join(format!("{name}-deploy.tar.gz")))?;
    program.write_package(&release, &licences, &output.join(debian::file_name(&release, needs)))?;
    let libraries = image::libraries(needs)?;
    let mut root = image::root(&libraries, path, &licences);
    image::add_certificates_and_licences(runner, &libraries, &mut root)?;
    let digest = image::write(&release, needs, &root, &output.join(format!("{name}-oci.tar")))?;

    let sums = checksums(&output)?;
    write(&output.join("SHA256SUMS"), sums.as_bytes())?;
    println!("{} packages in the program; image {digest}", packages.len());
    print!("{}:\n{sums}", output.display());
    Ok(())
}

/// Unpacks the root file system of the image with this program into a new folder, and installs the files of the Debian package
/// over it, for a test of both.
pub(crate) fn unpack_for_test(
    runner: &Runner,
    source: &Path,
    version: &str,
    folder: &Path,
) -> Result<(), DistError> {
    empty(folder)?;
    let program = Program::stripped(runner, source, folder.with_extension("program"))?;
    let release = Release::for_test(version);
    let image = folder.with_extension("oci.tar");
    let root = image::root(&image::libraries(&program.needs)?, &program.path, "");
    image::write(&release, &program.needs, &root, &image)?;
    image::unpack(&image, folder)?;
    let package = folder.with_extension("deb");
    program.write_package(&release, "", &package)?;
    Ok(runner.run(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(folder))?)
}

/// Writes a Debian package with this program for an earlier version, and one for this version, into a folder. Returns their paths.
pub(crate) fn packages_for_test(
    runner: &Runner,
    source: &Path,
    folder: &Path,
) -> Result<[PathBuf; 2], DistError> {
    let program = Program::stripped(runner, source, folder.join("server"))?;
    let write = |version: &str| {
        let release = Release::for_test(version);
        let package = folder.join(debian::file_name(&release, &program.needs));
        program.write_package(&release, "", &package).map(|()| package)
    };
    Ok([write(&format!("{VERSION}-previous"))?, write(VERSION)?])
}

fn program_archive(name: &str, program: &Path, licences: &str) -> io::Result<Tree> {
    let mut tree = Tree::default();
    tree.file(&format!("{name}/server"), 0o755, Content::CopyOf(program.to_owned()));
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        tree.file(&format!("{name}/{file}"), 0o644, Content::CopyOf(workspace::path(file)));
    }
    tree.text(&format!("{name}/THIRD-PARTY-LICENCES.txt"), licences);
    add_documents(&mut tree, name)?;
    Ok(tree)
}

/// Adds the documents for people who run the server, with what they refer to.
fn add_documents(tree: &mut Tree, folder: &str) -> io::Result<()> {
    for file in ["README.md", "CHANGELOG.md", "SECURITY.md"] {
        tree.file(&format!("{folder}/{file}"), 0o644, Content::CopyOf(workspace::path(file)));
    }
    for documents in ["docs", "deploy/monitoring"] {
        tree.copy_folder(&format!("{folder}/{documents}"), &workspace::path(documents))?;
    }
    Ok(())
}

/// The Compose files and the Kubernetes manifests. The sources of the Debian package are in it already.
fn deploy_archive(name: &str) -> io::Result<Tree> {
    let mut tree = Tree::default();
    for folder in ["compose", "kubernetes"] {
        tree.copy_folder(&format!("{name}/{folder}"), &workspace::path("deploy").join(folder))?;
    }
    Ok(tree)
}

fn write_archive(tree: &Tree, release: &Release, path: &Path) -> Result<(), DistError> {
    let written = create(path).and_then(|file| tree.write_tar_gz(file, release.seconds, release.compression));
    written.map(drop).map_err(|source| file_error(path, source))
}

/// One line for each file of a folder, in the format of `sha256sum`.
fn checksums(folder: &Path) -> Result<String, DistError> {
    let failed = |source| file_error(folder, source);
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(failed)?.collect();
    let mut paths: Vec<_> = entries.map_err(failed)?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let mut sums = String::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(sums, "{}  {name}", sha256(&read(&path)?));
    }
    Ok(sums)
}

fn sha256(content: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(content))
}

fn empty(folder: &Path) -> Result<(), DistError> {
    let failed = |source| file_error(folder, source);
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

fn create(path: &Path) -> io::Result<io::BufWriter<File>> {
    File::create(path).map(io::BufWriter::new)
}

fn write(path: &Path, content: &[u8]) -> Result<(), DistError> {
    fs::write(path, content).map_err(|source| file_error(path, source))
}

fn read(path: &Path) -> Result<Vec<u8>, DistError> {
    fs::read(path).map_err(|source| file_error(path, source))
}

fn read_text(path: &Path) -> Result<String, DistError> {
    fs::read_to_string(path).map_err(|source| file_error(path, source))
}

fn file_error(path: &Path, source: io::Error) -> DistError {
    DistError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod deploy_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("b"), "abc").unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        assert_eq!(
            checksums(dir.path()).unwrap(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n"
        );
    }
}
