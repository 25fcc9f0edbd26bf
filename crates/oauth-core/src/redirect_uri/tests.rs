use proptest::prelude::*;

use super::*;

#[test]
fn redirect_uris_of_known_clients_are_accepted() {
    let long = format!("https://a.example/{}", "x".repeat(MAX_REDIRECT_URI_CHARS - 18));
    for uri in [
        "https://example.com",
        "https://example.com/callback?a=b&c[]=%20",
        "https://EXAMPLE.com:8443/Call/../Back",
        "https://xn--mnchen-3ya.example/",
        "https://192.0.2.7/cb",
        "https://[2001:db8::1]:8443/cb",
        "https://localhost/cb",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "https://vscode.dev/redirect",
        "https://insiders.vscode.dev/redirect",
        "http://localhost",
        "http://localhost:8787/callback",
        "http://127.0.0.1",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418",
        "http://127.0.0.1:33418/",
        "http://[::1]/cb",
        "http://[::1]:1234",
        "HTTP://localhost/",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "vscode://vscode.github-authentication/did-authenticate",
        "com.example.app:/oauth2redirect",
        "com.example.app:",
        "com.example.app://cb",
        "myapp:/cb",
        "myapp://cb",
        "myapp:///cb",
        "myapp:cb",
        "a+b-c.d:/x",
        "claude://oauth/callback",
        "vscode-insiders://vscode.github-authentication/did-authenticate",
        "msauth.com.example.app://auth",
        "mst:/x",
        "searching:/x",
        "web+app:/x",
        "grokbot://mcp/oauth/callback",
        "chatgpt:/cb",
        "windsurf://codeium.windsurf/callback",
        "kiro://kiro.mcp/callback",
        "zed://oauth/callback",
        "raycast://oauth",
        "jetbrains://idea/oauth",
        "lmstudio://oauth/callback",
        "com.googleusercontent.apps.123-abc:/oauth2redirect",
        "com.microsoft.copilot:/cb",
        "dev.warp.warp-stable://auth",
        "app.example.photos:/cb",
        "tv.example.app:/cb",
        "ms.example.app:/cb",
        "com.example.photo-extension:/cb",
        &long,
    ] {
        assert_eq!(check_redirect_uri(uri), Ok(()), "{uri}");
    }
}

