use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
    time::Duration,
};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use url::{Host, Url};

use crate::s3_failure::S3Failure;

/// The region when none is configured.
const DEFAULT_REGION: &str = "us-east-1";

/// The environment variables that [`S3Credentials`] reads: keys, or the addresses at which a container or an instance
/// gets keys.
pub const S3_CREDENTIAL_VARIABLES: [&str; 12] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_ENDPOINT_URL_STS",
    "AWS_METADATA_ENDPOINT",
    "AWS_IMDSV1_FALLBACK",
];

/// A bucket, and the prefix of all keys in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Location {
    pub bucket: String,
    /// The prefix without slashes at its ends; may be empty.
    pub prefix: String,
}

/// Why a URL is no location. Messages do not quote it, because it may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be s3://BUCKET or s3://BUCKET/PREFIX, without a user name, password or query")]
pub struct InvalidLocation;

impl FromStr for S3Location {
    type Err = InvalidLocation;

    /// Parses `s3://BUCKET/PREFIX`.
    fn from_str(url: &str) -> Result<Self, InvalidLocation> {
        let path = url.strip_prefix("s3://").ok_or(InvalidLocation)?;
        let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
        let prefix = prefix.trim_matches('/');
        let is_bucket = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        // Other characters are escaped differently by each server.
        let is_key = |byte: u8| is_bucket(byte) || byte == b'/';
        let is_relative = |part: &str| matches!(part, "" | "." | "..");
        if bucket.is_empty()
            || is_relative(bucket)
            || !bucket.bytes().all(is_bucket)
            || !prefix.bytes().all(is_key)
            || (!prefix.is_empty() && prefix.split('/').any(is_relative))
        {
            return Err(InvalidLocation);
        }
        Ok(Self { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

/// The URL of an S3-compatible server, without a bucket. It is https, or http to a private host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Endpoint(Url);

/// Why a URL is no endpoint. Messages do not quote it, because it may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEndpoint {
    /// It is not the root of an http or https server.
    #[error("must be a URL such as https://s3.example.org, without a path, user name, password or query")]
    Url,
    /// Photos and signatures would cross the internet without encryption.
    #[error("must begin with https://, because its host is not on this machine or in a private network")]
    Unencrypted,
}

impl FromStr for S3Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, InvalidEndpoint> {
        let url = Url::parse(text).map_err(|_| InvalidEndpoint::Url)?;
        let has_more = url.path() != "/"
            || !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some();
        let host = url.host().filter(|_| !has_more).ok_or(InvalidEndpoint::Url)?;
        match url.scheme() {
            "https" => {}
            "http" if is_private(&host) => {}
            "http" => return Err(InvalidEndpoint::Unencrypted),
            _ => return Err(InvalidEndpoint::Url),
        }
        Ok(Self(url))
    }
}

impl S3Endpoint {
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }
}

impl fmt::Display for S3Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

/// Whether a host is this machine or can only be in a private network.
fn is_private(host: &Host<&str>) -> bool {
    /// Names that are reserved for private networks (RFC 6761, 6762, 8375, ICANN's `internal`), and what routers,
    /// Kubernetes and Docker use.
    const SUFFIXES: [&str; 7] = [".localhost", ".local", ".internal", ".home.arpa", ".lan", ".svc", ".test"];
    match host {
        Host::Ipv4(address) => is_private_address(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_private_address(IpAddr::V6(*address)),
        Host::Domain(name) => !name.contains('.') || SUFFIXES.iter().any(|suffix| name.ends_with(suffix)),
    }
}

fn is_private_address(address: IpAddr) -> bool {
    let is_private_v6 = |v6: Ipv6Addr| v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local();
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => is_private_v6(v6),
    }
}

/// How this process signs in: with keys, or with what its container or instance provides. `Debug` does not show values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct S3Credentials(Vec<(&'static str, String)>);

impl S3Credentials {
    /// Reads [`S3_CREDENTIAL_VARIABLES`].
    pub fn from_variables<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        let values = S3_CREDENTIAL_VARIABLES.iter();
        Self(values.filter_map(|name| Some((*name, variable(name)?.to_owned()))).collect())
    }

