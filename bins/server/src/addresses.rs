//! Checks that browsers can reach the server at its base URL, and suggests settings when they cannot.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use url::{Host, Url};
use web::BaseUrl;

use crate::{
    config::{Config, ListenAddress},
    public_hosts::is_public_host,
};

pub(crate) trait Machine {
    /// The address at which other devices in the local network reach the machine.
    fn lan_address(&self) -> Option<IpAddr>;
    /// Whether the address belongs to the machine.
    fn has(&self, address: IpAddr) -> bool;
}

/// The machine this program runs on.
pub(crate) struct ThisMachine;

impl Machine for ThisMachine {
    /// The address the system would send from. Connecting a UDP socket sends no packet. The private targets work in
    /// networks without internet access.
    fn lan_address(&self) -> Option<IpAddr> {
        const TARGETS: [Ipv4Addr; 4] = [
            Ipv4Addr::new(198, 51, 100, 1),
            Ipv4Addr::new(192, 168, 255, 254),
            Ipv4Addr::new(10, 255, 255, 254),
            Ipv4Addr::new(172, 31, 255, 254),
        ];
        let address_towards = |target: Ipv4Addr| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
            socket.connect((target, 9)).ok()?;
            let address = socket.local_addr().ok()?.ip();
            (!address.is_loopback() && !address.is_unspecified()).then_some(address)
        };
        TARGETS.into_iter().find_map(address_towards)
    }

    fn has(&self, address: IpAddr) -> bool {
        UdpSocket::bind((address, 0)).is_ok()
    }
}

/// Suggests a change when browsers cannot reach a server that listens here at its base URL. If a reverse proxy forwards
/// the requests, nothing can be checked. There is one if the server itself does not provide the https of the base URL, or
/// if a proxy is trusted. If the server provides https itself, a router may forward another port.
pub(crate) fn reachability_advice(
    config: &Config,
    listen: &ListenAddress,
    base_url: &BaseUrl,
    machine: &impl Machine,
) -> Option<String> {
    let (url, ip) = (Url::parse(base_url.as_str()).ok()?, listen.ip()?);
    let has_proxy = base_url.is_https() && !config.has_tls();
    if has_proxy || !config.trusted_proxies.is_empty() {
        return None;
    }
    let (base, port) = (base_url.as_str(), listen.port());
    let (base_host, base_port) = (url.host()?, url.port_or_known_default()?);
    let base_ip = match base_host {
        Host::Ipv4(ip) => Some(IpAddr::V4(ip)),
        Host::Ipv6(ip) => Some(IpAddr::V6(ip)),
        Host::Domain(_) => None,
    };
    let scheme = config.scheme();
    let restart = |url: String| format!("Start it with --base-url {url} and open that URL in the browser.");
    let listened_on = || restart(format!("{scheme}://{}", listen.on_this_machine()));
    let in_network = || match machine.lan_address() {
        Some(ip) => restart(format!("{scheme}://{}", ListenAddress::Socket((ip, port).into()))),
        None => restart(format!("{scheme}://ADDRESS:{port}, with this machine's network address,")),
    };
    if base_url.is_loopback() {
        let only_here = format!("Links point to {base}, which only this machine can open");
        return if ip.is_unspecified() {
            Some(format!("{only_here}, but the server listens on all addresses. {}", in_network()))
        } else if !ip.is_loopback() {
            Some(format!("{only_here}, but the server listens on {listen}. {}", listened_on()))
        } else if base_port != port || base_ip.is_some_and(|base| base != ip) {
            Some(format!("Links point to {base}, but the server listens on {listen}. {}", listened_on()))
        } else {
            None
        };
    }
    if ip.is_loopback() {
        return Some(format!(
            "Links point to {base}, but only this machine can connect to {listen}. Without a reverse proxy, start it \
             with --listen 0.0.0.0:{base_port}."
        ));
    }
    if base_ip.is_some_and(|base| if ip.is_unspecified() { !machine.has(base) } else { base != ip }) {
        let right = if ip.is_unspecified() { in_network() } else { listened_on() };
        return Some(format!("Links point to {base}, which is not an address of this machine. {right}"));
    }
    (base_port != port && !config.has_tls()).then(|| {
        let right = restart(format!("{scheme}://{}:{port}", url.host_str().unwrap_or_default()));
        format!("Links point to {base}, but the server listens on port {port}. {right}")
    })
}

/// Warns about a public base URL without https, which sends passwords and photos unencrypted over the internet.
pub(crate) fn encryption_advice(base_url: &BaseUrl) -> Option<String> {
    let base = base_url.as_str();
    let is_public = is_public_host(&Url::parse(base).ok()?.host()?);
    (is_public && !base_url.is_https()).then(|| {
        let authority = base_url.authority();
        format!(
            "{base} is public and not encrypted: passwords and photos can be read in transit. Put a reverse proxy with TLS \
             in front, or let the server use TLS with --acme, or --tls-certificate and --tls-key, and start it with \
             --base-url https://{authority}"
        )
    })
}

