//! Reads shapefiles: lines and polygons from `.shp`, and one column of numbers from `.dbf`.

/// Longitude and latitude.
pub(super) type Position = (f64, f64);

/// The parts of one shape: lines, or the rings of polygons. Outer rings run clockwise, holes the other way.
pub(super) type Shape = Vec<Vec<Position>>;

const HEADER: usize = 100;
const POLYLINE: i32 = 3;
const POLYGON: i32 = 5;

/// The shapes of a `.shp` file; `None` if it has another format.
pub(super) fn shapes(file: &[u8]) -> Option<Vec<Shape>> {
    let mut rest = file.get(HEADER..)?;
    let mut shapes = Vec::new();
    while !rest.is_empty() {
        let words = u32::from_be_bytes(bytes(rest, 4)?);
        let length = usize::try_from(words).ok()?.checked_mul(2)?;
        let record = rest.get(8..8_usize.checked_add(length)?)?;
        shapes.push(shape(record)?);
        rest = rest.get(8 + length..)?;
    }
    Some(shapes)
}

fn shape(record: &[u8]) -> Option<Shape> {
    match i32::from_le_bytes(bytes(record, 0)?) {
        0 => return Some(Vec::new()),
        POLYLINE | POLYGON => {}
        _ => return None,
    }
    let count = |at| usize::try_from(u32::from_le_bytes(bytes(record, at)?)).ok();
    let (parts, points) = (count(36)?, count(40)?);
    let first = 44_usize.checked_add(parts.checked_mul(4)?)?;
    let point = |number: usize| {
        let at = first.checked_add(number.checked_mul(16)?)?;
        Some((f64::from_le_bytes(bytes(record, at)?), f64::from_le_bytes(bytes(record, at + 8)?)))
    };
    let part = |number: usize| {
        let start = count(44 + 4 * number)?;
        let end = if number + 1 < parts { count(48 + 4 * number)? } else { points };
        (start..end).map(point).collect::<Option<Vec<_>>>()
    };
    (0..parts).map(part).collect()
}

/// A column of a `.dbf` file; `None` if there is none or it has other things than numbers.
pub(super) fn column(file: &[u8], name: &str) -> Option<Vec<f64>> {
    let records = usize::try_from(u32::from_le_bytes(bytes(file, 4)?)).ok()?;
    let header = usize::from(u16::from_le_bytes(bytes(file, 8)?));
    let width = usize::from(u16::from_le_bytes(bytes(file, 10)?));
    let mut offset = 1;
    let mut fields = file.get(32..header)?.chunks_exact(32);
    let field = fields.find_map(|field| {
        let label = field.get(..11)?.split(|byte| *byte == 0).next()?;
        let length = usize::from(*field.get(16)?);
        if label == name.as_bytes() {
            return Some(offset..offset + length);
        }
        offset += length;
        None
    })?;
    let number = |record: usize| {
        let start = header.checked_add(record.checked_mul(width)?)?;
        let text = file.get(start..)?.get(field.clone())?;
        str::from_utf8(text).ok()?.trim().parse().ok()
    };
    (0..records).map(number).collect()
}

fn bytes<const N: usize>(from: &[u8], at: usize) -> Option<[u8; N]> {
    from.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let mut file = vec![0; HEADER];
        let points = [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)];
        file.extend([0, 0, 0, 1]);
        file.extend(50_u32.to_be_bytes());
        file.extend(POLYLINE.to_le_bytes());
        file.extend([0; 32]);
        for number in [2_u32, 3, 0, 2] {
            file.extend(number.to_le_bytes());
        }
        for (x, y) in points {
            file.extend(f64::to_le_bytes(x));
            file.extend(f64::to_le_bytes(y));
        }
        assert_eq!(shapes(&file), Some(vec![vec![points[..2].to_vec(), points[2..].to_vec()]]));
        assert_eq!(shapes(&file[..file.len() - 1]), None);
    }

    #[test]
    fn a_column_is_read() {
        let mut file = vec![3, 0, 0, 0, 2, 0, 0, 0];
        file.extend(97_u16.to_le_bytes());
        file.extend(8_u16.to_le_bytes());
        file.resize(32, 0);
        for (name, length) in [("name", 3), ("rank", 4)] {
            let start = file.len();
            file.extend(name.as_bytes());
            file.resize(start + 16, 0);
            file.push(length);
            file.resize(start + 32, 0);
        }
        file.push(13);
        file.extend(b" abc 1.0 def  12");
        assert_eq!(column(&file, "rank"), Some(vec![1.0, 12.0]));
        assert_eq!(column(&file, "name"), None);
        assert_eq!(column(&file, "other"), None);
    }
}
