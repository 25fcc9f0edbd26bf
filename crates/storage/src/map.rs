use async_trait::async_trait;
use domain::{DateRange, Image, ImageId, Limit, MapArea, MapCell, Position, Timestamp};

use crate::{StorageError, Viewer};

/// The visible photos of a square of the map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapCluster {
    pub cell: MapCell,
    /// The number of photos; at least 1.
    pub photos: u64,
    /// The mean of their positions.
    pub centre: Position,
    /// The smallest square that contains all of them.
    pub extent: MapCell,
    /// The newest photo.
    pub cover: ImageId,
    /// The version of the decoders that made the renditions of the newest photo.
    pub cover_version: u32,
    /// When the newest photo was taken.
    pub newest: Timestamp,
}

/// Where photos were taken. Only images that are visible to the viewer count.
#[async_trait]
pub trait MapStore: Send + Sync + 'static {
    /// The photos of the squares of a level that an area touches. If these are more than
    /// [`MAX_MAP_CLUSTERS`](domain::MAX_MAP_CLUSTERS) squares, the squares of a lower level are used. Squares without
    /// photos are left out; the others are in the order of their numbers. A call takes a similar time for every area
    /// and level.
    async fn map_clusters(
        &self,
        viewer: Viewer,
        area: MapArea,
        level: u8,
    ) -> Result<Vec<MapCluster>, StorageError>;

    /// The newest photos of an area in a range.
    async fn map_images(
        &self,
        viewer: Viewer,
        area: MapArea,
        range: DateRange,
        limit: Limit,
    ) -> Result<Vec<Image>, StorageError>;

    /// Checks up to `max` images that were added before the map existed, and adds those that belong on it. Returns how
    /// many were checked, 0 when none is left. The next call resumes there, in this process or a later one.
    async fn fill_map(&self, max: u32) -> Result<u32, StorageError>;
}
