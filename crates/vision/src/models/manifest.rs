//! Which files a model is made of.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::{ModelsError, files};

/// The file beside a model that says which files it is made of. It is written when the model is installed.
pub(super) const MANIFEST: &str = "manifest.json";
const MOST_MANIFEST_BYTES: u64 = 4 << 20;

/// The files of a model, with their digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Of this layout.
    version: u32,
    /// Sorted by their paths.
    files: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// In the model's folder, with slashes.
    path: String,
    bytes: u64,
    /// In hexadecimal.
    sha256: String,
}

impl Manifest {
    /// What is written in a model's folder. Of a folder without it the files are read whole, and it is written if the
    /// folder can be written to.
    pub(crate) fn of(folder: &Path) -> Result<Self, ModelsError> {
        match Self::read(folder)? {
            Some(manifest) => manifest.check(folder).map(|()| manifest),
            None => {
                let manifest = Self::make(folder)?;
                // A folder that can't be written to is only slower.
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
                file.take(MOST_MANIFEST_BYTES)
                    .read_to_end(&mut bytes)
                    .map_err(|why| ModelsError::file(&path, &why))?;
                bytes
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(ModelsError::file(&path, &why)),
        };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(manifest) if manifest.version == 1 => Ok(Some(manifest)),
            Ok(_) => {
                Err(ModelsError(format!("{}: a later version of this program wrote it", path.display())))
            }
            Err(why) => Err(ModelsError(format!("{}: {why}; install the model again", path.display()))),
        }
    }

    /// Reads all files of a model.
    pub(super) fn make(folder: &Path) -> Result<Self, ModelsError> {
        let entry = |path: String| {
            let file = folder.join(&path);
            let (bytes, sha256) = digest(&file).map_err(|why| ModelsError::file(&file, &why))?;
            Ok(Entry { path, bytes, sha256 })
        };
        let files = files::of_model(folder)?.into_iter().map(entry).collect::<Result<_, ModelsError>>()?;
        Ok(Self { version: 1, files })
    }

    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        files::write(&folder.join(MANIFEST), &text)
    }

    /// Whether the files that were installed are still there, and as long.
    pub(crate) fn check(&self, folder: &Path) -> Result<(), ModelsError> {
        if Self::read(folder)?.is_some_and(|now| now != *self) {
            return Err(ModelsError(format!("{}: the model was installed anew", folder.display())));
        }
        for entry in &self.files {
            let path = folder.join(entry.path.split('/').collect::<PathBuf>());
            let bytes = std::fs::metadata(&path).map_err(|why| ModelsError::file(&path, &why))?.len();
            if bytes != entry.bytes {
                return Err(ModelsError(format!(
                    "{}: it has {bytes} bytes and had {} when it was installed; install the model again",
                    path.display(),
                    entry.bytes
                )));
            }
        }
        Ok(())
    }

    /// All bytes of the model.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// Names these weights and settings: 12 hexadecimal digits.
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
