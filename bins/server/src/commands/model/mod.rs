//! `model`: installs, lists, chooses and removes vision models.

mod http;
mod hub;

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use vision::{
    clip,
    models::{ActiveModel, BUILT_IN, InstalledModel, Models, ModelsError},
};

use super::{CommandError, Report};
use crate::{
    cli::ModelCommand,
    config::Config,
    progress, shutdown,
    stores::{IfMissing, check_data_dir},
    table::table,
};
use http::Downloader;
use hub::{Hub, HubError};

/// Why a `model` command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error(transparent)]
    Models(#[from] ModelsError),
    #[error(transparent)]
    Runtime(#[from] clip::LoadError),
    #[error(transparent)]
    Hub(Box<dyn std::error::Error + Send + Sync>),
    #[error("no such folder: {}", .0.display())]
    NoFolder(PathBuf),
    #[error("the command was interrupted: {0}")]
    Join(tokio::task::JoinError),
}

impl From<HubError> for ModelError {
    fn from(error: HubError) -> Self {
        Self::Hub(Box::new(error))
    }
}

pub(super) async fn run(command: ModelCommand, config: &Config) -> Result<Report, CommandError> {
    if config.models.starts_with(&config.data_dir) {
        check_data_dir(config, IfMissing::Fail)?;
    }
    let models = Models::new(&config.models);
    let options = config.vision.clone();
    Ok(match command {
        ModelCommand::Install { model, from } => install(&model, from.as_deref(), models, config).await?,
        ModelCommand::List => {
            let listing = blocking(move || Ok::<_, ModelsError>((models.active_model()?, models.list()?)));
            let (in_use, models) = listing.await?;
            list(&in_use, &models).into()
        }
        ModelCommand::Use { model } => {
            let name = model.clone();
            blocking(move || models.choose(&name, &options)).await?;
            let encoder = if model == BUILT_IN { "the built-in encoder".to_owned() } else { model };
            format!("Search now uses {encoder}. A running server switches to it within seconds.\n").into()
        }
        ModelCommand::Remove { model } => {
            let name = model.clone();
            blocking(move || models.remove(&name)).await?;
            format!("Removed the model {model}.\n").into()
        }
    })
}

async fn install(
    model: &str,
    from: Option<&str>,
    models: Models,
    config: &Config,
) -> Result<Report, CommandError> {
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let options = config.vision.clone();
    blocking(move || clip::Runtime::require(&options)).await?;
    let bar = progress::bar("{wide_bar} {bytes} of {total_bytes}{left}, {msg}");
    let installed = async {
        if is_folder(model) {
            let (folder, bar, options) = (PathBuf::from(model), bar.clone(), config.vision.clone());
            if !folder.is_dir() {
                return Err(ModelError::NoFolder(folder));
            }
            blocking(move || copy(&models, &folder, &options, &bar)).await
        } else {
            let source = from.unwrap_or(&config.model_source);
            download(model, source, models, config.vision.clone(), &bar).await
        }
    };
    // Dropping the future removes the files of an unfinished installation.
    let installed = tokio::select! {
        installed = installed => installed.map_err(CommandError::Model),
        () = shutdown => Err(CommandError::InstallInterrupted),
    };
    bar.finish_and_clear();
    Ok(summary(&installed?).into())
}

/// Whether the argument is a folder: it contains a slash, or a folder of that name exists.
fn is_folder(model: &str) -> bool {
    model.contains(['/', '\\']) || model == "." || model == ".." || Path::new(model).is_dir()
}

fn copy(
    models: &Models,
    folder: &Path,
    options: &clip::Options,
    bar: &ProgressBar,
) -> Result<InstalledModel, ModelsError> {
    models.install_folder(folder, None, options, &mut |path, done, of| {
        bar.set_length(of);
        bar.set_position(done);
        bar.set_message(path.to_owned());
    })
}

async fn download(
    name: &str,
    source: &str,
    models: Models,
    options: clip::Options,
    bar: &ProgressBar,
) -> Result<InstalledModel, ModelError> {
    let base = http::parse_url(source).map_err(HubError::from)?;
    let hub = Hub { base, downloader: Downloader::new().map_err(HubError::from)? };
    // Staging comes first, because it fails early when the model cannot be installed.
    let staged = models.stage(name)?;
    let files = hub.list(name).await?;
    bar.set_length(files.iter().map(|file| file.bytes).sum());
    for file in &files {
        bar.set_message(file.path.clone());
        hub.download(name, file, staged.folder(), &mut |bytes| bar.inc(bytes)).await?;
    }
    bar.set_message("testing");
    blocking(move || staged.finish(&options)).await
}

fn summary(installed: &InstalledModel) -> String {
    let model =
        format!("{} ({}, {} dimensions)", installed.name, megabytes(installed.bytes), dimensions(installed));
    if installed.in_use {
        format!("Installed {model}. It is in use; a running server loads it within seconds.\n")
    } else {
        format!("Installed {model}. To use it, run `server model use {}`.\n", installed.name)
    }
}

/// A table of the built-in encoder, the installed models, and the model in use if it is not installed.
fn list(in_use: &ActiveModel, models: &[InstalledModel]) -> String {
    let used: &str = match in_use {
        ActiveModel::BuiltIn => BUILT_IN,
        ActiveModel::Model { name, .. } => name,
    };
    let mark = |name: &str| if name == used { "in use" } else { "-" }.to_owned();
    let without_files =
        |name: &str, state: String| [name.to_owned(), "-".to_owned(), "-".to_owned(), mark(name), state];
    let built_in = without_files(BUILT_IN, "ok".to_owned());
    let rows = models.iter().map(|model| {
        let state = model.problem.clone().unwrap_or_else(|| "ok".to_owned());
        [model.name.clone(), dimensions(model), megabytes(model.bytes), mark(&model.name), state]
    });
    let is_installed = used == BUILT_IN || models.iter().any(|model| model.name == used);
    let missing = (!is_installed).then(|| without_files(used, "not installed".to_owned()));
    table(["NAME", "DIMENSIONS", "SIZE", "USE", "STATE"], [built_in].into_iter().chain(rows).chain(missing))
}

fn dimensions(model: &InstalledModel) -> String {
    model.dimensions.map_or_else(|| "-".to_owned(), |dimensions| dimensions.to_string())
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

async fn blocking<T: Send + 'static, E: Into<ModelError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ModelError> {
    tokio::task::spawn_blocking(work).await.map_err(ModelError::Join)?.map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(name: &str, in_use: bool) -> InstalledModel {
        InstalledModel {
            name: name.to_owned(),
            dimensions: Some(16),
            bytes: 1_500_000,
            in_use,
            problem: None,
        }
    }

    fn used(name: &str) -> ActiveModel {
        ActiveModel::Model { name: name.to_owned(), installed: None }
    }

    #[test]
    fn the_list_marks_the_model_in_use() {
        let models = [installed("one", false), installed("other", true)];
        assert_eq!(
            list(&used("other"), &models),
            "NAME      DIMENSIONS  SIZE  USE     STATE\n\
             built-in  -           -     -       ok\n\
             one       16          2 MB  -       ok\n\
             other     16          2 MB  in use  ok\n"
        );
        assert_eq!(
            list(&ActiveModel::BuiltIn, &[]),
            "NAME      DIMENSIONS  SIZE  USE     STATE\n\
             built-in  -           -     in use  ok\n"
        );
    }

    #[test]
    fn a_missing_model_in_use_is_listed() {
        assert_eq!(
            list(&used("gone"), &[installed("one", false)]),
            "NAME      DIMENSIONS  SIZE  USE     STATE\n\
             built-in  -           -     -       ok\n\
             one       16          2 MB  -       ok\n\
             gone      -           -     in use  not installed\n"
        );
    }

    #[test]
    fn the_list_follows_the_models_folder() {
        let folder = tempfile::tempdir().unwrap();
        let models = Models::new(folder.path());
        std::fs::write(folder.path().join("in-use"), "gone\n").unwrap();
        let listed = list(&models.active_model().unwrap(), &models.list().unwrap());
        assert!(!listed.lines().nth(1).unwrap().contains("in use"), "{listed}");
        assert!(listed.contains("in use  not installed"), "{listed}");
    }
}
