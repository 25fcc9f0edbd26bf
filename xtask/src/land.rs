//! `land`: packs coastlines, lakes, rivers and borders of Natural Earth into a data file of the crate `places`.
//!
//! `crates/places/data/README.md` names the source and describes the format. The same source gives the same bytes.

mod lines;
mod shapes;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::workspace;

use lines::{Frame, Point, extent, joined, limits, projected, simplified};
use shapes::{column, shapes};

const TARGET: &str = "crates/places/data/land.bin";

/// The width of the map in units.
const WIDTH: u32 = 1 << 20;

/// How far polygons reach into the neighbouring tiles, in the steps of their level.
const OVERLAP: f64 = 2.0;

/// The map for a range of zooms.
struct Level {
    /// The map has 2 to this power of tiles in each direction.
    tile_bits: u32,
    /// Coordinates are multiples of 2 to this power.
    step_bits: u32,
    /// In units.
    tolerance: f64,
    /// Smaller rings, in units, are left out.
    min_extent: f64,
    /// The ranks of rivers that are main ones, and of all rivers that are kept.
    rivers: (f64, f64),
    /// The highest rank of lakes.
    lakes: f64,
    /// The highest rank of borders of regions.
    regions: f64,
}

const LEVELS: [Level; 3] = [
    Level {
        tile_bits: 0,
        step_bits: 5,
        tolerance: 120.0,
        min_extent: 180.0,
        rivers: (3.0, 3.0),
        lakes: 3.0,
        regions: 2.0,
    },
    Level {
        tile_bits: 4,
        step_bits: 3,
        tolerance: 12.0,
        min_extent: 18.0,
        rivers: (5.0, 7.0),
        lakes: 8.0,
        regions: 7.0,
    },
    Level {
        tile_bits: 6,
        step_bits: 1,
        tolerance: 4.0,
        min_extent: 6.0,
        rivers: (6.0, 99.0),
        lakes: 99.0,
        regions: 99.0,
    },
];

/// The layers of a tile: land, lakes, main rivers, other rivers, borders of regions, borders of countries.
const LAYERS: usize = 6;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder with the shapefiles (source: crates/places/data/README.md)
    dir: PathBuf,
}

/// Why the file was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LandError {
    #[error("cannot read or write {}: {source}", path.display())]
    Files { path: PathBuf, source: std::io::Error },
    #[error("{} has an unexpected format", path.display())]
    Format { path: PathBuf },
}

/// A line or ring in units, and its rank.
struct Line {
    points: Vec<Point>,
    rank: f64,
}

struct Source {
    land: Vec<Line>,
    lakes: Vec<Line>,
    rivers: Vec<Line>,
    regions: Vec<Line>,
    borders: Vec<Line>,
}

pub(crate) fn run(options: &Options) -> Result<(), LandError> {
    let read = |name, ranks| read(&options.dir, name, ranks);
    let mut land = read("ne_10m_land", None)?;
    land.retain(|line| !is_null_island(&line.points));
    let source = Source {
        land,
        lakes: read("ne_10m_lakes", Some("scalerank"))?,
        rivers: read("ne_10m_rivers_lake_centerlines", Some("scalerank"))?,
        regions: read("ne_10m_admin_1_states_provinces_lines", Some("scalerank"))?,
        borders: read("ne_10m_admin_0_boundary_lines_land", None)?,
    };
    let tiles: Vec<Vec<u8>> = LEVELS.iter().flat_map(|level| tiles(&source, level)).collect();

    let mut file = b"land0002".to_vec();
    let mut offset = 0_u32;
    for tile in &tiles {
        file.extend(offset.to_le_bytes());
        offset += u32::try_from(tile.len()).unwrap_or(u32::MAX);
    }
    file.extend(offset.to_le_bytes());
    file.extend(tiles.concat());

    let target = workspace::path(TARGET);
    fs::write(&target, &file).map_err(|source| LandError::Files { path: target, source })?;
    println!("{TARGET}: {} tiles, {} bytes", tiles.len(), file.len());
    Ok(())
}

/// Whether a ring is the island that Natural Earth has where the equator meets the Prime Meridian, for places with errors.
fn is_null_island(points: &[Point]) -> bool {
    let middle = f64::from(WIDTH / 2);
    points.iter().all(|(x, y)| (x - middle).hypot(y - middle) < 100.0)
}

