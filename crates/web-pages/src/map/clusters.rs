//! Clusters of photos: their texts, their links, and `/web/map`.

use domain::{Invalid, MAX_MAP_LEVEL, MapArea, Position};
use http::StatusCode;
use http_server::{
    Query,
    reply::{Reply, compressible, json},
};
use library::MapCluster;
use serde::Serialize;

use super::{
    page::marker,
    view::{MAX_ZOOM, Size, View, extent, level, parse_zoom, shares},
};
use crate::{Site, messages, session::Person};

pub(super) struct Request {
    zoom: f64,
    area: MapArea,
}

impl Request {
    pub(super) fn parse(query: &Query<'_>) -> Result<Self, Invalid> {
        let missing =
            |name, example: &str| Invalid::new(name, format!("is missing, for example {name}={example}"));
        let zoom = parse_zoom(query)?.ok_or_else(|| missing("z", "5"))?;
        let area = match (query.get("bbox"), View::parse(query)?, Size::parse(query)?) {
            (Some(area), ..) => MapArea::parse(area)?,
            (None, Some(view), Some(size)) => view.area(size),
            (None, ..) => return Err(missing("bbox", "-10,36,-6,43 (west,south,east,north)")),
        };
        Ok(Self { zoom, area })
    }
}

#[derive(Serialize)]
struct Reported {
    clusters: Vec<ReportedCluster>,
}

#[derive(Serialize)]
struct ReportedCluster {
    lat: f64,
    lon: f64,
    count: u64,
    /// The newest photo and the version of its renditions.
    id: String,
    v: u32,
    /// West, south, east and north of a square with all photos.
    bbox: [f64; 4],
    /// The nearest city.
    label: Option<String>,
    /// The element of the map.
    link: String,
}

/// A cluster with the name of its place.
pub(super) struct NamedCluster {
    pub(super) cluster: MapCluster,
    /// A part of the map with all its photos.
    area: MapArea,
    /// The nearest city.
    pub(super) city: Option<String>,
}

/// Clusters closer than this many units are shown as one, because the pictures of both would not have room.
const MIN_DISTANCE: f64 = 52.0;

/// The clusters of a view. Those whose pictures would cover each other are joined, the smaller ones to larger ones.
///
/// Takes microseconds for each, but the first call unpacks the names of the cities.
pub(super) fn named(mut clusters: Vec<MapCluster>, zoom: f64) -> Vec<NamedCluster> {
    let world = 256.0 * zoom.exp2();
    clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.photos));
    let mut kept: Vec<(MapCluster, MapArea, (f64, f64))> = Vec::new();
    for cluster in clusters {
        let (x, y) = shares(cluster.centre);
        let area = cluster.extent.area();
        let near = kept.iter_mut().find(|(_, _, at)| {
            let across = (x - at.0 + 0.5).rem_euclid(1.0) - 0.5;
            (across * world).hypot((y - at.1) * world) < MIN_DISTANCE
        });
        match near {
            Some((other, whole, _)) => {
                join(other, &cluster);
                *whole = union(whole, &area);
            }
            None => kept.push((cluster, area, (x, y))),
        }
    }
    let name = |(cluster, area, _): (MapCluster, _, _)| {
        let place = places::place(cluster.centre);
        let city = place.and_then(|place| place.split(", ").next().map(str::to_owned));
        NamedCluster { cluster, area, city }
    };
    kept.into_iter().map(name).collect()
}

/// The smallest area with both. It may cross the 180° meridian.
fn union(one: &MapArea, other: &MapArea) -> MapArea {
    let east_of = |west: f64, longitude: f64| (longitude - west).rem_euclid(360.0);
    // Whether both areas lie between these edges, measured eastwards from the western edge.
    let holds = |west: f64, east: f64| {
        [one, other].into_iter().all(|area| {
            let (first, last) = (east_of(west, area.west), east_of(west, area.east));
            first <= last && last <= east_of(west, east)
        })
    };
    let sides = [one.west, other.west].into_iter().flat_map(|west| [(west, one.east), (west, other.east)]);
    let narrowest = sides
        .filter(|(west, east)| holds(*west, *east))
        .min_by(|a, b| east_of(a.0, a.1).total_cmp(&east_of(b.0, b.1)));
    let (west, east) = narrowest.unwrap_or((-180.0, 180.0));
    MapArea { west, south: one.south.min(other.south), east, north: one.north.max(other.north) }
}

