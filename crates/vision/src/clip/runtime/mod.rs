//! What computes a model's graph: ONNX Runtime where it is installed, plain Rust elsewhere.

mod library;
mod onnx_runtime;
mod tract;

use std::{fmt, path::Path, path::PathBuf, sync::Arc};

use super::{LoadError, guard};

/// Which program computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runtime {
    /// ONNX Runtime when it is found, else tract.
    #[default]
    Auto,
    /// ONNX Runtime: a library that must be installed. It takes two thirds of the time of the other.
    Ort,
    /// tract, which is built in.
    Tract,
}

/// How models are computed.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which program computes.
    pub runtime: Runtime,
    /// The library of ONNX Runtime; `None` looks where systems keep it. A process keeps the first one that it loads.
    pub library: Option<PathBuf>,
    /// How many threads compute one picture; 0 takes one of every two cores.
    pub threads: usize,
}

impl Options {
    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if self.threads == 0 { cores().div_ceil(2) } else { self.threads }
    }
}

/// Which program would compute, as far as is known without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedRuntime {
    /// ONNX Runtime's library and version; `None` when tract computes.
    pub library: Option<(PathBuf, String)>,
    /// Why it is not ONNX Runtime that computes, when that was asked for or allowed.
    pub problem: Option<String>,
}

impl Runtime {
    /// Looks which program computes with these options. Loads the library of ONNX Runtime when there is one.
    pub fn detect(options: &Options) -> DetectedRuntime {
        if options.runtime == Self::Tract {
            return DetectedRuntime { library: None, problem: None };
        }
        match onnx_runtime::loaded(options.library.as_deref()) {
            Ok(loaded) => DetectedRuntime {
                library: Some((loaded.path.clone(), loaded.version.clone())),
                problem: None,
            },
            Err(problem) => DetectedRuntime { library: None, problem: Some(problem) },
        }
    }
}

/// A kind of number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Element {
    F32,
    U8,
    I32,
    I64,
    /// One that no model of this kind takes, by its name.
    Other(String),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "float32",
            Self::U8 => "uint8",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::Other(name) => name,
        })
    }
}

/// An input or output of a graph.
#[derive(Debug, Clone)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) element: Element,
    /// Its sides; `None` for one that the graph leaves open.
    pub(super) shape: Vec<Option<usize>>,
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides =
            self.shape.iter().map(|side| side.map_or_else(|| "?".to_owned(), |side| side.to_string()));
        write!(f, "{} ({}, {})", self.name, self.element, sides.collect::<Vec<_>>().join(" x "))
    }
}

/// What goes into a graph.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    F32(Vec<f32>),
    U8(Vec<u8>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

/// A graph that is ready to compute. Its inputs have the shapes that were chosen when it was opened.
pub(super) trait Graph: Send + Sync {
    /// Computes; `inputs` are as many as it has. Gives the numbers of its only output.
    fn run(&self, inputs: Vec<Values>) -> Result<Vec<f32>, String>;

    /// Which program computes it.
    fn runtime(&self) -> &'static str;
}

/// Chooses the shapes of a graph's inputs, and whether it is a graph of the right kind at all.
pub(super) type Plan<'a> = &'a dyn Fn(&[Port]) -> Result<Vec<Vec<usize>>, String>;

/// Opens the graph in a file.
pub(super) fn open(path: &Path, options: &Options, plan: Plan<'_>) -> Result<Arc<dyn Graph>, LoadError> {
    let wrong = |why: String| LoadError(format!("{}: {why}", path.display()));
    if !path.is_file() {
        return Err(wrong("there is no such file".to_owned()));
    }
    let built_in = || guard(|| tract::open(path, options.threads(), plan));
    let installed = || match onnx_runtime::loaded(options.library.as_deref()) {
        Ok(loaded) => Ok(guard(|| onnx_runtime::open(loaded, path, options.threads(), plan))),
        Err(why) => Err(why),
    };
    match options.runtime {
        Runtime::Tract => built_in().map_err(wrong),
        Runtime::Ort => installed().map_err(LoadError)?.map_err(wrong),
        Runtime::Auto => match installed() {
            Ok(Ok(graph)) => Ok(graph),
            // An older library may not know operators that are built in here. If they are not, either, what it says is
            // worth more.
            Ok(Err(why)) => built_in().map_err(|_| wrong(why)),
            Err(_) => built_in().map_err(wrong),
        },
    }
}
