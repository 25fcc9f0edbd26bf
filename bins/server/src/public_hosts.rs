//! Hosts that are reached over the internet.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::Host;

/// Whether a host is neither in a local network nor this machine.
pub(crate) fn is_public_host(host: &Host<&str>) -> bool {
    match *host {
        Host::Ipv4(ip) => is_public_v4(ip),
        Host::Ipv6(ip) => is_public_v6(ip),
        Host::Domain(name) => is_public_name(name),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    // 100.64.0.0/10 is shared address space for carrier-grade NAT and overlay networks (RFC 6598).
    let is_shared = matches!(ip.octets(), [100, 64..=127, ..]);
    !(ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_unspecified() || is_shared)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    !(ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local() || ip.is_unspecified())
}

/// A name is not public if it has no dot or a local top-level domain.
pub(crate) fn is_public_name(name: &str) -> bool {
    const LOCAL: [&str; 9] =
        ["local", "lan", "home", "internal", "intranet", "localdomain", "localhost", "test", "arpa"];
    match name.trim_end_matches('.').rsplit_once('.') {
        Some((_, top)) => !LOCAL.contains(&top),
        None => false,
    }
}
