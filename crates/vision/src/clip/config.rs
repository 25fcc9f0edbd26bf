//! The settings of a model: `config.json` (OpenCLIP's) and `visual/preprocess_cfg.json`.

use std::path::Path;

use serde::Deserialize;

use super::{LoadError, resample::Filter, text::Cleaning};

/// Upper bounds, above those of all published models.
const MAX_DIMENSIONS: usize = 8192;
const MAX_SIDE_PX: usize = 2048;
const MAX_TOKENS: usize = 4096;
/// Minimum context length: room for a word between two special tokens.
const MIN_TOKENS: usize = 4;
/// The largest settings file.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(super) struct ModelConfig {
    pub(super) dimensions: usize,
    /// The number of tokens to which a text is truncated or padded, if the graph leaves that open.
    pub(super) context_length: usize,
    /// How a text is cleaned before tokenization.
    pub(super) cleaning: Cleaning,
    /// Whether it was trained with the sigmoid loss, as SigLIP was.
    pub(super) sigmoid: bool,
    pub(super) preprocessing: Preprocessing,
}

/// How a picture is converted to the input of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Preprocessing {
    /// Columns of the input.
    pub(super) width: usize,
    /// Rows of the input.
    pub(super) height: usize,
    /// How a picture of another aspect ratio is fitted.
    pub(super) fit: Fit,
    pub(super) filter: Filter,
    /// Subtracted from each channel (0 to 1).
    pub(super) mean: [f32; 3],
    /// Each channel is then divided by this.
    pub(super) deviation: [f32; 3],
}

/// How a picture is fitted into the input of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The shorter side is fitted, and the longer one is cropped to its centre.
    Shortest,
    /// Both sides are fitted, which changes the aspect ratio.
    Squash,
    /// The longer side is fitted, and the rest is padded with a colour.
    Longest([u8; 3]),
}

impl ModelConfig {
    /// Reads both files in a model's folder.
    pub(super) fn read(folder: &Path) -> Result<Self, LoadError> {
        let model: ModelFile = read_json(&folder.join("config.json"))?;
        let preprocess: PreprocessFile = read_json(&folder.join("visual").join("preprocess_cfg.json"))?;
        Self::checked(model, preprocess).map_err(LoadError)
    }

    fn checked(model: ModelFile, preprocess: PreprocessFile) -> Result<Self, String> {
        let within = |field: &str, value: usize, min: usize, max: usize| {
            if (min..=max).contains(&value) {
                Ok(value)
            } else {
                Err(format!("config.json: {field} is {value}; it must be {min} to {max}"))
            }
        };
        let text = model.text_cfg;
        let clean = text.tokenizer_kwargs.and_then(|arguments| arguments.clean);
        Ok(Self {
            dimensions: within("embed_dim", model.embed_dim, 1, MAX_DIMENSIONS)?,
            context_length: within(
                "text_cfg.context_length",
                text.context_length.unwrap_or(77),
                MIN_TOKENS,
                MAX_TOKENS,
            )?,
            cleaning: match clean.as_deref() {
                Some("canonicalize") => Cleaning::Canonical,
                Some("lower") => Cleaning::Lower,
                _ => Cleaning::Whitespace,
            },
            sigmoid: model.init_logit_bias.is_some(),
            preprocessing: preprocess
                .checked()
                .map_err(|error| format!("visual/preprocess_cfg.json: {error}"))?,
        })
    }
}

/// Reads a file of settings.
pub(super) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, LoadError> {
    let bytes = read(path, MAX_BYTES)?;
    serde_json::from_slice(&bytes).map_err(|error| LoadError(format!("{}: {error}", path.display())))
}

/// Reads a file of at most `max` bytes.
pub(super) fn read(path: &Path, max: u64) -> Result<Vec<u8>, LoadError> {
    let read = || {
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(std::io::Error::other("it is a folder, a pipe or a device"));
        }
        let bytes = metadata.len();
        if bytes > max {
            let error = format!("the file has {bytes} bytes; at most {max} are supported");
            return Err(std::io::Error::other(error));
        }
        std::fs::read(path)
    };
    read().map_err(|error| LoadError(format!("{}: {error}", path.display())))
}

#[derive(Deserialize)]
struct ModelFile {
    embed_dim: usize,
    init_logit_bias: Option<f64>,
    text_cfg: TextPart,
}

#[derive(Deserialize)]
struct TextPart {
    context_length: Option<usize>,
    tokenizer_kwargs: Option<TokenizerArguments>,
}

#[derive(Deserialize)]
struct TokenizerArguments {
    clean: Option<String>,
}

#[derive(Deserialize)]
struct PreprocessFile {
    size: Size,
    mode: Option<String>,
    mean: Channels<f32>,
    std: Channels<f32>,
    interpolation: Option<String>,
    resize_mode: Option<String>,
    fill_color: Option<Channels<u8>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Side(usize),
    /// Height and width.
    Sides([usize; 2]),
}

#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
enum Channels<T> {
    Same(T),
    Each([T; 3]),
}

