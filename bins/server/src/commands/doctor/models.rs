use vision::{
    VisualEncoder as _,
    clip::{DetectedRuntime, LoadError, Options, Runtime},
    models::{ActiveModel, Models},
};

use super::Findings;

const MODEL: &str = "vision model";

/// Checks the vision model in use, and reports which runtime runs it.
pub(super) async fn check(models: Models, options: Options, findings: &mut Findings) {
    let checked = tokio::task::spawn_blocking(move || {
        let mut findings = Findings::default();
        check_models(&models, &options, &mut findings);
        findings
    });
    match checked.await {
        Ok(checked) => findings.append(checked),
        Err(error) => findings.fail(MODEL, &error.to_string()),
    }
}

fn check_models(models: &Models, options: &Options, findings: &mut Findings) {
    match models.active_model() {
        Err(error) => findings.fail(MODEL, &format!("{error}; choose one with `server model use NAME`")),
        Ok(ActiveModel::BuiltIn) => findings.ok(MODEL, &without_model(Runtime::require(options))),
        Ok(ActiveModel::Model { name, .. }) => match Runtime::require(options) {
            Err(error) => findings.fail(MODEL, &format!("{name} is in use and cannot run: {error}")),
            Ok(()) => test_model(models, &name, options, findings),
        },
    }
    match models.list() {
        Err(error) => findings.warn(MODEL, &error.to_string()),
        Ok(models) => {
            for model in models.iter().filter(|model| !model.in_use) {
                if let Some(problem) = &model.problem {
                    findings.warn(MODEL, &format!("{} (not in use) is broken: {problem}", model.name));
                }
            }
        }
    }
}

/// What searches use without a model, and how to get one if this program could run it.
fn without_model(runtime: Result<(), LoadError>) -> String {
    let advice = match runtime {
        Ok(()) => "run `server model install ViT-B-32__openai` (docs/models.md lists others)".to_owned(),
        Err(error) => format!("this program first needs a runtime for models: {error}"),
    };
    format!(
        "none; search uses the built-in encoder (colours, light, shapes). To search by what photos show, {advice}"
    )
}

fn test_model(models: &Models, name: &str, options: &Options, findings: &mut Findings) {
    let outcome = models.load(name, options).and_then(|model| Ok((model.self_test()?, model)));
    match outcome {
        Err(error) => broken(name, &error.to_string(), findings),
        Ok((runtime_name, model)) => {
            findings.ok(MODEL, &format!("{} works, run by {runtime_name}", model.name()));
            runtime(&Runtime::detect(options), findings);
        }
    }
}

fn broken(name: &str, reason: &str, findings: &mut Findings) {
    let remedy = format!("run `server model install {name}` or `server model use built-in`");
    findings.fail(MODEL, &format!("{name} is in use and does not work: {reason}; {remedy}"));
}

fn runtime(found: &DetectedRuntime, findings: &mut Findings) {
    match found {
        DetectedRuntime { library: Some((path, version)), .. } => {
            findings.ok(MODEL, &format!("ONNX Runtime {version} at {}", path.display()));
        }
        DetectedRuntime { problem: Some(problem), .. } => {
            findings.warn(MODEL, &format!("{problem}; it makes vision models faster, see docs/models.md"));
        }
        DetectedRuntime { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_advised_only_to_a_program_that_can_run_it() {
        assert!(without_model(Ok(())).contains("`server model install ViT-B-32__openai`"));
        let advice = without_model(Err(LoadError("ONNX Runtime was not found".to_owned())));
        assert!(advice.ends_with("needs a runtime for models: ONNX Runtime was not found"), "{advice}");
        assert!(!advice.contains("model install"), "{advice}");
    }
}
