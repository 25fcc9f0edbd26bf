//! ONNX Runtime, loaded on first use.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use ort::{
    environment::Environment,
    ep::CPU,
    session::{Session, SessionInputValue, builder::GraphOptimizationLevel},
    value::{Tensor, TensorElementType, ValueType},
};

use super::{super::catch_panic, ChooseShapes, ElementType, Graph, TensorData, TensorInfo, library};

/// The library that this process uses.
pub(super) struct LoadedLibrary {
    pub(super) path: PathBuf,
    pub(super) version: String,
    environment: Environment,
}

/// A process can load the library only once. After a failure, the next call tries again.
static LOADED: OnceLock<LoadedLibrary> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// Returns the library, and loads it first if necessary: the one at `path`, else the best installed one.
pub(super) fn loaded(path: Option<&Path>) -> Result<&'static LoadedLibrary, String> {
    let _guard = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = LOADED.get() {
        return Ok(loaded);
    }
    let paths = path.map_or_else(library::candidates, |path| vec![path.to_owned()]);
    let mut problem = "ONNX Runtime is not installed".to_owned();
    for path in paths {
        match load(&path) {
            Ok(loaded) => return Ok(LOADED.get_or_init(|| loaded)),
            Err(error) => problem = format!("ONNX Runtime at {} can't be used: {error}", path.display()),
        }
    }
    Err(problem)
}

fn load(path: &Path) -> Result<LoadedLibrary, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    if !path.is_file() {
        return Err("the file does not exist".to_owned());
    }
    catch_panic(|| {
        // Fails if the library cannot be loaded, is not ONNX Runtime, or is too old.
        let builder = ort::init_from(&path).map_err(|error| error.to_string())?;
        let environment = builder.with_telemetry(false).build().map_err(|error| error.to_string())?;
        let version = ort::util::probe(&path).map_or_else(String::new, |minor| format!("1.{minor}"));
        Ok(LoadedLibrary { path: path.clone(), version, environment })
    })
}

/// Opens the graph in a file.
pub(super) fn open(
    loaded: &LoadedLibrary,
    path: &Path,
    threads: usize,
    choose_shapes: ChooseShapes<'_>,
) -> Result<Arc<dyn Graph>, String> {
    let session = session(loaded, path, threads).map_err(|error| error.to_string())?;
    let inputs: Vec<TensorInfo> =
        session.inputs().iter().map(|tensor| tensor_info(tensor.name(), tensor.dtype())).collect();
    let outputs: Vec<TensorInfo> =
        session.outputs().iter().map(|tensor| tensor_info(tensor.name(), tensor.dtype())).collect();
    super::super::check_outputs(&outputs)?;
    let shapes = choose_shapes(&inputs)?;
    let names = inputs.into_iter().map(|tensor| tensor.name).collect();
    Ok(Arc::new(OrtGraph { session: Mutex::new(session), names, shapes }))
}

fn session(loaded: &LoadedLibrary, path: &Path, threads: usize) -> ort::Result<Session> {
    Session::builder(&loaded.environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(threads)?
        .with_inter_threads(1)?
        // Idle threads must not spin.
        .with_intra_op_spinning(false)?
        // Return memory after each picture instead of keeping it for the next.
        .with_memory_pattern(false)?
        .with_execution_providers([CPU::default().with_arena_allocator(false).build()])?
        .commit_from_file(path)
}

fn tensor_info(name: &str, value: &ValueType) -> TensorInfo {
    let (element_type, shape) = match value {
        ValueType::Tensor { ty, shape, .. } => {
            let element_type = match ty {
                TensorElementType::Float32 => ElementType::F32,
                TensorElementType::Uint8 => ElementType::U8,
                TensorElementType::Int32 => ElementType::I32,
                TensorElementType::Int64 => ElementType::I64,
                other => ElementType::Other(other.to_string()),
            };
            (element_type, shape.iter().map(|side| usize::try_from(*side).ok()).collect())
        }
        _ => (ElementType::Other("not a tensor".to_owned()), Vec::new()),
    };
    TensorInfo { name: name.to_owned(), element_type, shape }
}

struct OrtGraph {
    /// A session executes one graph at a time, with all its threads.
    session: Mutex<Session>,
    names: Vec<String>,
    shapes: Vec<Vec<usize>>,
}

impl Graph for OrtGraph {
    fn run(&self, inputs: Vec<TensorData>) -> Result<Vec<f32>, String> {
        let mut named: Vec<(&str, SessionInputValue<'_>)> = Vec::with_capacity(inputs.len());
        for ((name, shape), values) in self.names.iter().zip(&self.shapes).zip(inputs) {
            let value = value(shape.clone(), values).map_err(|error| error.to_string())?;
            named.push((name.as_str(), value));
        }
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(named).map_err(|error| error.to_string())?;
        let (_, output) = outputs.iter().next().ok_or_else(|| "the graph has no output".to_owned())?;
        let (_, numbers) = output.try_extract_tensor::<f32>().map_err(|error| error.to_string())?;
        Ok(numbers.to_vec())
    }

    fn runtime(&self) -> &'static str {
        "ONNX Runtime"
    }
}

fn value(shape: Vec<usize>, values: TensorData) -> ort::Result<SessionInputValue<'static>> {
    Ok(match values {
        TensorData::F32(values) => Tensor::from_array((shape, values))?.into(),
        TensorData::U8(values) => Tensor::from_array((shape, values))?.into(),
        TensorData::I32(values) => Tensor::from_array((shape, values))?.into(),
        TensorData::I64(values) => Tensor::from_array((shape, values))?.into(),
    })
}
