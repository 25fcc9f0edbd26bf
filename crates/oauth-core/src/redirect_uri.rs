//! The rules for redirect URIs. They apply to the text, because clients and browsers parse unusual URIs differently.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The longest redirect URI, in characters.
pub const MAX_REDIRECT_URI_CHARS: usize = 2000;
/// The message for a URI longer than [`MAX_REDIRECT_URI_CHARS`].
pub(crate) const TOO_LONG: &str = "it is longer than 2,000 characters";

/// Why a redirect URI is refused; a message for the client's developer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefusedRedirectUri(&'static str);

/// Schemes that the browser or the operating system handles itself: the handler may run or open files, make calls, send
/// mail, mount a share or connect to a host, and no app receives the response. `*` matches any suffix.
const REFUSED_SCHEMES: [&str; 140] = [
    "about",
    "acap",
    "addbook",
    "admin",
    "afp",
    "android-app",
    "app-prefs",
    "app-settings",
    "applescript",
    "appstream",
    "apt",
    "bingmaps",
    "bitcoin",
    "blob",
    "brave",
    "calculator",
    "callto",
    "chrome",
    "chrome-devtools",
    "chrome-error",
    "chrome-native",
    "chrome-search",
    "chrome-untrusted",
    "cid",
    "cifs",
    "cmd",
    "computer",
    "conf",
    "content",
    "data",
    "dav",
    "davs",
    "devtools",
    "dict",
    "dns",
    "ed2k",
    "edge",
    "facetime",
    "facetime-audio",
    "feed",
    "file",
    "filesystem",
    "finger",
    "fish",
    "ftp",
    "ftps",
    "geo",
    "git",
    "googlechrome*",
    "gopher",
    "hcp",
    "help",
    "im",
    "imap",
    "imaps",
    "info",
    "intent",
    "irc",
    "ircs",
    "itms*",
    "its",
    "jar",
    "java",
    "javascript",
    "jnlp",
    "ldap",
    "ldapi",
    "ldaps",
    "livescript",
    "macappstore",
    "macappstores",
    "magnet",
    "mailto",
    "man",
    "maps",
    "market",
    "matrix",
    "message",
    "mhtml",
    "microsoft-*",
    "mid",
    "mk",
    "mms",
    "mmsh",
    "mmsto",
    "mocha",
    "moz-icon",
    "ms-*",
    "news",
    "nfs",
    "nntp",
    "onenote",
    "openpgp4fpr",
    "opera",
    "outlook",
    "package",
    "pop",
    "prefs",
    "rdp",
    "res",
    "resource",
    "rlogin",
    "rtmp",
    "rtsp",
    "rtspu",
    "search",
    "search-ms",
    "sftp",
    "shell",
    "shortcuts",
    "sip",
    "sips",
    "skype",
    "smb",
    "sms",
    "smsto",
    "snews",
    "ssh",
    "svn*",
    "tel",
    "telnet",
    "tftp",
    "tn3270",
    "urn",
    "vbscript",
    "view-source",
    "vivaldi",
    "vnc",
    "voicemail",
    "webcal*",
    "windowsdefender",
    "workflow",
    "ws",
    "wss",
    "wtai",
    "wyciwyg",
    "x-apple*",
    "x-man-page",
    "x-safari-*",
    "xmpp",
];

