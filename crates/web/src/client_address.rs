use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

/// Who is asking: the peer, or what trusted proxies say of it. The last address that no trusted proxy has counts,
/// since everything before it may be made up.
pub(crate) fn client_address(peer: SocketAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let mut address = peer.ip().to_canonical();
    if !is_trusted(&address) {
        return address;
    }
    let mut claimed = forwarded_for(headers);
    while is_trusted(&address) {
        match claimed.pop() {
            Some(Some(earlier)) => address = earlier.to_canonical(),
            // The end of the chain, or something unreadable in it: nothing beyond is believed.
            _ => break,
        }
    }
    address
}

/// The chain of addresses in `Forwarded` (RFC 7239), or else in `X-Forwarded-For`, the nearest last.
fn forwarded_for(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let values = |name: &str| {
        headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",")
    };
    let forwarded = values("forwarded");
    if forwarded.is_empty() {
        let chain = values("x-forwarded-for");
        return chain
            .split(',')
            .filter(|part| !part.trim().is_empty())
            .map(|part| node(part.trim()))
            .collect();
    }
    let element = |element: &str| {
        element.split(';').find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            name.eq_ignore_ascii_case("for").then(|| node(value.trim_matches('"')))?
        })
    };
    forwarded.split(',').map(element).collect()
}

/// An address with or without brackets and port.
fn node(text: &str) -> Option<IpAddr> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split(']').next());
    if let Some(inner) = bracketed {
        return inner.parse().ok();
    }
    text.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(peer: &str, header: &'static str, value: &'static str, expect: &str) {
        let mut headers = HeaderMap::new();
        headers.insert(header, HeaderValue::from_static(value));
        let trusted = ["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        let address = client_address(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(address, expect.parse::<IpAddr>().unwrap(), "{peer} {value}");
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        check("192.0.2.1:1", "x-forwarded-for", "198.51.100.7", "192.0.2.1");
        check("10.0.0.1:1", "x-forwarded-for", "198.51.100.7", "198.51.100.7");
        check("10.0.0.1:1", "x-forwarded-for", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7");
        check("10.0.0.1:1", "x-forwarded-for", "198.51.100.7, nonsense", "10.0.0.1");
        check("10.0.0.1:1", "x-forwarded-for", "", "10.0.0.1");
        check("[::1]:1", "forwarded", "for=6.6.6.6, For=\"[2001:db8::7]:4711\";proto=https", "2001:db8::7");
        check("[::ffff:10.0.0.1]:1", "x-forwarded-for", "198.51.100.7:99", "198.51.100.7");
        check("10.0.0.1:1", "forwarded", "for=_hidden", "10.0.0.1");
    }
}
