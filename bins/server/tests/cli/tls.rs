//! https without a reverse proxy: certificate files, and certificates of an ACME authority.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use http::{HeaderValue, StatusCode, header};
use https_client::{Error, HttpsClient, Limits, Roots};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustix::process::Signal;
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::{Value, json};
use tokio::{net::TcpStream, runtime};

use crate::{
    http::{get_text, send_text},
    program::{Instance, Server},
};

const NAME: &str = "photos.test";
const LIMITS: Limits =
    Limits { max_head_bytes: 64 * 1024, max_headers: 100, step_timeout: Duration::from_secs(10) };
/// How long the order of a certificate may take.
const ORDER_TIMEOUT: Duration = Duration::from_secs(60);

/// The document at a path of a server that has a certificate for this name.
fn get(roots: &Roots, address: &str, name: &str, path: &str) -> Result<Vec<u8>, Error> {
    let client = HttpsClient::new(roots, "test", LIMITS).unwrap();
    let accept = (header::ACCEPT, HeaderValue::from_static("*/*"));
    runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let stream = TcpStream::connect(address).await.unwrap();
        let stream = client.encrypt(name, stream).await?;
        let response = client.get(stream, name, path, accept).await?;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.bytes(1 << 20).await
    })
}

fn issuer(roots: &Roots, address: &str, name: &str) -> Result<String, Error> {
    let body = get(roots, address, name, "/.well-known/oauth-authorization-server")?;
    let metadata: Value = serde_json::from_slice(&body).unwrap();
    Ok(metadata["issuer"].as_str().unwrap().to_owned())
}

/// A certificate that signs itself, and its key, in files beside the data folder.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
    roots: Roots,
}

impl Files {
    fn create(instance: &Instance, names: &[&str]) -> Self {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let pair = rcgen::generate_simple_self_signed(names).unwrap();
        let files = Self {
            certificate: instance.beside("certificate.pem"),
            key: instance.beside("key.pem"),
            roots: Roots::Only(vec![pair.cert.der().to_vec()]),
        };
        fs::write(&files.certificate, pair.cert.pem()).unwrap();
        fs::write(&files.key, pair.signing_key.serialize_pem()).unwrap();
        files
    }

    /// A command with these files.
    fn command<const N: usize>(&self, instance: &Instance, arguments: [&str; N]) -> Command {
        let mut command = instance.command(arguments);
        command.arg("--tls-certificate").arg(&self.certificate).arg("--tls-key").arg(&self.key);
        command
    }
}

#[test]
fn a_server_with_certificate_files_speaks_https() {
    let instance = Instance::new();
    let files = Files::create(&instance, &["127.0.0.1"]);
    let [metrics] = free_addresses();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", &metrics.to_string()];
    let server = Server::start(&mut files.command(&instance, arguments));
    assert_eq!(server.scheme, "https");
    wait(|| {
        get_text(&metrics.to_string(), "/metrics")
            .1
            .contains("\nphotos_certificate_expiry_timestamp_seconds ")
    });
    let expected = format!("https://{}/api", server.address);
    assert_eq!(issuer(&files.roots, &server.address, "127.0.0.1").unwrap(), expected);
    let (status, _, stdout, stderr) = server.stop(Signal::TERM);
    assert!(status.success(), "{stderr}");
    assert!(stdout.contains("  https://127.0.0.1:"), "{stdout}");
}

#[test]
fn http_is_redirected_to_the_base_url() {
    let instance = Instance::new();
    let files = Files::create(&instance, &["127.0.0.1"]);
    let [redirects] = free_addresses();
    let redirects = redirects.to_string();
    let server = Server::start(
        &mut files.command(&instance, ["serve", "--listen", "127.0.0.1:0", "--redirect-listen", &redirects]),
    );
    for path in ["/", "/albums?page=2", "/healthz"] {
        let (status, response) = get_text(&redirects, path);
        assert_eq!(status, 308, "{response}");
        let location = format!("\r\nlocation: https://{}{path}\r\n", server.address);
        assert!(response.contains(&location) && response.contains("no-store"), "{response}");
    }
    for head in [
        "GET / HTTP/1.1\r\nauthorization: Basic eDp5",
        "PUT /dav/a.jpg HTTP/1.1\r\ncontent-length: 1",
        "PROPFIND /dav/ HTTP/1.1",
    ] {
        let (status, response) =
            send_text(&redirects, &format!("{head}\r\nhost: a\r\nconnection: close\r\n\r\n"));
        assert_eq!(status, 403, "{response}");
        assert!(response.contains("without encryption") && !response.contains("\r\nlocation:"), "{response}");
    }
    let (status, _, _, stderr) = server.stop(Signal::TERM);
    assert!(status.success(), "{stderr}");
}