fn join(cluster: &mut MapCluster, other: &MapCluster) {
    cluster.photos += other.photos;
    if other.newest > cluster.newest {
        cluster.newest = other.newest;
        cluster.cover = other.cover.clone();
        cluster.cover_version = other.cover_version;
    }
}

impl NamedCluster {
    /// The cluster in words, such as `432 photos near Lisbon`.
    pub(super) fn text(&self) -> String {
        self.text_with(&self.cluster.photos.to_string())
    }

    /// The cluster in words with the number that its picture shows.
    pub(super) fn short_text(&self) -> String {
        self.text_with(&self.short_count())
    }

    fn text_with(&self, count: &str) -> String {
        let photos = format!("{count} {}", if self.cluster.photos == 1 { "photo" } else { "photos" });
        match &self.city {
            Some(city) => format!("{photos} near {city}"),
            None => format!("{photos} at {}", coordinates(self.cluster.centre)),
        }
    }

    /// The number of photos in a few characters.
    pub(super) fn short_count(&self) -> String {
        match self.cluster.photos {
            photos @ ..1000 => photos.to_string(),
            photos @ ..10_000 => format!("{}.{}k", photos / 1000, photos % 1000 / 100),
            photos @ ..1_000_000 => format!("{}k", photos / 1000),
            photos => format!("{}.{}M", photos / 1_000_000, photos % 1_000_000 / 100_000),
        }
    }

    /// The image that shows the newest photo.
    pub(super) fn cover_path(&self) -> String {
        format!("/p/{}/{}/256.webp", self.cluster.cover, self.cluster.cover_version)
    }

    /// Whether all photos are at about one place, so that a larger zoom does not separate them.
    fn is_spot(&self, view: View) -> bool {
        let smallest = (-f64::from(MAX_MAP_LEVEL - 1)).exp2();
        extent(&self.area).is_some_and(|extent| extent < smallest * 1.5) || view.zoom > MAX_ZOOM - 1.0
    }

    /// The page that shows the photos of the cluster: the map that just has room for them or, if they are at one spot, a list of
    /// only them.
    pub(super) fn target(&self, view: View) -> String {
        let (x, y) = shares(self.cluster.centre);
        if self.is_spot(view) {
            let here = View { zoom: view.zoom.max(11.0), x, y };
            return format!("/map?{}&bbox={}", here.parameters(), area_text(&self.area));
        }
        let closer = match View::of_area(&self.area) {
            Some(fitting) if fitting.zoom >= view.zoom + 1.0 => fitting,
            _ => View { zoom: view.zoom, x, y }.zoomed(1.0),
        };
        format!("/map?{}", closer.parameters())
    }
}

/// An area as the parameter `bbox`, about a metre larger on each side, because the numbers are rounded.
pub(super) fn area_text(area: &MapArea) -> String {
    let margin = 1e-5;
    let [west, south, east, north] = [
        (area.west - margin).max(-180.0),
        (area.south - margin).max(-90.0),
        (area.east + margin).min(180.0),
        (area.north + margin).min(90.0),
    ];
    format!("{west:.5},{south:.5},{east:.5},{north:.5}")
}

/// A position in words.
fn coordinates(position: Position) -> String {
    let direction = |degrees: f64, positive, negative| {
        format!("{:.1}° {}", degrees.abs(), if degrees < 0.0 { negative } else { positive })
    };
    format!("{}, {}", direction(position.latitude(), "N", "S"), direction(position.longitude(), "E", "W"))
}

/// Five decimals are about a metre.
fn rounded(degrees: f64) -> f64 {
    (degrees * 1e5).round() / 1e5
}

