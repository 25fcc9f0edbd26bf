use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use async_trait::async_trait;
use tokio::net::{TcpStream, lookup_host};

/// Names and connections. The guard stands between the two methods: only an address that passed it is dialled.
#[async_trait]
pub trait Network: Send + Sync + 'static {
    /// Every address that a host name has.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;

    /// A connection to exactly that address.
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// The internet, by the resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Internet;

#[async_trait]
impl Network for Internet {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The port only completes the type.
        Ok(lookup_host((host, 443)).await?.map(|address| address.ip()).collect())
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}
