//! Measures the time and memory of look-ups, or prints the data of one position:
//! `cargo run --release --example measure_places -p places [LATITUDE LONGITUDE]`
#![expect(clippy::unwrap_used, reason = "an example stops at the first failure")]

use std::{
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use domain::Position;
use jiff::civil::{DateTime, date};

const LOOK_UPS: u32 = 200_000;

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).map(|number| number.parse().unwrap()).collect();
    let wall = date(2024, 7, 1).at(12, 0, 0, 0);
    if let [latitude, longitude] = *numbers {
        return print(Position::new(latitude, longitude).unwrap(), wall);
    }
    println!("before the first look-up: {}", memory());
    let positions: Vec<Position> = (0..LOOK_UPS).map(spiral).collect();
    println!("with the positions to look up: {}", memory());
    measure("time_zone", &positions, |position| places::time_zone(position).is_some());
    measure("offset_minutes", &positions, |position| places::offset_minutes(position, wall).is_some());
    measure("place", &positions, |position| places::place(position).is_some());
    let names = ["München", "東京", "Deutschland", "Nowhere"];
    measure("with_other_name, of four names", &positions, |_| {
        names.iter().filter(|name| !places::with_other_name(name).is_empty()).count() == 3
    });
    let land: Vec<Position> =
        positions.into_iter().filter(|position| places::place(*position).is_some()).collect();
    measure("place, only positions with one", &land, |position| places::place(position).is_some());
}

fn print(position: Position, wall: DateTime) {
    let (place, zone) = (places::place(position), places::time_zone(position));
    let minutes = places::offset_minutes(position, wall);
    println!("{place:?}, {zone:?}, {minutes:?} minutes from UTC at {wall}");
}

/// Points spread evenly over the Earth.
fn spiral(index: u32) -> Position {
    let share = (f64::from(index) + 0.5) / f64::from(LOOK_UPS);
    let turns = f64::from(index) * 0.618_033_988_75;
    Position::new((1.0 - 2.0 * share).asin().to_degrees(), (turns - turns.floor()) * 360.0 - 180.0).unwrap()
}

fn measure(what: &str, positions: &[Position], look_up: impl Fn(Position) -> bool) {
    let (mut first, mut longest, mut found) = (None, Duration::ZERO, 0_u32);
    let start = Instant::now();
    for position in positions {
        let start = Instant::now();
        found += u32::from(black_box(look_up(*position)));
        let took = start.elapsed();
        match first {
            None => first = Some(took),
            Some(_) => longest = longest.max(took),
        }
    }
    let each = start.elapsed() / u32::try_from(positions.len()).unwrap();
    let first = first.unwrap_or_default();
    println!(
        "{what}: {each:?} each, first {first:?}, longest after it {longest:?}, {found} found; {}",
        memory()
    );
}

/// The memory of this process, where `/proc` exists.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("RssAnon") || line.starts_with("RssFile"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}
