use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

/// The address of the client: the peer, or the address that trusted proxies forward. In the forwarded chain the last
/// address that is not a trusted proxy counts, because a client can forge everything before it.
///
/// A proxy writes one of the two headers and passes the other on unchanged, so two headers that name different clients
/// prove nothing. Then the address of the proxy counts.
pub fn client_address(peer: SocketAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| is_trusted(*address, trusted);
    let proxy = peer.ip().to_canonical();
    if !is_trusted(&proxy) {
        return proxy;
    }
    let client = |mut claimed: Vec<Option<IpAddr>>| {
        let mut address = proxy;
        while is_trusted(&address) {
            match claimed.pop() {
                Some(Some(earlier)) => address = earlier.to_canonical(),
                // The end of the chain, or an unreadable entry: nothing before it is trusted.
                _ => break,
            }
        }
        address
    };
    match (forwarded(headers).map(client), x_forwarded_for(headers).map(client)) {
        (Some(one), Some(other)) if one != other => proxy,
        (Some(address), _) | (None, Some(address)) => address,
        (None, None) => proxy,
    }
}

/// Whether a request comes from a trusted proxy.
pub fn is_from_trusted_proxy(peer: SocketAddr, trusted: &[IpNet]) -> bool {
    is_trusted(peer.ip().to_canonical(), trusted)
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|net| net.contains(&address))
}

/// All values of a header, joined; `None` if they are blank.
fn list(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    Some(values.collect::<Vec<_>>().join(",")).filter(|list| !list.trim().is_empty())
}

/// The chain of addresses in `Forwarded` (RFC 7239), nearest last.
fn forwarded(headers: &HeaderMap) -> Option<Vec<Option<IpAddr>>> {
    let element = |element: &str| {
        element.split(';').find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            name.eq_ignore_ascii_case("for").then(|| node(value.trim_matches('"')))?
        })
    };
    Some(list(headers, "forwarded")?.split(',').map(element).collect())
}

/// The chain of addresses in `X-Forwarded-For`, nearest last.
fn x_forwarded_for(headers: &HeaderMap) -> Option<Vec<Option<IpAddr>>> {
    let list = list(headers, "x-forwarded-for")?;
    Some(list.split(',').map(str::trim).filter(|part| !part.is_empty()).map(node).collect())
}

/// Parses an address with or without brackets and port.
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
        check_all(peer, &[(header, value)], expect);
    }

    fn check_all(peer: &str, lines: &[(&'static str, &'static str)], expect: &str) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let trusted = ["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        let address = client_address(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(address, expect.parse::<IpAddr>().unwrap(), "{peer} {lines:?}");
    }

    #[test]
    fn only_trusted_proxies_are_trusted() {
        check("192.0.2.1:1", "x-forwarded-for", "198.51.100.7", "192.0.2.1");
        check("10.0.0.1:1", "x-forwarded-for", "198.51.100.7", "198.51.100.7");
        check("10.0.0.1:1", "x-forwarded-for", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7");
        check("10.0.0.1:1", "x-forwarded-for", "198.51.100.7, nonsense", "10.0.0.1");
        check("10.0.0.1:1", "x-forwarded-for", "", "10.0.0.1");
        check("[::1]:1", "forwarded", "for=6.6.6.6, For=\"[2001:db8::7]:4711\";proto=https", "2001:db8::7");
        check("[::ffff:10.0.0.1]:1", "x-forwarded-for", "198.51.100.7:99", "198.51.100.7");
        check("10.0.0.1:1", "forwarded", "for=_hidden", "10.0.0.1");
    }

    #[test]
    fn a_forged_header_beside_the_proxys_own_has_no_effect() {
        let (own, made_up) = (("x-forwarded-for", "198.51.100.7"), ("forwarded", "for=6.6.6.6"));
        check_all("10.0.0.1:1", &[own, made_up], "10.0.0.1");
        check_all(
            "10.0.0.1:1",
            &[("forwarded", "for=198.51.100.7"), ("x-forwarded-for", "6.6.6.6")],
            "10.0.0.1",
        );
        check_all("10.0.0.1:1", &[own, ("forwarded", "for=198.51.100.7;proto=https")], "198.51.100.7");
        check_all("10.0.0.1:1", &[own, ("forwarded", "proto=https")], "10.0.0.1");
        check_all("10.0.0.1:1", &[own, ("forwarded", " ")], "198.51.100.7");
        check_all("10.0.0.1:1", &[("x-forwarded-for", "6.6.6.6"), own], "198.51.100.7");
        check_all("192.0.2.1:1", &[own, made_up], "192.0.2.1");
    }
}
