//! Photos in justified rows.

use data_encoding::BASE64;
use domain::{Image, Rendition};
use maud::{Markup, html};

use crate::{origin::Origin, photo_text::described, pictures::picture_path};

/// Number of photos whose images are loaded with the page, because they are on the first screen, also of phones. Other
/// images load when their photos are placed.
const EAGER: usize = 12;

/// The ratio of width to height of a tile, in thousandths. Wider and narrower photos are cut to it.
pub(crate) fn tile_ratio(image: &Image) -> u64 {
    let ratio = u64::from(image.size.width) * 1000 / u64::from(image.size.height).max(1);
    ratio.clamp(400, 2600)
}

/// Whether a photo is selected when the page is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Selected {
    #[default]
    No,
    Yes,
    /// The page is opened at it: `#selected-photo`.
    Here,
}

/// A photo in a grid.
pub(crate) struct Tile<'a> {
    pub(crate) image: &'a Image,
    /// The page that it leads to.
    pub(crate) href: String,
    /// A line below it, such as why a search found it.
    pub(crate) note: Option<Markup>,
    /// The day that begins with it, above it.
    pub(crate) day: Option<String>,
    pub(crate) selected: Selected,
}

impl<'a> Tile<'a> {
    /// A photo that leads to its own page, in a list of photos opened at `origin`.
    pub(crate) fn of(image: &'a Image, origin: &Origin) -> Self {
        Self { image, href: origin.link(&image.id), note: None, day: None, selected: Selected::No }
    }
}

/// The rows of a grid; `first` is the number of photos on the page before them.
pub(crate) fn tiles<'a>(tiles: impl IntoIterator<Item = Tile<'a>>, first: usize) -> Markup {
    html! {
        ul.rows {
            @for (index, tile) in tiles.into_iter().enumerate() { (tile_markup(&tile, first + index < EAGER)) }
        }
    }
}

fn tile_markup(tile: &Tile<'_>, is_eager: bool) -> Markup {
    let image = tile.image;
    let ratio = tile_ratio(image);
    let alt = described(image);
    let small = image.size.fit_within(Rendition::Preview.longest_side_px());
    let [preview, thumb] =
        [Rendition::Preview, Rendition::Thumb].map(|rendition| picture_path(image, rendition));
    let width_of = |rendition: Rendition| image.size.fit_within(rendition.longest_side_px()).width;
    let sources = format!(
        "{preview} {}w, {thumb} {}w",
        width_of(Rendition::Preview),
        width_of(Rendition::Thumb).max(width_of(Rendition::Preview) + 1)
    );
    // Rows are 120 pixels high on phones and 200 elsewhere, and grow by about a tenth. A phone with 1.75 device pixels per
    // pixel takes the smallest image, because larger ones would double the bytes of the first screen.
    let phone = (ratio * 132 / 1000).min(u64::from(small.width) * 4 / 7);
    let sizes = format!("(min-width: 48rem) {}px, {phone}px", ratio * 220 / 1000);
    let hash = image.thumbhash.as_ref().map(|hash| BASE64.encode(hash.as_bytes()));
    let ratio = format!("{}.{:03}", ratio / 1000, ratio % 1000);
    html! {
        li id=[(tile.selected == Selected::Here).then_some("selected-photo")] data-id=(image.id) data-t=(image.local_time()) data-r=(ratio)
            data-v=(image.picture_version) data-h=[hash] data-place=[image.place.as_deref()] {
            @if let Some(day) = &tile.day { h3.day { (day) } }
            a href=(tile.href) {
                img src=(preview) srcset=(sources) sizes=(sizes) width=(small.width) height=(small.height) alt=(alt)
                    decoding="async" loading=(if is_eager { "eager" } else { "lazy" });
            }
            input type="checkbox" name="image" value=(image.id) aria-label={ "Select: " (alt) }
                checked[tile.selected != Selected::No];
            @if let Some(note) = &tile.note { p.note { (note) } }
        }
    }
}
