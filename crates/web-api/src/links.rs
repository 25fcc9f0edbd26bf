use domain::{Image, ImageId, Rendition, Timestamp};
use keys::UrlSigner;

use http_server::BaseUrl;

/// Lifetime of signed URLs: 15 minutes.
const SIGNED_URL_LIFETIME_S: i64 = 900;

/// Signs URLs that all expire at the same time.
pub(crate) struct Links<'a> {
    base_url: &'a BaseUrl,
    signer: &'a UrlSigner,
    expires_at_s: i64,
}

impl<'a> Links<'a> {
    pub(crate) fn new(base_url: &'a BaseUrl, signer: &'a UrlSigner, now: Timestamp) -> Self {
        // Rounded up to whole seconds, so that no URL expires early.
        let now_s = now.millis().div_euclid(1000) + i64::from(now.millis().rem_euclid(1000) > 0);
        Self { base_url, signer, expires_at_s: now_s + SIGNED_URL_LIFETIME_S }
    }

    /// When the URLs expire.
    pub(crate) fn expire_at(&self) -> Timestamp {
        Timestamp::from_millis(self.expires_at_s * 1000).unwrap_or(Timestamp::MAX)
    }

    /// The signed URL of a rendition.
    pub(crate) fn rendition(&self, image: &ImageId, rendition: Rendition) -> String {
        let (base, exp) = (self.base_url.as_str(), self.expires_at_s);
        let sig = self.signer.sign(image.as_str(), rendition.name(), exp);
        format!("{base}/i/{image}/{rendition}.webp?exp={exp}&sig={sig}")
    }

    /// The signed URL of the best display size.
    pub(crate) fn display(&self, image: &Image) -> String {
        self.rendition(&image.id, image.display_rendition())
    }
}

/// The page that explains how to set up photo sync.
/// The page of the connected apps.
pub(crate) fn apps_url(base_url: &BaseUrl) -> String {
    format!("{}/account/apps", base_url.as_str())
}

pub(crate) fn install_url(base_url: &BaseUrl) -> String {
    format!("{}/account/sync", base_url.as_str())
}
