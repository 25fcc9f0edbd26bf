//! Installing a model.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::{INSTALLING, InstalledModel, Manifest, Models, ModelsError, REPLACED, check_name, files};
use crate::clip::{ClipModel, Options};

/// Told of what is done: the file's path, and how many bytes of how many are there.
pub type Progress<'a> = &'a mut dyn FnMut(&str, u64, u64);

/// A model that is being installed. What is not finished is removed when this is dropped.
pub struct StagedModel {
    models: Models,
    name: String,
    folder: PathBuf,
    /// Held until this is dropped.
    _lock: File,
}

impl Models {
    /// Makes an empty folder for the files of a new model.
    ///
    /// # Errors
    /// [`ModelsError`] when it can't be called so, or another command is changing the models.
    pub fn stage(&self, name: &str) -> Result<StagedModel, ModelsError> {
        check_name(name).map_err(ModelsError)?;
        let lock = self.lock()?;
        let folder = self.folder.join(format!("{INSTALLING}{name}"));
        for part in ["visual", "textual"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(|why| ModelsError::file(&part, &why))?;
        }
        Ok(StagedModel { models: self.clone(), name: name.to_owned(), folder, _lock: lock })
    }

    /// Installs the model in a folder under a name, by default the folder's.
    ///
    /// # Errors
    /// [`ModelsError`] when it does not work; nothing of it is left then.
    pub fn install_folder(
        &self,
        source: &Path,
        name: Option<&str>,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<InstalledModel, ModelsError> {
        let whole = source.canonicalize().map_err(|why| ModelsError::file(source, &why))?;
        let own = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.unwrap_or(&own);
        let paths = files::of_model(&whole)?;
        // Settings that are wrong need no copying.
        ClipModel::settings(&whole).map_err(|why| ModelsError(why.0))?;
        let staged = self.stage(name)?;
        for path in paths {
            copy(&whole.join(&path), &staged.folder.join(&path), &mut |bytes, of| progress(&path, bytes, of))
                .map_err(|why| ModelsError::file(&whole.join(&path), &why))?;
        }
        staged.finish(options)
    }
}

impl StagedModel {
    /// The folder that the files belong into; `visual` and `textual` are there.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sees that the model works, and puts it in its place.
    ///
    /// # Errors
    /// [`ModelsError`]; nothing of it is left then.
    pub fn finish(self, options: &Options) -> Result<InstalledModel, ModelsError> {
        let manifest = Manifest::make(&self.folder)?;
        let last = || {
            for path in files::of_model(&self.folder).map_err(io::Error::other)? {
                files::sync(&self.folder.join(path))?;
            }
            manifest.write(&self.folder)?;
            ["visual", "textual", ""].iter().try_for_each(|part| files::sync(&self.folder.join(part)))
        };
        last().map_err(|why| ModelsError::file(&self.folder, &why))?;
        let model = ClipModel::load(&self.folder, options).map_err(|why| self.by_its_name(&why.0))?;
        model.self_test().map_err(|why| self.by_its_name(&why.0))?;
        drop(model);
        let place = self.models.folder.join(&self.name);
        self.put(&place).map_err(|why| ModelsError::file(&place, &why))?;
        let in_use = self.models.active_model()?;
        Ok(self.models.describe(&self.name, &in_use))
    }

    fn put(&self, place: &Path) -> io::Result<()> {
        let replaced = self.models.folder.join(format!("{REPLACED}{}", self.name));
        let replaces = place.exists();
        if replaces {
            fs::rename(place, &replaced)?;
        }
        fs::rename(&self.folder, place)?;
        files::sync(&self.models.folder)?;
        if replaces { fs::remove_dir_all(&replaced) } else { Ok(()) }
    }

    /// What went wrong in a folder that will not be there any more.
    fn by_its_name(&self, why: &str) -> ModelsError {
        let folder = self.folder.to_string_lossy();
        ModelsError(
            why.replace(&*folder, &self.name).replace(&format!("{INSTALLING}{}", self.name), &self.name),
        )
    }
}

impl Drop for StagedModel {
    fn drop(&mut self) {
        // After it was put in its place it is not there any more.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn copy(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> io::Result<()> {
    let (mut source, mut target) = (File::open(from)?, File::create_new(to)?);
    let whole = source.metadata()?.len();
    let mut buffer = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        let read = source.read(&mut buffer)?;
        let Some(part @ [_, ..]) = buffer.get(..read) else { break };
        target.write_all(part)?;
        done += part.len() as u64;
        progress(done, whole);
    }
    Ok(())
}
