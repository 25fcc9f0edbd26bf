//! tract: an ONNX runtime in Rust.

use std::{path::Path, sync::Arc};

use tract_onnx::{
    prelude::{
        DatumType, Framework, InferenceFact, InferenceModelExt, OutletId, TValue, Tensor, TractError,
        TractResult, TypedRunnableModel, tvec,
    },
    tract_core::{
        internal::{
            DimLike as _,
            multithread::{Executor, multithread_tract_scope},
        },
        model::IntoRunnable,
    },
    tract_hir::infer::{DimFact, Factoid as _},
};

use super::{ChooseShapes, ElementType, Graph, TensorData, TensorInfo};

/// Opens the graph in a file.
pub(super) fn open(
    path: &Path,
    threads: usize,
    choose_shapes: ChooseShapes<'_>,
) -> Result<Arc<dyn Graph>, String> {
    let message = |error: TractError| format!("{error:#}");
    let mut model = tract_onnx::onnx().model_for_path(path).map_err(message)?;
    let described = |outlets: &[OutletId]| -> TractResult<Vec<TensorInfo>> {
        outlets
            .iter()
            .map(|outlet| {
                let fact = model.outlet_fact(*outlet)?;
                let name = model.outlet_label(*outlet).unwrap_or(&model.node(outlet.node).name);
                Ok(tensor_info(name, fact))
            })
            .collect()
    };
    let inputs = described(model.input_outlets().map_err(message)?).map_err(message)?;
    let outputs = model.output_outlets().map_err(message)?.len();
    if outputs != 1 {
        return Err(format!("it has {outputs} outputs instead of one vector"));
    }
    let shapes = choose_shapes(&inputs)?;
    for (index, (input, shape)) in inputs.iter().zip(&shapes).enumerate() {
        let datum_type = match input.element_type {
            ElementType::F32 => DatumType::F32,
            ElementType::U8 => DatumType::U8,
            ElementType::I32 => DatumType::I32,
            ElementType::I64 => DatumType::I64,
            ElementType::Other(ref name) => {
                return Err(format!("input {} has the unsupported type {name}", input.name));
            }
        };
        model.set_input_fact(index, InferenceFact::dt_shape(datum_type, shape)).map_err(message)?;
    }
    let plan = model.into_optimized().and_then(IntoRunnable::into_runnable).map_err(message)?;
    let executor = if threads > 1 { Executor::multithread(threads) } else { Executor::SingleThread };
    Ok(Arc::new(TractGraph { plan, shapes, executor }))
}

fn tensor_info(name: &str, fact: &InferenceFact) -> TensorInfo {
    let element_type = match fact.datum_type.concretize() {
        Some(DatumType::F32) => ElementType::F32,
        Some(DatumType::U8) => ElementType::U8,
        Some(DatumType::I32) => ElementType::I32,
        Some(DatumType::I64) => ElementType::I64,
        Some(other) => ElementType::Other(format!("{other:?}")),
        None => ElementType::Other("unknown".to_owned()),
    };
    let side = |dimension: &DimFact| dimension.concretize().and_then(|side| side.to_usize().ok());
    TensorInfo { name: name.to_owned(), element_type, shape: fact.shape.dims().map(side).collect() }
}

struct TractGraph {
    plan: Arc<TypedRunnableModel>,
    shapes: Vec<Vec<usize>>,
    executor: Executor,
}

impl Graph for TractGraph {
    fn run(&self, inputs: Vec<TensorData>) -> Result<Vec<f32>, String> {
        let tensor = |(values, shape): (TensorData, &Vec<usize>)| -> TractResult<TValue> {
            Ok(match values {
                TensorData::F32(values) => Tensor::from_shape(shape, &values)?,
                TensorData::U8(values) => Tensor::from_shape(shape, &values)?,
                TensorData::I32(values) => Tensor::from_shape(shape, &values)?,
                TensorData::I64(values) => Tensor::from_shape(shape, &values)?,
            }
            .into())
        };
        let run = || -> TractResult<Vec<f32>> {
            let mut values = tvec![];
            for input in inputs.into_iter().zip(&self.shapes) {
                values.push(tensor(input)?);
            }
            let outputs = multithread_tract_scope(self.executor.clone(), || self.plan.run(values))?;
            match outputs.first() {
                Some(output) => Ok(output.try_as_plain_ram()?.as_slice::<f32>()?.to_vec()),
                None => Ok(Vec::new()),
            }
        };
        run().map_err(|error| format!("{error:#}"))
    }

    fn runtime(&self) -> &'static str {
        "tract"
    }
}
