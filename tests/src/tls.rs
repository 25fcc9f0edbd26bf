//! TLS of clients.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};

use crate::black_box::AnyError;

/// The first bytes of a TLS handshake: a record of 512 bytes (RFC 8446, section 5.1).
pub const HALF_A_HELLO: &[u8] = &[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3];

/// A client that trusts one certificate, and names these protocols.
///
/// # Errors
/// The certificate cannot be a root.
pub fn trusting(
    certificate: CertificateDer<'static>,
    protocols: &[&str],
) -> Result<Arc<ClientConfig>, AnyError> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(Arc::new(config))
}
