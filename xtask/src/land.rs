//! `land`: packs coastlines and borders of Natural Earth into a data file of the crate `places`.
//!
//! `crates/places/data/README.md` names the source and describes the format. The same source gives the same bytes.

use std::f64::consts::{PI, TAU};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::workspace;

const LAND: &str = "land-50m.json";
const COUNTRIES: &str = "countries-50m.json";
const TARGET: &str = "crates/places/data/land.bin";

/// The width of the map in the file's units.
const WIDTH: f64 = 262_144.0;
const WIDTH_UNITS: i64 = 262_144;
/// The latitude of the northern edge of the map.
const MAX_LATITUDE: f64 = 85.051_128_779_806_6;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder with land-50m.json and countries-50m.json (source: crates/places/data/README.md)
    dir: PathBuf,
}

/// Why the file was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LandError {
    #[error("cannot read or write {}: {source}", path.display())]
    Files { path: PathBuf, source: std::io::Error },
    #[error("{} is not a TopoJSON file: {source}", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{} refers to an arc that it does not have", path.display())]
    Arc { path: PathBuf },
}

#[derive(Debug, Deserialize)]
struct Topology {
    objects: Objects,
    arcs: Vec<Vec<[f64; 2]>>,
    transform: Transform,
}

#[derive(Debug, Deserialize)]
struct Transform {
    scale: [f64; 2],
    translate: [f64; 2],
}

#[derive(Debug, Deserialize)]
struct Objects {
    land: Option<Collection>,
    countries: Option<Collection>,
}

#[derive(Debug, Deserialize)]
struct Collection {
    geometries: Vec<Geometry>,
}

/// The numbers of arcs of the rings. A negative number is an arc in the other direction.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "arcs")]
enum Geometry {
    Polygon(Vec<Vec<i64>>),
    MultiPolygon(Vec<Vec<Vec<i64>>>),
}

impl Geometry {
    fn rings(&self) -> Vec<&Vec<i64>> {
        match self {
            Self::Polygon(rings) => rings.iter().collect(),
            Self::MultiPolygon(polygons) => polygons.iter().flatten().collect(),
        }
    }
}

type Point = (i64, i64);

