//! Names of countries and cities.

use maud::{Markup, html};

use super::view::{Size, View, shares_of, units};

/// How a name is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Country,
    /// With more than a million people.
    Metropolis,
    /// With more than 200,000 people.
    City,
    /// With more than 30,000 people.
    Town,
    Village,
}

impl Kind {
    const fn of(radius_m: f64) -> Self {
        match radius_m {
            2_000.0.. => Self::Metropolis,
            900.0.. => Self::City,
            350.0.. => Self::Town,
            _ => Self::Village,
        }
    }

    /// Its class in the style sheet.
    const fn class(self) -> &'static str {
        match self {
            Self::Country => "country",
            Self::Metropolis => "city metropolis",
            Self::City => "city large",
            Self::Town => "city",
            Self::Village => "city village",
        }
    }

    /// About how wide a letter is.
    const fn letter(self) -> f64 {
        match self {
            Self::Country => 10.6,
            Self::Metropolis => 8.4,
            Self::City => 7.4,
            Self::Town => 6.6,
            Self::Village => 6.1,
        }
    }
}

/// A name on the map. Names of cities are right of them.
pub(super) struct Label {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Units from the centre.
    pub(super) at: (f64, f64),
}

impl Label {
    pub(super) fn markup(&self) -> Markup {
        html! {
            g class=(self.kind.class()) transform={ "translate(" (units(self.at.0)) " " (units(self.at.1)) ")" } {
                @if self.kind == Kind::Country {
                    text y="4" { (self.name) }
                } @else {
                    circle r="2" {}
                    text x="5" y="4" { (self.name) }
                }
            }
        }
    }
}

/// Maximum number of names.
const MAX_LABELS: usize = 40;

/// Each name has this share of the map, in square units.
const AREA: f64 = 10_500.0;

/// Maximum number of cities that are considered.
const MAX_CITIES: usize = 600;

/// Countries have names below this zoom.
const COUNTRY_ZOOM: f64 = 6.0;

/// Cities have names from this zoom on.
const CITY_ZOOM: f64 = 2.5;

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

/// The countries and the largest cities of a view whose names have room between each other and beside the `clusters`.
pub(super) fn labels(view: View, size: Size, clusters: &[(f64, f64)]) -> Vec<Label> {
    let mut placed = Placed {
        size,
        taken: clusters
            .iter()
            .map(|centre| Space { centre: *centre, half_width: 27.0, half_height: 27.0 })
            .collect(),
        labels: Vec::new(),
        max: number(size).min(MAX_LABELS),
    };
    if view.zoom < COUNTRY_ZOOM {
        let max = if view.zoom < CITY_ZOOM { placed.max } else { placed.max / 2 };
        for country in places::countries().iter().take(countries_at(view.zoom)) {
            if placed.labels.len() == max {
                break;
            }
            let (right, down) = view.units(shares_of(country.at));
            // Its middle may be below a cluster.
            let near = [0.0, 42.0, -42.0].map(|by| (right, down + by));
            let _ = near.into_iter().any(|at| placed.add(country.name, Kind::Country, at));
        }
    }
    let cities = if view.zoom < CITY_ZOOM { 0 } else { MAX_CITIES };
    for city in places::largest_cities(&view.area(size), cities) {
        if placed.labels.len() < placed.max {
            placed.add(city.name, Kind::of(city.radius_m), view.units(shares_of(city.at)));
        }
    }
    placed.labels
}

/// How many countries a map of this zoom names at most, the largest first. Small islands have the most room for a name, but nobody
/// looks for them on a map of the world.
fn countries_at(zoom: f64) -> usize {
    match zoom {
        ..2.5 => 90,
        ..4.0 => 170,
        _ => usize::MAX,
    }
}

/// How many names a map of this size has at most.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limited")]
fn number(size: Size) -> usize {
    (size.width * size.height / AREA).clamp(8.0, 100.0) as usize
}

struct Placed {
    size: Size,
    taken: Vec<Space>,
    labels: Vec<Label>,
    max: usize,
}

impl Placed {
    /// Adds a name if it has room, and says whether it has.
    fn add(&mut self, name: &'static str, kind: Kind, at: (f64, f64)) -> bool {
        let width = 8.0 + kind.letter() * f64::from(u32::try_from(name.chars().count()).unwrap_or(0));
        let centre = if kind == Kind::Country { at } else { (at.0 + width / 2.0, at.1) };
        let space = Space { centre, half_width: width / 2.0 + 10.0, half_height: 12.0 };
        let is_inside = centre.0.abs() + width / 2.0 < self.size.width / 2.0 + 4.0
            && at.1.abs() < self.size.height / 2.0 - 10.0;
        let has_room = is_inside && !self.taken.iter().any(|other| other.overlaps(&space));
        if has_room {
            self.taken.push(space);
            self.labels.push(Label { name, kind, at });
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use domain::Position;

    use super::*;

    fn names(zoom: f64, latitude: f64, longitude: f64) -> Vec<Label> {
        let (x, y) = super::super::view::shares(Position::new(latitude, longitude).unwrap());
        labels(View { zoom, x, y }, Size::DEFAULT, &[])
    }

    #[test]
    fn names_follow_the_zoom() {
        let has = |labels: &[Label], name: &str| labels.iter().any(|label| label.name == name);
        let europe = names(4.0, 47.0, 8.0);
        assert!(has(&europe, "Germany") && europe.iter().any(|label| label.kind == Kind::Metropolis));
        let world = names(1.0, 20.0, 0.0);
        assert!(has(&world, "India") && !has(&world, "Pitcairn"));
        let around_lisbon = names(10.0, 38.72, -9.14);
        assert!(has(&around_lisbon, "Lisbon") && !has(&around_lisbon, "Portugal"));
        assert!(around_lisbon.len() > 15);
        for zoom in 1..=18 {
            assert!(names(f64::from(zoom), 50.8, 6.9).len() <= MAX_LABELS);
        }
    }

    #[test]
    fn a_large_city_has_a_large_name() {
        let around_paris = names(9.0, 48.85, 2.35);
        let kind = |name| around_paris.iter().find(|label| label.name == name).map(|label| label.kind);
        assert_eq!(kind("Paris"), Some(Kind::Metropolis));
        assert!(around_paris.iter().any(|label| matches!(label.kind, Kind::Town | Kind::Village)));
    }
}
