//! ONNX Runtime, loaded when it is first needed.

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

use super::{super::guard, Element, Graph, Plan, Port, Values, library};

/// The library that this process uses.
pub(super) struct Loaded {
    pub(super) path: PathBuf,
    pub(super) version: String,
    environment: Environment,
}

/// A process can load it once; what failed is tried again.
static LOADED: OnceLock<Loaded> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// The library, which is loaded if none is yet: the one at `path`, or else the best that is installed.
pub(super) fn loaded(path: Option<&Path>) -> Result<&'static Loaded, String> {
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = LOADED.get() {
        return Ok(loaded);
    }
    let paths = path.map_or_else(library::candidates, |path| vec![path.to_owned()]);
    let mut problem = "ONNX Runtime is not installed".to_owned();
    for path in paths {
        match load(&path) {
            Ok(loaded) => return Ok(LOADED.get_or_init(|| loaded)),
            Err(why) => problem = format!("ONNX Runtime at {} can't be used: {why}", path.display()),
        }
    }
    Err(problem)
}

fn load(path: &Path) -> Result<Loaded, String> {
    let path = std::path::absolute(path).map_err(|why| why.to_string())?;
    if !path.is_file() {
        return Err("there is no such file".to_owned());
    }
    guard(|| {
        // Says why when it can't be loaded, is no ONNX Runtime, or an older one than is needed.
        let builder = ort::init_from(&path).map_err(|why| why.to_string())?;
        let environment = builder.with_telemetry(false).build().map_err(|why| why.to_string())?;
        let version = ort::util::probe(&path).map_or_else(String::new, |minor| format!("1.{minor}"));
        Ok(Loaded { path: path.clone(), version, environment })
    })
}

/// Opens the graph in a file.
pub(super) fn open(
    loaded: &Loaded,
    path: &Path,
    threads: usize,
    plan: Plan<'_>,
) -> Result<Arc<dyn Graph>, String> {
    let session = session(loaded, path, threads).map_err(|why| why.to_string())?;
    let inputs: Vec<Port> =
        session.inputs().iter().map(|port| described(port.name(), port.dtype())).collect();
    let outputs: Vec<Port> =
        session.outputs().iter().map(|port| described(port.name(), port.dtype())).collect();
    super::super::only_output(&outputs)?;
    let shapes = plan(&inputs)?;
    let names = inputs.into_iter().map(|port| port.name).collect();
    Ok(Arc::new(Opened { session: Mutex::new(session), names, shapes }))
}

fn session(loaded: &Loaded, path: &Path, threads: usize) -> ort::Result<Session> {
    Session::builder(&loaded.environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(threads)?
        .with_inter_threads(1)?
        // Threads that wait for work sleep.
        .with_intra_op_spinning(false)?
        // Pictures come one at a time: what one needed is given back, not kept for the next.
        .with_memory_pattern(false)?
        .with_execution_providers([CPU::default().with_arena_allocator(false).build()])?
        .commit_from_file(path)
}

fn described(name: &str, value: &ValueType) -> Port {
    let (element, shape) = match value {
        ValueType::Tensor { ty, shape, .. } => {
            let element = match ty {
                TensorElementType::Float32 => Element::F32,
                TensorElementType::Uint8 => Element::U8,
                TensorElementType::Int32 => Element::I32,
                TensorElementType::Int64 => Element::I64,
                other => Element::Other(other.to_string()),
            };
            (element, shape.iter().map(|side| usize::try_from(*side).ok()).collect())
        }
        _ => (Element::Other("no tensor".to_owned()), Vec::new()),
    };
    Port { name: name.to_owned(), element, shape }
}

struct Opened {
    /// It can't compute two at once; each computes with all its threads anyway.
    session: Mutex<Session>,
    names: Vec<String>,
    shapes: Vec<Vec<usize>>,
}

impl Graph for Opened {
    fn run(&self, inputs: Vec<Values>) -> Result<Vec<f32>, String> {
        let mut named: Vec<(&str, SessionInputValue<'_>)> = Vec::with_capacity(inputs.len());
        for ((name, shape), values) in self.names.iter().zip(&self.shapes).zip(inputs) {
            let value = value(shape.clone(), values).map_err(|why| why.to_string())?;
            named.push((name.as_str(), value));
        }
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(named).map_err(|why| why.to_string())?;
        let (_, output) = outputs.iter().next().ok_or_else(|| "nothing came out".to_owned())?;
        let (_, numbers) = output.try_extract_tensor::<f32>().map_err(|why| why.to_string())?;
        Ok(numbers.to_vec())
    }

    fn runtime(&self) -> &'static str {
        "ONNX Runtime"
    }
}

fn value(shape: Vec<usize>, values: Values) -> ort::Result<SessionInputValue<'static>> {
    Ok(match values {
        Values::F32(values) => Tensor::from_array((shape, values))?.into(),
        Values::U8(values) => Tensor::from_array((shape, values))?.into(),
        Values::I32(values) => Tensor::from_array((shape, values))?.into(),
        Values::I64(values) => Tensor::from_array((shape, values))?.into(),
    })
}
