use std::io;

use bytes::Bytes;
use media::ViewOptions;
use sandbox::{DecodeError, Urgency};

use crate::{Indexer, RenditionError};

impl Indexer {
    /// Makes JPEGs of renditions in a worker: one of each in that order, or one sheet; see [`media::views`].
    ///
    /// # Errors
    /// [`RenditionError::Failed`] if a rendition is broken, and [`RenditionError::DecoderUnavailable`].
    pub async fn view(
        &self,
        renditions: &Vec<Bytes>,
        options: ViewOptions,
    ) -> Result<Vec<Bytes>, RenditionError> {
        let views = self.parts.decoders.view(renditions, options, Urgency::Interactive).await;
        views.map_err(|error| match error {
            DecodeError::File(fault) => RenditionError::Failed(fault.to_string()),
            DecodeError::Unavailable(error) => RenditionError::DecoderUnavailable(error),
            error @ (DecodeError::Source(_) | DecodeError::SourceLength { .. }) => {
                RenditionError::DecoderUnavailable(io::Error::other(error.to_string()))
            }
        })
    }
}
