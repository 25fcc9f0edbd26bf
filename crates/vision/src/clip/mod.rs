//! Encoders of the CLIP family: two graphs, of which one gives pictures and the other words as vectors of one space.
//!
//! A model is a folder as Immich publishes them (huggingface.co/immich-app):
//!
//! - `config.json`: OpenCLIP's settings of the model
//! - `visual/preprocess_cfg.json`: how a picture is prepared
//! - `visual/model.onnx`: takes `1 x 3 x height x width` numbers that are normalised or, in newer ones,
//!   `1 x height x width x 3` bytes, which it normalises itself
//! - `textual/tokenizer.json`, `textual/tokenizer_config.json`: how words are cut into tokens
//! - `textual/model.onnx`: takes `1 x length` tokens, some with a mask of those that count
//!
//! Sizes, kinds of numbers and lengths are read from these files. Each half of a model is loaded when it is first needed:
//! who only searches has only the half for words in memory.

mod calibration;
mod config;
mod half;
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
    config::Config,
    half::Half,
    runtime::{Element, Graph, Port, Values},
    text::Words,
};
use crate::{Calibration, EncodeError, EncodedQuery, Picture, VisualEncoder, models::Manifest};

/// How many searches are remembered: people page through what they found, and search for it again.
const QUERIES: usize = 256;

/// Why a model can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// A model of the CLIP family.
pub struct ClipModel {
    name: String,
    folder: PathBuf,
    manifest: Manifest,
    config: Config,
    calibration: Calibration,
    options: Options,
    visual: Half<Visual>,
    textual: Half<Textual>,
    queries: Cache<String, Arc<[f32]>>,
}

struct Visual {
    graph: Arc<dyn Graph>,
    /// It takes bytes, and normalises them itself.
    bytes: bool,
}

struct Textual {
    graph: Arc<dyn Graph>,
    words: Words,
    /// The kind of number that its inputs take.
    element: Element,
    /// For each of its inputs, whether it takes the mask.
    masks: Vec<bool>,
}

impl ClipModel {
    /// Takes the model in a folder. Its settings are read, and its files are checked to have their sizes; the graphs are
    /// read when they are needed.
    ///
    /// # Errors
    /// [`LoadError`], in words for whoever installed it.
    pub fn load(folder: &Path, options: &Options) -> Result<Self, LoadError> {
        let manifest = Manifest::of(folder).map_err(|why| LoadError(why.to_string()))?;
        let config = Config::read(folder)?;
        let folder_name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let folder_name = folder_name.unwrap_or_else(|| "model".to_owned());
        Ok(Self {
            name: format!("{folder_name}@{}", manifest.short_digest()),
            calibration: calibration::calibration(&folder_name, config.sigmoid),
            folder: folder.to_owned(),
            manifest,
            config,
            options: options.clone(),
            visual: Half::default(),
            textual: Half::default(),
            queries: Cache::new(QUERIES),
        })
    }

    /// Whether the settings in a folder are those of a model.
    pub(crate) fn settings(folder: &Path) -> Result<(), LoadError> {
        Config::read(folder).map(|_| ())
    }

