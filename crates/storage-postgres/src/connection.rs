use std::{fmt, fs, path::PathBuf, sync::Arc, time::Duration};

use diesel::{ConnectionError, ConnectionResult, connection::SimpleConnection};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection as _};
use percent_encoding::percent_decode_str;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use tokio_postgres::{
    Client, Config, Connection, NoTls, Socket,
    config::{Host, SslMode, TargetSessionAttrs},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{SqlConnection, runtime::ConnectionRuntime};

/// How long opening a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long sent data may stay unacknowledged before the connection counts as lost.
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(8);
/// A silent connection is probed after this time, then every few seconds.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// The time limits of statements. A statement that waits longer for a lock, or runs longer, fails as unavailable.
pub(crate) const LIMITS: &str = "lock_timeout = '10s'; SET LOCAL statement_timeout = '30s'";
const SESSION_LIMITS: &str = "
SET lock_timeout = '10s'; SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'";

/// An invalid address of a database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    /// It is no URL, or a parameter of it is unknown.
    #[error("{0}")]
    Syntax(String),
    /// A parameter has an unknown value.
    #[error("the parameter {name} of the database URL must be {allowed}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// Its values.
        allowed: &'static str,
    },
    /// It names no database.
    #[error("the database URL names no database; it looks like postgres://user:password@host:5432/database")]
    NoDatabase,
}

/// Where a database is and how to connect to it.
///
/// The parameters are those of libpq's URLs that `tokio_postgres` knows, and:
///
/// - `sslmode`: `disable`, `require` or `verify-full`. The last two mean the same, because the certificate is always
///   verified. By default, connections to this machine are not encrypted, and all others are.
/// - `sslrootcert`: a file with the certificates of trusted authorities (PEM), instead of those of the system.
/// - `statement_cache=off`: for a pooler that gives each transaction another connection and does not track prepared
///   statements.
#[derive(Clone)]
pub struct PostgresUrl {
    config: Config,
    root_certificates: Option<PathBuf>,
    caches_statements: bool,
}

/// Without the password.
impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresUrl").field(&self.to_string()).finish()
    }
}