#[test]
fn unsafe_redirect_uris_are_refused() {
    let check = |expect: &str, uris: &[&str]| {
        for uri in uris {
            let why = check_redirect_uri(uri).map_err(|refused| refused.to_string());
            assert!(why.as_ref().is_err_and(|why| why.contains(expect)), "{uri:?}: {why:?}");
        }
    };
    check("empty", &[""]);
    check("2,000", &[&format!("https://a.example/{}", "x".repeat(MAX_REDIRECT_URI_CHARS - 17))]);
    check("fragment", &["https://a.example/#", "https://a.example/#x", "myapp:/cb#"]);
    check(
        "character",
        &[
            " https://a.example/",
            "https://a.example/ ",
            "https://a.example/a b",
            "https://a.example/\r\nSet-Cookie: a",
            "https://a.example/\0",
            "https://a.example/\t",
            "java\tscript:alert(1)",
            "https://a.example\\@evil.example/",
            "http:\\\\localhost/",
            "http://localhost\\.evil.example/",
            "http://１２７.0.0.1/",
            "http://127。0。0。1/",
            "https://münchen.example/",
            "https://a.example/\u{202e}",
            "https://a.example/<script>",
            "https://a.example/\"",
            "https://a.example/\u{7f}",
        ],
    );
    check("hexadecimal", &["https://a.example/%", "https://a.example/%4", "https://a.example/%zz"]);
    check(
        "begin with a scheme",
        &["callback", "/callback", "//a.example/cb", "?a", "1a:/x", ":/x", "a_b:/x", "%6aavascript:x"],
    );
    check(
        "scheme is refused",
        &[
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "JavaScript://localhost/%0aalert(1)",
            "vbscript:x",
            "blob:https://a.example/x",
            "about:blank",
            "view-source:https://a.example",
            "filesystem:https://a.example/x",
            "ws://localhost/",
            "wss://a.example/",
            "ftp://localhost/",
            "mailto:a@b.example",
            "tel:+1",
            "intent://scan/",
            "Intent:/x",
            "content://com.android.contacts/x",
            "android-app://com.example/x",
            "ms-settings:privacy",
            "MS-Word:ofe/x",
            "ms-x:/",
            "microsoft-edge:https://a.example",
            "search-ms:query=x",
            "search:query=x",
            "shell:startup",
            "itms-services://?action=download-manifest",
            "itms-apps://x",
            "x-apple.systempreferences:x",
            "smb://a.example/share",
            "nfs://a.example/share",
            "ssh://a.example",
            "telnet://a.example",
            "sms:+1",
            "smsto:+1",
            "facetime:a",
            "facetime-audio:a",
            "callto:a",
            "sip:a",
            "ldap://a.example",
            "jar:file:/x!/y",
            "mk:MSITStore:x",
            "mhtml:x",
            "chrome://settings",
            "edge://settings",
            "view-source:x",
            "geo:1,2",
            "webcal://a.example/x",
            "magnet:?xt=x",
            "jscript:x",
            "JScript:x",
            "ecmascript:x",
            "vbs:x",
            "vnd.ms.radio:x",
            "vnd.youtube:x",
            "chrome-extension://abcdefgh/cb",
            "moz-extension://x/cb",
            "safari-web-extension://x/cb",
            "ms-browser-extension://x/cb",
            "other-extension://x/cb",
            "steam://run/1",
            "steam-new://x",
            "roblox-player:1",
            "com.epicgames.launcher://x",
            "zoommtg://zoom.us/join",
            "msteams:/l",
            "msteams-new:/l",
            "tg://resolve",
            "whatsapp://send",
            "anydesk:1",
            "teamviewer10://control",
            "otpauth://totp/x",
            "openid4vp://x",
            "ethereum:0x1",
            "lightning:x",
            "spotify:track:x",
            "x-help-script://x",
            "x-web-search://x",
            "com.apple.tv://x",
            "photos-redirect://x",
            "android.resource://x/y",
            "google.navigation:q=x",
            "flatpak+https://x",
            "snap://x",
            "rsync://x/y",
            "postgresql://x/y",
            "redis://x",
        ],
    );
    check(
        "no host",
        &["https:", "https:/", "https:a.example", "https:///cb", "http:localhost", "https://?x"],
    );
    check("no host", &["https://:443/cb", "http://:80"]);
    check("user name", &["https://a@b.example/", "http://127.0.0.1:p@evil.example/", "https://@b.example"]);
    check("user name", &["http://localhost@evil.example/", "myapp://user@host/cb"]);
    check(
        "http is for",
        &[
            "http://a.example/",
            "http://localhost.evil.com/",
            "http://localhostevil.com",
            "http://127.0.0.1.evil/",
            "http://evil.localhost/",
            "http://localhost./",
            "http://LOCALHOST/",
            "http://0.0.0.0/",
            "http://127.0.0.2/",
            "http://192.168.0.1/",
            "http://[::2]/",
            "http://[0:0:0:0:0:0:0:1]/",
        ],
    );
    check(
        "unusual spelling",
        &[
            "http://127.1/",
            "http://2130706433/",
            "https://0x7f000001/",
            "https://127.0.1",
            "https://1.2.3.04/",
        ],
    );
    check(
        "unusual spelling",
        &["https://1.2.3.4.5/", "https://a.0x1/", "https://1.2.3.256", "https://1.2.3.4./"],
    );
    check(
        "not a valid IPv6 address",
        &["http://[::ffff:127.0.0.1]/", "https://[::1", "https://[1::2::3]", "https://[]/"],
    );
    check("not a valid IPv6 address", &["https://[fe80::1%25eth0]/"]);
    check("ambiguous", &["https://[2001:db8:0:0:0::1]/"]);
    check("not a URL", &["https://xn--a/"]);
    check(
        "characters other than",
        &["https://*.example/", "https://*/", "https://a.exam%70le/", "https://a,b/"],
    );
    check("characters other than", &["http://%6cocalhost/", "myapp://*/cb", "https://a;b.example/"]);
    check(
        "port",
        &["https://a.example:/", "https://a.example:65536/", "http://localhost:80x/", "http://[::1]x/"],
    );
    check("port", &["http://localhost:+80/", "https://a:1:2/", "http://127.0.0.1:-1"]);
    check("without a dot", &["myapp:", "myapp://", "myapp:?x", "myapp://?x"]);
}

