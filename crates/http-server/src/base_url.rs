use url::{Host, Url};

/// The public URL of the service. Every URL that the service writes starts with it; none is taken from a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    is_loopback: bool,
    is_https: bool,
}

/// The text is not a base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the base URL must be http:// or https:// and a host without a path, such as https://photos.example.org"
)]
pub struct InvalidBaseUrl;

impl BaseUrl {
    /// Parses an http or https URL without path, query, fragment and user. A trailing slash is ignored.
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

    /// The URL without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host, with the port unless it is the scheme's default.
    pub fn authority(&self) -> &str {
        self.text.split_once("://").map_or("", |(_, authority)| authority)
    }

    /// Whether the scheme is https.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Whether the host is a loopback name or address, which only this machine can reach.
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }
}

/// Whether a name is `localhost` or a subdomain of it (RFC 6761).
fn is_loopback_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
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
    fn loopback_urls_are_recognised() {
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
