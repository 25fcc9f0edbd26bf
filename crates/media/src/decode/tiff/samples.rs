//! Converts the rows of a strip or tile to pixels of 8 bits a channel.

use std::mem;

use super::lab::Lab;
use crate::MediaError;
use crate::container::tiff::{Alpha, ColourSpace, Predictor, TiffImage};
use crate::pixels::Layout;
use crate::tiff::{ByteOrder, Entry};

/// Writes rows into the picture.
pub(super) struct RowWriter<'a> {
    picture: &'a TiffImage<'a>,
    channels: usize,
    /// The colours of a palette.
    palette: Vec<[u8; 3]>,
    /// Maps samples of less than 8 bits to 8 bits.
    scale: Vec<u8>,
    lab: Option<Lab>,
    /// A row as stored, later with samples of 8 bits.
    row: Vec<u8>,
    /// A buffer for the output of the next step, which becomes `row`.
    next: Vec<u8>,
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl<'a> RowWriter<'a> {
    pub(super) fn new(picture: &'a TiffImage<'a>) -> Result<Self, MediaError> {
        let bits = picture.samples.bits;
        let palette = match picture.palette {
            Some(map) if picture.colours == ColourSpace::Palette => palette(map, bits)?,
            _ => Vec::new(),
        };
        let highest = (1_usize << bits.min(8)) - 1;
        let scale = |value: usize| u8::try_from((value * 255 + highest / 2) / highest).unwrap_or(u8::MAX);
        Ok(Self {
            picture,
            channels: picture.layout().channels(),
            palette,
            scale: (0..=highest).map(scale).collect(),
            lab: match picture.colours {
                ColourSpace::Lab { signed } => Some(Lab::new(signed)),
                _ => None,
            },
            row: Vec::new(),
            next: Vec::new(),
        })
    }

    /// Number of planes with colours or alpha, which come first.
    pub(super) fn planes(&self) -> usize {
        if self.picture.planar { self.channels } else { 1 }
    }

    /// Writes a chunk at its position. `fill` fills a buffer with the next row of the chunk.
    pub(super) fn write_chunk(
        &mut self,
        plane: usize,
        (left, top, height): (u32, u32, u32),
        pixels: &mut [u8],
        mut fill: impl FnMut(&mut [u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let picture = self.picture;
        let (width, chunk_width) = (to_usize(picture.size.width), to_usize(picture.chunks.size.width));
        let (left, channels) = (to_usize(left), self.channels);
        let used = left * channels..chunk_width.saturating_add(left).min(width) * channels;
        let rows = pixels.chunks_exact_mut(width * channels).skip(to_usize(top)).take(to_usize(height));
        let mut targets = rows.filter_map(|row| row.get_mut(used.clone()));
        if let ColourSpace::YCbCr { across, down } = picture.colours {
            let (across, down) = (to_usize(across), to_usize(down));
            let mut units = vec![0; chunk_width.div_ceil(across) * (across * down + 2)];
            loop {
                let rows: Vec<_> = targets.by_ref().take(down).collect();
                if rows.is_empty() {
                    return Ok(());
                }
                fill(&mut units)?;
                for (place, target) in rows.into_iter().enumerate() {
                    write_ycc_row(&units, (across, down), place, target);
                }
            }
        }
        let samples = if picture.planar { 1 } else { picture.samples.count };
        let row_bytes = (chunk_width * samples * picture.samples.bits).div_ceil(8);
        for target in targets {
            self.row.resize(row_bytes, 0);
            fill(&mut self.row)?;
            self.undo_prediction(samples);
            self.write_row(plane, samples, target);
        }
        Ok(())
    }

    fn undo_prediction(&mut self, samples: usize) {
        let (order, row) = (self.picture.order, self.row.as_mut_slice());
        match (self.picture.predictor, self.picture.samples.bits) {
            (Predictor::None, _) => {}
            (Predictor::Horizontal, 8) => undo_horizontal::<1>(row, samples, order),
            (Predictor::Horizontal, 16) => undo_horizontal::<2>(row, samples, order),
            (Predictor::Horizontal, 32) => undo_horizontal::<4>(row, samples, order),
            (Predictor::Horizontal, _) => undo_horizontal::<8>(row, samples, order),
            (Predictor::FloatingPoint, bits) => {
                undo_horizontal::<1>(row, samples, order);
                let bytes = bits / 8;
                let values = row.len() / bytes;
                self.next.clear();
                for value in 0..values {
                    // The most significant bytes of all values come first, whatever the byte order of the file.
                    self.next.extend(row.iter().skip(value).step_by(values).take(bytes));
                }
                mem::swap(&mut self.row, &mut self.next);
            }
        }
    }

    fn write_row(&mut self, plane: usize, samples: usize, target: &mut [u8]) {
        if self.picture.colours == ColourSpace::Palette {
            return self.write_palette_row(samples, target);
        }
        self.reduce_to_bytes();
        if self.picture.colours == (ColourSpace::Gray { white_is_zero: true }) && plane == 0 {
            self.row.iter_mut().step_by(samples).for_each(|gray| *gray = !*gray);
        }
        let (row, channels) = (self.row.as_slice(), self.channels);
        if self.picture.planar {
            let places = target.iter_mut().skip(plane).step_by(channels);
            places.zip(row).for_each(|(channel, sample)| *channel = *sample);
        } else if let Some(lab) = &self.lab {
            for (pixel, stored) in target.chunks_exact_mut(channels).zip(row.chunks_exact(samples)) {
                if let ([r, g, b, alpha @ ..], [l, a, d, extra @ ..]) = (pixel, stored) {
                    [*r, *g, *b] = lab.to_rgb([*l, *a, *d]);
                    alpha.iter_mut().zip(extra).for_each(|(alpha, extra)| *alpha = *extra);
                }
            }
        } else if samples == channels {
            target.iter_mut().zip(row).for_each(|(channel, sample)| *channel = *sample);
        } else {
            // Colours and alpha come first; other samples are ignored.
            for (pixel, stored) in target.chunks_exact_mut(channels).zip(row.chunks_exact(samples)) {
                pixel.iter_mut().zip(stored).for_each(|(channel, sample)| *channel = *sample);
            }
        }
    }

    fn write_palette_row(&self, samples: usize, target: &mut [u8]) {
        let bits = self.picture.samples.bits;
        let (pixels, _) = target.as_chunks_mut::<3>();
        let mut pixels = pixels.iter_mut();
        let mut place = 0;
        let mut put = |index: usize| {
            if place % samples == 0
                && let Some(pixel) = pixels.next()
            {
                *pixel = self.palette.get(index).copied().unwrap_or_default();
            }
            place += 1;
        };
        if bits == 16 {
            let (indexes, _) = self.row.as_chunks::<2>();
            indexes.iter().for_each(|index| put(usize::from(self.picture.order.u16(*index))));
        } else {
            each_sample(&self.row, bits, put);
        }
    }

    /// Reduces each sample in the row to 8 bits.
    fn reduce_to_bytes(&mut self) {
        let picture = self.picture;
        // Undoing the floating-point predictor leaves the most significant byte first.
        let is_big = picture.order == ByteOrder::Big || picture.predictor == Predictor::FloatingPoint;
        self.next.clear();
        match (picture.samples.float, picture.samples.bits) {
            (false, 8) => return,
            (true, 16) => {
                extend(&mut self.next, &self.row, is_big, |bytes| half_to_byte(u16::from_be_bytes(bytes)));
            }
            (true, 32) => {
                extend(&mut self.next, &self.row, is_big, |bytes| unit_to_byte(f32::from_be_bytes(bytes)));
            }
            (true, _) => extend(&mut self.next, &self.row, is_big, |bytes| {
                #[expect(clippy::cast_possible_truncation, reason = "32 bits are precise enough")]
                let value = f64::from_be_bytes(bytes) as f32;
                unit_to_byte(value)
            }),
            (false, 16) => extend(&mut self.next, &self.row, is_big, |[high, _]| high),
            (false, 32) => extend(&mut self.next, &self.row, is_big, |[high, _, _, _]| high),
            (false, 64) => extend(&mut self.next, &self.row, is_big, |[high, ..]: [u8; 8]| high),
            (false, bits) => each_sample(&self.row, bits, |value| {
                let value = value >> bits.saturating_sub(8);
                self.next.push(self.scale.get(value).copied().unwrap_or_default());
            }),
        }
        mem::swap(&mut self.row, &mut self.next);
    }
}

/// Converts values of `N` bytes to single bytes.
fn extend<const N: usize>(bytes: &mut Vec<u8>, row: &[u8], is_big: bool, to_byte: impl Fn([u8; N]) -> u8) {
    let (values, _) = row.as_chunks::<N>();
    bytes.extend(values.iter().map(|value| {
        let mut value = *value;
        if !is_big {
            value.reverse();
        }
        to_byte(value)
    }));
}

/// Calls `put` with each value of `bits` bits (up to 16), most significant bit first.
fn each_sample(row: &[u8], bits: usize, mut put: impl FnMut(usize)) {
    let mask = (1_usize << bits) - 1;
    let (mut buffer, mut length) = (0_usize, 0);
    for byte in row {
        buffer = (buffer << 8 | usize::from(*byte)) & 0xFF_FFFF;
        length += 8;
        while length >= bits {
            length -= bits;
            put(buffer >> length & mask);
        }
    }
}

/// Adds to each sample of `N` bytes the sample of the previous pixel.
fn undo_horizontal<const N: usize>(row: &mut [u8], samples: usize, order: ByteOrder) {
    let mut before = vec![0_u64; samples];
    for pixel in row.chunks_mut(samples * N) {
        let (values, _) = pixel.as_chunks_mut::<N>();
        for (value, before) in values.iter_mut().zip(&mut before) {
            let bytes = value.iter();
            let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
            let difference = match order {
                ByteOrder::Big => bytes.fold(0, add),
                ByteOrder::Little => bytes.rev().fold(0, add),
            };
            *before = before.wrapping_add(difference);
            let lowest_first = before.to_le_bytes();
            let bytes = value.iter_mut();
            match order {
                ByteOrder::Big => bytes.rev().zip(lowest_first).for_each(|(byte, sum)| *byte = sum),
                ByteOrder::Little => bytes.zip(lowest_first).for_each(|(byte, sum)| *byte = sum),
            }
        }
    }
}

/// Writes one of the rows that share a row of data units (TIFF 6.0, section 21).
fn write_ycc_row(units: &[u8], (across, down): (usize, usize), row: usize, target: &mut [u8]) {
    let (pixels, _) = target.as_chunks_mut::<3>();
    let units = units.chunks_exact(across * down + 2);
    for (pixels, unit) in pixels.chunks_mut(across).zip(units) {
        let (lumas, differences) = unit.split_at(across * down);
        let [cb, cr] = *differences else { return };
        let (cb, cr) = (f32::from(cb) - 128.0, f32::from(cr) - 128.0);
        for (pixel, luma) in pixels.iter_mut().zip(lumas.iter().skip(row * across)) {
            let luma = f32::from(*luma);
            *pixel = [luma + 1.402 * cr, luma - 0.344_136 * cb - 0.714_136 * cr, luma + 1.772 * cb]
                .map(|value| unit_to_byte(value / 255.0));
        }
    }
}

/// Reads a palette: all red values, then green, then blue, with 16 bits each.
fn palette(map: Entry<'_>, bits: usize) -> Result<Vec<[u8; 3]>, MediaError> {
    let colours = 1_usize << bits;
    let channel = |place| map.number(place).unwrap_or_default();
    let too_short = || MediaError::Corrupt("the palette is cut off".into());
    map.number(3 * colours - 1).ok_or_else(too_short)?;
    // Some old programs write 8 bits.
    let shift = if map.numbers().take(3 * colours).all(|value| value < 256) { 0 } else { 8 };
    let byte = |place| u8::try_from(channel(place) >> shift).unwrap_or(u8::MAX);
    Ok((0..colours).map(|index| [byte(index), byte(colours + index), byte(2 * colours + index)]).collect())
}

/// Divides the colours of a decoded picture by alpha, if they were multiplied by it.
pub(super) fn divide_by_alpha(picture: &TiffImage<'_>, pixels: &mut [u8]) {
    let has_alpha = matches!(picture.layout(), Layout::GrayAlpha | Layout::Rgba);
    if picture.alpha != Some(Alpha::Premultiplied) || !has_alpha {
        return;
    }
    for pixel in pixels.chunks_exact_mut(picture.layout().channels()) {
        let Some((alpha @ 1.., colours)) = pixel.split_last_mut() else { continue };
        let alpha = u32::from(*alpha);
        for colour in colours {
            *colour = u8::try_from((u32::from(*colour) * 255 + alpha / 2) / alpha).unwrap_or(u8::MAX);
        }
    }
}

/// Converts a value between 0 and 1 to a byte; other values are clamped.
pub(super) fn unit_to_byte(value: f32) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what a byte holds, and NaN becomes 0"
    )]
    let byte = (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    byte
}

/// Converts a 16-bit float (IEEE 754, binary16) in the same way as [`unit_to_byte`].
fn half_to_byte(bits: u16) -> u8 {
    let (exponent, fraction) = (bits >> 10 & 0x1F, bits & 0x3FF);
    if bits >> 15 == 1 || (exponent == 0x1F && fraction != 0) {
        return 0;
    }
    let value = match exponent {
        // Too small to matter.
        0 => 0.0,
        _ => (1.0 + f32::from(fraction) / 1024.0) * f32::from(exponent).exp2() / 32_768.0,
    };
    unit_to_byte(value)
}
