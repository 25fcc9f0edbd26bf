//! The npm package `sharp` (libvips), which many photo services use for renditions.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ::tests::black_box::{AnyError, ProcessOutcome, run};
use domain::Rendition;
use serde_json::{Value, json};

use super::{copies::Photos, table::ImportFigures};

pub(super) const VERSION: &str = "0.35.5";
const SCRIPT: &str = include_str!("sharp.mjs");
const HINT: &str = "--without-sharp measures the import alone";

/// The renditions to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenditionSet {
    Small,
    All,
}

impl RenditionSet {
    pub(super) const BOTH: [Self; 2] = [Self::Small, Self::All];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Small => "sharp, medium and thumb",
            Self::All => "sharp, all three",
        }
    }

    /// The longest sides, largest first.
    fn sides(self) -> Vec<u32> {
        let made = Rendition::public().filter(|rendition| self == Self::All || rendition.is_displayable());
        made.map(Rendition::longest_side_px).collect()
    }
}

/// The installed package and the script that uses it.
pub(super) struct Sharp {
    folder: PathBuf,
}

impl Sharp {
    /// Installs the package into the build folder if it is missing.
    pub(super) fn install() -> Result<Self, AnyError> {
        let own = std::env::current_exe()?;
        let target = own.parent().and_then(Path::parent).ok_or("the build folder is not known")?;
        let folder = target.join(format!("sharp-{VERSION}"));
        fs::create_dir_all(&folder)?;
        if installed_version(&folder).as_deref() != Some(VERSION) {
            println!("installing sharp {VERSION} into {}", folder.display());
            let status = Command::new("npm")
                .args(["install", "--no-save", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"])
                .arg(&folder)
                .arg(format!("sharp@{VERSION}"))
                .stdin(Stdio::null())
                .status()
                .map_err(|error| format!("npm cannot be started: {error} ({HINT})"))?;
            if !status.success() || installed_version(&folder).as_deref() != Some(VERSION) {
                return Err(format!("npm could not install sharp {VERSION} ({HINT})").into());
            }
        }
        fs::write(folder.join("renditions.mjs"), SCRIPT)?;
        Ok(Self { folder })
    }

    /// Makes renditions of all photos in a Node process.
    pub(super) fn run(&self, photos: &Photos, set: RenditionSet) -> Result<ImportFigures, AnyError> {
        let output = tempfile::tempdir()?;
        let arguments = json!({
            "files": photos.files(),
            "sides": set.sides(),
            "concurrency": concurrency(),
            "output": output.path(),
        });
        let arguments_path = output.path().join("arguments.json");
        fs::write(&arguments_path, arguments.to_string())?;
        let script = self.folder.join("renditions.mjs");
        let ProcessOutcome { status, stdout, stderr, took, usage } =
            run(Command::new("node").arg(script).arg(&arguments_path))
                .map_err(|error| format!("node cannot be started: {error} ({HINT})"))?;
        if !status.success() {
            return Err(format!("sharp ended with {status} ({HINT}): {stderr}").into());
        }
        let report: Value = serde_json::from_slice(&stdout)?;
        let number =
            |name: &str| report[name].as_u64().ok_or(format!("sharp's script did not report {name}"));
        Ok(ImportFigures {
            name: set.name(),
            photos: number("photos")?,
            failed: number("failed")?,
            took,
            used: usage,
            bytes: number("bytes")?,
        })
    }
}

/// Number of photos processed at the same time: the server's default.
pub(super) fn concurrency() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

fn installed_version(folder: &Path) -> Option<String> {
    let manifest = fs::read(folder.join("node_modules/sharp/package.json")).ok()?;
    let manifest: Value = serde_json::from_slice(&manifest).ok()?;
    Some(manifest["version"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_renditions_match_the_server() {
        assert_eq!(RenditionSet::Small.sides(), [1200, 512]);
        assert_eq!(RenditionSet::All.sides(), [16_383, 1200, 512]);
    }
}
