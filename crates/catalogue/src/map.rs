use accounts::Caller;
use domain::{DateRange, Image, Limit, MapArea};
use storage::{MapCluster, StorageError};

use crate::Catalogue;

impl Catalogue {
    /// The caller's photos in an area, grouped by the map squares of a level. If these squares are too many, larger ones
    /// are used.
    pub async fn map_clusters(
        &self,
        caller: &Caller,
        area: MapArea,
        level: u8,
    ) -> Result<Vec<MapCluster>, StorageError> {
        self.parts.store.map_clusters(self.viewer(caller), area, level).await
    }

    /// The caller's newest photos of an area in a range.
    pub async fn map_images(
        &self,
        caller: &Caller,
        area: MapArea,
        range: DateRange,
        limit: Limit,
    ) -> Result<Vec<Image>, StorageError> {
        self.parts.store.map_images(self.viewer(caller), area, range, limit).await
    }
}
