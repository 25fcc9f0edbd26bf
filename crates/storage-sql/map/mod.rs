//! The map: points of images, and sums of squares with many points.
//!
//! A square with fewer than [`MIN_STORED`] points is not stored, because its points can be read just as quickly. So
//! every query reads a bounded number of rows, wherever the photos are, and an image does not need a row for each
//! level.

mod check;
mod clusters;
mod fill;
mod newest;
mod sums;
mod upkeep;

use domain::{DateRange, Image, Limit, MapArea};
use storage::{MapCluster, MapStore, StorageError, Viewer};

use crate::Lock;

pub(crate) use check::{rebuild_cells, wrong_accounts, wrong_points};
pub(crate) use upkeep::{remove, update};

/// The number of points from which a square is stored.
const MIN_STORED: i64 = 64;

operations! {
    impl MapStore {
        read map_clusters(viewer: Viewer, area: MapArea as ref, level: u8) -> Vec<MapCluster>
            = clusters::clusters;
        read map_images(viewer: Viewer, area: MapArea as ref, range: DateRange, limit: Limit) -> Vec<Image>
            = newest::newest;
    }
    by hand {
        async fn fill_map(&self, max: u32) -> Result<u32, StorageError> {
            if self.query(fill::is_complete).await? {
                return Ok(0);
            }
            self.write(Lock::Nothing, move |c| fill::fill(c, max)).await
        }
    }
}
