//! The library as an app on a phone or a desktop: its icon, its colours, and what it takes from the system's share sheet.

use std::sync::LazyLock;

use data_encoding::BASE64;
use maud::{Markup, html};
use serde_json::json;

use crate::paths;

/// The name of the service.
pub(crate) const NAME: &str = "Photo library";

/// The logo of the service, on a grid of 24 by 24: the sun over water. `layout/icons/app.svg` has the same path.
pub(crate) const LOGO: &str = "M4.54 12.8a7.5 7.5 0 1 1 14.92 0zM4.9 14.4h14.2a7.5 7.5 0 0 1-.76 1.7H5.66a7.5 7.5 0 0 1-.76-1.7zM6.9 17.7h10.2a7.5 7.5 0 0 1-10.2 0z";

const ICON: &str = include_str!("layout/icons/app.svg");

/// The colours of the page's background, in light and in dark, as in `style.css`.
pub(crate) const PAPER: &str = "#f6f5f1";
pub(crate) const DARK_PAPER: &str = "#101416";

/// The icon. It is part of the page, because most pages load nothing.
pub(crate) fn icon() -> Markup {
    static ADDRESS: LazyLock<String> =
        LazyLock::new(|| format!("data:image/svg+xml;base64,{}", BASE64.encode(ICON.trim_end().as_bytes())));
    html! { link rel="icon" type="image/svg+xml" href=(*ADDRESS); }
}

/// The manifest (<https://www.w3.org/TR/appmanifest/>) with square icons, each an address and a size in pixels.
pub(crate) fn manifest(icons: [(&str, u32); 2]) -> String {
    let icons = icons.map(|(address, size)| {
        json!({"src": address, "type": "image/png", "sizes": format!("{size}x{size}"), "purpose": "any maskable"})
    });
    json!({
        "id": "/",
        "name": NAME,
        "short_name": "Photos",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": PAPER,
        "icons": icons,
        "share_target": {
            "action": paths::SHARE,
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {"files": [{"name": "photos", "accept": ["image/*"]}]},
        },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_has_the_logo() {
        assert!(ICON.contains(LOGO), "{ICON}");
    }
}
