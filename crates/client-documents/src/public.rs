//! Which IP addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

const fn v4(a: u8, b: u8, c: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), prefix)
}

const fn v6(a: u16, b: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

/// The IPv4 ranges that are not public: IANA's registry of special-purpose addresses (RFC 6890), multicast and reserved
/// ranges.
const NOT_PUBLIC_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 8),       // this network
    v4(10, 0, 0, 8),      // private
    v4(100, 64, 0, 10),   // carrier-grade NAT
    v4(127, 0, 0, 8),     // loopback
    v4(169, 254, 0, 16),  // link-local, with the metadata services of clouds
    v4(172, 16, 0, 12),   // private
    v4(192, 0, 0, 24),    // protocol assignments
    v4(192, 0, 2, 24),    // documentation
    v4(192, 88, 99, 24),  // relays from IPv6
    v4(192, 168, 0, 16),  // private
    v4(198, 18, 0, 15),   // benchmarks
    v4(198, 51, 100, 24), // documentation
    v4(203, 0, 113, 24),  // documentation
    v4(224, 0, 0, 4),     // multicast
    v4(240, 0, 0, 4),     // reserved, and broadcast
];

/// The only IPv6 range with global unicast addresses. Outside it are loopback, unspecified, mapped and translated IPv4
/// (`::ffff:0:0/96`, `64:ff9b::/96`, `64:ff9b:1::/48`), discard (`100::/64`), `5f00::/16`, unique local, link-local,
/// site-local and multicast addresses.
const GLOBAL_UNICAST_V6: Ipv6Net = v6(0x2000, 0, 3);

/// The ranges inside [`GLOBAL_UNICAST_V6`] that are not public.
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23),     // protocol assignments, including Teredo, which embeds an IPv4 address
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x2002, 0, 16),     // 6to4, which embeds an IPv4 address
    v6(0x3fff, 0, 20),     // documentation
];

/// Whether an address belongs to the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|net| net.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_UNICAST_V6.contains(&address) && !NOT_PUBLIC_V6.iter().any(|net| net.contains(&address))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_range_is_refused_from_first_to_last_address() {
        let check = |range: &str, addresses: &[&str]| {
            for address in addresses {
                assert!(!is_public(address.parse().unwrap()), "{range}: {address}");
            }
        };
        check("this network", &["0.0.0.0", "0.0.0.1", "0.255.255.255"]);
        check(
            "private",
            &["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
        );
        check("carrier-grade NAT", &["100.64.0.0", "100.127.255.255"]);
        check("loopback", &["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]);
        check(
            "link-local",
            &["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::", "fe80::1", "febf:ffff::1"],
        );
        check("protocol assignments", &["192.0.0.0", "192.0.0.255", "2001::", "2001:1ff:ffff::1"]);
        check(
            "documentation of IPv4",
            &["192.0.2.0", "192.0.2.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255"],
        );
        check(
            "documentation of IPv6",
            &["2001:db8::", "2001:db8:ffff:ffff::1", "3fff::", "3fff:fff:ffff::1"],
        );
        check("relays", &["192.88.99.0", "192.88.99.255"]);
        check("benchmarks", &["198.18.0.0", "198.19.255.255", "2001:2::1"]);
        check("multicast", &["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff:ffff::"]);
        check("reserved", &["240.0.0.0", "247.255.255.255", "248.0.0.0", "255.255.255.254"]);
        check("broadcast", &["255.255.255.255"]);
        check("unspecified", &["0.0.0.0", "::"]);
        check(
            "mapped and compatible",
            &["::ffff:127.0.0.1", "::ffff:93.184.216.34", "::127.0.0.1", "::93.184.216.34"],
        );
        check(
            "translated",
            &["64:ff9b::127.0.0.1", "64:ff9b::93.184.216.34", "64:ff9b:1::10.0.0.1", "64:ff9b:1:ffff::1"],
        );
        check("6to4", &["2002::", "2002:7f00:1::", "2002:5db8:d822::1", "2002:ffff:ffff::1"]);
        check("Teredo", &["2001::1", "2001:0:ffff:ffff::1"]);
        check("discard", &["100::", "100::1", "100:0:0:1::1"]);
        check("segment routing", &["5f00::", "5f00:ffff::1"]);
        check("unique local", &["fc00::", "fc00::1", "fd00:ec2::254", "fdff:ffff::1"]);
        check("site-local", &["fec0::", "feff:ffff::1"]);
        check("unassigned", &["1::", "1fff:ffff::1", "4000::", "8000::1", "e000::1"]);
    }

    #[test]
    fn neighbours_of_the_ranges_are_public() {
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "93.184.216.34",
            "2000::1",
            "2001:200::1",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2606:2800:220:1:248:1893:25c8:1946",
            "3ffe:ffff::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    proptest! {
        #[test]
        fn special_addresses_of_std_are_not_public(bits: u32, wide: u128, global: bool) {
            let old = Ipv4Addr::from(bits);
            let special = old.is_private() || old.is_loopback() || old.is_link_local() || old.is_broadcast()
                || old.is_documentation() || old.is_multicast() || old.is_unspecified();
            prop_assert!(!(special && is_public(old.into())), "{}", old);
            // Half of them in the global unicast range.
            let new = Ipv6Addr::from(if global { wide >> 3 | 1 << 125 } else { wide });
            let special = new.is_loopback() || new.is_multicast() || new.is_unspecified()
                || new.is_unique_local() || new.is_unicast_link_local() || new.to_ipv4().is_some();
            prop_assert!(!(special && is_public(new.into())), "{}", new);
            prop_assert!(!is_public(old.to_ipv6_mapped().into()) && !is_public(old.to_ipv6_compatible().into()));
        }
    }
}