pub(crate) fn run(options: &Options) -> Result<(), LandError> {
    let land_path = options.dir.join(LAND);
    let land: Topology = json(&land_path)?;
    let countries: Topology = json(&options.dir.join(COUNTRIES))?;

    let mut file = b"land0001".to_vec();
    let missing = || LandError::Arc { path: land_path.clone() };
    let coasts = coasts(&land).ok_or_else(missing)?;
    let borders = borders(&countries);
    for outlines in [&coasts, &borders] {
        number(&mut file, outlines.len());
        for outline in outlines {
            pack(&mut file, outline);
        }
    }

    let target = workspace::path(TARGET);
    fs::write(&target, &file).map_err(|source| LandError::Files { path: target, source })?;
    println!("{TARGET}: {} coastlines, {} borders, {} bytes", coasts.len(), borders.len(), file.len());
    Ok(())
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, LandError> {
    let text = fs::read(path).map_err(|source| LandError::Files { path: path.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|source| LandError::Json { path: path.to_owned(), source })
}

/// The rings of all land; `None` if an arc is missing.
fn coasts(topology: &Topology) -> Option<Vec<Vec<Point>>> {
    let geometries = &topology.objects.land.as_ref()?.geometries;
    let rings = geometries.iter().flat_map(Geometry::rings);
    let outlines = rings.map(|ring| {
        let mut points: Vec<Point> = Vec::new();
        for arc in ring {
            let index = usize::try_from(if *arc < 0 { !arc } else { *arc }).ok()?;
            let mut part = projected(topology, topology.arcs.get(index)?);
            if *arc < 0 {
                part.reverse();
            }
            points.extend(part);
        }
        let mut points = unwrapped(&points);
        points.dedup();
        Some(points)
    });
    let outlines = outlines.collect::<Option<Vec<_>>>()?;
    Some(outlines.into_iter().filter(|points| points.len() > 3).collect())
}

/// The arcs that two countries share.
fn borders(topology: &Topology) -> Vec<Vec<Point>> {
    let mut countries_of_arc = vec![0_u32; topology.arcs.len()];
    for geometry in topology.objects.countries.iter().flat_map(|countries| &countries.geometries) {
        let mut arcs: Vec<i64> = geometry.rings().into_iter().flatten().copied().collect();
        arcs.iter_mut().for_each(|arc| *arc = if *arc < 0 { !*arc } else { *arc });
        arcs.sort_unstable();
        arcs.dedup();
        for arc in arcs {
            let count = usize::try_from(arc).ok().and_then(|arc| countries_of_arc.get_mut(arc));
            if let Some(count) = count {
                *count += 1;
            }
        }
    }
    let shared = topology.arcs.iter().zip(countries_of_arc).filter(|(_, countries)| *countries > 1);
    shared
        .map(|(arc, _)| {
            let mut points = unwrapped(&projected(topology, arc));
            points.dedup();
            points
        })
        .filter(|points| points.len() > 1)
        .collect()
}

/// A line that continues beyond the edge of the map where it crosses the 180° meridian. A line around a pole is closed
/// along the southern edge: only Antarctica has such a line.
fn unwrapped(points: &[Point]) -> Vec<Point> {
    let (half, width) = (WIDTH_UNITS / 2, WIDTH_UNITS);
    let mut offset = 0;
    let mut line: Vec<Point> = Vec::with_capacity(points.len() + 3);
    let mut before = points.first().map_or(0, |(x, _)| *x);
    for (x, y) in points {
        if x - before > half {
            offset -= width;
        } else if before - x > half {
            offset += width;
        }
        before = *x;
        line.push((x + offset, *y));
    }
    if let (Some(first), Some(last)) = (line.first().copied(), line.last().copied())
        && (last.0 - first.0).abs() == width
    {
        line.extend([(last.0, width), (first.0, width), first]);
    }
    line
}

/// The points of an arc on the map.
fn projected(topology: &Topology, arc: &[[f64; 2]]) -> Vec<Point> {
    let Transform { scale, translate } = &topology.transform;
    let mut at = [0.0, 0.0];
    arc.iter()
        .map(|[dx, dy]| {
            at = [at[0] + dx, at[1] + dy];
            let longitude = at[0] * scale[0] + translate[0];
            let latitude = (at[1] * scale[1] + translate[1]).clamp(-MAX_LATITUDE, MAX_LATITUDE);
            let y = 0.5 - (PI / 4.0 + latitude.to_radians() / 2.0).tan().ln() / TAU;
            (units(longitude / 360.0 + 0.5), units(y))
        })
        .collect()
}

#[expect(clippy::cast_possible_truncation, reason = "at most the width of the map")]
fn units(share: f64) -> i64 {
    (share * WIDTH).round().clamp(0.0, WIDTH) as i64
}

fn pack(file: &mut Vec<u8>, outline: &[Point]) {
    number(file, outline.len());
    let mut last = (0, 0);
    for point in outline {
        signed(file, point.0 - last.0);
        signed(file, point.1 - last.1);
        last = *point;
    }
}

/// A signed number as an unsigned one: 0, −1, 1, −2 become 0, 1, 2, 3.
fn signed(file: &mut Vec<u8>, value: i64) {
    let zigzag = (value << 1) ^ (value >> 63);
    number(file, usize::try_from(zigzag).unwrap_or(0));
}

/// Seven bits in each byte, the lowest first; the highest bit says that another byte follows.
fn number(file: &mut Vec<u8>, mut value: usize) {
    while value > 127 {
        file.push(u8::try_from(value & 127).unwrap_or(0) | 128);
        value >>= 7;
    }
    file.push(u8::try_from(value).unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed() {
        let mut file = Vec::new();
        for value in [0, 127, 128, 300] {
            number(&mut file, value);
        }
        assert_eq!(file, [0, 127, 128, 1, 172, 2]);
        let mut file = Vec::new();
        for value in [0, -1, 1, -2] {
            signed(&mut file, value);
        }
        assert_eq!(file, [0, 1, 2, 3]);
    }

    #[test]
    fn lines_continue_beyond_the_180_meridian() {
        assert_eq!(
            unwrapped(&[(262_000, 5), (100, 6), (261_000, 7)]),
            [(262_000, 5), (262_244, 6), (261_000, 7)]
        );
        let around = unwrapped(&[(0, 9), (100_000, 8), (200_000, 8), (0, 9)]);
        assert_eq!(
            around,
            [(0, 9), (100_000, 8), (200_000, 8), (262_144, 9), (262_144, 262_144), (0, 262_144), (0, 9)]
        );
    }

    #[test]
    fn borders_are_arcs_of_two_countries() {
        let topology: Topology = serde_json::from_str(
            r#"{"objects": {"countries": {"geometries": [
                {"type": "Polygon", "arcs": [[0, 1]]}, {"type": "MultiPolygon", "arcs": [[[-1, 2]]]}]}},
            "arcs": [[[0, 0], [10, 0]], [[10, 0], [-10, 5]], [[10, 0], [-10, -5]]],
            "transform": {"scale": [1, 1], "translate": [0, 0]}}"#,
        )
        .unwrap();
        assert_eq!(borders(&topology), [[(131_072, 131_072), (138_354, 131_072)]]);
    }
}
