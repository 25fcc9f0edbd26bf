//! Names of cities.

use domain::MapPoint;

use super::view::{Size, View};

/// A name on the map, right of its city.
pub(super) struct CityLabel {
    pub(super) name: &'static str,
    /// Units from the centre.
    pub(super) at: (f64, f64),
}

/// Maximum number of names.
const MAX_LABELS: usize = 18;

/// Maximum number of cities that are considered.
const MAX_CITIES: usize = 240;

/// A rectangle: its centre, half its width and half its height.
#[derive(Clone, Copy)]
struct Space {
    centre: (f64, f64),
    half_width: f64,
    half_height: f64,
}

impl Space {
    fn overlaps(&self, other: &Self) -> bool {
        (self.centre.0 - other.centre.0).abs() < self.half_width + other.half_width
            && (self.centre.1 - other.centre.1).abs() < self.half_height + other.half_height
    }
}

/// The largest cities of a view whose names have room between each other and beside the `clusters`.
pub(super) fn cities(view: View, size: Size, clusters: &[(f64, f64)]) -> Vec<CityLabel> {
    let mut taken: Vec<Space> = clusters
        .iter()
        .map(|centre| Space { centre: *centre, half_width: 24.0, half_height: 24.0 })
        .collect();
    let mut labels = Vec::new();
    for city in places::largest_cities(&view.area(size), MAX_CITIES) {
        let at = view.units(shares(city.at));
        let width = text_width(city.name);
        let space =
            Space { centre: (at.0 + width / 2.0, at.1), half_width: width / 2.0 + 14.0, half_height: 14.0 };
        let is_inside = at.0 + width < size.width / 2.0 && at.1.abs() < size.height / 2.0 - 10.0;
        if is_inside && !taken.iter().any(|other| other.overlaps(&space)) {
            taken.push(space);
            labels.push(CityLabel { name: city.name, at });
        }
        if labels.len() == MAX_LABELS {
            break;
        }
    }
    labels
}

fn shares(point: MapPoint) -> (f64, f64) {
    let steps = f64::from(1_u32 << 31);
    (f64::from(point.x()) / steps, f64::from(point.y()) / steps)
}

/// About how wide a name is.
fn text_width(name: &str) -> f64 {
    let chars = u32::try_from(name.chars().count()).unwrap_or(0);
    8.0 + 6.5 * f64::from(chars)
}
