//! tract: ONNX in plain Rust.

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

use super::{Element, Graph, Plan, Port, Values};

/// Opens the graph in a file.
pub(super) fn open(path: &Path, threads: usize, plan: Plan<'_>) -> Result<Arc<dyn Graph>, String> {
    let said = |why: TractError| format!("{why:#}");
    let mut model = tract_onnx::onnx().model_for_path(path).map_err(said)?;
    let described = |outlets: &[OutletId]| -> TractResult<Vec<Port>> {
        outlets
            .iter()
            .map(|outlet| {
                let fact = model.outlet_fact(*outlet)?;
                let name = model.outlet_label(*outlet).unwrap_or(&model.node(outlet.node).name);
                Ok(port(name, fact))
            })
            .collect()
    };
    let inputs = described(model.input_outlets().map_err(said)?).map_err(said)?;
    let outputs = model.output_outlets().map_err(said)?.len();
    if outputs != 1 {
        return Err(format!("it has {outputs} outputs, and one vector should come out"));
    }
    let shapes = plan(&inputs)?;
    for (index, (input, shape)) in inputs.iter().zip(&shapes).enumerate() {
        let kind = match input.element {
            Element::F32 => DatumType::F32,
            Element::U8 => DatumType::U8,
            Element::I32 => DatumType::I32,
            Element::I64 => DatumType::I64,
            Element::Other(ref name) => return Err(format!("{} is of {name}", input.name)),
        };
        model.set_input_fact(index, InferenceFact::dt_shape(kind, shape)).map_err(said)?;
    }
    let plan = model.into_optimized().and_then(IntoRunnable::into_runnable).map_err(said)?;
    let executor = if threads > 1 { Executor::multithread(threads) } else { Executor::SingleThread };
    Ok(Arc::new(Opened { plan, shapes, executor }))
}

fn port(name: &str, fact: &InferenceFact) -> Port {
    let element = match fact.datum_type.concretize() {
        Some(DatumType::F32) => Element::F32,
        Some(DatumType::U8) => Element::U8,
        Some(DatumType::I32) => Element::I32,
        Some(DatumType::I64) => Element::I64,
        Some(other) => Element::Other(format!("{other:?}")),
        None => Element::Other("a kind that is not said".to_owned()),
    };
    let side = |dimension: &DimFact| dimension.concretize().and_then(|side| side.to_usize().ok());
    Port { name: name.to_owned(), element, shape: fact.shape.dims().map(side).collect() }
}

struct Opened {
    plan: Arc<TypedRunnableModel>,
    shapes: Vec<Vec<usize>>,
    executor: Executor,
}

impl Graph for Opened {
    fn run(&self, inputs: Vec<Values>) -> Result<Vec<f32>, String> {
        let tensor = |(values, shape): (Values, &Vec<usize>)| -> TractResult<TValue> {
            Ok(match values {
                Values::F32(values) => Tensor::from_shape(shape, &values)?,
                Values::U8(values) => Tensor::from_shape(shape, &values)?,
                Values::I32(values) => Tensor::from_shape(shape, &values)?,
                Values::I64(values) => Tensor::from_shape(shape, &values)?,
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
        run().map_err(|why| format!("{why:#}"))
    }

    fn runtime(&self) -> &'static str {
        "tract"
    }
}
