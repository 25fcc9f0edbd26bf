//! Runs a model's graph: ONNX Runtime where it is installed, else tract in programs that are built with it.

mod library;
mod onnx_runtime;
#[cfg(feature = "tract")]
mod tract;

use std::{fmt, path::Path, path::PathBuf, sync::Arc};

use super::{LoadError, guard};

/// Which program computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runtime {
    /// ONNX Runtime if it is found, else tract. The default where tract is built in.
    #[cfg(feature = "tract")]
    #[default]
    Auto,
    /// ONNX Runtime: a library that must be installed. It takes two thirds of tract's time.
    #[cfg_attr(not(feature = "tract"), default)]
    Ort,
    /// tract, which the feature of that name builds in.
    #[cfg(feature = "tract")]
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

    /// Checks that some runtime can be used, before a model is downloaded or loaded for it.
    ///
    /// # Errors
    /// ONNX Runtime cannot be used and is the only choice. The message says what to do.
    pub fn require(options: &Options) -> Result<(), LoadError> {
        match options.runtime {
            Self::Ort => require_onnx_runtime(options).map(drop),
            #[cfg(feature = "tract")]
            Self::Auto | Self::Tract => Ok(()),
        }
    }
}

fn require_onnx_runtime(options: &Options) -> Result<&'static onnx_runtime::Loaded, LoadError> {
    onnx_runtime::loaded(options.library.as_deref()).map_err(|why| {
        LoadError(format!(
            "{why}. This program runs vision models with ONNX Runtime only. Install it as docs/models.md says, or build the \
             program with --features tract"
        ))
    })
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
    let on_onnx_runtime = |loaded| guard(|| onnx_runtime::open(loaded, path, options.threads(), plan));
    #[cfg(feature = "tract")]
    let on_tract = || guard(|| tract::open(path, options.threads(), plan));
    match options.runtime {
        Runtime::Ort => on_onnx_runtime(require_onnx_runtime(options)?).map_err(wrong),
        #[cfg(feature = "tract")]
        Runtime::Tract => on_tract().map_err(wrong),
        #[cfg(feature = "tract")]
        Runtime::Auto => match onnx_runtime::loaded(options.library.as_deref()) {
            // An older library may lack operators that tract has. If tract fails too, the library's error says more.
            Ok(loaded) => on_onnx_runtime(loaded).or_else(|why| on_tract().map_err(|_| wrong(why))),
            Err(_) => on_tract().map_err(wrong),
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
        for part in ["libonnxruntime.so", "there is no such file", "docs/models.md", "--features tract"] {
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