/// The clusters of an area as JSON.
pub(super) async fn data(site: &Site, person: &Person, request: &Request) -> Reply {
    let found =
        site.library.catalogue.map_clusters(&person.caller(), request.area, level(request.zoom)).await;
    let clusters = match found {
        Ok(clusters) => clusters,
        Err(error) => return messages::data_unavailable(&error),
    };
    let zoom = request.zoom;
    let named = match tokio::task::spawn_blocking(move || named(clusters, zoom)).await {
        Ok(named) => named,
        Err(error) => return messages::data_unavailable(&error),
    };
    let view = View { zoom, x: 0.5, y: 0.5 };
    let reported = |named: NamedCluster| {
        let link = marker(&named, view).into_string();
        let NamedCluster { cluster, area, city } = named;
        ReportedCluster {
            link,
            lat: rounded(cluster.centre.latitude()),
            lon: rounded(cluster.centre.longitude()),
            count: cluster.photos,
            id: cluster.cover.to_string(),
            v: cluster.cover_version,
            bbox: [area.west, area.south, area.east, area.north].map(rounded),
            label: city,
        }
    };
    compressible(json(StatusCode::OK, &Reported { clusters: named.into_iter().map(reported).collect() }))
}

#[cfg(test)]
mod tests {
    use domain::MapCell;

    use super::*;

    #[test]
    fn a_union_is_the_smallest_area_with_both() {
        let area = |west, south, east, north| MapArea::new(west, south, east, north).unwrap();
        for (one, other, expected) in [
            (area(0.0, 0.0, 10.0, 10.0), area(5.0, -5.0, 20.0, 5.0), area(0.0, -5.0, 20.0, 10.0)),
            (area(0.0, 0.0, 30.0, 10.0), area(5.0, 2.0, 6.0, 3.0), area(0.0, 0.0, 30.0, 10.0)),
            (area(170.0, 0.0, 180.0, 10.0), area(-180.0, 0.0, -170.0, 10.0), area(170.0, 0.0, -170.0, 10.0)),
            (area(170.0, 0.0, -170.0, 10.0), area(-160.0, 0.0, -150.0, 1.0), area(170.0, 0.0, -150.0, 10.0)),
            (area(3.0, 4.0, 3.0, 4.0), area(3.0, 4.0, 3.0, 4.0), area(3.0, 4.0, 3.0, 4.0)),
        ] {
            assert_eq!(union(&one, &other), expected);
            assert_eq!(union(&other, &one), expected);
        }
    }

    #[test]
    fn a_cluster_leads_to_the_view_that_its_photos_fill() {
        let position = |latitude, longitude| Position::new(latitude, longitude).unwrap();
        let lisbon = domain::MapPoint::of(position(38.7223, -9.1393)).code();
        let porto = domain::MapPoint::of(position(41.15, -8.61)).code();
        let cluster = |first: i64, last: i64, centre| MapCluster {
            cell: MapCell::at(3, first),
            photos: 2,
            centre,
            extent: MapCell::enclosing(first.min(last), first.max(last)),
            cover: domain::ImageId::parse("A".repeat(22)).unwrap(),
            cover_version: 1,
            newest: domain::Timestamp::from_millis(0).unwrap(),
        };
        let world = View { zoom: 1.0, x: 0.5, y: 0.5 };
        let both = vec![
            cluster(lisbon, lisbon, position(38.7223, -9.1393)),
            cluster(porto, porto, position(41.15, -8.61)),
        ];
        let joined = named(both, world.zoom);
        assert_eq!(joined.len(), 1);
        // About 2.5 degrees of latitude fill 410 units.
        let target = joined[0].target(world);
        let zoom: f64 = target.split(['=', '&']).nth(1).unwrap().parse().unwrap();
        assert!((6.0..8.0).contains(&zoom), "{target}");
        let spot = named(vec![cluster(lisbon, lisbon, position(38.7223, -9.1393))], world.zoom);
        assert!(spot[0].target(world).contains("bbox="));
    }
}
