//! Reads GIF headers: version 89a, sections 18 (logical screen), 20 (image descriptor) and 15 (data sub-blocks).

use domain::PixelSize;

use super::{Header, take};
use crate::MediaError;

pub(super) fn header(bytes: &[u8]) -> Result<Header, MediaError> {
    let mut rest = bytes;
    let screen = take(&mut rest, 13).ok_or(MediaError::Truncated)?;
    let [_, _, _, _, _, _, w0, w1, h0, h1, packed, ..] = screen else { return Err(MediaError::Truncated) };
    let size = size([*w0, *w1, *h0, *h1]);
    if packed & 0x80 != 0 {
        take(&mut rest, 3 << ((packed & 0x07) + 1)).ok_or(MediaError::Truncated)?;
    }
    let frame = first_frame(rest).ok_or(MediaError::Truncated)?;
    // Four channels each for the screen and the frame.
    let frame_bytes = frame.area().saturating_mul(4);
    let header = Header { decoded_size: frame, ..Header::plain(size, 4) };
    Ok(Header { decode_bytes: header.decode_bytes.saturating_add(frame_bytes), ..header })
}

/// Skips extensions up to the first image descriptor. Its frame may be larger than the screen.
fn first_frame(mut rest: &[u8]) -> Option<PixelSize> {
    loop {
        match take(&mut rest, 1)? {
            [0x21] => {
                let _label = take(&mut rest, 1)?;
                skip_sub_blocks(&mut rest)?;
            }
            [0x2C] => {
                let [_, _, _, _, w0, w1, h0, h1] = take(&mut rest, 8)? else { return None };
                return Some(size([*w0, *w1, *h0, *h1]));
            }
            _ => return None,
        }
    }
}

fn skip_sub_blocks(rest: &mut &[u8]) -> Option<()> {
    loop {
        match take(rest, 1)? {
            [0] => return Some(()),
            [length] => take(rest, usize::from(*length))?,
            _ => return None,
        };
    }
}

fn size([w0, w1, h0, h1]: [u8; 4]) -> PixelSize {
    PixelSize {
        width: u32::from(u16::from_le_bytes([w0, w1])),
        height: u32::from(u16::from_le_bytes([h0, h1])),
    }
}