/// The lines of a shapefile, with the column of their ranks.
fn read(dir: &Path, name: &str, ranks: Option<&str>) -> Result<Vec<Line>, LandError> {
    let bytes = |extension: &str| {
        let path = dir.join(format!("{name}.{extension}"));
        let bytes = fs::read(&path).map_err(|source| LandError::Files { path: path.clone(), source })?;
        Ok((path, bytes))
    };
    let (path, file) = bytes("shp")?;
    let shapes = shapes(&file).ok_or(LandError::Format { path })?;
    let ranks = match ranks {
        None => vec![0.0; shapes.len()],
        Some(label) => {
            let (path, file) = bytes("dbf")?;
            let ranks = column(&file, label).filter(|ranks| ranks.len() == shapes.len());
            ranks.ok_or(LandError::Format { path })?
        }
    };
    let lines = shapes.into_iter().zip(ranks).flat_map(|(shape, rank)| {
        shape.into_iter().map(move |part| {
            let points = part.into_iter().map(|at| projected(at, f64::from(WIDTH))).collect();
            Line { points, rank }
        })
    });
    Ok(lines.collect())
}

type Layers = [Vec<Vec<Point>>; LAYERS];

/// The packed tiles of a level, row by row.
fn tiles(source: &Source, level: &Level) -> Vec<Vec<u8>> {
    let across = 1_usize << level.tile_bits;
    let mut tiles: Vec<Layers> = Vec::new();
    tiles.resize_with(across * across, Layers::default);
    let (main, all) = level.rivers;
    for (layer, lines, above, max) in [
        (0, &source.land, -1.0, 99.0),
        (1, &source.lakes, -1.0, level.lakes),
        (2, &source.rivers, -1.0, main),
        (3, &source.rivers, main, all),
        (4, &source.regions, -1.0, level.regions),
        (5, &source.borders, -1.0, 99.0),
    ] {
        let is_ring = layer < 2;
        let kept = lines.iter().filter(|line| line.rank > above && line.rank <= max);
        let lines: Vec<Vec<Point>> = kept.map(|line| line.points.clone()).collect();
        let lines = if is_ring { lines } else { joined(lines) };
        for line in lines.into_iter().filter(|line| !is_ring || extent(line) > level.min_extent) {
            let points = simplified(&line, level.tolerance * if layer == 4 { 1.5 } else { 1.0 });
            for (tile, part) in cut(&points, is_ring, level) {
                if let Some(layers) = tiles.get_mut(tile) {
                    layers[layer].push(part);
                }
            }
        }
    }
    tiles
        .iter()
        .enumerate()
        .map(|(tile, layers)| pack(layers, level.frame(tile % across, tile / across).low, level))
        .collect()
}

impl Level {
    fn step(&self) -> f64 {
        f64::from(1_u32 << self.step_bits)
    }

    /// The edges of a tile.
    #[expect(clippy::cast_precision_loss, reason = "at most the width of the map")]
    fn frame(&self, column: usize, row: usize) -> Frame {
        let side = f64::from(WIDTH >> self.tile_bits);
        let low = (column as f64 * side, row as f64 * side);
        Frame { low, high: (low.0 + side, low.1 + side) }
    }

    /// The columns or the rows of a range.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limited to the map")]
    fn range(&self, low: f64, high: f64) -> std::ops::RangeInclusive<usize> {
        let side = f64::from(WIDTH >> self.tile_bits);
        let last = (1_usize << self.tile_bits) - 1;
        let tile = |at: f64| ((at / side).floor().max(0.0) as usize).min(last);
        tile(low - OVERLAP * self.step())..=tile(high + OVERLAP * self.step())
    }
}

