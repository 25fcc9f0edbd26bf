//! Encoders of the CLIP family. A model has an image encoder and a text encoder, whose vectors share one space.
//!
//! A model is a folder in the layout in which Immich publishes them (huggingface.co/immich-app):
//!
//! - `config.json`: OpenCLIP's settings of the model
//! - `visual/preprocess_cfg.json`: the preprocessing of pictures
//! - `visual/model.onnx`: takes `1 x 3 x height x width` normalised numbers or, in newer models,
//!   `1 x height x width x 3` bytes, which it normalises itself
//! - `textual/tokenizer.json`, `textual/tokenizer_config.json`: the tokenizer
//! - `textual/model.onnx`: takes `1 x length` tokens, in some models with an attention mask
//!
//! Sizes, element types and lengths are read from these files. Each encoder is loaded on first use, so that a process
//! that only searches has only the text encoder in memory.

mod calibration;
mod config;
mod lazy;
mod pixels;
mod resample;
mod runtime;
mod text;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use quick_cache::sync::Cache;

pub use self::runtime::{DetectedRuntime, Options, Runtime};
use self::{
    config::ModelConfig,
    lazy::LazyModel,
    runtime::{ElementType, Graph, TensorData, TensorInfo},
    text::TextTokenizer,
};
use crate::{Calibration, EncodeError, EncodedQuery, Picture, VisualEncoder, model_files::Manifest};

/// The number of cached search texts. Users page through results and repeat searches.
const CACHED_QUERIES: usize = 256;

/// A model cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// A model of the CLIP family.
pub struct ClipModel {
    name: String,
    folder: PathBuf,
    manifest: Manifest,
    config: ModelConfig,
    calibration: Calibration,
    options: Options,
    image_encoder: LazyModel<ImageEncoder>,
    text_encoder: LazyModel<TextEncoder>,
    queries: Cache<String, Arc<[f32]>>,
}

struct ImageEncoder {
    graph: Arc<dyn Graph>,
    /// Whether the graph takes bytes and normalises them itself.
    takes_bytes: bool,
}

struct TextEncoder {
    graph: Arc<dyn Graph>,
    tokenizer: TextTokenizer,
    element_type: ElementType,
    /// For each input, whether it takes the attention mask.
    is_mask: Vec<bool>,
}

impl ClipModel {
    /// Loads the settings of the model in a folder and checks the sizes of its files. The encoders are loaded on first
    /// use.
    ///
    /// # Errors
    /// [`LoadError`], for the operator.
    pub fn load(folder: &Path, options: &Options) -> Result<Self, LoadError> {
        let manifest = Manifest::load(folder).map_err(|error| LoadError(error.to_string()))?;
        let config = ModelConfig::read(folder)?;
        let folder_name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let folder_name = folder_name.unwrap_or_else(|| "model".to_owned());
        Ok(Self {
            name: format!("{folder_name}@{}", manifest.short_digest()),
            calibration: calibration::calibration(&folder_name, config.sigmoid),
            folder: folder.to_owned(),
            manifest,
            config,
            options: options.clone(),
            image_encoder: LazyModel::default(),
            text_encoder: LazyModel::default(),
            queries: Cache::new(CACHED_QUERIES),
        })
    }

    pub(crate) fn check_settings(folder: &Path) -> Result<(), LoadError> {
        ModelConfig::read(folder).map(|_| ())
    }

