use std::{
    io::{self, Write as _, stdout},
    net::SocketAddr,
};

use keys::{SecretError, SystemRandom};
use library::{IndexingScope, Library, Unavailable};
use tokio::{net::TcpListener, sync::watch, time::timeout};
use web::{App, BaseUrl, BuildError, InvalidBaseUrl, Limits, WebConfig};

use crate::{
    config::{Config, Switch},
    file_descriptors, shutdown,
    stores::{self, OpenError},
};

/// Why the library is not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error("{address} cannot be listened on: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    BaseUrl(#[from] InvalidBaseUrl),
    #[error("the service cannot be set up: {0}")]
    Build(#[from] BuildError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Random(#[from] keys::RandomFailed),
    #[error("the signals that end the program cannot be taken over: {0}")]
    Signals(io::Error),
    #[error("the address cannot be printed: {0}")]
    Output(io::Error),
    #[error("serving failed: {0}")]
    Serve(io::Error),
}

/// Serves until the process is asked to end.
pub(super) async fn run(config: &Config) -> Result<(), ServeError> {
    let descriptors = file_descriptors::allow_most();
    let library = stores::open_library(config).await?;
    stores::recover(&library).await;
    let secret = config.secret.load(&SystemRandom::new())?;
    let (listener, address) = listen(config.listen).await?;
    let web_config = web_config(config, address, descriptors)?;
    let base_url = web_config.base_url.clone();
    let app = App::new(library.clone(), &secret, web_config)?;
    let asked_to_end = shutdown::requested().map_err(ServeError::Signals)?;
    announce(&library, &base_url, address).await?;
    work(&library, app, listener, asked_to_end).await
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |source| ServeError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

fn web_config(
    config: &Config,
    bound: SocketAddr,
    descriptors: Option<u64>,
) -> Result<WebConfig, InvalidBaseUrl> {
    let base_url = config.base_url(bound)?;
    if config.base_url_is_missing() {
        tracing::warn!(
            base_url = base_url.as_str(),
            "--base-url is not set: links lead to an address that others may not reach"
        );
    }
    let default = Limits::default();
    let connections = file_descriptors::connections_within(descriptors, default.connections);
    let limits = Limits { connections, drain_timeout: shutdown::GRACE, ..default };
    let trusted_proxies = config.trusted_proxies.clone();
    let mut web_config = WebConfig { trusted_proxies, limits, ..WebConfig::new(base_url) };
    if config.client_documents == Switch::Off {
        web_config.client_documents = None;
    }
    Ok(web_config)
}

/// Prints where the service is. From the bind on, connections wait to be answered.
async fn announce(library: &Library, base_url: &BaseUrl, address: SocketAddr) -> Result<(), ServeError> {
    let mut text = format!("listening on http://{address}\n");
    // Not to the log: whoever has the link has the library.
    if let Some(token) = library.offer_setup().await? {
        let base_url = base_url.as_str();
        text.push_str("There is no account yet. Create the first one in a browser:\n  ");
        text.push_str(&format!("{base_url}/setup?token={token}\n"));
    }
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(ServeError::Output)
}

/// Answers, indexes and tidies until the process is asked to end; then all three come to their end together.
async fn work(
    library: &Library,
    app: App,
    listener: TcpListener,
    asked_to_end: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let indexing = library.start_indexing(IndexingScope::Everything)?;
    let upkeep = library.start_upkeep();
    let (stop, stopped) = watch::channel(false);
    let background = tokio::spawn({
        let stopped = said(stopped.clone());
        async move {
            stopped.await;
            let ending = async { tokio::join!(indexing.stop(), upkeep.stop()) };
            if timeout(shutdown::GRACE, ending).await.is_err() {
                tracing::warn!("work was cut off; the next start does it again");
            }
        }
    });
    let signals = tokio::spawn({
        let stop = stop.clone();
        async move {
            asked_to_end.await;
            tracing::info!("asked to end");
            stop.send_replace(true);
        }
    });
    let served = web::serve(app, listener, said(stopped)).await;
    signals.abort();
    stop.send_replace(true);
    if let Err(error) = background.await {
        tracing::error!(%error, "the background work failed");
    }
    served.map_err(ServeError::Serve)
}

/// Waits until the sender says so, or is gone.
async fn said(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