    pub fn key(id: &str, secret: &str) -> Self {
        Self::from_variables(|name| match name {
            "AWS_ACCESS_KEY_ID" => Some(id),
            "AWS_SECRET_ACCESS_KEY" => Some(secret),
            _ => None,
        })
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == name)
    }

    pub(super) fn check(&self) -> Result<(), S3Failure> {
        if self.has("AWS_ACCESS_KEY_ID") == self.has("AWS_SECRET_ACCESS_KEY") {
            return Ok(());
        }
        Err(S3Failure::HalfKey)
    }

    pub(super) fn add_to(&self, builder: AmazonS3Builder) -> AmazonS3Builder {
        self.0.iter().fold(builder, |builder, (name, value)| {
            match AmazonS3ConfigKey::from_str(&name.to_ascii_lowercase()) {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            }
        })
    }
}

impl fmt::Debug for S3Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// How long requests may take, and how often they are retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct S3Limits {
    /// Time-out for opening a connection.
    pub connect: Duration,
    /// Time-out for a request that only reads, while no byte is sent or received. It fails after at most twice this
    /// time.
    pub read_stall: Duration,
    /// The same for a request that writes, which also waits for the disks of the server.
    pub write_stall: Duration,
    /// Time-out for the answer to a reading request, including all retries.
    pub answer: Duration,
    /// Maximum number of retries of a request.
    pub retries: usize,
    /// The pause before the first retry. Each pause is up to twice as long as the one before.
    pub backoff: Duration,
    /// A request is not retried when this time has passed since the first attempt.
    pub retry_within: Duration,
}

impl Default for S3Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            read_stall: Duration::from_secs(8),
            write_stall: Duration::from_secs(20),
            answer: Duration::from_secs(10),
            retries: 3,
            backoff: Duration::from_millis(100),
            retry_within: Duration::from_secs(60),
        }
    }
}

/// An S3 store and how to use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Options {
    pub location: S3Location,
    /// The server; `None` means AWS.
    pub endpoint: Option<S3Endpoint>,
    /// The region that requests are signed for; `None` means us-east-1.
    pub region: Option<String>,
    /// Whether the bucket is in the path of URLs; otherwise it is in the host name. `None` means that it is in the host
    /// name on AWS only.
    pub path_style: Option<bool>,
    /// How this process signs in.
    pub credentials: S3Credentials,
    /// Time-outs and retries.
    pub limits: S3Limits,
}

impl S3Options {
    /// A bucket with default settings.
    pub fn new(location: S3Location, credentials: S3Credentials) -> Self {
        let limits = S3Limits::default();
        Self { location, endpoint: None, region: None, path_style: None, credentials, limits }
    }

    pub(super) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or(DEFAULT_REGION)
    }

    pub(super) fn path_style(&self) -> bool {
        self.path_style.unwrap_or(self.endpoint.is_some())
    }

    /// The URL of the server, with the bucket if that is in the host name.
    pub(super) fn endpoint_url(&self) -> Option<String> {
        let endpoint = self.endpoint.as_ref()?;
        let shown = endpoint.to_string();
        match shown.split_once("://") {
            Some((scheme, host)) if !self.path_style() => {
                Some(format!("{scheme}://{}.{host}", self.location.bucket))
            }
            _ => Some(shown),
        }
    }
}