    /// Tests the model: loads both encoders and encodes a picture and a text. Returns the name of the runtime.
    pub fn self_test(&self) -> Result<&'static str, LoadError> {
        let side = self.longest_side_px().min(64);
        let byte = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        let pixels = (0..side * side).flat_map(|at| [at % 251, at / side % 241, at % 7 * 36].map(byte));
        let picture = Picture::new(side, side, pixels.collect());
        let picture = picture.ok_or_else(|| LoadError("its preprocessing has no pixels".to_owned()))?;
        self.encode_picture(&picture).map_err(|error| LoadError(error.0))?;
        self.encode_text("a photo of a boat").map_err(|error| LoadError(error.0))?;
        Ok(self.image_encoder()?.graph.runtime())
    }

    fn image_encoder(&self) -> Result<Arc<ImageEncoder>, LoadError> {
        self.image_encoder.get(|| {
            self.check_unchanged()?;
            let sides = (self.config.preprocessing.height, self.config.preprocessing.width);
            let takes_bytes = std::cell::Cell::new(false);
            let path = self.folder.join("visual").join("model.onnx");
            let graph = runtime::open(&path, &self.options, &|inputs| {
                let (shape, is_bytes) = image_shape(inputs, sides)?;
                takes_bytes.set(is_bytes);
                Ok(vec![shape])
            })?;
            Ok(ImageEncoder { graph, takes_bytes: takes_bytes.get() })
        })
    }

    fn text_encoder(&self) -> Result<Arc<TextEncoder>, LoadError> {
        self.text_encoder.get(|| {
            self.check_unchanged()?;
            let kind = std::cell::RefCell::new(None);
            let path = self.folder.join("textual").join("model.onnx");
            let graph = runtime::open(&path, &self.options, &|inputs| {
                let inputs_of_text = text_inputs(inputs, self.config.context_length)?;
                let shapes = vec![vec![1, inputs_of_text.length]; inputs.len()];
                *kind.borrow_mut() = Some(inputs_of_text);
                Ok(shapes)
            })?;
            let TextInputs { length, element_type, is_mask } =
                kind.take().ok_or_else(|| LoadError(format!("{}: it has no inputs", path.display())))?;
            Ok(TextEncoder {
                graph,
                tokenizer: TextTokenizer::load(&self.folder, length)?,
                element_type,
                is_mask,
            })
        })
    }

    /// Whether its files are unchanged, judging by their sizes.
    pub fn is_intact(&self) -> bool {
        self.check_unchanged().is_ok()
    }

    /// Fails if another model was installed in its place, because the parts of two models must not be mixed.
    fn check_unchanged(&self) -> Result<(), LoadError> {
        self.manifest.check(&self.folder).map_err(|error| LoadError(error.to_string()))
    }

    /// Encodes a cleaned text.
    fn encode_text(&self, text: &str) -> Result<Arc<[f32]>, EncodeError> {
        let encoder = self.text_encoder().map_err(|error| EncodeError(error.0))?;
        let tokens = encoder.tokenizer.tokenize(text).map_err(EncodeError)?;
        let values = |numbers: &[u32]| match encoder.element_type {
            ElementType::I64 => TensorData::I64(numbers.iter().map(|number| i64::from(*number)).collect()),
            _ => TensorData::I32(
                numbers.iter().map(|number| i32::try_from(*number).unwrap_or(i32::MAX)).collect(),
            ),
        };
        let inputs =
            encoder.is_mask.iter().map(|mask| values(if *mask { &tokens.mask } else { &tokens.ids }));
        let numbers = catch_panic(|| encoder.graph.run(inputs.collect())).map_err(EncodeError)?;
        Ok(self.normalize(numbers)?.into())
    }

    /// Scales a vector to length 1.
    fn normalize(&self, mut numbers: Vec<f32>) -> Result<Vec<f32>, EncodeError> {
        let (found, expected) = (numbers.len(), self.config.dimensions);
        if found != expected {
            return Err(EncodeError(format!(
                "{}: the output has {found} numbers instead of {expected}",
                self.name
            )));
        }
        let length = numbers.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
        if !length.is_normal() {
            return Err(EncodeError(format!("{}: the output is zero or not finite", self.name)));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "f32 is precise enough for components of a unit vector"
        )]
        for number in &mut numbers {
            *number = (f64::from(*number) / length) as f32;
        }
        Ok(numbers)
    }
}

