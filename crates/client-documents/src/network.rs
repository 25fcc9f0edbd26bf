use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs as _},
    sync::Arc,
};

use async_trait::async_trait;
use tokio::{net::TcpStream, sync::Semaphore, task::spawn_blocking};

/// The most name look-ups at once. A look-up blocks its thread until the system's resolver returns, even when the
/// request for it was dropped, and counts until then.
const MAX_LOOKUPS: usize = 8;

/// Name resolution and connections. The address check runs between the two methods: connections go to checked addresses
/// only.
#[async_trait]
pub trait Network: Send + Sync + 'static {
    /// All addresses of a host name.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;

    /// A connection to this address.
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

#[derive(Debug, Clone)]
pub struct SystemNetwork {
    lookups: Arc<Semaphore>,
}

impl Default for SystemNetwork {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

#[async_trait]
impl Network for SystemNetwork {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = self.lookups.clone().try_acquire_owned();
        let permit = permit.map_err(|_| io::Error::other("too many name look-ups at once"))?;
        let host = host.to_owned();
        let lookup = spawn_blocking(move || {
            let _permit = permit;
            // The API asks for a port; it does not affect the addresses.
            (host.as_str(), 443).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
        });
        lookup.await?
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}