impl fmt::Display for S3Options {
    /// The bucket and the server, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let S3Location { bucket, prefix } = &self.location;
        write!(f, "s3://{bucket}")?;
        if !prefix.is_empty() {
            write!(f, "/{prefix}")?;
        }
        match &self.endpoint {
            Some(endpoint) => write!(f, " at {endpoint}"),
            None => write!(f, " in {}", self.region()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn locations_are_a_bucket_and_a_prefix() {
        for (url, expect) in [
            ("s3://photos", Some(("photos", ""))),
            ("s3://photos/", Some(("photos", ""))),
            ("s3://my.photos-1/a/b/", Some(("my.photos-1", "a/b"))),
            ("s3:photos", None),
            ("s3://", None),
            ("s3:///a", None),
            ("s3://user:pass@photos", None),
            ("s3://photos/a?b", None),
            ("s3://photos/a//b", None),
            ("s3://photos/../b", None),
            ("s3://photos/a b", None),
            ("file:photos", None),
        ] {
            let location = url.parse::<S3Location>().ok();
            let found = location.as_ref().map(|it| (it.bucket.as_str(), it.prefix.as_str()));
            assert_eq!(found, expect, "{url}");
        }
    }

    #[test]
    fn only_private_hosts_may_be_reached_without_encryption() {
        for url in [
            "https://s3.example.org",
            "https://1.2.3.4:9000/",
            "http://127.0.0.1:3900",
            "http://[::1]:3900",
            "http://[fd00::1]",
            "http://10.1.2.3",
            "http://172.31.0.1",
            "http://192.168.0.9:9000",
            "http://localhost:9000",
            "http://garage:3900",
            "http://minio.storage.svc",
            "http://nas.local",
        ] {
            assert!(url.parse::<S3Endpoint>().is_ok(), "{url}");
        }
        for url in ["http://s3.example.org", "http://1.2.3.4", "http://[2001:db8::1]", "http://172.32.0.1"] {
            assert_eq!(url.parse::<S3Endpoint>(), Err(InvalidEndpoint::Unencrypted), "{url}");
        }
        for url in [
            "",
            "s3.example.org",
            "ftp://localhost",
            "https://k:hunter2@h",
            "https://h/bucket",
            "https://h?a",
        ] {
            let error = url.parse::<S3Endpoint>().unwrap_err();
            assert_eq!(error, InvalidEndpoint::Url, "{url}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn the_bucket_is_in_the_host_name_or_in_the_path() {
        let mut options = S3Options::new("s3://b/p".parse().unwrap(), S3Credentials::default());
        assert!(!options.path_style() && options.endpoint_url().is_none());
        assert_eq!(options.to_string(), "s3://b/p in us-east-1");
        options.endpoint = Some("http://localhost:9000/".parse().unwrap());
        assert_eq!(options.endpoint_url().as_deref(), Some("http://localhost:9000"));
        assert_eq!(options.to_string(), "s3://b/p at http://localhost:9000");
        options.path_style = Some(false);
        assert_eq!(options.endpoint_url().as_deref(), Some("http://b.localhost:9000"));
    }

    #[test]
    fn credentials_are_not_shown_and_every_variable_is_known_to_the_client() {
        let credentials = S3Credentials::from_variables(|_| Some("hunter2"));
        let shown = format!("{credentials:?}");
        assert!(shown.contains("AWS_SECRET_ACCESS_KEY") && !shown.contains("hunter2"), "{shown}");
        for name in S3_CREDENTIAL_VARIABLES {
            assert!(AmazonS3ConfigKey::from_str(&name.to_ascii_lowercase()).is_ok(), "{name}");
        }
        let half = S3Credentials::from_variables(|name| (name == "AWS_ACCESS_KEY_ID").then_some("id"));
        assert!(half.check().is_err() && credentials.check().is_ok());
    }

    proptest! {
        #[test]
        fn no_text_panics_and_locations_round_trip(text in "(s3://)?[a-z./:@ -]{0,20}") {
            if let Ok(location) = text.parse::<S3Location>() {
                let shown = format!("s3://{}/{}", location.bucket, location.prefix);
                prop_assert_eq!(shown.parse::<S3Location>(), Ok(location));
            }
            let _ = text.parse::<S3Endpoint>();
        }
    }
}
