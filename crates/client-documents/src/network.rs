use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs as _},
    sync::Arc,
};

use async_trait::async_trait;
use tokio::{net::TcpStream, sync::Semaphore, task::spawn_blocking};

/// How many names are looked up at once. A look-up goes on, on a thread of its own, when nobody waits for it any more,
/// for as long as the system's resolver likes: it holds its place until then.
const LOOK_UPS: usize = 8;

/// Names and connections. The guard stands between the two methods: only an address that passed it is dialled.
#[async_trait]
pub trait Network: Send + Sync + 'static {
    /// Every address that a host name has.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;

    /// A connection to exactly that address.
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// The internet, by the resolver of the system.
#[derive(Debug, Clone)]
pub struct Internet {
    look_ups: Arc<Semaphore>,
}

impl Default for Internet {
    fn default() -> Self {
        Self { look_ups: Arc::new(Semaphore::new(LOOK_UPS)) }
    }
}

#[async_trait]
impl Network for Internet {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = self.look_ups.clone().try_acquire_owned();
        let permit = permit.map_err(|_| io::Error::other("too many names are being looked up"))?;
        let host = host.to_owned();
        let looked_up = spawn_blocking(move || {
            let _permit = permit;
            // The port only completes the type.
            (host.as_str(), 443).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
        });
        looked_up.await?
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}
