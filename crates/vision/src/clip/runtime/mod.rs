//! Runtimes that execute a model's graph: ONNX Runtime if it is installed, else tract in programs built with it.

mod library;
mod onnx_runtime;
#[cfg(feature = "tract")]
mod tract;

use std::{fmt, path::Path, path::PathBuf, sync::Arc};

use super::{LoadError, catch_panic};

/// The selected runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runtime {
    /// ONNX Runtime if it is found, else tract. The default if tract is built in.
    #[cfg(feature = "tract")]
    #[default]
    Auto,
    /// ONNX Runtime, a library that must be installed. It takes two thirds of the time of tract.
    #[cfg_attr(not(feature = "tract"), default)]
    Ort,
    /// tract, which is built in by the feature `tract`.
    #[cfg(feature = "tract")]
    Tract,
}

/// How models are executed.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The selected runtime.
    pub runtime: Runtime,
    /// The library of ONNX Runtime; `None` searches the usual folders. A process keeps the first library that it loads.
    pub library: Option<PathBuf>,
    /// Threads per picture; 0 means half of the cores.
    pub threads: usize,
}

impl Options {
    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if self.threads == 0 { cores().div_ceil(2) } else { self.threads }
    }
}

/// The runtime that is expected to be used. No model was loaded to test it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedRuntime {
    /// The library and version of ONNX Runtime; `None` if ONNX Runtime is not used.
    pub library: Option<(PathBuf, String)>,
    /// Why ONNX Runtime is not used although the options allow it.
    pub problem: Option<String>,
}

impl Runtime {
    /// Detects the runtime for these options. Loads the library of ONNX Runtime if it is found.
    pub fn detect(options: &Options) -> DetectedRuntime {
        #[cfg(feature = "tract")]
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

    /// Checks that a runtime is available, before a model is downloaded or loaded.
    ///
    /// # Errors
    /// ONNX Runtime is required and cannot be used. The message describes how to install it.
    pub fn require(options: &Options) -> Result<(), LoadError> {
        match options.runtime {
            Self::Ort => require_onnx_runtime(options).map(drop),
            #[cfg(feature = "tract")]
            Self::Auto | Self::Tract => Ok(()),
        }
    }
}

fn require_onnx_runtime(options: &Options) -> Result<&'static onnx_runtime::LoadedLibrary, LoadError> {
    onnx_runtime::loaded(options.library.as_deref()).map_err(|problem| {
        LoadError(format!(
            "{problem}. This program can run vision models only on ONNX Runtime. Install it (see docs/models.md), or build the \
             program with --features tract"
        ))
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ElementType {
    F32,
    U8,
    I32,
    I64,
    /// An unsupported type, by its name.
    Other(String),
}

impl fmt::Display for ElementType {
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
pub(super) struct TensorInfo {
    pub(super) name: String,
    pub(super) element_type: ElementType,
    /// Its dimensions; `None` for one that the graph leaves open.
    pub(super) shape: Vec<Option<usize>>,
}

impl fmt::Display for TensorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides =
            self.shape.iter().map(|side| side.map_or_else(|| "?".to_owned(), |side| side.to_string()));
        write!(f, "{} ({}, {})", self.name, self.element_type, sides.collect::<Vec<_>>().join(" x "))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TensorData {
    F32(Vec<f32>),
    U8(Vec<u8>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

/// A loaded graph. Its input shapes were chosen when it was opened.
pub(super) trait Graph: Send + Sync {
    /// Executes the graph with all of its inputs, and returns its only output.
    fn run(&self, inputs: Vec<TensorData>) -> Result<Vec<f32>, String>;

    fn runtime(&self) -> &'static str;
}

/// Checks the inputs of a graph and chooses their shapes.
pub(super) type ChooseShapes<'a> = &'a dyn Fn(&[TensorInfo]) -> Result<Vec<Vec<usize>>, String>;

/// Opens the graph in a file.
pub(super) fn open(
    path: &Path,
    options: &Options,
    choose_shapes: ChooseShapes<'_>,
) -> Result<Arc<dyn Graph>, LoadError> {
    let failed = |error: String| LoadError(format!("{}: {error}", path.display()));
    if !path.is_file() {
        return Err(failed("the file does not exist".to_owned()));
    }
    let on_onnx_runtime =
        |loaded| catch_panic(|| onnx_runtime::open(loaded, path, options.threads(), choose_shapes));
    #[cfg(feature = "tract")]
    let on_tract = || catch_panic(|| tract::open(path, options.threads(), choose_shapes));
    match options.runtime {
        Runtime::Ort => on_onnx_runtime(require_onnx_runtime(options)?).map_err(failed),
        #[cfg(feature = "tract")]
        Runtime::Tract => on_tract().map_err(failed),
        #[cfg(feature = "tract")]
        Runtime::Auto => match onnx_runtime::loaded(options.library.as_deref()) {
            // An older library may lack operators that tract has. If tract fails, too, the library's error is more useful.
            Ok(loaded) => on_onnx_runtime(loaded).or_else(|error| on_tract().map_err(|_| failed(error))),
            Err(_) => on_tract().map_err(failed),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_onnx_runtime_is_an_error_only_without_tract() {
        let folder = tempfile::tempdir().unwrap();
        let library = Some(folder.path().join("libonnxruntime.so"));
        let options = Options { runtime: Runtime::Ort, library, threads: 1 };
        let required = Runtime::require(&options).unwrap_err().to_string();
        for part in ["libonnxruntime.so", "the file does not exist", "docs/models.md", "--features tract"] {
            assert!(required.contains(part), "{required}");
        }
        let graph = folder.path().join("model.onnx");
        std::fs::write(&graph, "").unwrap();
        let opened = open(&graph, &options, &|_| Ok(Vec::new())).err().unwrap();
        assert_eq!(opened.to_string(), required);
        for runtime in [Runtime::Auto, Runtime::Tract] {
            Runtime::require(&Options { runtime, ..options.clone() }).unwrap();
        }
    }
}