/// The loopback hosts (RFC 8252, section 7.3), the only ones allowed with `http`.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Accepts `https` with a plain host, `http` with a loopback host, and custom schemes of apps.
///
/// # Errors
/// The first rule that it breaks.
///
/// ```
/// assert!(oauth_core::check_redirect_uri("http://127.0.0.1:33418/").is_ok());
/// assert!(oauth_core::check_redirect_uri("http://127.0.0.1.evil.example/").is_err());
/// ```
pub fn check_redirect_uri(uri: &str) -> Result<(), RefusedRedirectUri> {
    check_characters(uri)?;
    let parts = Parts::of(uri).ok_or(RefusedRedirectUri("it does not begin with a scheme"))?;
    let scheme = parts.scheme.to_ascii_lowercase();
    if REFUSED_SCHEMES.iter().any(|pattern| matches_scheme(&scheme, pattern)) {
        return Err(RefusedRedirectUri(
            "its scheme is refused, because the browser or the operating system handles it itself",
        ));
    }
    let host = parts.authority.map(plain_host).transpose()?;
    match (scheme.as_str(), host) {
        ("http" | "https", None | Some("")) => Err(RefusedRedirectUri("it has no host"))?,
        ("http", Some(host)) if !LOOPBACK_HOSTS.contains(&host) => {
            Err(RefusedRedirectUri("http is for localhost, 127.0.0.1 and [::1] only; use https"))?;
        }
        ("http" | "https", Some(_)) => {}
        (_, host) => {
            let is_bare = host.is_none_or(str::is_empty) && parts.path.is_empty();
            if is_bare && !scheme.contains('.') {
                return Err(RefusedRedirectUri("a scheme without a dot must be followed by a host or path"));
            }
        }
    }
    // A parser with the rules of browsers must find the same scheme and host.
    let parsed = Url::parse(uri).map_err(|_| RefusedRedirectUri("it is not a URL"))?;
    let same_host = host.unwrap_or_default().eq_ignore_ascii_case(parsed.host_str().unwrap_or_default());
    if parsed.scheme() != scheme || !same_host {
        return Err(RefusedRedirectUri("its host is ambiguous"));
    }
    Ok(())
}

/// Whether a scheme matches an entry of [`REFUSED_SCHEMES`].
fn matches_scheme(scheme: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => scheme.starts_with(prefix),
        None => scheme == pattern,
    }
}

/// Allows the characters of RFC 3986, without a fragment.
fn check_characters(uri: &str) -> Result<(), RefusedRedirectUri> {
    if uri.is_empty() {
        return Err(RefusedRedirectUri("it is empty"));
    }
    if uri.chars().count() > MAX_REDIRECT_URI_CHARS {
        return Err(RefusedRedirectUri(TOO_LONG));
    }
    if uri.contains('#') {
        return Err(RefusedRedirectUri("it has a fragment"));
    }
    if !uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)) {
        return Err(RefusedRedirectUri("it has a character that is not allowed in a URI"));
    }
    let escapes = uri.split('%').skip(1);
    let is_escape = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !escapes.into_iter().all(is_escape) {
        return Err(RefusedRedirectUri("it has a % without two hexadecimal digits"));
    }
    Ok(())
}

/// A URI split at its delimiters (RFC 3986, section 3).
#[derive(Debug, Clone, Copy)]
struct Parts<'a> {
    scheme: &'a str,
    authority: Option<&'a str>,
    path: &'a str,
}

impl<'a> Parts<'a> {
    /// `None` for a reference without a scheme.
    fn of(uri: &'a str) -> Option<Self> {
        let (scheme, rest) = uri.split_once(':')?;
        let mut letters = scheme.bytes();
        let is_scheme = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme {
            return None;
        }
        let hierarchy = rest.split('?').next().unwrap_or_default();
        let Some(named) = hierarchy.strip_prefix("//") else {
            return Some(Self { scheme, authority: None, path: hierarchy });
        };
        let (authority, path) = named.split_at(named.find('/').unwrap_or(named.len()));
        Some(Self { scheme, authority: Some(authority), path })
    }

    fn is_web(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https") || self.scheme.eq_ignore_ascii_case("http")
    }
}