/// Warns about a reverse proxy that is not trusted.
pub(crate) fn proxy_advice(config: &Config, base_url: &BaseUrl) -> Option<String> {
    let is_behind_proxy = base_url.is_https() && !config.has_tls();
    (is_behind_proxy && config.trusted_proxies.is_empty()).then(|| {
        "the server takes the address of the reverse proxy for that of every client, so all clients share the limits on \
         sign-ins and requests. Name the proxy with --trusted-proxy"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Home;

    impl Machine for Home {
        fn lan_address(&self) -> Option<IpAddr> {
            Some(Ipv4Addr::new(192, 168, 1, 5).into())
        }

        fn has(&self, address: IpAddr) -> bool {
            address == Ipv4Addr::new(192, 168, 1, 5)
        }
    }

    fn advice(arguments: &[&str]) -> Option<String> {
        let config = crate::config::tests::config_from_flags(arguments);
        let base_url = config.base_url(&config.listen).unwrap();
        reachability_advice(&config, &config.listen, &base_url, &Home)
    }

    #[test]
    fn matching_addresses_need_no_advice() {
        for fits in [
            &[][..],
            &["--listen", "localhost:8080"],
            &["--listen", "[::1]:8080"],
            &["--listen", "192.168.1.5:8080"],
            &["--listen", "0.0.0.0:8080", "--base-url", "http://192.168.1.5:8080"],
            &["--listen", "0.0.0.0:80", "--base-url", "http://photos.lan"],
            &["--base-url", "http://localhost:8080"],
            &["--base-url", "https://photos.example.org"],
            &["--base-url", "http://photos.lan", "--trusted-proxy", "127.0.0.1"],
            &["--listen", "0.0.0.0:8443", "--base-url", "https://photos.example.org", "--acme"],
        ] {
            assert_eq!(advice(fits), None, "{fits:?}");
        }
    }

    #[test]
    fn the_advice_names_the_right_flag() {
        for (arguments, expect) in [
            (&["--listen", "0.0.0.0:8080"][..], "--base-url http://192.168.1.5:8080 "),
            (&["--base-url", "https://photos.example.org", "--acme"], "--listen 0.0.0.0:443"),
            (
                &["--listen", "0.0.0.0:8443", "--tls-certificate", "a", "--tls-key", "b"],
                "--base-url https://192.168.1.5:8443 ",
            ),
            (&["--listen", "[::]:8080"], "--base-url http://192.168.1.5:8080 "),
            (
                &["--listen", "0.0.0.0:9000", "--base-url", "http://localhost:8080"],
                "--base-url http://192.168.1.5:9000 ",
            ),
            (
                &["--listen", "192.168.1.5:8080", "--base-url", "http://127.0.0.1:8080"],
                "--base-url http://192.168.1.5:8080 ",
            ),
            (
                &["--listen", "127.0.0.1:9000", "--base-url", "http://127.0.0.1:8080"],
                "--base-url http://127.0.0.1:9000 ",
            ),
            (
                &["--listen", "127.0.0.1:8080", "--base-url", "http://[::1]:8080"],
                "--base-url http://127.0.0.1:8080 ",
            ),
            (
                &["--listen", "127.0.0.1:8080", "--base-url", "http://192.168.1.5:8080"],
                "--listen 0.0.0.0:8080.",
            ),
            (
                &["--listen", "0.0.0.0:8080", "--base-url", "http://192.168.1.9:8080"],
                "--base-url http://192.168.1.5:8080 ",
            ),
            (
                &["--listen", "192.168.1.5:8080", "--base-url", "http://192.168.1.9:8080"],
                "--base-url http://192.168.1.5:8080 ",
            ),
            (
                &["--listen", "0.0.0.0:8080", "--base-url", "http://photos.lan"],
                "--base-url http://photos.lan:8080 ",
            ),
        ] {
            let advice = advice(arguments).unwrap_or_default();
            assert!(advice.contains(expect), "{arguments:?}: {advice}");
        }
    }

    #[test]
    fn only_public_addresses_need_tls() {
        let is_warned = |url: &str| encryption_advice(&BaseUrl::parse(url).unwrap()).is_some();
        for public in [
            "http://photos.example.org",
            "http://photos.example.org:8080",
            "http://8.8.8.8",
            "http://[2001:db8::1]",
        ] {
            assert!(is_warned(public), "{public}");
        }
        for fine in [
            "https://photos.example.org",
            "http://localhost:8080",
            "http://nas:8080",
            "http://photos.lan",
            "http://photos.local",
            "http://photos.home.arpa",
            "http://192.168.1.5:8080",
            "http://10.1.2.3",
            "http://100.100.1.1",
            "http://[fd00::2]",
            "http://[::1]",
        ] {
            assert!(!is_warned(fine), "{fine}");
        }
    }
}
