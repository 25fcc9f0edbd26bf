use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use vision::{
    VisualEncoder as _,
    clip::{ClipModel, Options, Runtime},
    models::{ActiveModel, Models},
};

use super::{ModelSource, SharedEncoder};

/// The vision models in a folder. Each one is loaded at its first use.
pub struct InstalledModels {
    models: Models,
    options: Options,
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    /// The active model, and the folder's entry for it when it was loaded.
    active: Option<(ActiveModel, Arc<ClipModel>)>,
    /// The previous model, which serves searches until the active one has processed every image.
    previous: Option<Arc<ClipModel>>,
}

impl InstalledModels {
    /// The models of a folder, which need not exist yet.
    pub fn new(models: Models, options: Options) -> Self {
        Self { models, options, loaded: Mutex::default() }
    }
}

impl fmt::Debug for InstalledModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstalledModels").field("models", &self.models).finish()
    }
}

impl ModelSource for InstalledModels {
    fn can_run_models(&self) -> bool {
        Runtime::require(&self.options).is_ok()
    }

    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        let active = self.models.active_model().map_err(|error| error.to_string())?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let ActiveModel::Model { name, .. } = &active else {
            *loaded = Loaded::default();
            return Ok(None);
        };
        if let Some((loaded_entry, model)) = &loaded.active
            && *loaded_entry == active
        {
            return Ok(Some(model.clone()));
        }
        let model = self.models.load(name, &self.options).map_err(|error| format!("{name}: {error}"))?;
        let model = Arc::new(model);
        let previous = loaded.active.replace((active, model.clone())).map(|(_, previous)| previous);
        loaded.previous =
            previous.filter(|previous| previous.name() != model.name()).or(loaded.previous.take());
        Ok(Some(model))
    }

    fn encoder_by_name(&self, name: &str) -> Option<SharedEncoder> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let has_name = |model: &&Arc<ClipModel>| model.name() == name;
        let active = loaded.active.as_ref().map(|(_, model)| model);
        // The previous model is not used any more once its files are removed or replaced.
        let previous = loaded.previous.as_ref().filter(|model| model.is_intact());
        if let Some(model) = active.filter(has_name).or(previous.filter(has_name)) {
            return Some(model.clone());
        }
        loaded.previous = None;
        // An encoder is named after its model's folder.
        let (folder, _) = name.rsplit_once('@')?;
        let model = Arc::new(self.models.load(folder, &self.options).ok()?);
        if model.name() != name {
            return None;
        }
        loaded.previous = Some(model.clone());
        Some(model)
    }

    fn is_built_in_chosen(&self) -> bool {
        self.models.is_built_in_chosen()
    }

    fn release_previous(&self) {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).previous = None;
    }
}