    /// Loads both halves and computes a picture and some words, to see that the model works. Says what computes it.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn self_test(&self) -> Result<&'static str, LoadError> {
        let side = self.longest_side_px().min(64);
        let shade = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        let pixels = (0..side * side).flat_map(|at| [at % 251, at / side % 241, at % 7 * 36].map(shade));
        let picture = Picture::new(side, side, pixels.collect());
        let picture = picture.ok_or_else(|| LoadError("it sees no pixel".to_owned()))?;
        self.encode_picture(&picture).map_err(|why| LoadError(why.0))?;
        self.vector("a photo of a boat").map_err(|why| LoadError(why.0))?;
        Ok(self.visual()?.graph.runtime())
    }

    fn visual(&self) -> Result<Arc<Visual>, LoadError> {
        self.visual.get(|| {
            self.unchanged()?;
            let sides = (self.config.preprocessing.height, self.config.preprocessing.width);
            let bytes = std::cell::Cell::new(false);
            let path = self.folder.join("visual").join("model.onnx");
            let graph = runtime::open(&path, &self.options, &|inputs| {
                let (shape, takes_bytes) = picture_shape(inputs, sides)?;
                bytes.set(takes_bytes);
                Ok(vec![shape])
            })?;
            Ok(Visual { graph, bytes: bytes.get() })
        })
    }

    fn textual(&self) -> Result<Arc<Textual>, LoadError> {
        self.textual.get(|| {
            self.unchanged()?;
            let kind = std::cell::RefCell::new(None);
            let path = self.folder.join("textual").join("model.onnx");
            let graph = runtime::open(&path, &self.options, &|inputs| {
                let inputs_of_text = text_inputs(inputs, self.config.context_length)?;
                let shapes = vec![vec![1, inputs_of_text.length]; inputs.len()];
                *kind.borrow_mut() = Some(inputs_of_text);
                Ok(shapes)
            })?;
            let TextInputs { length, element, masks } =
                kind.take().ok_or_else(|| LoadError(format!("{}: it has no inputs", path.display())))?;
            Ok(Textual { graph, words: Words::read(&self.folder, length)?, element, masks })
        })
    }

    /// Whether its files are still those that it was loaded from, as far as their sizes tell.
    pub fn is_intact(&self) -> bool {
        self.unchanged().is_ok()
    }

    /// What was installed over it since must not be mixed with what is loaded.
    fn unchanged(&self) -> Result<(), LoadError> {
        self.manifest.check(&self.folder).map_err(|why| LoadError(why.to_string()))
    }

    /// The vector of words that are cleaned.
    fn vector(&self, words: &str) -> Result<Arc<[f32]>, EncodeError> {
        let textual = self.textual().map_err(|why| EncodeError(why.0))?;
        let tokens = textual.words.tokens(words).map_err(EncodeError)?;
        let values = |numbers: &[u32]| match textual.element {
            Element::I64 => Values::I64(numbers.iter().map(|number| i64::from(*number)).collect()),
            _ => {
                Values::I32(numbers.iter().map(|number| i32::try_from(*number).unwrap_or(i32::MAX)).collect())
            }
        };
        let inputs = textual.masks.iter().map(|mask| values(if *mask { &tokens.mask } else { &tokens.ids }));
        let numbers = guard(|| textual.graph.run(inputs.collect())).map_err(EncodeError)?;
        Ok(self.normalised(numbers)?.into())
    }

    /// A vector of the length 1.
    fn normalised(&self, mut numbers: Vec<f32>) -> Result<Vec<f32>, EncodeError> {
        let (got, wanted) = (numbers.len(), self.config.dimensions);
        if got != wanted {
            return Err(EncodeError(format!(
                "{}: it gave {got} numbers, and should give {wanted}",
                self.name
            )));
        }
        let length = numbers.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
        if !length.is_normal() {
            return Err(EncodeError(format!("{}: it gave numbers that are no direction", self.name)));
        }
        #[expect(clippy::cast_possible_truncation, reason = "what is at most 1 needs no more places")]
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
        let visual = self.visual().map_err(|why| EncodeError(why.0))?;
        let pixels = self.config.preprocessing.fit(picture);
        let values = if visual.bytes {
            Values::U8(pixels)
        } else {
            Values::F32(self.config.preprocessing.planes(&pixels))
        };
        let numbers = guard(|| visual.graph.run(vec![values])).map_err(EncodeError)?;
        self.normalised(numbers)
    }

    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError> {
        let words = self.config.cleaning.clean(words);
        if words.is_empty() {
            return Ok(None);
        }
        let vector = self.queries.get_or_insert_with(&words, || self.vector(&words))?;
        Ok(Some(EncodedQuery { vector: vector.to_vec(), calibration: self.calibration }))
    }
}

impl std::fmt::Debug for ClipModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClipModel({})", self.name)
    }
}

/// The shape of what a picture's graph takes, and whether it takes bytes.
fn picture_shape(inputs: &[Port], (height, width): (usize, usize)) -> Result<(Vec<usize>, bool), String> {
    let [input] = inputs else {
        return Err(format!("it has {} inputs, and only a picture is there", inputs.len()));
    };
    let (wanted, bytes) = match input.element {
        Element::F32 => (vec![1, 3, height, width], false),
        Element::U8 => (vec![1, height, width, 3], true),
        _ => return Err(format!("its input {input} is no picture")),
    };
    let fits = input.shape.len() == wanted.len()
        && input.shape.iter().zip(&wanted).all(|(side, wanted)| side.is_none_or(|side| side == *wanted));
    if fits {
        Ok((wanted, bytes))
    } else {
        Err(format!("its input {input} is no picture of the {height} x {width} pixels that its settings say"))
    }
}

struct TextInputs {
    length: usize,
    element: Element,
    masks: Vec<bool>,
}

/// What a text's graph takes: tokens and, if there are two inputs, the mask of those that count.
fn text_inputs(inputs: &[Port], context_length: usize) -> Result<TextInputs, String> {
    let masks: Vec<bool> = inputs.iter().map(|input| input.name.contains("mask")).collect();
    if !matches!(*masks, [false] | [false, true] | [true, false]) {
        let inputs = inputs.iter().map(Port::to_string).collect::<Vec<_>>().join(", ");
        return Err(format!("its inputs are {inputs}, and should be tokens and perhaps their mask"));
    }
    let mut found = TextInputs { length: context_length, element: Element::I32, masks };
    for input in inputs {
        let [None | Some(1), length] = *input.shape else {
            return Err(format!("its input {input} is no row of tokens"));
        };
        if !matches!(input.element, Element::I32 | Element::I64) {
            return Err(format!("its input {input} takes no tokens"));
        }
        if length.is_some_and(|length| !(4..=4096).contains(&length)) {
            return Err(format!("its input {input} is no length of a text"));
        }
        found.length = length.unwrap_or(found.length);
        found.element = input.element.clone();
    }
    Ok(found)
}

/// A graph with one output, or why it is not used.
fn only_output(outputs: &[Port]) -> Result<(), String> {
    match outputs {
        [Port { element: Element::F32, .. }] => Ok(()),
        [output] => Err(format!("its output {output} is no vector")),
        _ => Err(format!("it has {} outputs, and one vector should come out", outputs.len())),
    }
}

/// Runs what others wrote. It may panic on what a file says.
fn guard<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        Err(format!("it is broken in a way that nobody thought of ({text})"))
    })
}
