use std::{
    io::{self, Write as _, stdout},
    net::SocketAddr,
    time::Duration,
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
    config::{Config, ListenAddress, Switch, TlsSettingsError},
    exposed_files, file_descriptors, io_messages, service_manager,
    serving_lock::ServingLock,
    shutdown,
    stores::{self, IfMissing, OpenError},
    tls::{CertificateSource, Tls, TlsError},
};

/// Why the server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("Port {port} is in use; choose another with {flag}{}", other_server.as_ref().map(|other| format!("; {other}")).unwrap_or_default())]
    PortInUse { port: u16, flag: &'static str, other_server: Option<String> },
    #[error(
        "There is no permission to listen on port {port}. Give the program the capability CAP_NET_BIND_SERVICE, let systemd open \
         the socket, or choose a port above 1023 with {flag} and forward port {port} to it"
    )]
    PortDenied { port: u16, flag: &'static str },
    #[error("{address} is not an address of this machine; choose another with {flag}")]
    NoSuchAddress { address: SocketAddr, flag: &'static str },
    #[error("The host name in {flag} {listen} cannot be resolved; check the name, or use an IP address")]
    NoSuchName { listen: ListenAddress, flag: &'static str },
    #[error("cannot listen on the sockets of the service manager: {0}")]
    Sockets(io::Error),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("redirect-listen redirects to https, but base-url does not begin with https://")]
    NoRedirects,
    #[error(transparent)]
    TlsSettings(#[from] TlsSettingsError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    BaseUrl(#[from] InvalidBaseUrl),
    #[error("cannot set up the server: {0}")]
    Build(#[from] BuildError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Random(#[from] keys::RandomError),
    #[error("cannot install signal handlers: {0}")]
    Signals(io::Error),
    #[error("cannot write to stdout: {0}")]
    Output(io::Error),
    #[error("serving failed: {0}")]
    Serve(io::Error),
}

/// Serves until a shutdown signal.
pub(super) async fn run(config: &Config) -> Result<(), ServeError> {
    let descriptors = file_descriptors::raise_limit();
    let certificate = config.certificate()?;
    exposed_files::advice(config).iter().for_each(|advice| tracing::warn!("{advice}"));
    let library = stores::open_library(config, IfMissing::CreateAll).await?;
    let secret = stores::load_secret(config)?;
    let data_dir = io_messages::absolute(&config.data_dir);
    let lock = ServingLock::try_acquire(&data_dir)
        .map_err(|source| OpenError::Io { path: data_dir.clone(), source })?;
    let other_server = lock.other_server(&data_dir);
    if let Some(other_server) = &other_server {
        tracing::warn!(
            reason = other_server.as_str(),
            "two servers share a data folder; both work, but one is enough"
        );
    }
    let (listeners, bound) = match service_manager::listeners().map_err(ServeError::Sockets)? {
        sockets if sockets.is_empty() => {
            let listeners = listen(&config.listen, "--listen", other_server).await?;
            let bound = bound_address(&config.listen, &listeners)?;
            (listeners, bound)
        }
        sockets => {
            let bound = sockets[0].local_addr().map_err(ServeError::Sockets)?;
            (sockets, ListenAddress::Socket(bound))
        }
    };
    let metrics = match &config.metrics_listen {
        Some(address) => listen(address, "--metrics-listen", None).await?,
        None => Vec::new(),
    };
    let base_url = config.base_url(&bound)?;
    let redirects = match &config.redirect_listen {
        Some(_) if !base_url.is_https() => return Err(ServeError::NoRedirects),
        Some(address) => listen(address, "--redirect-listen", None).await?,
        None => Vec::new(),
    };
    stores::recover(&library).await;
    let mut web_config = web_config(config, &base_url, descriptors, listeners.len());
    let tls = certificate.as_ref().map(|source| Tls::new(source, &base_url, &data_dir)).transpose()?;
    web_config.tls = tls.as_ref().map(|tls| tls.config.clone());
    let app = App::new(library.clone(), &secret, web_config)?;
    let shutdown = shutdown::signal().map_err(ServeError::Signals)?;
    let metrics_address = config.metrics_listen.as_ref();
    let metrics_address = metrics_address.map(|address| bound_address(address, &metrics)).transpose()?;
    if let Some(CertificateSource::Acme(order)) = &certificate
        && !order.file(&data_dir).exists()
    {
        let authority = order.directory.as_str();
        tracing::info!(name = %order.name, authority, "a TLS certificate is ordered; until it is there, nobody can connect");
    }
    print_address(&library, config, &bound, metrics_address.as_ref(), &base_url).await?;
    service_manager::ready();
    let renewal = tls.map(|tls| {
        let app = app.clone();
        tokio::spawn(tls.renew(move |end| app.certificate_ends(end.millis() / 1000)))
    });
    let served =
        serve_until(shutdown, &library, app, Listeners { service: listeners, metrics, redirects }).await;
    if let Some(renewal) = renewal {
        renewal.abort();
    }
    served
}

/// Listens on every address of the host name that `flag` gives. `other_server` is added to the error when the port is in use.
async fn listen(
    listen: &ListenAddress,
    flag: &'static str,
    other_server: Option<String>,
) -> Result<Vec<TcpListener>, ServeError> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut skipped = None;
    for mut address in resolve(listen, flag).await? {
        // All addresses of a name use the same port.
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
            io::ErrorKind::AddrInUse => return Err(ServeError::PortInUse { port, flag, other_server }),
            io::ErrorKind::PermissionDenied => return Err(ServeError::PortDenied { port, flag }),
            // For example an IPv6 address on a machine without IPv6.
            io::ErrorKind::AddrNotAvailable => skipped = Some(ServeError::NoSuchAddress { address, flag }),
            _ => skipped = Some(ServeError::Listen { address, source: error }),
        }
    }
    match skipped {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

async fn resolve(listen: &ListenAddress, flag: &'static str) -> Result<Vec<SocketAddr>, ServeError> {
    let (host, port) = match listen {
        ListenAddress::Socket(address) => return Ok(vec![*address]),
        ListenAddress::Name { host, port } => (host.as_str(), *port),
    };
    let unknown = || ServeError::NoSuchName { listen: listen.clone(), flag };
    let mut addresses: Vec<SocketAddr> = lookup_host((host, port)).await.map_err(|_| unknown())?.collect();
    // Sorts IPv4 before IPv6.
    addresses.sort();
    addresses.dedup();
    if addresses.is_empty() { Err(unknown()) } else { Ok(addresses) }
}

/// The listen address with the port that was bound.
fn bound_address(listen: &ListenAddress, listeners: &[TcpListener]) -> Result<ListenAddress, ServeError> {
    let bound = listeners.first().map(TcpListener::local_addr).transpose().map_err(ServeError::Serve)?;
    Ok(bound.map_or_else(|| listen.clone(), |bound| listen.with_port(bound.port())))
}

fn web_config(config: &Config, base_url: &BaseUrl, descriptors: Option<u64>, listeners: usize) -> WebConfig {
    let default = HttpLimits::default();
    let connections = file_descriptors::max_connections(descriptors, default.connections);
    let connections = connections.div_ceil(listeners.max(1));
    let limits = HttpLimits { connections, drain_timeout: shutdown::GRACE, ..default };
    let trusted_proxies = config.trusted_proxies.clone();
    let mut web_config = WebConfig { trusted_proxies, limits, ..WebConfig::new(base_url.clone()) };
    if let Some(seconds) = config.hsts_max_age_s {
        web_config.hsts_max_age_s = seconds;
    }
    web_config.links = config.links.clone();
    web_config.openai_challenge = config.openai_challenge.clone();
    if config.client_documents == Switch::Off {
        web_config.client_documents = None;
    }
    web_config
}

/// How long the first start waits for the decoders.
const DECODER_TIMEOUT: Duration = Duration::from_secs(5);

/// Prints the address, advice about the base URL, and the set-up link, which is the last line of a first start. Clients
/// can connect already: their connections have been queued since the port was bound.
async fn print_address(
    library: &Library,
    config: &Config,
    bound: &ListenAddress,
    metrics: Option<&ListenAddress>,
    base_url: &BaseUrl,
) -> Result<(), ServeError> {
    let mut text = format!("listening on {}://{bound}\n", config.scheme());
    if let Some(metrics) = metrics {
        text.push_str(&format!("metrics on http://{metrics}/metrics\n"));
    }
    if let Some(advice) = addresses::reachability_advice(config, bound, base_url, &ThisMachine) {
        text.push_str(&format!("{advice}\n"));
    }
    if let Some(warning) = addresses::encryption_advice(base_url) {
        tracing::warn!("{warning}");
    }
    // Printed and not logged, because the link gives access to the library.
    if let Some(token) = library.accounts.create_setup_link().await? {
        // The decoders log what they lack. They are started now, so that these lines are above the link.
        let _ = timeout(DECODER_TIMEOUT, library.indexer.start_decoders()).await;
        let base_url = base_url.as_str();
        text.push_str("There is no account yet. Create the first one in a browser:\n  ");
        text.push_str(&format!("{base_url}/setup?token={token}\n"));
    }
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(ServeError::Output)
}

/// What the server listens on.
struct Listeners {
    service: Vec<TcpListener>,
    metrics: Vec<TcpListener>,
    redirects: Vec<TcpListener>,
}

/// Serves requests, indexes photos and runs maintenance until the shutdown signal, then stops all three at the same time.
async fn serve_until(
    shutdown: impl Future<Output = ()> + Send + 'static,
    library: &Library,
    app: App,
    listeners: Listeners,
) -> Result<(), ServeError> {
    let indexing = library.indexer.start_indexing(IndexingScope::Everything)?;
    let maintenance = library.upkeep.start_maintenance();
    let (stop, stopped) = watch::channel(false);
    let background = tokio::spawn({
        let stopped = wait_for(stopped.clone());
        async move {
            stopped.await;
            let stopping = async { tokio::join!(indexing.stop(), maintenance.stop()) };
            if timeout(shutdown::GRACE, stopping).await.is_err() {
                tracing::warn!("background jobs abandoned at shutdown; the next start repeats them");
            }
        }
    });
    let signals = tokio::spawn({
        let stop = stop.clone();
        async move {
            shutdown.await;
            tracing::info!("shutting down");
            service_manager::stopping();
            stop.send_replace(true);
        }
    });
    let mut serving = JoinSet::new();
    for listener in listeners.service {
        serving.spawn(web::serve(app.clone(), listener, wait_for(stopped.clone())));
    }
    for listener in listeners.metrics {
        serving.spawn(web::serve_metrics(app.clone(), listener, wait_for(stopped.clone())));
    }
    for listener in listeners.redirects {
        serving.spawn(web::serve_redirects(app.clone(), listener, wait_for(stopped.clone())));
    }
    let mut served = Ok(());
    while let Some(ended) = serving.join_next().await {
        served = served.and(ended.map_err(io::Error::other).flatten());
        // If one listener fails, the others stop, too.
        stop.send_replace(true);
    }
    signals.abort();
    if let Err(error) = background.await {
        tracing::error!(%error, "background task failed");
    }
    served.map_err(ServeError::Serve)
}

/// Waits until the value is true or the sender is dropped.
async fn wait_for(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
