use std::time::Duration;

use ipnet::IpNet;
use url::{Host, Url};

use crate::oauth::RateLimit;

/// Where the service is reached from outside. Every URL it writes begins so; none is taken from a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    is_loopback: bool,
    is_https: bool,
}

/// The base URL is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the base URL must be http:// or https:// with a host and nothing behind it, such as https://photos.example.org"
)]
pub struct InvalidBaseUrl;

impl BaseUrl {
    /// Takes an http or https URL without path, query, fragment and user; a trailing slash does not count.
    ///
    /// # Errors
    /// [`InvalidBaseUrl`].
    pub fn parse(text: &str) -> Result<Self, InvalidBaseUrl> {
        let url = Url::parse(text).map_err(|_| InvalidBaseUrl)?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let anonymous = url.username().is_empty() && url.password().is_none();
        if !matches!(url.scheme(), "http" | "https") || !bare || !anonymous {
            return Err(InvalidBaseUrl);
        }
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => is_loopback_name(name),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return Err(InvalidBaseUrl),
        };
        Ok(Self { text: url.origin().ascii_serialization(), is_loopback, is_https: url.scheme() == "https" })
    }

    /// The URL without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its host, with the port unless that is the scheme's default.
    pub fn authority(&self) -> &str {
        self.text.split_once("://").map_or("", |(_, authority)| authority)
    }

    /// Whether browsers reach it over TLS.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Whether only this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }
}

/// `localhost` and what lies below it (RFC 6761).
pub fn is_loopback_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// What one client may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// How many connections are open at once. Once three quarters are, one address may hold half (of IPv6, one /64;
    /// trusted proxies any number). When all are taken the oldest one that waits for its client is closed; while none
    /// does, further ones wait.
    pub connections: usize,
    /// How long a client may take to send the head of a request, and may stay idle between two.
    pub head_timeout: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a client may take nothing of its response; the bytes that it takes earn it more time.
    pub write_timeout: Duration,
    /// How fast a client must take a response on the average, in bytes a second.
    pub min_response_bytes_per_s: u32,
    /// How long running requests may go on after shutdown began.
    pub drain_timeout: Duration,
    /// How often clients may be registered from one address; of IPv6, one /64.
    pub registrations: RateLimit,
    /// How often clients may be registered from one network: an IPv4 /24 or an IPv6 /48.
    pub registrations_of_network: RateLimit,
    /// How often tokens may be asked for or revoked from one address. Hosted apps come from few addresses.
    pub token_requests: RateLimit,
    /// How often the same code or refresh token may be presented.
    pub same_token: RateLimit,
    /// How often one address may name an app that describes itself elsewhere, so that its document has to be fetched.
    pub client_documents: RateLimit,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            min_response_bytes_per_s: 512,
            drain_timeout: Duration::from_secs(10),
            registrations: RateLimit { burst: 1_000, per_minute: 30 },
            registrations_of_network: RateLimit { burst: 2_000, per_minute: 60 },
            token_requests: RateLimit { burst: 20_000, per_minute: 600_000 },
            same_token: RateLimit { burst: 200, per_minute: 60 },
            client_documents: RateLimit { burst: 30, per_minute: 10 },
        }
    }
}

/// How the surface is set up.
#[derive(Debug, Clone)]
pub struct WebConfig {
    /// Where the service is reached from outside.
    pub base_url: BaseUrl,
    /// The proxies whose word on the client's address is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// What one client may cost.
    pub limits: HttpLimits,
    /// How the documents are fetched in which apps describe themselves; `None` when no app may do that. Only a test has
    /// other options than the default.
    pub client_documents: Option<client_documents::Options>,
}

impl WebConfig {
    /// A set-up without proxies and with the default limits.
    pub fn new(base_url: BaseUrl) -> Self {
        Self {
            base_url,
            trusted_proxies: Vec::new(),
            limits: HttpLimits::default(),
            client_documents: Some(client_documents::Options::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_bare_origins() {
        let text = |url| BaseUrl::parse(url).map(|base| base.as_str().to_owned());
        assert_eq!(text("http://127.0.0.1:8080/"), Ok("http://127.0.0.1:8080".into()));
        assert_eq!(text("HTTPS://Photos.Example.org:443"), Ok("https://photos.example.org".into()));
        for (url, authority) in [
            ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
            ("https://Photos.example.org:443", "photos.example.org"),
            ("http://[::1]:80", "[::1]"),
        ] {
            assert_eq!(BaseUrl::parse(url).unwrap().authority(), authority);
        }
        for bad in
            ["", "photos", "ftp://a", "http://a/b", "http://a?b", "http://a#b", "http://u@a", "http://"]
        {
            assert_eq!(text(bad), Err(InvalidBaseUrl), "{bad}");
        }
    }

    #[test]
    fn loopback_is_recognised() {
        for (url, expect) in [
            ("http://localhost:1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:8080", true),
            ("http://localhost.evil.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(BaseUrl::parse(url).unwrap().is_loopback(), expect, "{url}");
        }
    }
}
