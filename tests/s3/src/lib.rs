//! An S3 server for tests: [s3s](https://docs.rs/s3s), which checks signatures and checksums, on a folder.
//!
//! A test starts it on a free port or a given one, stops it, and starts it again with the same folder. It sees every
//! request ([`S3Server::requests`]) and decides which of them fail, and how ([`S3Server::on_request`]).
//!
//! The example `serve` serves a folder to programs that are not in the same process.

mod connection;
mod fault;
mod store;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use http::request::Parts;
use s3s::{auth::SimpleAuth, service::S3ServiceBuilder};
use tokio::{net::TcpListener, task::JoinHandle};

pub use fault::{Fault, SeenRequest};

use fault::Faults;
use store::Store;

/// The bucket that exists.
pub const BUCKET: &str = "photos";
/// The id of the key that is accepted.
pub const KEY_ID: &str = "test-key";
/// The secret of the key.
pub const SECRET: &str = "test-secret";

/// A running server. Dropping it closes all connections.
pub struct S3Server {
    address: SocketAddr,
    folder: PathBuf,
    faults: Arc<Faults>,
    task: JoinHandle<()>,
}

impl S3Server {
    /// Serves a folder on a free port of the loopback interface.
    ///
    /// # Errors
    /// The folder or the port cannot be used.
    pub async fn start(folder: &Path) -> io::Result<Self> {
        Self::start_on(folder, 0).await
    }

    /// Serves a folder on a port of the loopback interface.
    ///
    /// # Errors
    /// The folder or the port cannot be used.
    pub async fn start_on(folder: &Path, port: u16) -> io::Result<Self> {
        std::fs::create_dir_all(folder.join(BUCKET))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let faults = Arc::new(Faults::default());
        let mut service = S3ServiceBuilder::new(Store::open(folder)?);
        service.set_auth(SimpleAuth::from_single(KEY_ID, SECRET));
        let task = tokio::spawn(connection::serve(listener, service.build(), Arc::clone(&faults)));
        Ok(Self { address, folder: folder.to_owned(), faults, task })
    }

    /// The URL without a bucket.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Decides from now on which requests fail, and how.
    pub fn on_request(&self, decide: impl Fn(&Parts) -> Fault + Send + Sync + 'static) {
        self.faults.set(decide);
    }

    /// Lets all requests succeed from now on.
    pub fn without_faults(&self) {
        self.on_request(|_| Fault::None);
    }

    /// The requests since the start or the last call.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.faults.take_seen()
    }

    /// The keys of uploads that are neither complete nor aborted, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn incomplete_uploads(&self) -> io::Result<Vec<String>> {
        let mut keys: Vec<String> =
            store::incomplete_uploads(&self.folder)?.into_iter().map(|upload| upload.key).collect();
        keys.sort();
        Ok(keys)
    }

    /// The keys of all objects, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn keys(&self) -> io::Result<Vec<String>> {
        store::keys(&self.folder.join(BUCKET))
    }

    /// The file of an object, which a test may damage.
    pub fn file(&self, key: &str) -> PathBuf {
        self.folder.join(BUCKET).join(key)
    }

    /// Closes the port and all connections.
    pub async fn stop(mut self) {
        self.task.abort();
        // The result is the error of an aborted task.
        let _ = (&mut self.task).await;
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}