/// Host and database, for messages: neither user nor password.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            _ => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        write!(f, "postgres://{host}:{port}/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl PostgresUrl {
    /// Parses a URL that begins with `postgres://` or `postgresql://`.
    ///
    /// # Errors
    /// [`InvalidUrl`]; it contains no part of the URL.
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        let syntax = || {
            InvalidUrl::Syntax(
                "the database URL is invalid; it looks like postgres://user:password@host:5432/database"
                    .to_owned(),
            )
        };
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut tls, mut root_certificates, mut caches_statements) = (None, None, true);
        // Other parameters are left as they are written.
        let mut others = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match (name, value) {
                ("sslmode", "disable") => tls = Some(SslMode::Disable),
                ("sslmode", "require" | "verify-full") => tls = Some(SslMode::Require),
                ("sslmode", _) => {
                    return Err(InvalidUrl::Parameter {
                        name: "sslmode",
                        allowed: "disable, require or verify-full",
                    });
                }
                ("sslrootcert", file) => {
                    let file = percent_decode_str(file).decode_utf8().map_err(|_| syntax())?;
                    root_certificates = Some(PathBuf::from(file.into_owned()));
                }
                ("statement_cache", "on") => caches_statements = true,
                ("statement_cache", "off") => caches_statements = false,
                ("statement_cache", _) => {
                    return Err(InvalidUrl::Parameter { name: "statement_cache", allowed: "on or off" });
                }
                _ => others.push(parameter),
            }
        }
        let has_session_attributes = others.iter().any(|other| other.starts_with("target_session_attrs="));
        let rest =
            if others.is_empty() { address.to_owned() } else { format!("{address}?{}", others.join("&")) };
        // The message of an unknown parameter contains only its name.
        let mut config: Config =
            rest.parse().map_err(|error: tokio_postgres::Error| match std::error::Error::source(&error) {
                Some(source) if source.to_string().starts_with("unknown option") => {
                    InvalidUrl::Syntax(format!("the database URL has an {source}"))
                }
                _ => syntax(),
            })?;
        if config.get_dbname().is_none() {
            return Err(InvalidUrl::NoDatabase);
        }
        let tls = tls.unwrap_or(if is_local(&config) { SslMode::Disable } else { SslMode::Require });
        config
            .ssl_mode(tls)
            .application_name("photos")
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES)
            .tcp_user_timeout(UNACKNOWLEDGED_TIMEOUT);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        // Connects only to a server that accepts writes. A standby does not, even if it was the primary before.
        if !has_session_attributes {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Ok(Self { config, root_certificates, caches_statements })
    }

    /// Whether statements stay prepared from one transaction to the next.
    pub(crate) const fn caches_statements(&self) -> bool {
        self.caches_statements
    }

    /// Opens a connection. Blocks; to be called on a blocking thread of tokio.
    pub(crate) fn connect(&self) -> ConnectionResult<SqlConnection> {
        let connecting = async {
            if self.config.get_ssl_mode() == SslMode::Disable {
                let (client, connection) = self.config.connect(NoTls).await.map_err(|error| bad(&error))?;
                set_up(client, connection).await
            } else {
                let tls = MakeRustlsConnect::new(self.tls()?);
                let (client, connection) =
                    self.config.connect(tls).await.map_err(|error| with_tls_hint(bad(&error)))?;
                set_up(client, connection).await
            }
        };
        let limited = async {
            // The limit of the configuration covers only the connection to the host, not the greeting of the server.
            let of_each_host = self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
            let hosts = u32::try_from(self.config.get_hosts().len().max(1)).unwrap_or(1);
            tokio::time::timeout(of_each_host.saturating_mul(hosts) + CONNECT_TIMEOUT, connecting)
                .await
                .unwrap_or_else(|_| Err(Failed::because("the server did not answer")))
        };
        let mut connection =
            ConnectionRuntime::open(limited, SqlConnection::from).map_err(|failed| failed.0)?;
        if self.caches_statements {
            SimpleConnection::batch_execute(&mut connection, SESSION_LIMITS)
                .map_err(ConnectionError::CouldntSetupConfiguration)?;
        } else {
            diesel::Connection::set_prepared_statement_cache_size(
                &mut connection,
                diesel::connection::CacheSize::Disabled,
            );
        }
        Ok(connection)
    }

    fn tls(&self) -> Result<ClientConfig, Failed> {
        let mut roots = RootCertStore::empty();
        match &self.root_certificates {
            Some(file) => {
                let unreadable =
                    |reason: String| ConnectionError::BadConnection(format!("{}: {reason}", file.display()));
                let pem = fs::read(file).map_err(|error| unreadable(error.to_string()))?;
                for certificate in CertificateDer::pem_slice_iter(&pem) {
                    let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
                    roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Failed::because(&error.to_string()))?;
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }
}

/// Says what to do about an error of an encrypted connection.
fn with_tls_hint(failed: Failed) -> Failed {
    let message = failed.0.to_string();
    if message.contains("does not support TLS") {
        let hint = "add sslmode=disable to the database URL if the network to the server is private";
        return Failed::because(&format!("{message}; {hint}"));
    }
    if message.contains("certificate") {
        let hint = "add sslrootcert=FILE to the database URL, with the certificate of the authority that signed that of \
                    the server";
        return Failed::because(&format!("{message}; {hint}"));
    }
    failed
}

/// Why no connection was opened.
struct Failed(ConnectionError);

impl Failed {
    fn because(reason: &str) -> Self {
        Self(ConnectionError::BadConnection(reason.to_owned()))
    }
}

impl From<ConnectionError> for Failed {
    fn from(error: ConnectionError) -> Self {
        Self(error)
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::because(&error.to_string())
    }
}

/// Makes a connection from a client. This sets its time zone and encoding, in one transaction, so that a pooler
/// executes these statements on the connection on which they were prepared.
async fn set_up<S>(client: Client, connection: Connection<Socket, S>) -> Result<AsyncPgConnection, Failed>
where
    S: tokio_postgres::tls::TlsStream + Unpin + Send + 'static,
{
    // The task of the connection starts here, so the statement before is sent by it, too.
    let begun = async { client.batch_execute("BEGIN").await.map(|()| client) };
    let mut connection = connection;
    let client = tokio::select! {
        begun = begun => begun.map_err(|error| bad(&error))?,
        ended = &mut connection => {
            return Err(match ended {
                Err(error) => bad(&error),
                Ok(()) => Failed::because("the server closed the connection"),
            });
        }
    };
    let mut opened =
        AsyncPgConnection::try_from_client_and_connection(client, connection).await.map_err(Failed)?;
    opened.batch_execute("COMMIT").await.map_err(|error| Failed::because(&error.to_string()))?;
    Ok(opened)
}

/// Whether all hosts are this machine.
fn is_local(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(std::net::IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(host) => {
            host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

/// The error and its causes; the messages of `tokio_postgres` do not contain the causes.
fn bad(error: &tokio_postgres::Error) -> Failed {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(reason) = cause {
        message = format!("{message}: {reason}");
        cause = reason.source();
    }
    Failed::because(&message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> PostgresUrl {
        PostgresUrl::parse(url).unwrap()
    }

    #[test]
    fn connections_to_other_machines_are_encrypted() {
        let mode = |url| parse(url).config.get_ssl_mode();
        assert_eq!(mode("postgres://u:p@127.0.0.1/photos"), SslMode::Disable);
        assert_eq!(mode("postgres://u@localhost:6543/photos"), SslMode::Disable);
        assert_eq!(mode("postgres://u@%2Ftmp%2Fsocket/photos"), SslMode::Disable);
        assert_eq!(mode("postgres:///photos?host=/tmp&user=u"), SslMode::Disable);
        assert_eq!(mode("postgresql://u:p@db.example/photos"), SslMode::Require);
        assert_eq!(mode("postgresql://u:p@db.example/photos?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://u:p@127.0.0.1/photos?sslmode=verify-full"), SslMode::Require);
    }

    #[test]
    fn several_hosts_and_options_are_passed_on() {
        let url =
            parse("postgres://u@h1:5432,h2:5433/photos?options=-c%20search_path%3Dpublic&sslmode=disable");
        assert_eq!(url.config.get_hosts().len(), 2);
        assert_eq!(url.config.get_ports(), [5432, 5433]);
        assert_eq!(url.config.get_options(), Some("-c search_path=public"));
        assert_eq!(url.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        let any = parse("postgres://u@h/photos?target_session_attrs=any");
        assert_eq!(any.config.get_target_session_attrs(), TargetSessionAttrs::Any);
        let remote = parse("postgres:///photos?hostaddr=203.0.113.5&user=u");
        assert_eq!(remote.config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn own_parameters_are_read() {
        let url = parse("postgres://u@h/photos?statement_cache=off&sslrootcert=%2Fca.pem&connect_timeout=3");
        assert!(!url.caches_statements());
        assert_eq!(url.root_certificates, Some(PathBuf::from("/ca.pem")));
        assert_eq!(url.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert!(parse("postgres://u@h/photos").caches_statements());
    }

    #[test]
    fn invalid_urls_are_refused_without_their_password() {
        for url in [
            "postgres://u:secret@h/photos?statement_cache=maybe",
            "postgres://u:secret@h/photos?sslmode=prefer",
            "postgres://u:secret@h/photos?pool=3",
            "postgres://u:secret@h:99999/photos",
            "postgres://u:secret@h",
            "postgres://u:secret@h/",
            "mysql://u:secret@h/photos",
        ] {
            let error = PostgresUrl::parse(url).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn the_password_is_not_displayed() {
        let url = parse("postgres://ann:secret@db.example:6000/photos");
        assert_eq!(url.to_string(), "postgres://db.example:6000/photos");
        assert!(!format!("{url:?}").contains("secret"));
    }
}
