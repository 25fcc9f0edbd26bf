//! Example photos, for people who want to look around before they add photos of their own.

use std::sync::LazyLock;

use bytes::Bytes;
use domain::{AccountId, ContentHash, ImageId};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use keys::sha256;
use storage::StorageError;

use crate::{ImportError, Ingest, Upload};

/// Sources, licences and what was changed: `example-photos/README.md`.
static EXAMPLES: [(&str, &[u8]); 11] = [
    ("cyclamen.jpg", include_bytes!("../example-photos/cyclamen.jpg")),
    ("flag-tower.jpg", include_bytes!("../example-photos/flag-tower.jpg")),
    ("frozen-shore.jpg", include_bytes!("../example-photos/frozen-shore.jpg")),
    ("limestone-rocks.jpg", include_bytes!("../example-photos/limestone-rocks.jpg")),
    ("mountain-meadow.jpg", include_bytes!("../example-photos/mountain-meadow.jpg")),
    ("polemonium.jpg", include_bytes!("../example-photos/polemonium.jpg")),
    ("red-ship.jpg", include_bytes!("../example-photos/red-ship.jpg")),
    ("restaurant-at-night.jpg", include_bytes!("../example-photos/restaurant-at-night.jpg")),
    ("silver-fir.jpg", include_bytes!("../example-photos/silver-fir.jpg")),
    ("sleeping-cat.jpg", include_bytes!("../example-photos/sleeping-cat.jpg")),
    ("wood-anemones.jpg", include_bytes!("../example-photos/wood-anemones.jpg")),
];

static HASHES: LazyLock<Vec<ContentHash>> =
    LazyLock::new(|| EXAMPLES.iter().map(|(_, bytes)| ContentHash::new(sha256(bytes))).collect());

/// Look-ups of images at once.
const LOOKUPS_AT_ONCE: usize = 4;

impl Ingest {
    /// The number of example photos.
    pub const EXAMPLES: u32 = 11;

    /// Adds the example photos to an account. Those that it deleted are restored.
    ///
    /// # Errors
    /// [`ImportError`]; the photos before the error stay.
    pub async fn add_examples(&self, account: AccountId) -> Result<(), ImportError> {
        for (name, bytes) in EXAMPLES {
            let upload = Upload {
                name: Some(name.to_owned()),
                bytes: u64::try_from(bytes.len()).ok(),
                quota_bytes: self.parts.limits.account_quota_bytes,
                ..Upload::default()
            };
            let content = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(bytes))]);
            self.import_stream(account, upload, content).await?;
        }
        Ok(())
    }

    /// The example photos that an account has and did not delete, always in the same order.
    ///
    /// # Errors
    /// [`StorageError`]
    pub async fn examples(&self, account: AccountId) -> Result<Vec<ImageId>, StorageError> {
        let mut known = self.parts.store.known_originals(account, &HASHES).await?;
        known.sort_unstable();
        let images = stream::iter(known).map(|hash| async move {
            let image = self.parts.store.image_by_original(account, &hash).await?;
            Ok(image.map(|image| image.id))
        });
        images.buffered(LOOKUPS_AT_ONCE).try_filter_map(|id| async move { Ok(id) }).try_collect().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_counted_and_distinct() {
        let distinct: std::collections::HashSet<_> = HASHES.iter().collect();
        assert_eq!(u32::try_from(distinct.len()), Ok(Ingest::EXAMPLES));
    }
}
