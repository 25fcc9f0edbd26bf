//! Photos for import tests.

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

/// The folder of the bundled sample photos.
pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/samples")
}

/// Writes different photos, alternately JPEG and PNG, each with another modification time.
pub(crate) fn generate(folder: &Path, number: u32) {
    generate_from(folder, 0, number);
}

/// Writes photos as [`generate`] does, which differ from those with other indices.
pub(crate) fn generate_from(folder: &Path, first: u32, number: u32) {
    std::fs::create_dir_all(folder).unwrap();
    for index in first..first + number {
        let (format, extension) =
            if index % 2 == 0 { (ImageFormat::Jpeg, "jpg") } else { (ImageFormat::Png, "png") };
        let path = folder.join(format!("photo-{index:03}.{extension}"));
        picture(index).save_with_format(&path, format).unwrap();
        set_modified(&path, index);
    }
}

/// Sets a modification time that depends on the index.
pub(crate) fn set_modified(path: &Path, index: u32) {
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + 60 * u64::from(index));
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

fn picture(index: u32) -> DynamicImage {
    let shade = |value: u32| u8::try_from(value % 256).unwrap();
    let pixel = |x, y| Rgb([shade(x + 7 * index), shade(y + 13 * index), shade(x * y / 64 + index)]);
    RgbImage::from_fn(400 + index, 300, pixel).into()
}
