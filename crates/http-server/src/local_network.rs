use std::{
    env,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    path::Path,
};

/// The address that this machine has in its local network; `None` without one, or if it is not a private IPv4 address.
///
/// Asks the system which address it would send from, and sends nothing. In a container the result is `None`, because other devices cannot
/// reach its address.
pub fn address_in_local_network() -> Option<Ipv4Addr> {
    if is_in_container() {
        return None;
    }
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // TEST-NET-1 of RFC 5737, which belongs to nobody.
    socket.connect(SocketAddr::from(([192, 0, 2, 1], 9))).ok()?;
    match socket.local_addr().ok()?.ip() {
        IpAddr::V4(address) if address.is_private() => Some(address),
        _ => None,
    }
}

/// Whether this is a container of Docker, Podman or Kubernetes.
fn is_in_container() -> bool {
    let marks = ["/.dockerenv", "/run/.containerenv"];
    marks.iter().any(|mark| Path::new(mark).exists()) || env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}
