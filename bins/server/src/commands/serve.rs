use std::{
    io::{self, Write as _, stdout},
    net::SocketAddr,
};

use library::{IndexingScope, Library, Unavailable};
use tokio::{
    net::{TcpListener, lookup_host},
    sync::watch,
    task::JoinSet,
    time::timeout,
};
use web::{App, BaseUrl, BuildError, HttpLimits, InvalidBaseUrl, WebConfig};

use crate::{
    addresses::{self, ThisMachine},
    config::{Config, ListenAddress, Switch},
    file_descriptors,
    serving_lock::ServingLock,
    shutdown,
    stores::{self, Absent, OpenError},
};

/// Why the library is not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("Port {port} is in use; choose another with --listen{}", other.as_ref().map(|other| format!("; {other}")).unwrap_or_default())]
    PortInUse { port: u16, other: Option<String> },
    #[error("There is no permission to listen on port {port}; choose one above 1023 with --listen")]
    PortDenied { port: u16 },
    #[error("{address} is not an address of this machine; choose another with --listen")]
    NoSuchAddress { address: SocketAddr },
    #[error("The host name in --listen {listen} has no address; check the name, or give an address")]
    NoSuchName { listen: ListenAddress },
    #[error("The server cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    BaseUrl(#[from] InvalidBaseUrl),
    #[error("the service cannot be set up: {0}")]
    Build(#[from] BuildError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Random(#[from] keys::RandomError),
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
    let library = stores::open_library(config, Absent::Create).await?;
    let secret = stores::load_secret(config)?;
    let data_dir = stores::absolute(&config.data_dir);
    let lock = ServingLock::take(&data_dir)
        .map_err(|source| OpenError::Unusable { path: data_dir.clone(), source })?;
    let other = lock.other(&data_dir);
    if let Some(other) = &other {
        tracing::warn!("{other}; both work, but one is enough");
    }
    let listeners = listen(&config.listen, other).await?;
    stores::recover(&library).await;
    let listened_on = listened_on(&config.listen, &listeners)?;
    let base_url = config.base_url(&listened_on)?;
    let app =
        App::new(library.clone(), &secret, web_config(config, &base_url, descriptors, listeners.len()))?;
    let asked_to_end = shutdown::requested().map_err(ServeError::Signals)?;
    announce(&library, config, &listened_on, &base_url).await?;
    work(&library, app, listeners, asked_to_end).await
}

/// Listens on every address that the name has; `other` says who may have the port.
async fn listen(listen: &ListenAddress, other: Option<String>) -> Result<Vec<TcpListener>, ServeError> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut skipped = None;
    for mut address in resolve(listen).await? {
        // A name has the same port on all its addresses.
        if let Some(first) = listeners.first().and_then(|listener| listener.local_addr().ok()) {
            address.set_port(first.port());
        }
        let error = match TcpListener::bind(address).await {
            Ok(listener) => {
                listeners.push(listener);
                continue;
            }
            Err(error) => error,
        };
        let port = address.port();
        match error.kind() {
            io::ErrorKind::AddrInUse => return Err(ServeError::PortInUse { port, other }),
            io::ErrorKind::PermissionDenied => return Err(ServeError::PortDenied { port }),
            // For example IPv6's, on a machine without it.
            io::ErrorKind::AddrNotAvailable => skipped = Some(ServeError::NoSuchAddress { address }),
            _ => skipped = Some(ServeError::Listen { address, source: error }),
        }
    }
    match skipped {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

async fn resolve(listen: &ListenAddress) -> Result<Vec<SocketAddr>, ServeError> {
    let (host, port) = match listen {
        ListenAddress::Socket(address) => return Ok(vec![*address]),
        ListenAddress::Name { host, port } => (host.as_str(), *port),
    };
    let unknown = || ServeError::NoSuchName { listen: listen.clone() };
    let mut addresses: Vec<SocketAddr> = lookup_host((host, port)).await.map_err(|_| unknown())?.collect();
    // IPv4 first.
    addresses.sort();
    addresses.dedup();
    if addresses.is_empty() { Err(unknown()) } else { Ok(addresses) }
}

/// What is listened on, with the port that was free.
fn listened_on(listen: &ListenAddress, listeners: &[TcpListener]) -> Result<ListenAddress, ServeError> {
    let bound = listeners.first().map(TcpListener::local_addr).transpose().map_err(ServeError::Serve)?;
    Ok(bound.map_or_else(|| listen.clone(), |bound| listen.with_port(bound.port())))
}

fn web_config(config: &Config, base_url: &BaseUrl, descriptors: Option<u64>, listeners: usize) -> WebConfig {
    let default = HttpLimits::default();
    let connections = file_descriptors::connections_within(descriptors, default.connections);
    let connections = connections.div_ceil(listeners.max(1));
    let limits = HttpLimits { connections, drain_timeout: shutdown::GRACE, ..default };
    let trusted_proxies = config.trusted_proxies.clone();
    let mut web_config = WebConfig { trusted_proxies, limits, ..WebConfig::new(base_url.clone()) };
    if config.client_documents == Switch::Off {
        web_config.client_documents = None;
    }
    web_config
}

/// Prints where the service is. From the bind on, connections wait to be answered.
async fn announce(
    library: &Library,
    config: &Config,
    listened_on: &ListenAddress,
    base_url: &BaseUrl,
) -> Result<(), ServeError> {
    let mut text = format!("listening on http://{listened_on}\n");
    if let Some(advice) = addresses::unreachable(config, listened_on, base_url, &ThisMachine) {
        text.push_str(&format!("{advice}\n"));
    }
    if let Some(warning) = addresses::unencrypted(base_url) {
        tracing::warn!("{warning}");
    }
    // Not to the log: whoever has the link has the library.
    if let Some(token) = library.create_setup_link().await? {
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
    listeners: Vec<TcpListener>,
    asked_to_end: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let indexing = library.start_indexing(IndexingScope::Everything)?;
    let upkeep = library.start_maintenance();
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
    let mut serving = JoinSet::new();
    for listener in listeners {
        serving.spawn(web::serve(app.clone(), listener, said(stopped.clone())));
    }
    let mut served = Ok(());
    while let Some(ended) = serving.join_next().await {
        served = served.and(ended.map_err(io::Error::other).flatten());
        // One that fails takes the others with it.
        stop.send_replace(true);
    }
    signals.abort();
    if let Err(error) = background.await {
        tracing::error!(%error, "the background work failed");
    }
    served.map_err(ServeError::Serve)
}

/// Waits until the sender says so, or is gone.
async fn said(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