impl<T: Copy> Channels<T> {
    fn each(self) -> [T; 3] {
        match self {
            Self::Same(value) => [value; 3],
            Self::Each(values) => values,
        }
    }
}

impl PreprocessFile {
    fn checked(self) -> Result<Preprocessing, String> {
        let [height, width] = match self.size {
            Size::Side(side) => [side; 2],
            Size::Sides(sides) => sides,
        };
        if ![height, width].iter().all(|side| (1..=MAX_SIDE_PX).contains(side)) {
            return Err(format!("size is {height} x {width}; each side must be 1 to {MAX_SIDE_PX} pixels"));
        }
        if self.mode.as_deref().is_some_and(|mode| mode != "RGB") {
            return Err("mode is not RGB; no other mode is supported".to_owned());
        }
        let (mean, deviation) = (self.mean.each(), self.std.each());
        if !mean.iter().all(|value| value.is_finite())
            || !deviation.iter().all(|value| value.is_normal() && *value > 0.0)
        {
            return Err("mean must be finite and std positive".to_owned());
        }
        let fit = match self.resize_mode.as_deref() {
            None | Some("shortest") => Fit::Shortest,
            Some("squash") => Fit::Squash,
            Some("longest") => Fit::Longest(self.fill_color.map_or([0; 3], Channels::each)),
            Some(other) => return Err(format!("resize_mode {other} is not supported")),
        };
        if height != width && fit == Fit::Shortest {
            return Err("size is not square, which only resize_mode squash and longest support".to_owned());
        }
        let filter = match self.interpolation.as_deref() {
            None | Some("bicubic") => Filter::Bicubic,
            Some("bilinear") => Filter::Bilinear,
            Some("lanczos") => Filter::Lanczos,
            Some(other) => return Err(format!("interpolation {other} is not supported")),
        };
        Ok(Preprocessing { width, height, fit, filter, mean, deviation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str =
        r#"{"embed_dim": 512, "vision_cfg": {"image_size": 224}, "text_cfg": {"vocab_size": 49408}}"#;
    const PICTURES: &str = r#"{"size": [224, 224], "mode": "RGB", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.2, 0.2],
        "interpolation": "bicubic", "resize_mode": "shortest", "fill_color": 0}"#;

    fn parse(model: &str, pictures: &str) -> Result<ModelConfig, String> {
        let message = |error: serde_json::Error| error.to_string();
        let (model, pictures) =
            (serde_json::from_str(model).map_err(message)?, serde_json::from_str(pictures).map_err(message)?);
        ModelConfig::checked(model, pictures)
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_read() {
        let error = read(Path::new("/dev/zero"), 5).unwrap_err();
        assert_eq!(error.0, "/dev/zero: it is a folder, a pipe or a device");
    }

    #[test]
    fn defaults_are_those_of_openclip() {
        let config = parse(MODEL, PICTURES).unwrap();
        assert_eq!((config.dimensions, config.context_length, config.sigmoid), (512, 77, false));
        assert_eq!(config.cleaning, Cleaning::Whitespace);
        let older = parse(MODEL, r#"{"size": 224, "mean": 0.5, "std": [0.5, 0.5, 0.5]}"#).unwrap();
        assert_eq!(older.preprocessing.fit, Fit::Shortest);
        assert_eq!((older.preprocessing.width, older.preprocessing.mean), (224, [0.5; 3]));
    }

    #[test]
    fn siglip_is_recognized_by_its_settings() {
        let model = r#"{"embed_dim": 768, "init_logit_bias": -10,
            "text_cfg": {"context_length": 64, "tokenizer_kwargs": {"clean": "canonicalize"}}}"#;
        let pictures = r#"{"size": [384, 256], "mean": 0.5, "std": 0.5, "resize_mode": "squash"}"#;
        let config = parse(model, pictures).unwrap();
        assert!(config.sigmoid && config.cleaning == Cleaning::Canonical && config.context_length == 64);
        assert_eq!((config.preprocessing.width, config.preprocessing.height), (256, 384));
    }

    #[test]
    fn invalid_settings_are_named() {
        let check = |model: &str, pictures: &str, part: &str| {
            let error = parse(model, pictures).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("{}", PICTURES, "embed_dim");
        check(r#"{"embed_dim": 0, "text_cfg": {}}"#, PICTURES, "embed_dim is 0");
        check(r#"{"embed_dim": 99999999, "text_cfg": {}}"#, PICTURES, "1 to 8192");
        check(r#"{"embed_dim": 512, "text_cfg": {"context_length": 1}}"#, PICTURES, "context_length is 1");
        check(MODEL, r#"{"size": 0, "mean": 0, "std": 1}"#, "size is 0 x 0");
        check(MODEL, r#"{"size": [1, 99999], "mean": 0, "std": 1}"#, "99999");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 0}"#, "std positive");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 1, "mode": "L"}"#, "RGB");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 1, "resize_mode": "x"}"#, "resize_mode x");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 1, "interpolation": "x"}"#, "interpolation x");
        check(MODEL, r#"{"size": [9, 8], "mean": 0, "std": 1}"#, "not square");
    }
}