/// The host of an authority that consists of a plain host and an optional port.
fn plain_host(authority: &str) -> Result<&str, RefusedRedirectUri> {
    if authority.contains('@') {
        return Err(RefusedRedirectUri("it has a user name"));
    }
    let end_of_host = if authority.starts_with('[') {
        authority.find(']').map_or(authority.len(), |at| at + 1)
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, port) = authority.split_at(end_of_host);
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return Err(RefusedRedirectUri("its port is not a number up to 65535"));
    }
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']').and_then(|address| address.parse::<Ipv6Addr>().ok());
        // An IPv4-mapped address would be a second name for the same host.
        return match address {
            Some(address) if address.to_ipv4_mapped().is_none() => Ok(host),
            _ => Err(RefusedRedirectUri("its host is not a valid IPv6 address")),
        };
    }
    if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
        return Err(RefusedRedirectUri(
            "its host has characters other than letters, digits, '-', '_' and '.'",
        ));
    }
    // To browsers, a host that ends in a number is an IPv4 address, in many spellings. Only the usual one is accepted.
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|first: char| first.is_ascii_digit())
        && (last.bytes().all(|byte| byte.is_ascii_digit()) || last.to_ascii_lowercase().starts_with("0x"));
    if is_number && host.parse::<Ipv4Addr>().is_err() {
        return Err(RefusedRedirectUri("its host is an IPv4 address in an unusual spelling"));
    }
    Ok(host)
}

/// The destination of a redirect URI, to show to the user: the host with its port, or `scheme:` for a custom scheme.
pub(crate) fn redirect_host(uri: &str) -> String {
    match Parts::of(uri) {
        Some(parts) if parts.is_web() => parts.authority.unwrap_or_default().to_owned(),
        Some(parts) => format!("{}:", parts.scheme),
        None => String::new(),
    }
}

/// The destination of a redirect URI as a source in a Content-Security-Policy: an origin or a scheme. A policy cannot
/// contain an IPv6 address, so its scheme is used.
pub(crate) fn csp_source(uri: &str) -> String {
    match Parts::of(uri) {
        Some(parts) if parts.is_web() => match parts.authority {
            Some(authority) if !authority.starts_with('[') => format!("{}://{authority}", parts.scheme),
            _ => format!("{}:", parts.scheme),
        },
        Some(parts) => format!("{}:", parts.scheme),
        None => String::new(),
    }
}

/// Whether a redirect URI has a loopback host, where any program on the device can listen, or a custom scheme, which
/// any program can claim.
pub(crate) fn stays_on_device(uri: &str) -> bool {
    is_loopback(uri) || !Parts::of(uri).is_some_and(|parts| parts.is_web())
}

/// Whether a redirect URI has a loopback host, in any spelling.
fn is_loopback(uri: &str) -> bool {
    let Ok(url) = Url::parse(uri) else { return false };
    if !matches!(url.scheme(), "http" | "https") {
        return false;
    }
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

/// Whether two loopback URIs differ only in their port: a native app listens on any free port (RFC 8252, section 7.3).
/// Both have passed [`check_redirect_uri`].
pub(crate) fn differs_only_in_port(uri: &str, other: &str) -> bool {
    matches!((without_port(uri), without_port(other)), (Some(one), Some(two)) if one == two)
}

/// The parts before and after the port of an http URI with a loopback host.
fn without_port(uri: &str) -> Option<(&str, &str)> {
    let authority = Parts::of(uri).filter(|parts| parts.scheme.eq_ignore_ascii_case("http"))?.authority?;
    let host = plain_host(authority).ok().filter(|host| LOOPBACK_HOSTS.contains(host))?;
    let host_at = "http://".len();
    Some((uri.get(..host_at + host.len())?, uri.get(host_at + authority.len()..)?))
}

/// Appends form-encoded parameters to the query of a URI, whose own bytes stay unchanged (RFC 6749, section 4.1.2).
pub(crate) fn with_parameters(uri: &str, parameters: &[(&str, &str)]) -> String {
    let separator = match uri.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    let encoded = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    format!("{uri}{separator}{encoded}")
}

#[cfg(test)]
mod tests;
