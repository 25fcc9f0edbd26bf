use storage::{Stage, StorageError};

use crate::{Indexer, encoders::SharedEncoder, search_stage::SearchStage};

impl Indexer {
    /// Whether a vision model is in use. A model that was chosen but cannot be used counts as well: searches of the image
    /// channel fail then.
    pub async fn has_vision_model(&self) -> bool {
        !matches!(self.parts.encoders.model(&self.parts.clock).await, Ok(None))
    }

    /// Whether this program could run a vision model if one were installed.
    pub async fn can_run_models(&self) -> bool {
        let encoders = self.parts.encoders.clone();
        // The runtime is looked for in the file system.
        tokio::task::spawn_blocking(move || encoders.can_run_models()).await.unwrap_or_default()
    }

    /// The encoders that searches use: the built-in one, and the active model, or the previous one until the active model has
    /// processed every image. `None` if a model was chosen that cannot be used, because the search would return other
    /// results without it.
    pub async fn search_encoders(&self) -> Result<Option<Vec<SharedEncoder>>, StorageError> {
        let parts = &self.parts;
        let Ok(model) = parts.encoders.model(&parts.clock).await else { return Ok(None) };
        let mut encoders = vec![parts.encoders.built_in().clone()];
        if let Some(model) = model {
            let previous = match parts.store.stage(SearchStage::Model.name()).await? {
                Some(stage) => self.previous_model(&stage, &model).await?,
                None => None,
            };
            encoders.push(previous.unwrap_or(model));
        }
        Ok(Some(encoders))
    }

    /// The previous model, which serves searches until the active one has processed every image; `None` if it has, or if
    /// the previous model or its vectors no longer exist.
    pub(crate) async fn previous_model(
        &self,
        stage: &Stage,
        model: &SharedEncoder,
    ) -> Result<Option<SharedEncoder>, StorageError> {
        let Some(complete) = stage.complete_version.as_deref().filter(|complete| *complete != model.name())
        else {
            return Ok(None);
        };
        if self.parts.store.encoder(complete).await?.is_none() {
            return Ok(None);
        }
        Ok(self.parts.encoders.by_name(complete).await)
    }
}
