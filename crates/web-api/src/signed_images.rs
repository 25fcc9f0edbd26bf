//! Renditions behind signed URLs: `/i/{image_id}/{rendition}.webp?exp=…&sig=…`.

use std::borrow::Cow;

use domain::Rendition;
use http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts};
use url::form_urlencoded;

use http_server::reply::{Reply, WithHeader as _, error, method_not_allowed};
use web_auth::rendition_reply;

use crate::Api;

/// The path prefix of signed URLs.
pub(crate) const PREFIX: &str = "/i/";

/// A signed URL that is valid now.
struct SignedUrl<'a> {
    image: &'a str,
    rendition: Rendition,
    seconds_left: i64,
}

pub(crate) async fn handle(api: &Api, request: &Parts) -> Reply {
    // The first check, so that a request without a signature learns nothing about images.
    let Some(signed) = verify(api, request) else {
        return error(
            StatusCode::FORBIDDEN,
            "this image URL is invalid or has expired; get the image again for a new URL",
        );
    };
    if request.method != Method::GET && request.method != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    let found = api.library.catalogue.rendition(signed.image, signed.rendition).await;
    let reply = rendition_reply(request, signed.image, signed.rendition, found).await;
    if reply.status().is_server_error() || reply.status() == StatusCode::NOT_FOUND {
        return reply;
    }
    // Digits are always a valid header value.
    let max_age = HeaderValue::try_from(format!("private, max-age={}", signed.seconds_left))
        .unwrap_or(HeaderValue::from_static("no-store"));
    reply.with(header::CACHE_CONTROL, max_age).with(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("cross-origin"),
    )
}

/// Verifies signature and expiry. The path and each parameter must be spelled exactly as they were signed.
fn verify<'a>(api: &Api, request: &'a Parts) -> Option<SignedUrl<'a>> {
    let (image, file) = request.uri.path().strip_prefix(PREFIX)?.split_once('/')?;
    let rendition = Rendition::from_name(file.strip_suffix(".webp")?)?;
    let query = request.uri.query()?;
    let exp = single(query, "exp")?;
    let expires_at_s: i64 = exp.parse().ok().filter(|seconds: &i64| seconds.to_string() == exp)?;
    let signature = single(query, "sig")?;
    if !api.signer.verify(image, rendition.name(), expires_at_s, &signature) {
        return None;
    }
    let left_ms = expires_at_s.checked_mul(1000)? - api.library.clock().now().millis();
    (left_ms > 0).then_some(SignedUrl { image, rendition, seconds_left: left_ms / 1000 })
}

/// The value of a parameter that occurs once.
fn single<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
    let (_, value) = values.next()?;
    values.next().is_none().then_some(value)
}
