//! Photos to import, and enough of them: copies that are photos of their own.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use ::tests::black_box::AnyError;
use tempfile::TempDir;

use super::size_of;

/// So many photos are imported at least, unless the caller says how often each is copied: fewer give no steady figure.
const ENOUGH: usize = 60;

/// Photos in a folder.
pub(super) struct Photos {
    folder: PathBuf,
    files: Vec<PathBuf>,
    originals: usize,
    copies: u32,
    bytes: u64,
    /// Where the copies are, until this value is dropped.
    _made: Option<TempDir>,
}

impl Photos {
    /// The files of a folder and of all folders in it, each so often.
    pub(super) fn prepare(dir: &Path, copies: Option<u32>) -> Result<Self, AnyError> {
        let mut originals = Vec::new();
        walk(dir, &mut originals).map_err(|error| format!("{} cannot be read: {error}", dir.display()))?;
        if originals.is_empty() {
            return Err(format!("{} holds no files", dir.display()).into());
        }
        let enough = u32::try_from(ENOUGH.div_ceil(originals.len()))?;
        let copies = copies.unwrap_or(enough).max(1);
        if copies == 1 {
            return Self::of(dir.to_owned(), originals.clone(), originals.len(), 1, None);
        }
        let made = tempfile::tempdir()?;
        let mut files = Vec::new();
        for number in 0..copies {
            for (place, original) in originals.iter().enumerate() {
                let name = original.file_name().unwrap_or_default().to_string_lossy();
                let path = made.path().join(format!("{number:02}-{place:05}-{name}"));
                fs::write(&path, distinct(&fs::read(original)?, number))?;
                files.push(path);
            }
        }
        Self::of(made.path().to_owned(), files, originals.len(), copies, Some(made))
    }

    fn of(
        folder: PathBuf,
        files: Vec<PathBuf>,
        originals: usize,
        copies: u32,
        made: Option<TempDir>,
    ) -> Result<Self, AnyError> {
        let bytes = files.iter().map(|path| Ok(fs::metadata(path)?.len())).sum::<io::Result<u64>>()?;
        Ok(Self { folder, files, originals, copies, bytes, _made: made })
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
        write!(f, "{} files, {}", self.files.len(), size_of(self.bytes))?;
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

/// A copy of a file that is another photo to whoever compares bytes, and as much work as the first. The copy of a JPEG
/// has other pixels as well, or its renditions would be equal, and equal ones are stored once.
fn distinct(file: &[u8], number: u32) -> Vec<u8> {
    if number == 0 {
        return file.to_vec();
    }
    let mark = number.to_be_bytes();
    if let Some(copy) = distinct_jpeg(file, number) {
        return copy;
    }
    if file.get(4..8) == Some(b"ftyp") {
        // A box of free space.
        return [file, b"\0\0\0\x0cfree", &mark].concat();
    }
    // What stands behind the end of a PNG, GIF, WebP or TIFF file is no part of the picture.
    [file, &mark].concat()
}

/// A JPEG (ITU-T T.81, B.1) with a comment, and one step of its first quantisation table one larger or smaller.
/// `None` when the file is none, or has no such table before its first scan.
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
    // Low frequencies, which every picture has.
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
    fn copies_are_other_photos_of_the_same_size() {
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
    fn no_bytes_are_refused() {
        for file in [b"".as_slice(), b"\xff\xd8", b"\xff\xd8\xff\xdb\0\x43\x10", b"\0\0\0\x08ftyp"] {
            assert_ne!(distinct(file, 3), file);
        }
    }
}
