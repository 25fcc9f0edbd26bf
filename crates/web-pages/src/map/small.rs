//! A small map of one place, which is a link to the page of the map.

use domain::Position;
use maud::{Markup, html};

use super::{
    around,
    labels::labels,
    land::{Frame, layers, paths},
    view::{Size, View, shares},
};

/// The zoom: a city and the coast or the border near it.
const ZOOM: f64 = 6.5;

const SIZE: Size = Size { width: 352.0, height: 160.0 };

/// A map with a pin at a place; `None` if drawing it failed.
pub(crate) async fn small_map(position: Position) -> Option<Markup> {
    let drawn = tokio::task::spawn_blocking(move || draw(position)).await;
    drawn.inspect_err(|error| tracing::error!(%error, "the small map of a photo cannot be drawn")).ok()
}

fn draw(position: Position) -> Markup {
    let view = View { zoom: ZOOM, ..View::around(position) };
    let (right, down) = view.units(shares(position));
    let paths = paths(view, Frame::still(SIZE));
    let labels = labels(view, SIZE, &[(right, down)]);
    let Size { width, height } = SIZE;
    html! {
        a.spot href=(around(position)) {
            "Show on the map"
            svg.earth viewBox={ (-width / 2.0) " " (-height / 2.0) " " (width) " " (height) } aria-hidden="true" {
                g transform="scale(.1)" { (layers(&paths, "", "spot-")) }
                @for label in &labels { (label.markup()) }
                path.here transform={ "translate(" (right.round()) " " (down.round()) ")" }
                    d="M0 0c-5-9-9-13-9-18a9 9 0 0 1 18 0c0 5-4 9-9 18z" {}
            }
        }
    }
}
