//! Installs models.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::{INSTALLING, InstalledModel, Models, ModelsError, REPLACED, check_name};
use crate::{
    clip::{ClipModel, Options},
    model_files::{self, Manifest},
};

/// Called with a file's path, the number of bytes copied, and its size.
pub type Progress<'a> = &'a mut dyn FnMut(&str, u64, u64);

/// A model that is being installed. Dropping it removes an unfinished installation.
pub struct StagedModel {
    models: Models,
    name: String,
    folder: PathBuf,
    /// The lock on the models, held until this value is dropped.
    _lock: File,
}

impl Models {
    /// Creates an empty folder for the files of a new model.
    ///
    /// # Errors
    /// [`ModelsError`] if the name is invalid, or if another command is changing the models.
    pub fn stage(&self, name: &str) -> Result<StagedModel, ModelsError> {
        check_name(name).map_err(ModelsError)?;
        let lock = self.lock()?;
        let folder = self.folder.join(format!("{INSTALLING}{name}"));
        for part in ["visual", "textual"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(|error| ModelsError::file(&part, &error))?;
        }
        Ok(StagedModel { models: self.clone(), name: name.to_owned(), folder, _lock: lock })
    }

    /// Installs the model in a folder under a name, by default the folder's name.
    ///
    /// # Errors
    /// [`ModelsError`]. A failed installation leaves nothing behind.
    pub fn install_folder(
        &self,
        source: &Path,
        name: Option<&str>,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<InstalledModel, ModelsError> {
        let folder = source.canonicalize().map_err(|error| ModelsError::file(source, &error))?;
        let folder_name =
            folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.unwrap_or(&folder_name);
        let paths = model_files::list(&folder)?;
        // Checked first, because copying takes long.
        ClipModel::check_settings(&folder).map_err(|error| ModelsError(error.0))?;
        let staged = self.stage(name)?;
        for path in paths {
            copy(&folder.join(&path), &staged.folder.join(&path), &mut |bytes, size| {
                progress(&path, bytes, size);
            })
            .map_err(|error| ModelsError::file(&folder.join(&path), &error))?;
        }
        staged.finish(options)
    }
}

impl StagedModel {
    /// The folder for the files, with the folders `visual` and `textual`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Tests the model and moves it to its final folder.
    ///
    /// # Errors
    /// [`ModelsError`]. A failed installation leaves nothing behind.
    pub fn finish(self, options: &Options) -> Result<InstalledModel, ModelsError> {
        let manifest = Manifest::create(&self.folder)?;
        let sync = || {
            for path in model_files::list(&self.folder).map_err(io::Error::other)? {
                model_files::sync(&self.folder.join(path))?;
            }
            manifest.write(&self.folder)?;
            ["visual", "textual", ""].iter().try_for_each(|part| model_files::sync(&self.folder.join(part)))
        };
        sync().map_err(|error| ModelsError::file(&self.folder, &error))?;
        let model = ClipModel::load(&self.folder, options).map_err(|error| self.with_model_name(&error.0))?;
        model.self_test().map_err(|error| self.with_model_name(&error.0))?;
        drop(model);
        let target = self.models.folder.join(&self.name);
        self.move_to(&target).map_err(|error| ModelsError::file(&target, &error))?;
        let in_use = self.models.active_model()?;
        Ok(self.models.describe(&self.name, &in_use))
    }

    fn move_to(&self, target: &Path) -> io::Result<()> {
        let replaced = self.models.folder.join(format!("{REPLACED}{}", self.name));
        let replaces = target.exists();
        if replaces {
            fs::rename(target, &replaced)?;
        }
        fs::rename(&self.folder, target)?;
        model_files::sync(&self.models.folder)?;
        if replaces { fs::remove_dir_all(&replaced) } else { Ok(()) }
    }

    /// Replaces the temporary folder in an error message by the model's name.
    fn with_model_name(&self, message: &str) -> ModelsError {
        let folder = self.folder.to_string_lossy();
        ModelsError(
            message.replace(&*folder, &self.name).replace(&format!("{INSTALLING}{}", self.name), &self.name),
        )
    }
}

impl Drop for StagedModel {
    fn drop(&mut self) {
        // A finished installation was moved, so this fails.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn copy(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> io::Result<()> {
    let (mut source, mut target) = (File::open(from)?, File::create_new(to)?);
    let size = source.metadata()?.len();
    let mut buffer = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        let read = source.read(&mut buffer)?;
        let Some(part @ [_, ..]) = buffer.get(..read) else { break };
        target.write_all(part)?;
        done += part.len() as u64;
        progress(done, size);
    }
    Ok(())
}
