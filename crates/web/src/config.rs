use std::sync::Arc;

use http_server::{BaseUrl, HttpLimits};
use ipnet::IpNet;
use rustls::ServerConfig;
use web_auth::{OAuthLimits, ServiceLinks};

/// The configuration of the HTTP interface.
#[derive(Debug, Clone)]
pub struct WebConfig {
    /// The public URL of the service.
    pub base_url: BaseUrl,
    /// Reverse proxies whose `Forwarded` and `X-Forwarded-For` headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Limits on what one client may use.
    pub limits: HttpLimits,
    /// Rate limits of the authorization server.
    pub oauth_limits: OAuthLimits,
    /// How client ID metadata documents are fetched; `None` rejects apps that use them. Only tests change the default.
    pub client_documents: Option<client_documents::Options>,
    /// Pages about the service: shown on the consent form and named in the metadata of the authorization server.
    pub links: ServiceLinks,
    /// The token with which OpenAI's directory of apps verifies the domain.
    pub openai_challenge: Option<String>,
    /// How long browsers use only https for this host after a response, in seconds. It applies only if the base URL is https. 0
    /// makes browsers use http again.
    pub hsts_max_age_s: u32,
    /// TLS of the service; `None` serves http.
    pub tls: Option<Arc<ServerConfig>>,
}

impl WebConfig {
    /// A year.
    const HSTS_MAX_AGE_S: u32 = 31_536_000;

    /// A configuration without proxies and with the default limits.
    pub fn new(base_url: BaseUrl) -> Self {
        Self {
            base_url,
            trusted_proxies: Vec::new(),
            limits: HttpLimits::default(),
            oauth_limits: OAuthLimits::default(),
            client_documents: Some(client_documents::Options::default()),
            links: ServiceLinks::default(),
            openai_challenge: None,
            hsts_max_age_s: Self::HSTS_MAX_AGE_S,
            tls: None,
        }
    }
}
