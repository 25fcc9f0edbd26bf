//! Makes distinct copies of photos, so that there are enough to measure.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use ::tests::black_box::AnyError;
use tempfile::TempDir;

use super::format_size;

/// Minimum number of photos, unless the number of copies is given. Fewer photos give unstable figures.
const MIN_PHOTOS: usize = 60;

/// A folder of photos to import.
pub(super) struct Photos {
    folder: PathBuf,
    files: Vec<PathBuf>,
    originals: usize,
    copies: u32,
    bytes: u64,
    /// The folder of the copies, removed when dropped.
    _temporary: Option<TempDir>,
}

impl Photos {
    /// Prepares the files of a folder and its subfolders, with this many copies of each.
    pub(super) fn prepare(dir: &Path, copies: Option<u32>) -> Result<Self, AnyError> {
        let mut originals = Vec::new();
        walk(dir, &mut originals).map_err(|error| format!("{} cannot be read: {error}", dir.display()))?;
        if originals.is_empty() {
            return Err(format!("{} has no files", dir.display()).into());
        }
        let default = u32::try_from(MIN_PHOTOS.div_ceil(originals.len()))?;
        let copies = copies.unwrap_or(default).max(1);
        if copies == 1 {
            return Self::new(dir.to_owned(), originals.clone(), originals.len(), 1, None);
        }
        let temporary = tempfile::tempdir()?;
        let mut files = Vec::new();
        for number in 0..copies {
            for (index, original) in originals.iter().enumerate() {
                let name = original.file_name().unwrap_or_default().to_string_lossy();
                let path = temporary.path().join(format!("{number:02}-{index:05}-{name}"));
                fs::write(&path, distinct(&fs::read(original)?, number))?;
                files.push(path);
            }
        }
        Self::new(temporary.path().to_owned(), files, originals.len(), copies, Some(temporary))
    }

    fn new(
        folder: PathBuf,
        files: Vec<PathBuf>,
        originals: usize,
        copies: u32,
        temporary: Option<TempDir>,
    ) -> Result<Self, AnyError> {
        let bytes = files.iter().map(|path| Ok(fs::metadata(path)?.len())).sum::<io::Result<u64>>()?;
        Ok(Self { folder, files, originals, copies, bytes, _temporary: temporary })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(super) fn copies(&self) -> u32 {
        self.copies
    }
}

impl fmt::Display for Photos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files, {}", self.files.len(), format_size(self.bytes))?;
        if self.copies > 1 {
            write!(
                f,
                ": {} copies of each of {}, made distinct by a comment and one changed quantiser",
                self.copies, self.originals
            )?;
        }
        Ok(())
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, files)?;
        } else if !path.file_name().is_some_and(|name| media::is_junk_file_name(&name.to_string_lossy())) {
            files.push(path);
        }
    }
    Ok(())
}

/// A copy with other bytes that takes as much work to decode. The copy of a JPEG also has other pixels, because equal
/// renditions are stored only once.
pub(crate) fn distinct(file: &[u8], number: u32) -> Vec<u8> {
    if number == 0 {
        return file.to_vec();
    }
    let mark = number.to_be_bytes();
    if let Some(copy) = distinct_jpeg(file, number) {
        return copy;
    }
    if file.get(4..8) == Some(b"ftyp") {
        // A `free` box.
        return [file, b"\0\0\0\x0cfree", &mark].concat();
    }
    // Bytes after the end of a PNG, GIF, WebP or TIFF picture are ignored.
    [file, &mark].concat()
}

/// A JPEG (ITU-T T.81, B.1) with a comment and one changed step in its first quantisation table. `None` if the file is
/// not a JPEG or has no such table before its first scan.
fn distinct_jpeg(file: &[u8], number: u32) -> Option<Vec<u8>> {
    if !file.starts_with(&[0xFF, 0xD8]) {
        return None;
    }
    let mut at = 2;
    loop {
        let [0xFF, marker, high, low] = *file.get(at..at + 4)? else { return None };
        match marker {
            0xDB => break,
            0xDA => return None,
            _ => at += 2 + usize::from(u16::from_be_bytes([high, low])),
        }
    }
    let comment: Vec<u8> = [b"\xff\xfe\0\x06".as_slice(), &number.to_be_bytes()].concat();
    let mut copy = [file.get(..at)?, &comment, file.get(at..)?].concat();
    let table = at + comment.len() + 4;
    let wide = copy.get(table)? >> 4 == 1;
    // One of the low frequencies, which every picture has.
    let step = usize::try_from(1 + number % 20).ok()?;
    let low_byte = if wide { table + 1 + 2 * step + 1 } else { table + 1 + step };
    let value = copy.get_mut(low_byte)?;
    *value = if *value < 255 { *value + 1 } else { 254 };
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_differ_and_keep_their_size() {
        for (name, other_pixels) in [
            ("media/grey.jpg", true),
            ("media/progressive.jpg", true),
            ("media/cmyk.jpg", true),
            ("media/palette.png", false),
            ("media/animated.gif", false),
            ("media/animated.webp", false),
        ] {
            let file = fs::read(::tests::fixture(name)).unwrap();
            assert_eq!(distinct(&file, 0), file);
            let pixels = |file: &[u8]| image::load_from_memory(file).unwrap().into_rgb8();
            let (one, two) = (distinct(&file, 1), distinct(&file, 2));
            assert!(one != file && two != file && one != two, "{name}");
            assert_eq!(pixels(&one).dimensions(), pixels(&file).dimensions(), "{name}");
            assert_eq!(pixels(&one) != pixels(&file), other_pixels, "{name}");
            assert_eq!(pixels(&one) != pixels(&two), other_pixels, "{name}");
        }
    }

    #[test]
    fn any_bytes_can_be_copied() {
        for file in [b"".as_slice(), b"\xff\xd8", b"\xff\xd8\xff\xdb\0\x43\x10", b"\0\0\0\x08ftyp"] {
            assert_ne!(distinct(file, 3), file);
        }
    }
}
