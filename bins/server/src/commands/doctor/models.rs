use vision::{
    VisualEncoder as _,
    clip::{DetectedRuntime, Options, Runtime},
    models::{ActiveModel, Models},
};

use super::Findings;

const MODEL: &str = "vision model";
const HOW_TO_INSTALL: &str = "docs/models.md says how to install it";

/// Tells what sees pictures, whether it works, and what computes it.
pub(super) async fn check(models: Models, options: Options, findings: &mut Findings) {
    let checked = tokio::task::spawn_blocking(move || {
        let mut findings = Findings::default();
        look(&models, &options, &mut findings);
        findings
    });
    match checked.await {
        Ok(checked) => findings.append(&checked),
        Err(error) => findings.fail(MODEL, &error.to_string()),
    }
}

fn look(models: &Models, options: &Options, findings: &mut Findings) {
    match models.active_model() {
        Err(error) => findings.fail(MODEL, &format!("{error}; choose one with: server model use NAME")),
        Ok(ActiveModel::BuiltIn) => findings.ok(
            MODEL,
            "none; the built-in encoder sees colours, light and shapes. For what photos show: server model install \
             ViT-B-32__openai (docs/models.md has others)",
        ),
        Ok(ActiveModel::Model { name, .. }) => match Runtime::require(options) {
            Err(error) => findings.fail(MODEL, &format!("{name} is in use and cannot run: {error}")),
            Ok(()) => try_out(models, &name, options, findings),
        },
    }
    match models.list() {
        Err(error) => findings.warn(MODEL, &error.to_string()),
        Ok(models) => {
            for model in models.iter().filter(|model| !model.in_use) {
                if let Some(problem) = &model.problem {
                    findings
                        .warn(MODEL, &format!("{}, which is not in use, is broken: {problem}", model.name));
                }
            }
        }
    }
}

fn try_out(models: &Models, name: &str, options: &Options, findings: &mut Findings) {
    let outcome = models.load(name, options).and_then(|model| Ok((model.self_test()?, model)));
    match outcome {
        Err(error) => broken(name, &error.to_string(), findings),
        Ok((runtime_name, model)) => {
            findings.ok(MODEL, &format!("{} works, computed by {runtime_name}", model.name()));
            runtime(&Runtime::detect(options), findings);
        }
    }
}

fn broken(name: &str, why: &str, findings: &mut Findings) {
    let mend = format!("server model install {name}, or: server model use built-in");
    findings.fail(MODEL, &format!("{name} is in use and does not work: {why}. To mend it: {mend}"));
}

fn runtime(found: &DetectedRuntime, findings: &mut Findings) {
    match found {
        DetectedRuntime { library: Some((path, version)), .. } => {
            findings.ok(MODEL, &format!("ONNX Runtime {version} at {}", path.display()));
        }
        DetectedRuntime { problem: Some(problem), .. } => {
            findings.warn(MODEL, &format!("{problem}; with it models are computed faster: {HOW_TO_INSTALL}"));
        }
        DetectedRuntime { .. } => {}
    }
}
