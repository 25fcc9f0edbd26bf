//! A small map of one place, which is a link to the page of the map.

use domain::Position;
use maud::{Markup, html};

use super::{
    around,
    labels::cities,
    land::paths,
    view::{Size, View},
};

/// The zoom: a city and the coast or the border near it.
const ZOOM: f64 = 6.5;

const WIDTH: f64 = 352.0;
const HEIGHT: f64 = 160.0;

/// Outlines reach as far beyond a size again, so half of it covers a map that is not moved.
const OUTLINES: Size = Size { width: WIDTH / 2.0, height: HEIGHT / 2.0 };

/// Maximum number of names of cities.
const MAX_CITIES: usize = 4;

/// A map with a pin at a place.
pub(crate) fn small_map(position: Position) -> Markup {
    let view = View { zoom: ZOOM, ..View::around(position) };
    let (right, down) = view.units(super::view::shares(position));
    let land = paths(view, OUTLINES);
    let cities = cities(view, Size { width: WIDTH, height: HEIGHT }, &[(right, down)]);
    html! {
        a.spot href=(around(position)) {
            "Show on the map"
            svg viewBox={ (-WIDTH / 2.0) " " (-HEIGHT / 2.0) " " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
                g transform="scale(.1)" {
                    path.land d=(land.land) {}
                    path.border d=(land.borders) {}
                }
                @for city in cities.iter().take(MAX_CITIES) {
                    g.city transform={ "translate(" (city.at.0.round()) " " (city.at.1.round()) ")" } {
                        circle r="2" {}
                        text x="5" y="4" { (city.name) }
                    }
                }
                path.here transform={ "translate(" (right.round()) " " (down.round()) ")" }
                    d="M0 0c-5-9-9-13-9-18a9 9 0 0 1 18 0c0 5-4 9-9 18z" {}
            }
        }
    }
}