#[test]
fn every_refused_scheme_pattern_refuses_a_uri() {
    let mut patterns: Vec<&str> = REFUSED_SCHEMES.iter().flat_map(|it| it.split_ascii_whitespace()).collect();
    for pattern in &patterns {
        let name = pattern.replace('*', "a");
        assert!(check_redirect_uri(&format!("{name}://a.example/x")).is_err(), "{name}");
        assert!(check_redirect_uri(&format!("{}:/x", name.to_uppercase())).is_err(), "{name}");
        assert!(
            pattern
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.*".contains(&byte))
        );
    }
    let number = patterns.len();
    patterns.sort_unstable();
    patterns.dedup();
    assert_eq!(patterns.len(), number, "a pattern is in the table twice");
}

#[test]
fn the_destination_of_a_redirect_uri_is_shown() {
    let check = |uri: &str, host: &str, target: &str, stays: bool| {
        assert_eq!(redirect_host(uri), host, "{uri}");
        assert_eq!(csp_source(uri), target, "{uri}");
        assert_eq!(stays_on_device(uri), stays, "{uri}");
    };
    check("https://a.example/x?y=//z", "a.example", "https://a.example", false);
    check("https://a.example:8443?x", "a.example:8443", "https://a.example:8443", false);
    check("http://localhost:1/x", "localhost:1", "http://localhost:1", true);
    check("https://127.0.0.2/x", "127.0.0.2", "https://127.0.0.2", true);
    check("https://0.0.0.0/x", "0.0.0.0", "https://0.0.0.0", true);
    check("https://app.localhost/x", "app.localhost", "https://app.localhost", true);
    check("https://localhost./x", "localhost.", "https://localhost.", true);
    check("https://[::]/x", "[::]", "https:", true);
    check("https://localhost.example/x", "localhost.example", "https://localhost.example", false);
    check("http://127.0.0.1", "127.0.0.1", "http://127.0.0.1", true);
    check("http://[::1]:1/x", "[::1]:1", "http:", true);
    check("https://LocalHost/x", "LocalHost", "https://LocalHost", true);
    check("cursor://localhost/x", "cursor:", "cursor:", true);
    check("com.example.app:/x", "com.example.app:", "com.example.app:", true);
}

#[test]
fn parameters_are_appended_to_the_query() {
    let check = |uri: &str, expect: &str| {
        assert_eq!(with_parameters(uri, &[("code", "a_b"), ("state", "a b&\0ä%")]), expect);
    };
    let encoded = "code=a_b&state=a+b%26%00%C3%A4%25";
    check("https://a.example", &format!("https://a.example?{encoded}"));
    check("https://a.example/%2f/../x", &format!("https://a.example/%2f/../x?{encoded}"));
    check("https://a.example/?a=%20+", &format!("https://a.example/?a=%20+&{encoded}"));
    check("https://a.example/?", &format!("https://a.example/?{encoded}"));
    check("https://a.example/?a&", &format!("https://a.example/?a&{encoded}"));
    check("com.example.app:", &format!("com.example.app:?{encoded}"));
}

/// Texts that resemble redirect URIs.
fn near_uris() -> impl Strategy<Value = String> {
    let scheme = prop_oneof![Just("https"), Just("http"), Just("com.example"), Just("myapp"), Just("HTTPS")];
    let between = prop_oneof![Just("://"), Just(":/"), Just(":"), Just(":///")];
    (scheme, between, "[a-z0-9.:\\[\\]@%x_-]{0,20}", "[/?&=a.%0-9A-F]{0,12}")
        .prop_map(|(scheme, between, authority, rest)| format!("{scheme}{between}{authority}{rest}"))
}

proptest! {
    #[test]
    fn any_text_is_checked_without_panic(uri in any::<String>()) {
        let _ = check_redirect_uri(&uri);
        let _ = (redirect_host(&uri), csp_source(&uri), stays_on_device(&uri));
    }

    #[test]
    fn an_accepted_uri_is_a_url_with_the_same_host(uri in near_uris()) {
        if check_redirect_uri(&uri).is_ok() {
            let url = Url::parse(&uri).unwrap();
            let authority = Parts::of(&uri).unwrap().authority.unwrap_or_default();
            let host = url.host_str().unwrap_or_default();
            prop_assert!(authority.to_ascii_lowercase().starts_with(&host.to_ascii_lowercase()), "{uri}: {host}");
            prop_assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
            let answered = Url::parse(&with_parameters(&uri, &[("code", "x")])).unwrap();
            prop_assert_eq!(answered.host_str(), url.host_str());
        }
    }
}
