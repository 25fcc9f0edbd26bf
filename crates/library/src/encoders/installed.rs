use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use vision::{
    VisualEncoder as _,
    clip::{ClipModel, Options},
    models::{ActiveModel, Models},
};

use super::{ModelSource, SharedEncoder};

/// The vision models that are installed in a folder. Each is loaded once, when it is first asked for.
pub struct InstalledModels {
    models: Models,
    options: Options,
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    /// The model in use, and what the folder said when it was loaded.
    in_use: Option<(ActiveModel, Arc<ClipModel>)>,
    /// The one that answers until the model in use has seen everything.
    before: Option<Arc<ClipModel>>,
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
    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        let in_use = self.models.active_model().map_err(|error| error.to_string())?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let ActiveModel::Model { name, .. } = &in_use else {
            *loaded = Loaded::default();
            return Ok(None);
        };
        if let Some((known, model)) = &loaded.in_use
            && *known == in_use
        {
            return Ok(Some(model.clone()));
        }
        let model = self.models.load(name, &self.options).map_err(|error| format!("{name}: {error}"))?;
        let model = Arc::new(model);
        let before = loaded.in_use.replace((in_use, model.clone())).map(|(_, before)| before);
        loaded.before = before.filter(|before| before.name() != model.name()).or(loaded.before.take());
        Ok(Some(model))
    }

    fn encoder_by_name(&self, name: &str) -> Option<SharedEncoder> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |model: &&Arc<ClipModel>| model.name() == name;
        let in_use = loaded.in_use.as_ref().map(|(_, model)| model);
        // Whoever removed the one before, or installed another one over it, wants it no more.
        let before = loaded.before.as_ref().filter(|model| model.is_intact());
        if let Some(model) = in_use.filter(is_it).or(before.filter(is_it)) {
            return Some(model.clone());
        }
        loaded.before = None;
        // An encoder is named after its model's folder.
        let (folder, _) = name.rsplit_once('@')?;
        let model = Arc::new(self.models.load(folder, &self.options).ok()?);
        if model.name() != name {
            return None;
        }
        loaded.before = Some(model.clone());
        Some(model)
    }

    fn is_built_in_chosen(&self) -> bool {
        self.models.is_built_in_chosen()
    }

    fn release_previous(&self) {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).before = None;
    }
}
