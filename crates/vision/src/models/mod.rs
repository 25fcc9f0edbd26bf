//! The installed models: one folder with a subfolder for each model, and a file with the name of the model in use.
//!
//! Installation is atomic. Unfinished installations are in folders whose names start with a dot. Every change holds a
//! lock and first cleans up after interrupted commands.

mod install;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

pub use self::install::{Progress, StagedModel};
pub use crate::model_files::{ModelsError, is_model_file, missing_file};
use crate::{
    VisualEncoder,
    clip::{ClipModel, LoadError, Options},
    model_files::{self, MANIFEST, Manifest},
};

/// The name of the built-in encoder, which needs no model.
pub const BUILT_IN: &str = "built-in";
/// The file with the name of the model in use.
const IN_USE: &str = "in-use";
const LOCK: &str = ".lock";
const INSTALLING: &str = ".installing-";
const REPLACED: &str = ".replaced-";

#[derive(Debug, Clone)]
pub struct Models {
    folder: PathBuf,
}

/// The selected encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActiveModel {
    BuiltIn,
    Model {
        name: String,
        /// When the model was installed. The time changes when the model is replaced. `None` if the model is missing.
        installed: Option<SystemTime>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledModel {
    pub name: String,
    pub dimensions: Option<usize>,
    /// Its size on disk.
    pub bytes: u64,
    /// Whether it is selected.
    pub in_use: bool,
    /// Why the model cannot be used, as far as this is known without running it.
    pub problem: Option<String>,
}

impl Models {
    /// The models in `folder`, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The selected encoder. This is cheap enough to be called every second. Two equal results mean that nothing has
    /// changed.
    ///
    /// # Errors
    /// [`ModelsError`] if the file cannot be read or contains an invalid name.
    pub fn active_model(&self) -> Result<ActiveModel, ModelsError> {
        let name = match self.chosen()? {
            Some(name) if !name.is_empty() && name != BUILT_IN => name,
            _ => return Ok(ActiveModel::BuiltIn),
        };
        let path = self.folder.join(IN_USE);
        check_name(&name).map_err(|error| ModelsError(format!("{}: {error}", path.display())))?;
        let written = fs::metadata(self.folder.join(&name).join(MANIFEST));
        Ok(ActiveModel::Model { installed: written.and_then(|written| written.modified()).ok(), name })
    }

    /// Whether the built-in encoder was selected explicitly. `false` if nothing was ever selected or the folder is
    /// missing.
    pub fn is_built_in_chosen(&self) -> bool {
        self.chosen().is_ok_and(|name| name.is_some_and(|name| name == BUILT_IN))
    }

    /// The content of the file with the name of the model in use.
    fn chosen(&self) -> Result<Option<String>, ModelsError> {
        let path = self.folder.join(IN_USE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ModelsError::file(&path, &error)),
        }
    }

    /// Loads an installed model.
    pub fn load(&self, name: &str, options: &Options) -> Result<ClipModel, LoadError> {
        ClipModel::load(&self.existing(name).map_err(|error| LoadError(error.0))?, options)
    }

    /// The installed models, by name.
    ///
    /// # Errors
    /// [`ModelsError`] if the folder cannot be read.
    pub fn list(&self) -> Result<Vec<InstalledModel>, ModelsError> {
        let in_use = self.active_model()?;
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(ModelsError::file(&self.folder, &error)),
        };
        let mut models = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| ModelsError::file(&self.folder, &error))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if check_name(&name).is_ok() && entry.path().is_dir() {
                models.push(self.describe(&name, &in_use));
            }
        }
        models.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(models)
    }

    fn describe(&self, name: &str, in_use: &ActiveModel) -> InstalledModel {
        let folder = self.folder.join(name);
        let in_use = matches!(in_use, ActiveModel::Model { name: used, .. } if used == name);
        let found = ClipModel::load(&folder, &Options::default());
        let (dimensions, problem) = match found {
            Ok(model) => (Some(model.dimensions()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let bytes = Manifest::load(&folder).map_or(0, |manifest| manifest.bytes());
        InstalledModel { name: name.to_owned(), dimensions, bytes, in_use, problem }
    }

    /// Selects an installed model, or the built-in encoder by [`BUILT_IN`].
    ///
    /// # Errors
    /// [`ModelsError`] if it is not installed or does not work, or if the file cannot be written.
    pub fn choose(&self, name: &str, options: &Options) -> Result<(), ModelsError> {
        let _lock = self.lock()?;
        if name != BUILT_IN {
            let model = self.load(name, options).map_err(|error| ModelsError(error.0))?;
            model.self_test().map_err(|error| ModelsError(error.0))?;
        }
        let path = self.folder.join(IN_USE);
        model_files::write(&path, format!("{name}\n").as_bytes())
            .map_err(|error| ModelsError::file(&path, &error))
    }

    /// Removes an installed model that is not in use.
    pub fn remove(&self, name: &str) -> Result<(), ModelsError> {
        let _lock = self.lock()?;
        let folder = self.existing(name)?;
        if matches!(self.active_model()?, ActiveModel::Model { name: used, .. } if used == name) {
            return Err(ModelsError(format!("{name} is in use; first select another model or {BUILT_IN}")));
        }
        let removed = self.folder.join(format!("{INSTALLING}{name}"));
        let remove = || {
            fs::rename(&folder, &removed)?;
            fs::remove_dir_all(&removed)
        };
        remove().map_err(|error| ModelsError::file(&folder, &error))
    }

    fn existing(&self, name: &str) -> Result<PathBuf, ModelsError> {
        check_name(name).map_err(ModelsError)?;
        let folder = self.folder.join(name);
        if folder.is_dir() { Ok(folder) } else { Err(ModelsError(format!("no model {name} is installed"))) }
    }

    /// Locks the folder for a change. Fails at once if another command holds the lock.
    fn lock(&self) -> Result<File, ModelsError> {
        fs::create_dir_all(&self.folder).map_err(|error| ModelsError::file(&self.folder, &error))?;
        let path = self.folder.join(LOCK);
        let failed = |error: &io::Error| ModelsError::file(&path, error);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| failed(&error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let text = "another command is changing the models; try again when it is done";
                return Err(ModelsError(text.to_owned()));
            }
            Err(fs::TryLockError::Error(error)) => return Err(failed(&error)),
        }
        self.clean_up().map_err(|error| ModelsError::file(&self.folder, &error))?;
        Ok(lock)
    }

    /// Removes unfinished installations, and restores models that were about to be replaced.
    fn clean_up(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with(INSTALLING) {
                fs::remove_dir_all(entry.path())?;
            } else if let Some(replaced) = name.strip_prefix(REPLACED) {
                let original = self.folder.join(replaced);
                if original.exists() {
                    fs::remove_dir_all(entry.path())?;
                } else {
                    fs::rename(entry.path(), original)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks the name of a model.
fn check_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let plain = !name.is_empty() && name.len() <= 100 && name.chars().all(allowed);
    if plain && !name.starts_with(['.', '-']) && ![BUILT_IN, IN_USE].contains(&name) {
        Ok(())
    } else {
        Err(format!("{name:?} is not a valid model name; use letters, digits, dots, dashes and underscores"))
    }
}
