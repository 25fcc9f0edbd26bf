use std::{
    collections::{BTreeMap, HashMap},
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use client_documents::{Network, Options, Roots};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_rustls::TlsAcceptor;

use super::OauthClient;

/// The address of the host as the address check sees it.
pub const PUBLIC_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));

/// The exact response at a path, and its delay.
type Served = (Vec<u8>, Duration);

/// A TLS host with clients' metadata documents. The service sees it as `app.example` at [`PUBLIC_ADDRESS`]. After the check of
/// that address, the connection goes to the real one.
pub struct DocumentHost {
    shared: Arc<Shared>,
    certificate: Vec<u8>,
}

struct Shared {
    address: SocketAddr,
    is_down: AtomicBool,
    documents: Mutex<BTreeMap<String, Served>>,
    names: Mutex<HashMap<String, Vec<IpAddr>>>,
    heads: Mutex<Vec<String>>,
    lookups: AtomicUsize,
    dials: Mutex<Vec<SocketAddr>>,
}

impl DocumentHost {
    /// A host without documents.
    ///
    /// # Panics
    /// If it cannot be started.
    pub async fn start() -> Self {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["app.example".to_owned()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let names = ["app.example", "impostor.example"];
        let shared = Arc::new(Shared {
            address: listener.local_addr().unwrap(),
            is_down: AtomicBool::new(false),
            documents: Mutex::default(),
            names: Mutex::new(names.map(|name| (name.to_owned(), vec![PUBLIC_ADDRESS])).into()),
            heads: Mutex::default(),
            lookups: AtomicUsize::new(0),
            dials: Mutex::default(),
        });
        let (acceptor, serving) = (TlsAcceptor::from(Arc::new(tls)), shared.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, shared) = (acceptor.clone(), serving.clone());
                // The host ignores clients that disconnect.
                tokio::spawn(async move { shared.answer(&acceptor, stream).await.ok() });
            }
        });
        Self { shared, certificate: cert.der().to_vec() }
    }

    /// Options with which the service fetches from this host only.
    pub fn options(&self) -> Options {
        Options {
            network: self.shared.clone(),
            roots: Roots::Only(vec![self.certificate.clone()]),
            ..Options::default()
        }
    }

    pub fn client_id(&self, path: &str) -> String {
        format!("https://app.example{path}")
    }

    /// Serves a client's document at that path, with an id, a name and the members of `more`. The client uses its first
    /// redirect URI.
    ///
    /// # Panics
    /// If `more` has no redirect URI.
    pub fn describe(&self, path: &str, more: Value) -> OauthClient {
        let id = self.client_id(path);
        let mut document = serde_json::json!({"client_id": id, "client_name": "Test app"});
        if let (Some(document), Value::Object(more)) = (document.as_object_mut(), more) {
            document.extend(more);
        }
        self.put(path, "application/json", "", &document.to_string());
        let redirect_uri = document["redirect_uris"][0].as_str().unwrap().to_owned();
        OauthClient { id, secret: None, redirect_uri }
    }

    /// Serves a body at a path, with more header lines.
    pub fn put(&self, path: &str, content_type: &str, head: &str, body: &str) {
        let length = body.len();
        self.put_raw(
            path,
            format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{head}\r\n{body}"),
        );
    }

    /// Serves a whole response at a path.
    ///
    /// # Panics
    /// If an earlier test panicked while it held the lock.
    pub fn put_raw(&self, path: &str, answer: impl Into<Vec<u8>>) {
        self.shared.documents.lock().unwrap().insert(path.to_owned(), (answer.into(), Duration::ZERO));
    }

    /// Delays the response at a path.
    ///
    /// # Panics
    /// If nothing is served there.
    pub fn delay(&self, path: &str, delay: Duration) {
        self.shared.documents.lock().unwrap().get_mut(path).unwrap().1 = delay;
    }

    /// Resolves a name to these addresses.
    ///
    /// # Panics
    /// If one is not an address.
    pub fn resolve_to(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.shared.names.lock().unwrap().insert(name.to_owned(), addresses);
    }

    /// Makes the host unreachable or reachable.
    pub fn set_down(&self, is_down: bool) {
        self.shared.is_down.store(is_down, Ordering::SeqCst);
    }

    /// The heads of the received requests.
    ///
    /// # Panics
    /// If an earlier test panicked while it held the lock.
    pub fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }

    /// The number of name look-ups.
    pub fn lookups(&self) -> usize {
        self.shared.lookups.load(Ordering::SeqCst)
    }

    /// The addresses that were dialled.
    ///
    /// # Panics
    /// If an earlier test panicked while it held the lock.
    pub fn dials(&self) -> Vec<SocketAddr> {
        self.shared.dials.lock().unwrap().clone()
    }
}

impl Shared {
    async fn answer(&self, acceptor: &TlsAcceptor, stream: TcpStream) -> io::Result<()> {
        let mut stream = acceptor.accept(stream).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.heads.lock().unwrap().push(head);
        let served = self.documents.lock().unwrap().get(&path).cloned();
        let nothing = || (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(), Duration::ZERO);
        let (answer, delay) = served.unwrap_or_else(nothing);
        sleep(delay).await;
        stream.write_all(&answer).await?;
        stream.shutdown().await
    }
}

#[async_trait]
impl Network for Shared {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let found = self.names.lock().unwrap().get(host).cloned();
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such name"))
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.dials.lock().unwrap().push(address);
        if self.is_down.load(Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::ConnectionRefused, "down"));
        }
        TcpStream::connect(self.address).await
    }
}