#[test]
fn unusable_settings_and_files_are_named() {
    let instance = Instance::new();
    let files = Files::create(&instance, &[NAME]);
    let failure = |arguments: &[&str]| {
        let mut command = files.command(&instance, ["serve", "--listen", "127.0.0.1:0"]);
        let outcome = crate::program::outcome(command.args(arguments), "");
        assert_ne!(outcome.code, Some(0), "{outcome:?}");
        outcome.stderr
    };
    let http = failure(&["--base-url", "http://photos.test"]);
    assert!(http.contains("base-url must begin with https://"), "{http}");
    let both = failure(&["--base-url", "https://photos.test", "--acme"]);
    assert!(both.contains("acme and tls-certificate exclude each other"), "{both}");
    fs::write(&files.key, "no key").unwrap();
    let key = failure(&[]);
    assert!(key.contains("key.pem has no private key in PEM format"), "{key}");
    let private = instance.run(["serve", "--acme", "--base-url", "https://photos.test"]);
    assert!(private.stderr.contains("issues no certificate for photos.test"), "{private:?}");
    // Other commands share the settings, and need no certificate.
    let mut list = instance.command(["account", "list"]);
    let list =
        crate::program::outcome(list.envs([("PHOTOS_ACME", "on"), ("PHOTOS_ACME_DIRECTORY", "x")]), "");
    assert!(!list.stderr.contains("acme"), "{list:?}");
    let redirects = instance.run(["serve", "--listen", "127.0.0.1:0", "--redirect-listen", "127.0.0.1:0"]);
    assert!(redirects.stderr.contains("base-url does not begin with https://"), "{redirects:?}");
    let half = instance.run(["serve", "--tls-key", "key.pem"]);
    assert!(half.stderr.contains("tls-certificate and tls-key go together"), "{half:?}");
    for base_url in ["https://192.0.2.1", "http://photos.test"] {
        let outcome = instance.run(["serve", "--acme", "--base-url", base_url]);
        assert!(
            outcome.stderr.contains("acme needs the host name for the certificate as base-url"),
            "{outcome:?}"
        );
    }
}

#[test]
fn doctor_checks_the_certificate() {
    let instance = Instance::new();
    let files = Files::create(&instance, &[NAME]);
    let doctor = |url: &str| {
        let mut command = files.command(&instance, ["doctor", "--base-url", url]);
        let outcome = crate::program::outcome(&mut command, "");
        let line = outcome.stdout.lines().find(|line| line.contains("  certificate: "));
        line.unwrap_or_else(|| panic!("{outcome:?}")).to_owned()
    };
    let good = doctor("https://photos.test");
    assert!(good.starts_with("ok    certificate: ") && good.contains(" is valid until "), "{good}");
    let other = doctor("https://pictures.test");
    assert!(
        other.starts_with("FAIL  certificate: ") && other.contains("is not for pictures.test"),
        "{other}"
    );
}

#[test]
fn a_key_that_other_users_can_read_gets_a_warning() {
    let instance = Instance::new();
    let files = Files::create(&instance, &["127.0.0.1"]);
    for (mode, warns) in [(0o644, true), (0o640, true), (0o604, true), (0o600, false), (0o400, false)] {
        fs::set_permissions(&files.key, fs::Permissions::from_mode(mode)).unwrap();
        let doctor = crate::program::outcome(&mut files.command(&instance, ["doctor"]), "").stdout;
        let advice =
            format!("{} has mode {mode:04o}, so other users can read the private key", files.key.display());
        assert_eq!(doctor.contains(&format!("warn  secrets: {advice}")), warns, "{doctor}");
        let server = Server::start(&mut files.command(&instance, ["serve", "--listen", "127.0.0.1:0"]));
        let (_, _, _, stderr) = server.stop(Signal::TERM);
        assert_eq!(stderr.contains(&advice), warns, "{stderr}");
    }
}

