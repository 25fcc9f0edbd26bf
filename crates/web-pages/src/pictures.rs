//! `/p/{id}/{version}/{size}.webp`: the images of the pages, for the session of their owner.
//!
//! The version is part of the address, so browsers keep an image for good and the address of a better rendition is another.

use std::borrow::Cow;

use domain::{Image, Rendition};
use http::{HeaderName, HeaderValue, header, request::Parts};
use http_server::reply::{Reply, WithHeader as _, not_found};
use web_auth::rendition_reply;

use crate::{Site, session::Person};

/// The path prefix of the images.
pub(crate) const PREFIX: &str = "/p/";

/// The name of a rendition in the address of an image: the length of its longest side, or `full`.
fn size_name(rendition: Rendition) -> Cow<'static, str> {
    match rendition {
        Rendition::Full => "full".into(),
        sized => sized.longest_side_px().to_string().into(),
    }
}

/// The address of a rendition.
pub(crate) fn picture_path(image: &Image, rendition: Rendition) -> String {
    format!("{PREFIX}{}/{}/{}.webp", image.id, image.picture_version, size_name(rendition))
}

pub(crate) async fn handle(site: &Site, parts: &Parts, person: &Person) -> Reply {
    let Some((id, version, rendition)) = parse(parts.uri.path()) else { return not_found() };
    let found = site.library.catalogue.own_rendition(&person.caller(), id, rendition).await;
    // The bytes at the address of another version may change.
    let is_current = found.as_ref().is_ok_and(|served| served.picture_version() == version);
    let reply = rendition_reply(parts, id, rendition, found).await;
    if reply.status().is_client_error() || reply.status().is_server_error() {
        return reply;
    }
    let cache_control = if is_current { "private, max-age=31536000, immutable" } else { "private, no-cache" };
    reply.with(header::CACHE_CONTROL, HeaderValue::from_static(cache_control)).with(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    )
}

fn parse(path: &str) -> Option<(&str, u32, Rendition)> {
    let mut parts = path.strip_prefix(PREFIX)?.split('/');
    let (id, version, file) = (parts.next()?, parts.next()?, parts.next()?);
    let version: u32 = version.parse().ok().filter(|number: &u32| number.to_string() == version)?;
    let size = file.strip_suffix(".webp")?;
    let rendition = Rendition::ALL.into_iter().find(|rendition| size_name(*rendition) == size)?;
    parts.next().is_none().then_some((id, version, rendition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_spelling() {
        assert_eq!(parse("/p/abc/5/256.webp"), Some(("abc", 5, Rendition::Preview)));
        assert_eq!(parse("/p/abc/0/full.webp"), Some(("abc", 0, Rendition::Full)));
        for wrong in [
            "/p/abc/05/256.webp",
            "/p/abc/5/257.webp",
            "/p/abc/5/256",
            "/p/abc/5/256.webp/",
            "/p/abc/-1/256.webp",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
