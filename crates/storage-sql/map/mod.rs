//! The map: points of images, and sums of squares with many points.
//!
//! A square with fewer than [`MIN_STORED`] points is not stored, because its points are read as quickly. So every answer
//! reads a bounded number of rows, wherever the photos are, and no image has a row for each level.

mod check;
mod clusters;
mod fill;
mod newest;
mod sums;
mod upkeep;

use async_trait::async_trait;
use domain::{DateRange, Image, Limit, MapArea};
use storage::{MapCluster, MapStore, StorageError, Viewer};

use crate::{Lock, SqlStore};

pub(crate) use check::{rebuild_cells, wrong_accounts, wrong_points};
pub(crate) use upkeep::{remove, update};

/// The number of points from which a square is stored.
const MIN_STORED: i64 = 64;

#[async_trait]
impl MapStore for SqlStore {
    async fn map_clusters(
        &self,
        viewer: Viewer,
        area: MapArea,
        level: u8,
    ) -> Result<Vec<MapCluster>, StorageError> {
        self.read(move |c| clusters::clusters(c, viewer, &area, level)).await
    }

    async fn map_images(
        &self,
        viewer: Viewer,
        area: MapArea,
        range: DateRange,
        limit: Limit,
    ) -> Result<Vec<Image>, StorageError> {
        self.read(move |c| newest::newest(c, viewer, &area, range, limit)).await
    }

    async fn fill_map(&self, max: u32) -> Result<u32, StorageError> {
        if self.query(fill::is_complete).await? {
            return Ok(0);
        }
        self.write(Lock::Nothing, move |c| fill::fill(c, max)).await
    }
}
