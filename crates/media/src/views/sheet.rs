//! A contact sheet: a grid of numbered pictures.

use domain::{PixelSize, Rendition};

use super::{Encoder, Shrinking, Step, ViewOptions, digits, too_large};
use crate::MediaError;
use crate::pixels::{Layout, Pixels};

/// From large to small. Common models scale a picture down if a side is longer than 1568 pixels, and older ones if its area
/// exceeds that of a square of 1092 pixels.
const STEPS: [Step; 8] = [
    Step::new(LARGE_SIDE_PX, 80),
    Step::new(LARGE_SIDE_PX, 65),
    Step::new(LARGE_SIDE_PX, 50),
    Step::new(SMALL_SIDE_PX, 75),
    Step::new(SMALL_SIDE_PX, 60),
    Step::new(SMALL_SIDE_PX, 45),
    Step::new(768, 45),
    Step::new(512, 40),
];
const LARGE_SIDE_PX: u32 = 1568;
const SMALL_SIDE_PX: u32 = 1092;

/// The background between and beside the pictures.
const GREY: u8 = 119;

/// Around and between the cells.
const GAP_PX: u32 = 8;

/// Where things are on a sheet. Cells are squares, filled row by row from the top left. A gap of 8 pixels is around and between
/// them. Each picture is in the middle of its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SheetLayout {
    /// The number of cells in a row.
    pub columns: u32,
    /// The number of rows.
    pub rows: u32,
    /// The side of a cell.
    pub cell_px: u32,
}

/// The box of a number: white digits on black, at the top left of a cell. A digit has 5 × 7 dots. A dot is a square. The
/// margin is two dots, and digits are one dot apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberBox {
    /// The left edge.
    pub x: u32,
    /// The upper edge.
    pub y: u32,
    /// The size of the box.
    pub size: PixelSize,
    /// The side of a dot.
    pub dot_px: u32,
}

impl SheetLayout {
    /// The layout of a sheet whose sides are at most this long, with cells no larger than the rendition.
    pub fn new(count: usize, side_px: u32, rendition: Rendition) -> Self {
        let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let root = count.isqrt();
        let columns = if root * root < count { root + 1 } else { root };
        let rows = count.div_ceil(columns);
        let gaps = GAP_PX.saturating_mul(columns + 1);
        let cell_px = (side_px.saturating_sub(gaps) / columns).clamp(1, rendition.longest_side_px());
        Self { columns, rows, cell_px }
    }

    /// The layout of the first sheet that is tried.
    pub(super) fn largest(count: usize, rendition: Rendition) -> Self {
        Self::new(count, first_side_px(rendition), rendition)
    }

    /// The size of the sheet.
    pub fn size(&self) -> PixelSize {
        let side = |cells: u32| cells * (self.cell_px + GAP_PX) + GAP_PX;
        PixelSize { width: side(self.columns), height: side(self.rows) }
    }

    /// The upper left corner of a cell; the first has index 0.
    pub fn cell(&self, index: usize) -> (u32, u32) {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let position = |cells: u32| cells * (self.cell_px + GAP_PX) + GAP_PX;
        (position(index % self.columns), position(index / self.columns))
    }

    /// Where the number of a cell is drawn.
    pub fn number(&self, index: usize) -> NumberBox {
        let (x, y) = self.cell(index);
        let dot_px = (self.cell_px / 80).clamp(1, 6);
        let count = u32::try_from(digits::digits(index + 1).count()).unwrap_or(u32::MAX);
        let dots = |inside: u32| (inside + 4) * dot_px;
        let size = PixelSize {
            width: dots(count * (digits::WIDTH + 1) - 1).min(self.cell_px),
            height: dots(digits::HEIGHT).min(self.cell_px),
        };
        NumberBox { x, y, size, dot_px }
    }
}

