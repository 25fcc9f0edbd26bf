//! The models that are installed: a folder with a folder for each, and a file that names the one in use.
//!
//! A model appears in it whole or not at all. What is half done is in folders whose names begin with a dot; who changes
//! anything holds a lock, and first tidies up what another one may have left.

mod files;
mod install;
mod manifest;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

pub(crate) use self::manifest::Manifest;
pub use self::{
    files::{is_model_file, missing_file},
    install::{Progress, StagedModel},
};
use crate::{
    VisualEncoder,
    clip::{ClipModel, LoadError, Options},
};

/// Names the encoder that needs no model.
pub const BUILT_IN: &str = "built-in";
/// The file that names the model in use.
const IN_USE: &str = "in-use";
const LOCK: &str = ".lock";
const INSTALLING: &str = ".installing-";
const REPLACED: &str = ".replaced-";

/// Why something could not be done with the models.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ModelsError(pub String);

impl ModelsError {
    fn file(path: &Path, why: &io::Error) -> Self {
        Self(format!("{}: {why}", path.display()))
    }
}

/// The folder of installed models.
#[derive(Debug, Clone)]
pub struct Models {
    folder: PathBuf,
}

/// What sees pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActiveModel {
    /// The encoder that needs no model.
    BuiltIn,
    /// An installed model.
    Model {
        /// Its folder's name.
        name: String,
        /// When it was installed: another time is another model. `None` when it is not there.
        installed: Option<SystemTime>,
    },
}

/// A model that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledModel {
    /// Its folder's name.
    pub name: String,
    /// How many numbers its vectors have.
    pub dimensions: Option<usize>,
    /// On disk.
    pub bytes: u64,
    /// It is the one that sees pictures.
    pub in_use: bool,
    /// Why it can't be used, as far as that is seen without computing.
    pub problem: Option<String>,
}

impl Models {
    /// The models in a folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What sees pictures. Cheap: it reads one small file and looks at another, so it can be asked every second. Two
    /// equal answers mean that nothing changed.
    ///
    /// # Errors
    /// [`ModelsError`] when the file can't be read, or names nothing that can be a model.
    pub fn active_model(&self) -> Result<ActiveModel, ModelsError> {
        let name = match self.chosen()? {
            Some(name) if !name.is_empty() && name != BUILT_IN => name,
            _ => return Ok(ActiveModel::BuiltIn),
        };
        let path = self.folder.join(IN_USE);
        check_name(&name).map_err(|why| ModelsError(format!("{}: {why}", path.display())))?;
        let written = fs::metadata(self.folder.join(&name).join(manifest::MANIFEST));
        Ok(ActiveModel::Model { installed: written.and_then(|written| written.modified()).ok(), name })
    }

    /// Whether somebody chose that no model sees pictures. A folder in which nothing was ever chosen, or that is not
    /// there for the time being, does not say so.
    pub fn is_built_in_chosen(&self) -> bool {
        self.chosen().is_ok_and(|name| name.is_some_and(|name| name == BUILT_IN))
    }

    /// What was chosen last, if anything was.
    fn chosen(&self) -> Result<Option<String>, ModelsError> {
        let path = self.folder.join(IN_USE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(ModelsError::file(&path, &why)),
        }
    }

    /// Takes an installed model.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(&self, name: &str, options: &Options) -> Result<ClipModel, LoadError> {
        ClipModel::load(&self.existing(name).map_err(|why| LoadError(why.0))?, options)
    }

    /// The installed models, by name.
    ///
    /// # Errors
    /// [`ModelsError`] when the folder can't be read.
    pub fn list(&self) -> Result<Vec<InstalledModel>, ModelsError> {
        let in_use = self.active_model()?;
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(why) => return Err(ModelsError::file(&self.folder, &why)),
        };
        let mut models = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|why| ModelsError::file(&self.folder, &why))?;
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
            Err(why) => (None, Some(why.to_string())),
        };
        let bytes = Manifest::of(&folder).map_or(0, |manifest| manifest.bytes());
        InstalledModel { name: name.to_owned(), dimensions, bytes, in_use, problem }
    }

    /// Makes an installed model, or with [`BUILT_IN`] none of them, see pictures.
    ///
    /// # Errors
    /// [`ModelsError`] when it is not installed or can't be loaded, or the file can't be written.
    pub fn choose(&self, name: &str, options: &Options) -> Result<(), ModelsError> {
        let _lock = self.lock()?;
        if name != BUILT_IN {
            let model = self.load(name, options).map_err(|why| ModelsError(why.0))?;
            model.self_test().map_err(|why| ModelsError(why.0))?;
        }
        let path = self.folder.join(IN_USE);
        files::write(&path, format!("{name}\n").as_bytes()).map_err(|why| ModelsError::file(&path, &why))
    }

    /// Removes an installed model that is not in use.
    ///
    /// # Errors
    /// [`ModelsError`].
    pub fn remove(&self, name: &str) -> Result<(), ModelsError> {
        let _lock = self.lock()?;
        let folder = self.existing(name)?;
        if matches!(self.active_model()?, ActiveModel::Model { name: used, .. } if used == name) {
            return Err(ModelsError(format!("{name} is in use; use another one, or {BUILT_IN}, first")));
        }
        let away = self.folder.join(format!("{INSTALLING}{name}"));
        let remove = || {
            fs::rename(&folder, &away)?;
            fs::remove_dir_all(&away)
        };
        remove().map_err(|why| ModelsError::file(&folder, &why))
    }

    /// The folder of an installed model.
    fn existing(&self, name: &str) -> Result<PathBuf, ModelsError> {
        check_name(name).map_err(ModelsError)?;
        let folder = self.folder.join(name);
        if folder.is_dir() { Ok(folder) } else { Err(ModelsError(format!("no model {name} is installed"))) }
    }

    /// Waits for nobody: two at once would be a mistake.
    fn lock(&self) -> Result<File, ModelsError> {
        fs::create_dir_all(&self.folder).map_err(|why| ModelsError::file(&self.folder, &why))?;
        let path = self.folder.join(LOCK);
        let wrong = |why: &io::Error| ModelsError::file(&path, why);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|why| wrong(&why))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let text = "another command is changing the models; try again when it has ended";
                return Err(ModelsError(text.to_owned()));
            }
            Err(fs::TryLockError::Error(why)) => return Err(wrong(&why)),
        }
        self.tidy().map_err(|why| ModelsError::file(&self.folder, &why))?;
        Ok(lock)
    }

    /// Removes what an interrupted command left, and puts back what it was about to replace.
    fn tidy(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with(INSTALLING) {
                fs::remove_dir_all(entry.path())?;
            } else if let Some(replaced) = name.strip_prefix(REPLACED) {
                let place = self.folder.join(replaced);
                if place.exists() {
                    fs::remove_dir_all(entry.path())?;
                } else {
                    fs::rename(entry.path(), place)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a model can be called so.
fn check_name(name: &str) -> Result<(), String> {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "._-".contains(sign);
    let plain = !name.is_empty() && name.len() <= 100 && name.chars().all(sign);
    if plain && !name.starts_with(['.', '-']) && ![BUILT_IN, IN_USE].contains(&name) {
        Ok(())
    } else {
        Err(format!(
            "{name:?} can't be the name of a model: letters, digits, dots, dashes and underscores can"
        ))
    }
}
