use std::{net::SocketAddr, path::Path, sync::Arc};

use ::tests::black_box::AnyError;
use blobs::BlobStore;
use keys::{Secret, SystemRandom};
use library::{Library, Settings, SystemClock, WorkerCommand};
use storage::SharedStore;
use storage_sqlite::{SqliteOptions, SqliteStore};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use web::{App, BaseUrl, WebConfig};

use super::stub_encoder::StubModelSource;

/// Opens the library in a data folder.
pub(super) async fn open(
    data_dir: &Path,
    options: SqliteOptions,
) -> Result<(Library, SqliteStore), AnyError> {
    let store = SqliteStore::open(&data_dir.join("library.sqlite"), options).await?;
    Ok((library(Arc::new(store.clone()), data_dir)?, store))
}

/// A library with the stub encoder on any metadata store.
pub(crate) fn library(store: SharedStore, data_dir: &Path) -> Result<Library, AnyError> {
    let blobs = BlobStore::open_folder(&data_dir.join("blobs"))?;
    let no_decoder = WorkerCommand { program: "none".into(), args: Vec::new(), environment: Vec::new() };
    let mut settings = Settings::new(no_decoder);
    settings.indexer.models = Some(Arc::new(StubModelSource));
    Ok(Library::new(store, blobs, Arc::new(SystemClock), Arc::new(SystemRandom::new()), settings)?)
}

/// Serves a library with the stub encoder until SIGTERM.
pub(crate) async fn serve(data_dir: &Path) -> Result<(), AnyError> {
    let (library, _) = open(data_dir, SqliteOptions::default()).await?;
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let base_url = format!("http://{}", listener.local_addr()?);
    let secret = Secret::from_text("a secret that only benchmarks use")?;
    let app = App::new(library, &secret, WebConfig::new(BaseUrl::parse(&base_url)?))?;
    let mut terminate = signal(SignalKind::terminate())?;
    println!("listening on {base_url}");
    web::serve(app, listener, async move {
        terminate.recv().await;
    })
    .await?;
    Ok(())
}
