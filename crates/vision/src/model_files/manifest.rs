//! The manifest of a model: its files and their digests.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::{ModelsError, list};

/// The file with the manifest, written when the model is installed.
pub(crate) const MANIFEST: &str = "manifest.json";
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// The files of a model, with their digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    /// Sorted by path.
    files: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Relative to the model's folder, separated by slashes.
    path: String,
    bytes: u64,
    /// Hexadecimal.
    sha256: String,
}

impl Manifest {
    /// Reads the manifest in a model's folder and checks the sizes of the files. If there is none, creates it and tries
    /// to write it.
    pub(crate) fn load(folder: &Path) -> Result<Self, ModelsError> {
        match Self::read(folder)? {
            Some(manifest) => manifest.check(folder).map(|()| manifest),
            None => {
                let manifest = Self::create(folder)?;
                // If this fails, the next load has to create the manifest again, which is slower.
                let _ = manifest.write(folder);
                Ok(manifest)
            }
        }
    }

    fn read(folder: &Path) -> Result<Option<Self>, ModelsError> {
        let path = folder.join(MANIFEST);
        let bytes = match File::open(&path) {
            Ok(file) => {
                let mut bytes = Vec::new();
                file.take(MAX_MANIFEST_BYTES)
                    .read_to_end(&mut bytes)
                    .map_err(|error| ModelsError::file(&path, &error))?;
                bytes
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ModelsError::file(&path, &error)),
        };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(manifest) if manifest.version == 1 => Ok(Some(manifest)),
            Ok(_) => Err(ModelsError(format!(
                "{}: it was written by a newer version of this program",
                path.display()
            ))),
            Err(error) => Err(ModelsError(format!("{}: {error}; install the model again", path.display()))),
        }
    }

    /// Reads all files of a model and computes their digests.
    pub(crate) fn create(folder: &Path) -> Result<Self, ModelsError> {
        let entry = |path: String| {
            let file = folder.join(&path);
            let (bytes, sha256) = digest(&file).map_err(|error| ModelsError::file(&file, &error))?;
            Ok(Entry { path, bytes, sha256 })
        };
        let files = list(folder)?.into_iter().map(entry).collect::<Result<_, ModelsError>>()?;
        Ok(Self { version: 1, files })
    }

    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        super::write(&folder.join(MANIFEST), &text)
    }

    /// Checks that the installed files are unchanged, judging by their sizes.
    pub(crate) fn check(&self, folder: &Path) -> Result<(), ModelsError> {
        if Self::read(folder)?.is_some_and(|now| now != *self) {
            return Err(ModelsError(format!(
                "{}: the model was replaced after it was loaded",
                folder.display()
            )));
        }
        for entry in &self.files {
            let path = folder.join(entry.path.split('/').collect::<PathBuf>());
            let bytes = std::fs::metadata(&path).map_err(|error| ModelsError::file(&path, &error))?.len();
            if bytes != entry.bytes {
                return Err(ModelsError(format!(
                    "{}: the file has {bytes} bytes instead of {}; install the model again",
                    path.display(),
                    entry.bytes
                )));
            }
        }
        Ok(())
    }

    /// The size of the model in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// Identifies the weights and settings: 12 hexadecimal digits.
    pub(crate) fn short_digest(&self) -> String {
        let mut context = Context::new(&SHA256);
        for entry in &self.files {
            context.update(format!("{}\t{}\n", entry.path, entry.sha256).as_bytes());
        }
        let mut hex = HEXLOWER.encode(context.finish().as_ref());
        hex.truncate(12);
        hex
    }
}

fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 1 << 18];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        let Some(part @ [_, ..]) = buffer.get(..read) else { break };
        context.update(part);
        bytes += part.len() as u64;
    }
    Ok((bytes, HEXLOWER.encode(context.finish().as_ref())))
}
