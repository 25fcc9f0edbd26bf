//! `/web/map/pin`: what the script needs to choose a place on a map: the ground of a view, and the name of a place.

use domain::{Invalid, Position, parse_position};
use http::StatusCode;
use http_server::{
    Query,
    reply::{Reply, compressible, json},
};
use maud::html;
use serde::Serialize;

use super::{
    labels::labels,
    land::{Frame, layers, paths},
    towns::towns,
    view::{Size, View},
};
use crate::messages;

/// The view box of the script's map.
const SIZE: Size = Size { width: 400.0, height: 256.0 };

pub(super) struct Request {
    /// The view to draw.
    view: Option<View>,
    /// The place to name.
    at: Option<Position>,
}

impl Request {
    pub(super) fn parse(query: &Query<'_>) -> Result<Self, Invalid> {
        let position = |text: &str| {
            let (latitude, longitude) = text.split_once(',').unwrap_or((text, ""));
            parse_position(latitude, longitude)
        };
        let (view, at) = (View::parse(query)?, query.get("at").map(position).transpose()?.flatten());
        if view.is_none() && at.is_none() {
            return Err(Invalid::new("at", "is missing, for example at=41.15,-8.61"));
        }
        Ok(Self { view, at })
    }
}

#[derive(Serialize)]
struct Reported {
    /// The nearest city and its country.
    place: Option<String>,
    ground: Option<Ground>,
}

/// A part of the map, somewhat larger than the view.
#[derive(Serialize)]
struct Ground {
    zoom: f64,
    /// The centre as shares of the world.
    x: f64,
    y: f64,
    /// Elements of SVG, in units from the centre.
    svg: String,
}

pub(super) async fn data(request: Request) -> Reply {
    let Request { view, at } = request;
    let drawn = tokio::task::spawn_blocking(move || Reported {
        place: at.and_then(places::place),
        ground: view.map(draw),
    });
    match drawn.await {
        Ok(reported) => compressible(json(StatusCode::OK, &reported)),
        Err(error) => messages::data_unavailable(&error),
    }
}

fn draw(view: View) -> Ground {
    let paths = paths(view, Frame::of(view, SIZE));
    let svg = html! {
        g transform="scale(.1)" { (layers(&paths, &towns(view, SIZE), "pin-")) }
        @for label in labels(view, SIZE, &[]) { (label.markup()) }
    };
    Ground { zoom: view.zoom, x: view.x, y: view.y, svg: svg.into_string() }
}
