//! What the files beside a model say of it: `config.json` (OpenCLIP's) and `visual/preprocess_cfg.json`.

use std::path::Path;

use serde::Deserialize;

use super::{LoadError, resample::Filter, text::Cleaning};

/// Larger vectors, pictures and texts than any published model has.
const MOST_DIMENSIONS: usize = 8192;
const MOST_SIDE_PX: usize = 2048;
const MOST_TOKENS: usize = 4096;
/// The fewest that leave room for a word between two special tokens.
const FEWEST_TOKENS: usize = 4;
/// Settings are small.
const MOST_BYTES: u64 = 1 << 20;

/// The model as a whole.
#[derive(Debug, Clone)]
pub(super) struct Config {
    /// How many numbers a vector has.
    pub(super) dimensions: usize,
    /// How many tokens a text is cut or filled to, where its graph leaves that open.
    pub(super) context_length: usize,
    /// How a text is cleaned before it is cut into tokens.
    pub(super) cleaning: Cleaning,
    /// It was trained with the sigmoid loss, as SigLIP is.
    pub(super) sigmoid: bool,
    /// How pictures are prepared.
    pub(super) preprocessing: Preprocessing,
}

/// How a picture becomes the numbers that a model takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Preprocessing {
    /// Columns that the model sees.
    pub(super) width: usize,
    /// Rows that the model sees.
    pub(super) height: usize,
    /// How a picture of another shape fits in there.
    pub(super) fit: Fit,
    /// How it is resized.
    pub(super) filter: Filter,
    /// What is subtracted from each channel (of 0 to 1).
    pub(super) mean: [f32; 3],
    /// What each channel is then divided by.
    pub(super) deviation: [f32; 3],
}

/// How a picture fits into the rectangle that a model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The shorter side is fitted, the middle of the longer one is seen.
    Shortest,
    /// Both sides are fitted, whatever the shape was.
    Squash,
    /// The longer side is fitted, and the rest is filled with a colour.
    Longest([u8; 3]),
}

impl Config {
    /// Reads both files in a model's folder.
    pub(super) fn read(folder: &Path) -> Result<Self, LoadError> {
        let model: ModelFile = read_json(&folder.join("config.json"))?;
        let preprocess: PreprocessFile = read_json(&folder.join("visual").join("preprocess_cfg.json"))?;
        Self::checked(model, preprocess).map_err(LoadError)
    }

    fn checked(model: ModelFile, preprocess: PreprocessFile) -> Result<Self, String> {
        let within = |what: &str, value: usize, fewest: usize, most: usize| {
            if (fewest..=most).contains(&value) {
                Ok(value)
            } else {
                Err(format!("config.json: {what} is {value}, and can be {fewest} to {most}"))
            }
        };
        let text = model.text_cfg;
        let clean = text.tokenizer_kwargs.and_then(|arguments| arguments.clean);
        Ok(Self {
            dimensions: within("embed_dim", model.embed_dim, 1, MOST_DIMENSIONS)?,
            context_length: within(
                "text_cfg.context_length",
                text.context_length.unwrap_or(77),
                FEWEST_TOKENS,
                MOST_TOKENS,
            )?,
            cleaning: match clean.as_deref() {
                Some("canonicalize") => Cleaning::Canonical,
                Some("lower") => Cleaning::Lower,
                _ => Cleaning::Whitespace,
            },
            sigmoid: model.init_logit_bias.is_some(),
            preprocessing: preprocess
                .checked()
                .map_err(|why| format!("visual/preprocess_cfg.json: {why}"))?,
        })
    }
}

/// Reads a file of settings.
pub(super) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, LoadError> {
    let bytes = read(path, MOST_BYTES)?;
    serde_json::from_slice(&bytes).map_err(|why| LoadError(format!("{}: {why}", path.display())))
}