impl VisualEncoder for ClipModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.config.dimensions
    }

    fn longest_side_px(&self) -> u32 {
        self.config.preprocessing.longest_side_px()
    }

    fn encode_picture(&self, picture: &Picture) -> Result<Vec<f32>, EncodeError> {
        let encoder = self.image_encoder().map_err(|error| EncodeError(error.0))?;
        let pixels = self.config.preprocessing.fit(picture);
        let values = if encoder.takes_bytes {
            TensorData::U8(pixels)
        } else {
            TensorData::F32(self.config.preprocessing.planes(&pixels))
        };
        let numbers = catch_panic(|| encoder.graph.run(vec![values])).map_err(EncodeError)?;
        self.normalize(numbers)
    }

    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError> {
        let text = self.config.cleaning.clean(words);
        if text.is_empty() {
            return Ok(None);
        }
        let vector = self.queries.get_or_insert_with(&text, || self.encode_text(&text))?;
        Ok(Some(EncodedQuery { vector: vector.to_vec(), calibration: self.calibration }))
    }
}

impl std::fmt::Debug for ClipModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClipModel({})", self.name)
    }
}

/// The input shape of an image encoder, and whether it takes bytes.
fn image_shape(inputs: &[TensorInfo], (height, width): (usize, usize)) -> Result<(Vec<usize>, bool), String> {
    let [input] = inputs else {
        return Err(format!("it has {} inputs instead of one picture", inputs.len()));
    };
    let (expected, is_bytes) = match input.element_type {
        ElementType::F32 => (vec![1, 3, height, width], false),
        ElementType::U8 => (vec![1, height, width, 3], true),
        _ => return Err(format!("its input {input} is not a picture")),
    };
    let fits = input.shape.len() == expected.len()
        && input
            .shape
            .iter()
            .zip(&expected)
            .all(|(side, expected)| side.is_none_or(|side| side == *expected));
    if fits {
        Ok((expected, is_bytes))
    } else {
        Err(format!(
            "its input {input} does not take pictures of {height} x {width} pixels, the size in its settings"
        ))
    }
}

struct TextInputs {
    length: usize,
    element_type: ElementType,
    is_mask: Vec<bool>,
}

/// The inputs of a text encoder: tokens and, in some models, an attention mask.
fn text_inputs(inputs: &[TensorInfo], context_length: usize) -> Result<TextInputs, String> {
    let is_mask: Vec<bool> = inputs.iter().map(|input| input.name.contains("mask")).collect();
    if !matches!(*is_mask, [false] | [false, true] | [true, false]) {
        let inputs = inputs.iter().map(TensorInfo::to_string).collect::<Vec<_>>().join(", ");
        return Err(format!("its inputs are {inputs} instead of tokens and an optional mask"));
    }
    let mut found = TextInputs { length: context_length, element_type: ElementType::I32, is_mask };
    for input in inputs {
        let [None | Some(1), length] = *input.shape else {
            return Err(format!("its input {input} is not a row of tokens"));
        };
        if !matches!(input.element_type, ElementType::I32 | ElementType::I64) {
            return Err(format!("its input {input} does not take tokens"));
        }
        if length.is_some_and(|length| !(4..=4096).contains(&length)) {
            return Err(format!("the length of its input {input} is not supported"));
        }
        found.length = length.unwrap_or(found.length);
        found.element_type = input.element_type.clone();
    }
    Ok(found)
}

/// Checks that a graph has one vector as output.
fn check_outputs(outputs: &[TensorInfo]) -> Result<(), String> {
    match outputs {
        [TensorInfo { element_type: ElementType::F32, .. }] => Ok(()),
        [output] => Err(format!("its output {output} is not a vector")),
        _ => Err(format!("it has {} outputs instead of one vector", outputs.len())),
    }
}

/// Calls other libraries, which may panic on malformed files.
fn catch_panic<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        Err(format!("the library panicked: {text}"))
    })
}