/// A process that is killed when dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self(started.unwrap_or_else(|error| panic!("{command:?}: {error}; `cargo xtask test` installs it")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Addresses that nothing listens on now.
fn free_addresses<const N: usize>() -> [SocketAddr; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap())
}

/// Pebble, the test server of Let's Encrypt, with a name server for which each name is this machine.
struct Authority {
    directory: String,
    management: SocketAddr,
    /// The certificate authority of its own address.
    own_roots: Roots,
    own_certificate: PathBuf,
    _processes: [Process; 2],
}

impl Authority {
    /// `port` is where it looks for the servers that order certificates.
    fn start(folder: &Path, port: u16) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = params.self_signed(&key).unwrap();
        let own_key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let own = own.signed_by(&own_key, &Issuer::new(params, key)).unwrap();
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let [listen, management, names] = free_addresses();
        let config = json!({"pebble": {
            "listenAddress": listen.to_string(),
            "managementListenAddress": management.to_string(),
            "certificate": write("pebble.pem", own.pem()),
            "privateKey": write("pebble.key", own_key.serialize_pem()),
            "httpPort": 1,
            "tlsPort": port,
        }});
        let config = write("pebble.json", config.to_string());
        let name_server = Process::start(
            Command::new("pebble-challtestsrv")
                .args(["-dns01", &names.to_string(), "-defaultIPv4", "127.0.0.1", "-defaultIPv6", ""])
                .args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-management", "127.0.0.1:0"]),
        );
        let pebble = Process::start(
            Command::new("pebble")
                .envs([("PEBBLE_VA_NOSLEEP", "1"), ("PEBBLE_WFE_NONCEREJECT", "0")])
                .args(["-dnsserver", &names.to_string(), "-config"])
                .arg(config),
        );
        let authority = Self {
            directory: format!("https://localhost:{}/dir", listen.port()),
            management,
            own_roots: Roots::Only(vec![ca.der().to_vec()]),
            own_certificate: write("ca.pem", ca.pem()),
            _processes: [name_server, pebble],
        };
        wait(|| {
            std::net::TcpStream::connect(management).is_ok() && std::net::TcpStream::connect(listen).is_ok()
        });
        authority
    }

    /// The root of the certificates that it issues.
    fn roots(&self) -> Roots {
        let pem = get(&self.own_roots, &self.management.to_string(), "localhost", "/roots/0").unwrap();
        Roots::Only(vec![CertificateDer::from_pem_slice(&pem).unwrap().to_vec()])
    }
}

fn wait(mut is_done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_done() {
        assert!(began.elapsed() < ORDER_TIMEOUT, "this took too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_acme_authority_issues_the_certificate_and_a_restart_keeps_it() {
    let instance = Instance::new();
    let [address] = free_addresses();
    let listen = address.to_string();
    let authority = Authority::start(instance.beside(".").as_path(), address.port());
    let roots = authority.roots();
    let (directory, own) = (authority.directory.clone(), authority.own_certificate.clone());
    let serve = || {
        let mut command =
            instance.command(["serve", "--listen", &listen, "--base-url", "https://photos.test"]);
        command.args(["--acme", "--acme-directory", &directory]).env("SSL_CERT_FILE", &own);
        Server::start(&mut command)
    };
    let server = serve();
    wait(|| issuer(&roots, &listen, NAME).is_ok());
    assert_eq!(issuer(&roots, &listen, NAME).unwrap(), "https://photos.test/api");
    let (status, _, _, stderr) = server.stop(Signal::TERM);
    assert!(status.success() && stderr.contains("the authority issued a TLS certificate"), "{stderr}");

    let folder = format!("acme/{}", directory.trim_start_matches("https://").replace([':', '/'], "-"));
    let folder = instance.data_dir().join(folder);
    for name in ["account", "photos.test.pem"] {
        let mode = fs::metadata(folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let mut doctor = instance.command(["doctor", "--acme", "--base-url", "https://photos.test"]);
    doctor.args(["--acme-directory", &directory]);
    let doctor = crate::program::outcome(&mut doctor, "");
    assert!(doctor.stdout.contains("ok    certificate: the one in "), "{doctor:?}");

    drop(authority);
    let server = serve();
    wait(|| issuer(&roots, &listen, NAME).is_ok());
    let (_, _, _, stderr) = server.stop(Signal::TERM);
    assert!(stderr.contains("the TLS certificate was loaded"), "{stderr}");
}
