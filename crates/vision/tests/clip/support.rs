//! The tiny models, pictures and queries of the tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use vision::Picture;

/// The number of pictures.
pub(crate) const PICTURES: usize = 50;

/// The library of ONNX Runtime. `cargo xtask test` installs it and sets the variable.
pub(crate) fn onnx_runtime() -> PathBuf {
    let path = std::env::vars_os().find(|(name, _)| name == "PHOTOS_TEST_ONNX_RUNTIME");
    let (_, path) =
        path.expect("PHOTOS_TEST_ONNX_RUNTIME names libonnxruntime.so; `cargo xtask test` sets it");
    path.into()
}

/// A copy of a model that a test may change.
pub(crate) struct TestModel {
    name: String,
    folder: PathBuf,
    _temporary: TempDir,
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

impl TestModel {
    /// A copy of one of the models.
    pub(crate) fn new(name: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join(name);
        // The multilingual model has its own text encoder, and the visual encoder of the model `clip`.
        let visual = models().join(if name == "xlm" { "clip" } else { name });
        copy(&visual.join("visual"), &folder.join("visual"));
        copy(&models().join(name).join("textual"), &folder.join("textual"));
        fs::copy(visual.join("config.json"), folder.join("config.json")).unwrap();
        Self { name: name.to_owned(), folder, _temporary: temporary }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The reference results.
    pub(crate) fn expected(&self) -> String {
        fs::read_to_string(models().join(&self.name).join("expected.json")).unwrap()
    }

    /// Changes a text file.
    pub(crate) fn edit(&self, file: &str, edit: impl Fn(&str) -> String) {
        let path = self.folder.join(file);
        let before = fs::read_to_string(&path).unwrap();
        let after = edit(&before);
        assert_ne!(before, after);
        fs::write(path, after).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The queries of `tests/models/export.py`.
pub(crate) fn queries() -> Vec<String> {
    let text = fs::read_to_string(models().join("queries.json")).unwrap();
    let mut queries: Vec<String> = serde_json::from_str(&text).unwrap();
    queries.truncate(48);
    let words: Vec<_> = (0..100).map(|i| format!("word{i} Photo of {i} boats")).collect();
    queries.push(words.join(" "));
    queries.push("!?-".repeat(500) + " end");
    queries
}

fn size(i: u32) -> (u32, u32) {
    let fixed =
        [(32, 32), (64, 64), (1, 1), (300, 20), (20, 300), (31, 33), (33, 32), (2, 3), (128, 96), (97, 131)];
    let formula = (1 + (i * i * 37 + 11 * i) % 180, 1 + (i * 53 + 7) % 170);
    fixed.get(i as usize).copied().unwrap_or(formula)
}

/// A generated picture; the formula is that of `tests/models/export.py`.
pub(crate) fn picture(index: usize) -> Picture {
    let i = u32::try_from(index).unwrap();
    let (width, height) = size(i);
    let channel = |x: u32, y: u32, c: u32| {
        let ramp = (x * (i % 11 + 1) * 256 / width + y * (i % 7 + 1) * 256 / height + c * 85 + i * 13) & 511;
        let ramp = if ramp < 256 { ramp } else { 511 - ramp };
        let noise = x.wrapping_mul(73_856_093)
            ^ y.wrapping_mul(19_349_663)
            ^ (c + 1).wrapping_mul(83_492_791)
            ^ i.wrapping_mul(2_654_435_761);
        let noise = (noise ^ (noise >> 13)).wrapping_mul(1_274_126_177) >> 26;
        u8::try_from((ramp + noise).saturating_sub(32).min(255)).unwrap()
    };
    let channel = &channel;
    let rows = (0..height).flat_map(|y| (0..width).flat_map(move |x| (0..3).map(move |c| channel(x, y, c))));
    Picture::new(width, height, rows.collect()).unwrap()
}