/// The parts of a line by tile.
fn cut(points: &[Point], is_ring: bool, level: &Level) -> Vec<(usize, Vec<Point>)> {
    let overlap = if is_ring { OVERLAP * level.step() } else { 0.0 };
    let width = f64::from(WIDTH);
    // Polygons end at the 180° meridian, where they reach into the neighbouring copy of the world as well.
    let widened = |x: f64| match x {
        x if is_ring && x <= 0.0 => -overlap,
        x if is_ring && x >= width => width + overlap,
        x => x,
    };
    let points: Vec<Point> = points.iter().map(|(x, y)| (widened(*x), *y)).collect();
    let part_of = |points: &[Point], frame: Frame| {
        if is_ring { vec![frame.cut_ring(points)] } else { frame.cut_line(points) }
    };
    let mut parts = Vec::new();
    let (low, high) = limits(&points);
    for column in level.range(low.0, high.0) {
        let sides = level.frame(column, 0);
        let strip =
            Frame { low: (sides.low.0 - overlap, -width), high: (sides.high.0 + overlap, width * 2.0) };
        for part in part_of(&points, strip).into_iter().filter(|part| !part.is_empty()) {
            let (low, high) = limits(&part);
            for row in level.range(low.1, high.1) {
                let Frame { low, high } = level.frame(column, row);
                let frame = Frame {
                    low: (low.0 - overlap, low.1 - overlap),
                    high: (high.0 + overlap, high.1 + overlap),
                };
                let tile = (row << level.tile_bits) + column;
                parts.extend(part_of(&part, frame).into_iter().map(|part| (tile, part)));
            }
        }
    }
    parts
}

/// A tile: for each layer the number of lines, then the lines.
fn pack(layers: &Layers, origin: Point, level: &Level) -> Vec<u8> {
    let mut tile = Vec::new();
    if layers.iter().all(Vec::is_empty) {
        return tile;
    }
    for (layer, lines) in layers.iter().enumerate() {
        let least = if layer < 2 { 3 } else { 2 };
        let lines: Vec<Vec<(i64, i64)>> = lines
            .iter()
            .map(|line| rounded(line, origin, level.step(), layer < 2))
            .filter(|line| line.len() >= least)
            .collect();
        number(&mut tile, lines.len());
        for line in lines {
            number(&mut tile, line.len());
            let mut last = (0, 0);
            for point in line {
                signed(&mut tile, point.0 - last.0);
                signed(&mut tile, point.1 - last.1);
                last = point;
            }
        }
    }
    tile
}

/// The points of a line in steps from the corner of its tile. A ring is not closed.
#[expect(clippy::cast_possible_truncation, reason = "at most the width of the map")]
fn rounded(line: &[Point], origin: Point, step: f64, is_ring: bool) -> Vec<(i64, i64)> {
    let steps =
        |(x, y): &Point| (((x - origin.0) / step).round() as i64, ((y - origin.1) / step).round() as i64);
    let mut points: Vec<(i64, i64)> = line.iter().map(steps).collect();
    points.dedup();
    if is_ring && points.len() > 1 && points.first() == points.last() {
        points.pop();
    }
    points
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
    fn polygons_reach_into_the_neighbouring_tiles() {
        let side = f64::from(WIDTH >> 4);
        let square = [(10.0, 10.0), (side + 100.0, 10.0), (side + 100.0, 90.0), (10.0, 90.0), (10.0, 10.0)];
        let parts = cut(&square, true, &LEVELS[1]);
        let extents: Vec<_> = parts.iter().map(|(tile, part)| (*tile, limits(part))).collect();
        let overlap = OVERLAP * LEVELS[1].step();
        assert_eq!(
            extents,
            [
                (0, ((10.0, 10.0), (side + overlap, 90.0))),
                (1, ((side - overlap, 10.0), (side + 100.0, 90.0)))
            ]
        );
        let lines = cut(&square[..2], false, &LEVELS[1]);
        assert_eq!(
            lines,
            [(0, vec![(10.0, 10.0), (side, 10.0)]), (1, vec![(side, 10.0), (side + 100.0, 10.0)])]
        );
    }

    #[test]
    fn polygons_at_the_180_meridian_reach_beyond_it() {
        let width = f64::from(WIDTH);
        let parts = cut(&[(0.0, 0.0), (500.0, 0.0), (500.0, 500.0), (0.0, 500.0)], true, &LEVELS[0]);
        assert_eq!(limits(&parts[0].1).0.0, -64.0);
        let parts = cut(&[(width, 0.0), (width - 9.0, 0.0), (width, 500.0)], true, &LEVELS[0]);
        assert_eq!(limits(&parts[0].1).1.0, width + 64.0);
    }
}
