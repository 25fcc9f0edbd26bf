//! `model`: the vision models.

mod http;
mod hub;

use std::{
    io::{IsTerminal as _, stderr},
    path::{Path, PathBuf},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use url::Url;
use vision::{
    clip,
    models::{BUILT_IN, Installed, Models, ModelsError},
};

use super::{CommandError, Report};
use crate::{cli::ModelCommand, config::Config, shutdown, table::table};
use http::{DownloadError, Downloader};
pub(crate) use hub::SOURCE;
use hub::{Hub, HubError};

/// Why a command on models was not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error(transparent)]
    Models(#[from] ModelsError),
    #[error(transparent)]
    Hub(#[from] HubErrorOf),
    #[error("{0}: there is no such folder")]
    NoFolder(PathBuf),
    #[error("it was cut off: {0}")]
    CutOff(tokio::task::JoinError),
}

/// What went wrong at a hub, in words that no other module needs to take apart.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct HubErrorOf(HubError);

impl From<HubError> for ModelError {
    fn from(error: HubError) -> Self {
        Self::Hub(HubErrorOf(error))
    }
}

pub(super) async fn run(command: ModelCommand, config: &Config) -> Result<Report, CommandError> {
    let models = Models::new(&config.models);
    let options = config.vision.clone();
    Ok(match command {
        ModelCommand::Install { model, from } => install(&model, from.as_deref(), models, config).await?,
        ModelCommand::List => list(&blocking(move || models.list()).await?).into(),
        ModelCommand::Use { model } => {
            let name = model.clone();
            blocking(move || models.choose(&name, &options)).await?;
            let seen = if model == BUILT_IN { "the built-in encoder".to_owned() } else { model };
            format!("Pictures are seen by {seen} from now on. A running server takes it up by itself.\n")
                .into()
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
    let asked_to_end = shutdown::requested().map_err(CommandError::Signals)?;
    let bar = progress_bar();
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
    // What is half done is removed when it is dropped.
    let installed = tokio::select! {
        installed = installed => installed.map_err(CommandError::Model),
        () = asked_to_end => Err(CommandError::InstallInterrupted),
    };
    bar.finish_and_clear();
    Ok(told(&installed?).into())
}

/// Whether this means a folder: names have no slash, and name no folder that is there.
fn is_folder(model: &str) -> bool {
    model.contains(['/', '\\']) || model == "." || model == ".." || Path::new(model).is_dir()
}

fn copy(
    models: &Models,
    folder: &Path,
    options: &clip::Options,
    bar: &ProgressBar,
) -> Result<Installed, ModelsError> {
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
) -> Result<Installed, ModelError> {
    let base = Url::parse(source).map_err(|_| DownloadError::Address { url: source.to_owned() });
    let base = base.map_err(HubError::from)?;
    let hub = Hub { base, downloader: Downloader::new().map_err(HubError::from)? };
    // First, so that nothing is downloaded for nothing.
    let staged = models.stage(name)?;
    let files = hub.list(name).await?;
    bar.set_length(files.iter().map(|file| file.bytes).sum());
    for file in &files {
        bar.set_message(file.path.clone());
        hub.download(name, file, staged.folder(), &mut |bytes| bar.inc(bytes)).await?;
    }
    bar.set_message("trying it out");
    blocking(move || staged.finish(&options)).await
}

fn told(installed: &Installed) -> String {
    let size =
        format!("{} ({}, {} dimensions)", installed.name, megabytes(installed.bytes), dimensions(installed));
    if installed.in_use {
        format!("Installed {size}. It is in use: a running server takes it up by itself.\n")
    } else {
        format!("Installed {size}. To have it see pictures: server model use {}\n", installed.name)
    }
}

fn list(models: &[Installed]) -> String {
    let used = models.iter().any(|model| model.in_use);
    let mark = |used: bool| if used { "in use" } else { "-" }.to_owned();
    let built_in = [BUILT_IN.to_owned(), "-".to_owned(), "-".to_owned(), mark(!used), "sound".to_owned()];
    let rows = models.iter().map(|model| {
        let state = model.problem.clone().unwrap_or_else(|| "sound".to_owned());
        [model.name.clone(), dimensions(model), megabytes(model.bytes), mark(model.in_use), state]
    });
    table(["NAME", "DIMENSIONS", "SIZE", "USE", "STATE"], [built_in].into_iter().chain(rows))
}

fn dimensions(model: &Installed) -> String {
    model.dimensions.map_or_else(|| "-".to_owned(), |dimensions| dimensions.to_string())
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

/// Shown on a terminal only.
fn progress_bar() -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{wide_bar} {bytes} of {total_bytes}, {eta} left, {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

async fn blocking<T: Send + 'static, E: Into<ModelError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ModelError> {
    tokio::task::spawn_blocking(work).await.map_err(ModelError::CutOff)?.map_err(Into::into)
}
