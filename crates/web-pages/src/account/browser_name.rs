/// The browser and system in a `User-Agent`, such as `Firefox on Windows`.
///
/// Browsers also claim the names of others, so the more specific name is matched first.
pub(super) fn browser_name(user_agent: Option<&str>) -> String {
    const BROWSERS: [(&str, &str); 7] = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 7] = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("CrOS", "ChromeOS"),
        ("Windows", "Windows"),
        ("Mac OS X", "a Mac"),
        ("Linux", "Linux"),
    ];
    let user_agent = user_agent.unwrap_or_default();
    // Chrome on an iPhone has another name, and also claims to be Safari.
    let user_agent = user_agent.replace("CriOS/", "Chrome/");
    let find = |names: &[(&str, &'static str)]| {
        names.iter().find(|(part, _)| user_agent.contains(part)).map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, Some(system)) => format!("A browser on {system}"),
        (None, None) => "A browser".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_name_is_matched() {
        let check = |user_agent: Option<&str>, expect: &str| {
            assert_eq!(browser_name(user_agent), expect, "{user_agent:?}");
        };
        let windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0";
        check(Some(&format!("{windows} Safari/537.36")), "Chrome on Windows");
        check(Some(&format!("{windows} Safari/537.36 Edg/126.0.0.0")), "Edge on Windows");
        check(
            Some("Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0"),
            "Firefox on Linux",
        );
        check(
            Some(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
            ),
            "Safari on iPhone",
        );
        check(
            Some(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0 Mobile/15E148 Safari/604.1",
            ),
            "Chrome on iPhone",
        );
        check(Some("curl/8.0"), "A browser");
        check(None, "A browser");
    }
}