/// Reads a file of at most so many bytes.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, LoadError> {
    let read = || {
        let bytes = std::fs::metadata(path)?.len();
        if bytes > most {
            let why = format!("it has {bytes} bytes, more than the {most} that it can have");
            return Err(std::io::Error::other(why));
        }
        std::fs::read(path)
    };
    read().map_err(|why| LoadError(format!("{}: {why}", path.display())))
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
        if ![height, width].iter().all(|side| (1..=MOST_SIDE_PX).contains(side)) {
            return Err(format!("size is {height} x {width}, and can be 1 to {MOST_SIDE_PX} pixels a side"));
        }
        if self.mode.as_deref().is_some_and(|mode| mode != "RGB") {
            return Err("mode is not RGB: pictures of other channels are not made".to_owned());
        }
        let (mean, deviation) = (self.mean.each(), self.std.each());
        if !mean.iter().all(|value| value.is_finite())
            || !deviation.iter().all(|value| value.is_normal() && *value > 0.0)
        {
            return Err("mean or std are no numbers that a picture can be normalised with".to_owned());
        }
        let fit = match self.resize_mode.as_deref() {
            None | Some("shortest") => Fit::Shortest,
            Some("squash") => Fit::Squash,
            Some("longest") => Fit::Longest(self.fill_color.map_or([0; 3], Channels::each)),
            Some(other) => return Err(format!("resize_mode is {other}, which is not known")),
        };
        if height != width && fit == Fit::Shortest {
            return Err("size is not square, which goes with resize_mode squash or longest only".to_owned());
        }
        let filter = match self.interpolation.as_deref() {
            None | Some("bicubic") => Filter::Bicubic,
            Some("bilinear") => Filter::Bilinear,
            Some("lanczos") => Filter::Lanczos,
            Some(other) => return Err(format!("interpolation is {other}, which is not known")),
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

    fn parse(model: &str, pictures: &str) -> Result<Config, String> {
        let wrong = |why: serde_json::Error| why.to_string();
        let (model, pictures) =
            (serde_json::from_str(model).map_err(wrong)?, serde_json::from_str(pictures).map_err(wrong)?);
        Config::checked(model, pictures)
    }

    #[test]
    fn what_is_left_out_is_as_in_openclip() {
        let config = parse(MODEL, PICTURES).unwrap();
        assert_eq!((config.dimensions, config.context_length, config.sigmoid), (512, 77, false));
        assert_eq!(config.cleaning, Cleaning::Whitespace);
        let older = parse(MODEL, r#"{"size": 224, "mean": 0.5, "std": [0.5, 0.5, 0.5]}"#).unwrap();
        assert_eq!(older.preprocessing.fit, Fit::Shortest);
        assert_eq!((older.preprocessing.width, older.preprocessing.mean), (224, [0.5; 3]));
    }

    #[test]
    fn siglip_is_known_by_its_settings() {
        let model = r#"{"embed_dim": 768, "init_logit_bias": -10,
            "text_cfg": {"context_length": 64, "tokenizer_kwargs": {"clean": "canonicalize"}}}"#;
        let pictures = r#"{"size": [384, 256], "mean": 0.5, "std": 0.5, "resize_mode": "squash"}"#;
        let config = parse(model, pictures).unwrap();
        assert!(config.sigmoid && config.cleaning == Cleaning::Canonical && config.context_length == 64);
        assert_eq!((config.preprocessing.width, config.preprocessing.height), (256, 384));
    }

    #[test]
    fn wrong_settings_are_named() {
        let check = |model: &str, pictures: &str, part: &str| {
            let why = parse(model, pictures).unwrap_err();
            assert!(why.contains(part), "{why}");
        };
        check("{}", PICTURES, "embed_dim");
        check(r#"{"embed_dim": 0, "text_cfg": {}}"#, PICTURES, "embed_dim is 0");
        check(r#"{"embed_dim": 99999999, "text_cfg": {}}"#, PICTURES, "1 to 8192");
        check(r#"{"embed_dim": 512, "text_cfg": {"context_length": 1}}"#, PICTURES, "context_length is 1");
        check(MODEL, r#"{"size": 0, "mean": 0, "std": 1}"#, "size is 0 x 0");
        check(MODEL, r#"{"size": [1, 99999], "mean": 0, "std": 1}"#, "99999");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 0}"#, "normalised");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 1, "mode": "L"}"#, "RGB");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 1, "resize_mode": "x"}"#, "resize_mode is x");
        check(MODEL, r#"{"size": 9, "mean": 0, "std": 1, "interpolation": "x"}"#, "interpolation is x");
        check(MODEL, r#"{"size": [9, 8], "mean": 0, "std": 1}"#, "not square");
    }
}