pub(super) fn first_side_px(rendition: Rendition) -> u32 {
    match rendition {
        Rendition::Full | Rendition::Medium => LARGE_SIDE_PX,
        Rendition::Thumb | Rendition::Preview => SMALL_SIDE_PX,
    }
}

/// The sheet at the first step at which it fits.
pub(super) fn fitting(pictures: Vec<Pixels>, options: &ViewOptions) -> Result<Vec<u8>, MediaError> {
    let mut encoder = Encoder::new()?;
    let mut pictures: Vec<_> = pictures.into_iter().map(Shrinking::new).collect();
    let mut sheet: Option<(SheetLayout, Pixels)> = None;
    let first_side = first_side_px(options.rendition);
    for Step { side_px, quality } in STEPS.into_iter().filter(|step| step.side_px <= first_side) {
        let layout = SheetLayout::new(pictures.len(), side_px, options.rendition);
        let drawn = match sheet.take().filter(|(drawn, _)| *drawn == layout) {
            Some((_, drawn)) => drawn,
            None => draw(&mut pictures, layout)?,
        };
        let jpeg = encoder.encode(&drawn, quality)?;
        if jpeg.len() <= options.max_bytes {
            return Ok(jpeg);
        }
        sheet = Some((layout, drawn));
    }
    Err(too_large())
}

fn draw(pictures: &mut [Shrinking], layout: SheetLayout) -> Result<Pixels, MediaError> {
    let mut canvas = Canvas::new(layout.size())?;
    for (index, picture) in pictures.iter_mut().enumerate() {
        let picture = picture.fit_within(layout.cell_px)?;
        let (x, y) = layout.cell(index);
        let margin = |side: u32| layout.cell_px.saturating_sub(side) / 2;
        canvas.picture(x + margin(picture.size.width), y + margin(picture.size.height), picture);
        canvas.number(index, layout.number(index));
    }
    Ok(canvas.0)
}

/// RGB pixels to draw on. Whatever is outside is not drawn.
struct Canvas(Pixels);

impl Canvas {
    fn new(size: PixelSize) -> Result<Self, MediaError> {
        let mut bytes = crate::pixels::zeroed(size, Layout::Rgb.channels())?;
        bytes.fill(GREY);
        Ok(Self(Pixels { size, layout: Layout::Rgb, bytes }))
    }

    /// `count` pixels of a row.
    fn row(&mut self, x: u32, y: u32, count: u32) -> Option<&mut [u8]> {
        let width = self.0.size.width;
        if x.checked_add(count)? > width {
            return None;
        }
        let index = |pixels: u64| usize::try_from(pixels * 3).ok();
        let start = index(u64::from(y) * u64::from(width) + u64::from(x))?;
        self.0.bytes.get_mut(start..start + index(u64::from(count))?)
    }

    fn picture(&mut self, x: u32, y: u32, picture: &Pixels) {
        let PixelSize { width, .. } = picture.size;
        let Ok(row_bytes) = usize::try_from(width).map(|width| width * picture.layout.channels()) else {
            return;
        };
        for (y, source) in (y..).zip(picture.bytes.chunks_exact(row_bytes)) {
            if let Some(row) = self.row(x, y, width) {
                row.copy_from_slice(source);
            }
        }
    }

    fn fill(&mut self, (x, y): (u32, u32), size: PixelSize, shade: u8) {
        for y in (y..).take(usize::try_from(size.height).unwrap_or(0)) {
            if let Some(row) = self.row(x, y, size.width) {
                row.fill(shade);
            }
        }
    }

    fn number(&mut self, index: usize, NumberBox { x, y, size, dot_px }: NumberBox) {
        self.fill((x, y), size, 0);
        let dot = PixelSize { width: dot_px, height: dot_px };
        for (position, digit) in (0..).zip(digits::digits(index + 1)) {
            let left = 2 + position * (digits::WIDTH + 1);
            for (column, row) in digits::dots(digit) {
                self.fill((x + (left + column) * dot_px, y + (2 + row) * dot_px), dot, 255);
            }
        }
    }
}
