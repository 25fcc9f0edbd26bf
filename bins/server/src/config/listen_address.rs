use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use serde::Deserialize;

/// Where the server listens: an IP address or host name, and a port.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum ListenAddress {
    Socket(SocketAddr),
    Name { host: String, port: u16 },
}

impl ListenAddress {
    /// The same host with another port.
    pub(crate) fn with_port(&self, port: u16) -> Self {
        match self {
            Self::Socket(address) => Self::Socket(SocketAddr::new(address.ip(), port)),
            Self::Name { host, .. } => Self::Name { host: host.clone(), port },
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Socket(address) => address.port(),
            Self::Name { port, .. } => *port,
        }
    }

    /// The IP address, if it is known without a DNS lookup.
    pub(crate) fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Socket(address) => Some(address.ip()),
            Self::Name { host, .. } if host.eq_ignore_ascii_case("localhost") => {
                Some(Ipv4Addr::LOCALHOST.into())
            }
            Self::Name { .. } => None,
        }
    }

    /// An address at which this machine reaches the server. The unspecified address becomes the loopback address.
    pub(crate) fn on_this_machine(&self) -> Self {
        match self.ip() {
            Some(IpAddr::V4(ip)) if ip.is_unspecified() => {
                Self::Socket(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), self.port()))
            }
            Some(IpAddr::V6(ip)) if ip.is_unspecified() => {
                Self::Socket(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), self.port()))
            }
            _ => self.clone(),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(address) => address.fmt(f),
            Self::Name { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "must be an address and a port, such as 127.0.0.1:8080 or localhost:8080";
        if let Ok(address) = text.parse() {
            return Ok(Self::Socket(address));
        }
        let (host, port) = text.rsplit_once(':').ok_or(WRONG)?;
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.' || c == '_';
        // A host without a letter is a mistyped address.
        let is_name = host.chars().all(is_name_char) && host.contains(|c: char| c.is_ascii_alphabetic());
        match port.parse() {
            Ok(port) if is_name => Ok(Self::Name { host: host.to_owned(), port }),
            _ => Err(WRONG),
        }
    }
}

impl TryFrom<String> for ListenAddress {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_need_a_port() {
        for (text, shown, on_this_machine) in [
            ("127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:80", "[::1]:80", "[::1]:80"),
            ("0.0.0.0:80", "0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::]:80", "[::1]:80"),
            ("localhost:0", "localhost:0", "localhost:0"),
            ("photos.lan:8080", "photos.lan:8080", "photos.lan:8080"),
        ] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.on_this_machine().to_string(), on_this_machine);
        }
        for wrong in [
            "",
            "8080",
            ":8080",
            "localhost",
            "1.2.3:80",
            "::1:80",
            "a b:80",
            "localhost:",
            "h:65536",
            "http://h:1",
        ] {
            assert!(wrong.parse::<ListenAddress>().is_err(), "{wrong}");
        }
    }
}
