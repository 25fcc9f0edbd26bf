use vision::{
    VisualEncoder as _,
    clip::{DetectedRuntime, Options, Runtime},
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
        Ok(ActiveModel::BuiltIn) => findings.ok(
            MODEL,
            "none; search uses the built-in encoder (colours, light, shapes). To search by what photos show, run `server \
             model install ViT-B-32__openai` (docs/models.md lists others)",
        ),
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
