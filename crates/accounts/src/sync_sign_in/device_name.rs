use domain::KeyName;
use oauth_core::visible_name;

/// Names are cut to this many characters.
const MAX_CHARS: usize = 60;

/// Parts of the `User-Agent` of apps that do not name their device, and the names of the apps.
const APPS: [(&str, &str); 6] = [
    ("Nextcloud-android/", "Nextcloud for Android"),
    ("Nextcloud-iOS/", "Nextcloud for iOS"),
    ("ownCloud-android/", "ownCloud for Android"),
    ("Windows) mirall/", "Nextcloud for Windows"),
    ("Macintosh) mirall/", "Nextcloud for Mac"),
    ("mirall/", "Nextcloud for desktops"),
];

/// The name of a device, derived from the `User-Agent` of its app, such as `iPhone (Nextcloud iOS)`.
///
/// Some apps send the name of the device itself, others a list of products (RFC 9110, section 10.1.5).
pub(super) fn device_name(user_agent: Option<&str>) -> KeyName {
    let user_agent = visible_name(user_agent.unwrap_or_default());
    let app = APPS.iter().find(|(part, _)| user_agent.contains(part)).map(|(_, name)| *name);
    let words = || user_agent.split_whitespace();
    let name = match app {
        Some(name) => name.to_owned(),
        None if is_product(words().next().unwrap_or_default()) => product_name(words()),
        None => words().collect::<Vec<_>>().join(" "),
    };
    let short: String = name.chars().take(MAX_CHARS).collect();
    KeyName::parse(&short).unwrap_or_else(|_| KeyName::unnamed_device())
}

/// Whether a word is a product with its version, such as `curl/8.5.0`.
fn is_product(word: &str) -> bool {
    word.split_once('/').is_some_and(|(name, version)| {
        !name.is_empty() && version.starts_with(|first: char| first.is_ascii_digit())
    })
}

/// The first product other than `Mozilla`, which all browsers claim to be.
fn product_name<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut products = words.filter(|word| is_product(word)).filter_map(|word| word.split('/').next());
    products.find(|name| *name != "Mozilla").unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_device_is_named_by_what_its_app_sends() {
        let check = |user_agent: Option<&str>, expect: &str| {
            assert_eq!(device_name(user_agent).as_str(), expect, "{user_agent:?}");
        };
        check(Some("Mozilla/5.0 (Android) Nextcloud-android/3.33.0"), "Nextcloud for Android");
        check(Some("Google Pixel 6 (Nextcloud)"), "Google Pixel 6 (Nextcloud)");
        check(Some("Mozilla/5.0 (iOS) Nextcloud-iOS/7.1.0"), "Nextcloud for iOS");
        check(Some("iPhone (Nextcloud iOS)"), "iPhone (Nextcloud iOS)");
        check(Some("Anna's\u{202e} iPhone\r\n  (Nextcloud iOS)"), "Anna's iPhone (Nextcloud iOS)");
        check(Some("laptop (Desktop Client - Linux)"), "laptop (Desktop Client - Linux)");
        check(
            Some("Mozilla/5.0 (Linux) mirall/3.7.3 (Nextcloud, debian-6 ClientArchitecture: x86_64)"),
            "Nextcloud for desktops",
        );
        check(Some("Mozilla/5.0 (Windows) mirall/3.15.0 (Nextcloud, windows)"), "Nextcloud for Windows");
        check(Some("nc_py_api/0.20.2"), "nc_py_api");
        check(Some("curl/8.5.0"), "curl");
        check(Some("Mozilla/5.0"), "Unnamed device");
        check(Some(" \u{200b} "), "Unnamed device");
        check(None, "Unnamed device");
        check(Some(&"x".repeat(500)), &"x".repeat(MAX_CHARS));
    }

    proptest! {
        #[test]
        fn every_user_agent_gives_a_short_name(user_agent in any::<String>()) {
            prop_assert!(device_name(Some(&user_agent)).as_str().chars().count() <= MAX_CHARS);
        }
    }
}
