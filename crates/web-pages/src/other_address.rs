//! The page that a loopback service shows at an address other than its own.

use std::net::SocketAddr;

use http::{HeaderMap, StatusCode, header};
use http_server::{BaseUrl, reply::Reply};
use maud::html;

use crate::layout::Page;

/// Advice for an operator whose reverse proxy forwards a public address to the service.
pub(crate) const BEHIND_PROXY: &str = "Behind a reverse proxy, start it with --base-url and the address in your browser’s address bar, such as https://photos.example.org.";

/// The reply to a browser that opened a loopback service at another address.
pub fn other_address(base_url: &BaseUrl, headers: &HeaderMap) -> Reply {
    // The page repeats the address only if it is an IP address, which belongs to this machine: a name may be an
    // attacker's. It does not repeat a loopback address either, because that is where a proxy reaches the service.
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let address = host.and_then(|host| host.parse::<SocketAddr>().ok());
    let address = address.filter(|address| !address.ip().to_canonical().is_loopback());
    let (address, listen) = match address {
        Some(address) => (address.to_string(), format!("{}:{}", unspecified(address), address.port())),
        None => ("ADDRESS:PORT".to_owned(), "0.0.0.0:PORT".to_owned()),
    };
    let scheme = if base_url.is_https() { "https" } else { "http" };
    let content = html! {
        p {
            "This library is only available on the machine that it runs on, at "
            a href=(base_url.as_str()) { (base_url.as_str()) } "."
        }
        p {
            "To reach it from other devices, start it with "
            code { "--base-url " (scheme) "://" (address) " --listen " (listen) } "."
        }
        p { (BEHIND_PROXY) }
    };
    let title = "Open the library at its own address";
    Page { title, status: StatusCode::FORBIDDEN, form_targets: &[] }.reply(&content)
}

/// The address that stands for all addresses of the machine, of the same family.
fn unspecified(address: SocketAddr) -> &'static str {
    if address.is_ipv4() { "0.0.0.0" } else { "[::]" }
}
