//! All pages: links, rejected forms, errors in a browser.

use std::collections::BTreeSet;

use domain::Plan;
use reqwest::{Method, header};
use tests::{
    TestApp, TestResponse,
    oauth::{Browser, PASSWORD, forms},
};

/// The `Accept` header of Chromium for a page.
const BROWSER_ACCEPT: &str =
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

/// The sections of the account page on every plan.
const SECTIONS: [&str; 8] = ["apps", "keys", "sync", "search", "password", "sessions", "activity", "delete"];

fn values(page: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    page.split(&begin).skip(1).map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&")).collect()
}

/// The text of a page without its tags.
fn text_of(html: &str) -> String {
    let parts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Opens every linked page, and sends an empty form to the action of every form.
async fn crawl(browser: &Browser<'_>, base_url: &str) -> BTreeSet<String> {
    let mut found: Vec<String> = ["/", "/account", "/account/sync", "/sign-in"].map(str::to_owned).into();
    let (mut opened, mut posted) = (BTreeSet::new(), BTreeSet::new());
    while let Some(path) = found.pop() {
        if !opened.insert(path.clone()) {
            continue;
        }
        let page =
            browser.send(browser.request(Method::GET, &path).header(header::ACCEPT, BROWSER_ACCEPT)).await;
        assert!(matches!(page.status, 200 | 302), "{path} is {}", page.status);
        found.extend(page.header("location").map(str::to_owned));
        if !page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            continue;
        }
        let html = page.text();
        for link in values(&html, "href") {
            let link = link.strip_prefix(base_url).unwrap_or(&link).to_owned();
            match link.split_once('#') {
                Some((_, anchor)) if link.starts_with('#') => {
                    assert!(values(&html, "id").iter().any(|id| id == anchor), "{path}: no {link}");
                }
                Some((other, _)) => panic!("an anchor of another page, which a redirect would lose: {other}"),
                None if link.starts_with('/') => found.push(link),
                None => assert!(link.starts_with("data:image/svg+xml;"), "{link} in {path}"),
            }
        }
        for form in forms(&html) {
            if form.is_post && posted.insert(form.action.clone()) {
                let answer =
                    browser.send(browser.request(Method::POST, &form.action).form(&[("csrf", "")])).await;
                assert_eq!(answer.status, 403, "the form of {path} that is sent to {}", form.action);
            }
        }
        for section in html.split("<section").skip(1) {
            let section = section.split("</section>").next().unwrap();
            let content = section.split_once("</h2>").map_or(section, |(_, content)| content);
            assert!(text_of(&format!("<{content}")).len() > 20, "an empty section of {path}: {section}");
        }
    }
    opened
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_and_form_of_every_page_works() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let visitor = app.browser();
    let public = crawl(&visitor, &app.base_url).await;
    assert!(public.contains("/sign-in?return_to=/account"), "{public:?}");

    let client = app.public_client().await;
    app.tokens(&client, &anna).await;
    let browser = app.browser().signed_in(&anna).await;
    let _elsewhere = app.browser().signed_in(&anna).await;
    for plan in [Plan::Paid, Plan::Free] {
        app.set_plan(&anna, plan).await;
        let opened = crawl(&browser, &app.base_url).await;
        for section in SECTIONS {
            assert!(opened.contains(&format!("/account/{section}")), "{section}: {opened:?}");
        }
        assert_eq!(opened.contains("/account/plan"), plan == Plan::Free, "{opened:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_install_url_explains_how_to_add_photos() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let info = app.get("/library", &anna.key).await;
    let install_url = info.result()["installUrl"].as_str().unwrap();
    let path = install_url.strip_prefix(&app.base_url).unwrap();
    for browser in [app.browser(), app.browser().signed_in(&anna).await] {
        let page = browser.open(path).await.expect(200).text();
        assert!(page.contains("Photo sync") && page.contains("server import"), "{page}");
    }
    let browser = app.browser().signed_in(&anna).await;
    assert!(browser.open(path).await.text().contains("server import anna@example.org"), "with the own email");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_section_has_its_own_page() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let browser = app.browser().signed_in(&anna).await;
    let whole = browser.open("/account").await.expect(200).text();
    assert!(whole.contains(r#"href="/account" aria-current="page""#), "{whole}");
    for section in SECTIONS {
        let path = format!("/account/{section}");
        let page = browser.open(&path).await.expect(200).text();
        assert!(page.contains(&format!(r#"href="{path}" aria-current="page""#)), "{path}: {page}");
        assert_eq!(page.matches("<section").count(), 1, "{path} shows one section");
        assert!(
            whole.contains(&format!(r#"<section id="{section}""#)),
            "{section} is part of the whole account page"
        );
        // Signing in returns to the section.
        if section != "sync" {
            let answer = app.browser().open(&path).await.expect(302);
            assert_eq!(answer.header("location"), Some(&*format!("/sign-in?return_to={path}")));
        }
    }
    for form in ["/account/keys/create", "/account/password", "/account/delete"] {
        assert!(whole.contains(&format!(r#"action="{form}""#)), "{form}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_a_section_returns_to_its_page() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let browser = app.browser().signed_in(&anna).await;
    let form = |page: &TestResponse, action: &str| {
        let found = forms(&page.text()).into_iter().find(|form| form.action == action);
        found.unwrap_or_else(|| panic!("no form {action} in {}", page.text()))
    };
    for (page, location) in
        [("/account", "/account?done=key-revoked"), ("/account/keys", "/account/keys?done=key-revoked")]
    {
        let create = form(&browser.open(page).await.expect(200), "/account/keys/create");
        browser.submit(page, &create, &[("name", "laptop")]).await.expect(200);
        let taken = browser.submit(page, &create, &[("name", "laptop")]).await.expect(400).text();
        assert_eq!(
            taken.matches("<section").count() == 1,
            page != "/account",
            "the same page again: {taken}"
        );
        let revoke = form(&browser.open(page).await.expect(200), "/account/keys/revoke");
        let answer = browser.submit(page, &revoke, &[("name", "laptop")]).await.expect(303);
        assert_eq!(answer.header("location"), Some(location));
        let said = browser.open(location).await.expect(200).text();
        assert!(said.contains(r#"role="status""#) && said.contains("The API key is revoked."), "{said}");
    }
    // A form can only return to a page of the account.
    let mut revoke = form(&browser.open("/account/keys").await, "/account/keys/revoke");
    revoke.fields.insert("page".to_owned(), "//evil.example".to_owned());
    let answer = browser.submit("/account/keys", &revoke, &[("name", "none")]).await.expect(303);
    assert_eq!(answer.header("location"), Some("/account?done=key-revoked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_signed_in_page_has_sign_out_in_its_header() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let paths = SECTIONS.map(|section| format!("/account/{section}"));
    let paths = paths.iter().map(String::as_str).chain([
        "/",
        "/account",
        "/albums",
        "/map",
        "/search",
        "/archive",
        "/trash",
        "/problems",
    ]);
    for path in paths {
        let browser = app.browser().signed_in(&anna).await;
        let page = browser.open(path).await.expect(200);
        let html = page.text();
        let (header, _) = html.split_once("</header>").unwrap();
        let sign_out = forms(header).into_iter().find(|form| form.action == "/sign-out");
        let sign_out = sign_out.unwrap_or_else(|| panic!("{path}: {header}"));
        let answer = browser.submit(path, &sign_out, &[]).await.expect(303);
        assert_eq!(answer.header("location"), Some(path));
        browser.open("/account").await.expect(302);
    }
    let page = app.browser().open("/account/sync").await.expect(200).text();
    assert!(!page.contains("/sign-out") && page.contains(r#"href="/sign-in"#), "{page}");
    let visitor = app.browser().open("/").await.expect(302);
    assert_eq!(visitor.header("location"), Some("/sign-in?return_to=/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_theme_is_kept_in_a_cookie() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let theme_of = async |path: &str, status: u16| {
        let request = browser.request(Method::GET, path).header("accept", "text/html");
        let page = browser.send(request).await.expect(status).text();
        let schemes = page.split(r#"name="color-scheme" content=""#).nth(1).unwrap();
        let theme = values(page.split("<head").next().unwrap(), "data-theme").pop();
        (theme, schemes.split('"').next().unwrap().to_owned(), page.matches(r#"name="theme-color""#).count())
    };
    let system = (None, "light dark".to_owned(), 2);
    assert_eq!(theme_of("/albums", 200).await, system);
    let page = browser.open("/albums").await.text();
    let form = forms(&page).into_iter().find(|form| form.action == "/theme").unwrap();
    browser.submit("/albums", &form, &[("csrf", ""), ("theme", "dark")]).await.expect(403);
    for (choice, cookie) in [
        ("dark", "photos_theme=dark; Path=/; HttpOnly; SameSite=Lax; Max-Age=34560000"),
        ("light", "photos_theme=light; Path=/; HttpOnly; SameSite=Lax; Max-Age=34560000"),
        ("system", "photos_theme=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"),
        ("pink", "photos_theme=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"),
    ] {
        let answer = browser.submit("/albums", &form, &[("theme", choice)]).await.expect(303);
        assert_eq!(answer.header("location"), Some("/albums"));
        assert_eq!(answer.header("set-cookie"), Some(cookie));
        // The last two say that something is missing.
        let pages = ["/", "/albums", "/account", "/sign-in"].map(|path| (path, 200));
        for (path, status) in pages.into_iter().chain([("/photos/none", 404), ("/nowhere", 404)]) {
            let expected = match choice {
                "dark" | "light" => (Some(choice.to_owned()), choice.to_owned(), 1),
                _ => system.clone(),
            };
            assert_eq!(theme_of(path, status).await, expected, "{path}");
        }
    }
    browser.set_cookie("photos_theme", "pink");
    assert_eq!(theme_of("/albums", 200).await, system);
    browser.open("/theme").await.expect(302);
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_that_end_access_need_confirmation() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let client = app.public_client().await;
    app.tokens(&client, &anna).await;
    let browser = app.browser().signed_in(&anna).await;
    let _elsewhere = app.browser().signed_in(&anna).await;
    let page = browser.open("/account").await.expect(200).text();
    for action in [
        "/account/apps/disconnect",
        "/account/keys/revoke",
        "/account/sign-out-everywhere",
        "/account/delete",
    ] {
        let (before, _) = page.split_once(&format!(r#"action="{action}""#)).unwrap();
        let (opened, closed) = (before.matches("<details").count(), before.matches("</details>").count());
        assert_eq!(opened, closed + 1, "{action} needs confirmation");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_is_shown_on_the_free_plan_only() {
    let app = TestApp::builder().free_window(3).start().await;
    let anna = app.person("anna").await;
    let browser = app.browser().signed_in(&anna).await;
    let paid = browser.open("/account").await.expect(200).text();
    for words in ["free window", "Free plan", "paid plan", ">Plan<", "/account/plan"] {
        assert!(!paid.contains(words), "{words}: {paid}");
    }
    browser.open("/account/plan").await.expect(404);

    app.set_plan(&anna, Plan::Free).await;
    for path in ["/account", "/account/plan"] {
        let free = browser.open(path).await.expect(200).text();
        assert!(free.contains("Free plan") && free.contains("newest 3 photos"), "{free}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_gets_a_page_for_an_error_and_a_program_gets_json() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let send = async |method: &Method, path: &str, accept: &str| {
        let browser = app.browser().signed_in(&anna).await;
        browser.send(browser.request(method.clone(), path).header(header::ACCEPT, accept)).await
    };
    for (method, path, status) in [
        (Method::GET, "/nothing", 404),
        (Method::HEAD, "/nothing", 404),
        (Method::GET, "/account/nothing", 404),
        (Method::GET, "/sign-out", 405),
        (Method::PUT, "/account", 405),
        (Method::DELETE, "/api/oauth/authorize", 405),
    ] {
        let page = send(&method, path, BROWSER_ACCEPT).await.expect(status);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{method} {path}");
        assert!(
            page.header("content-security-policy")
                .is_some_and(|policy| policy.contains("default-src 'none'"))
        );
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("allow").is_some(), status == 405, "{method} {path}");
        if method != Method::HEAD {
            let html = page.text();
            assert_eq!(html.matches("<h1").count(), 1, "{html}");
            assert!(html.contains(r#"<main"#) && html.contains(r#"href="/""#), "a link onward: {html}");
        }
        for accept in ["*/*", "application/json", "application/json, text/html;q=0.5", "text/html;q=0"] {
            let answer = send(&method, path, accept).await.expect(status);
            assert_eq!(answer.header("content-type"), Some("application/json"), "{method} {path} {accept}");
        }
    }
    for path in
        ["/api/ext/v2/images", "/api/nothing", "/i/x/webp-full.webp", "/.well-known/nothing", "/api/mcp/v1"]
    {
        let answer = app.browser();
        let answer =
            answer.send(answer.request(Method::GET, path).header(header::ACCEPT, BROWSER_ACCEPT)).await;
        assert!(answer.status >= 400, "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    }
    let probe = app.browser();
    let probe =
        probe.send(probe.request(Method::POST, "/healthz").header(header::ACCEPT, BROWSER_ACCEPT)).await;
    assert_eq!(probe.expect(405).header("content-type"), Some("application/json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_form_shows_the_cause_and_a_link() {
    const LAN: &str = "http://192.168.1.5:8080";
    const PUBLIC: &str = "https://photos.example.org";
    for (base_url, host, origin, cookie, words, link) in [
        // The page was opened at another address.
        (
            PUBLIC,
            "192.168.1.5:8080",
            Some(LAN),
            false,
            "You opened it at http://192.168.1.5:8080",
            "https://photos.example.org/sign-in?",
        ),
        (
            PUBLIC,
            "192.168.1.5:8080",
            None,
            false,
            "You opened it at https://192.168.1.5:8080",
            "https://photos.example.org/sign-in?",
        ),
        (
            LAN,
            "nas:8080",
            Some("http://nas:8080"),
            false,
            "You opened it at http://nas:8080",
            "http://192.168.1.5:8080/sign-in?",
        ),
        // A proxy sends its own name as the host.
        (
            LAN,
            "127.0.0.1:9",
            Some("https://nas.example"),
            true,
            "You opened it at https://nas.example",
            "http://192.168.1.5:8080/sign-in?",
        ),
        (PUBLIC, "127.0.0.1:8080", Some(PUBLIC), false, "Your browser did not send the cookie", "/sign-in?"),
        // The page was opened over http, so the browser dropped the secure cookie.
        (
            PUBLIC,
            "photos.example.org",
            Some("http://photos.example.org"),
            false,
            "over http",
            "https://photos.example.org/sign-in?",
        ),
        // Cookies are blocked.
        (LAN, "192.168.1.5:8080", Some(LAN), false, "allow cookies for 192.168.1.5:8080", "/sign-in?"),
        (LAN, "192.168.1.5:8080", None, false, "allow cookies for 192.168.1.5:8080", "/sign-in?"),
        // The cookie was sent, but the form is too old.
        (
            LAN,
            "192.168.1.5:8080",
            Some(LAN),
            true,
            "This form has expired. Reload the page and try again.",
            "/sign-in?",
        ),
        (
            LAN,
            "nas:8080",
            Some("http://nas:8080"),
            true,
            "This form has expired. Reload the page and try again.",
            "/sign-in?",
        ),
        // The form is from a page of another site.
        (LAN, "192.168.1.5:8080", Some("null"), true, "another site", "/sign-in?"),
        (LAN, "192.168.1.5:8080", Some("https://<b>evil"), true, "another site", "/sign-in?"),
    ] {
        let app = TestApp::builder().public_base_url(base_url).start().await;
        let browser = app.browser();
        browser.open("/sign-in?return_to=/account/keys").await.expect(200);
        let asking = if cookie { browser } else { app.browser() };
        let mut request =
            asking.request(Method::POST, "/sign-in?return_to=/account/keys").header(header::HOST, host);
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        let fields = [("email", "anna@example.org"), ("password", PASSWORD), ("csrf", "x")];
        let page = asking.send(request.form(&fields)).await.expect(403);
        let case = format!("{base_url} {host} {origin:?} {cookie}");
        let text = text_of(&page.text());
        assert!(text.contains(words), "{case}: {text}");
        assert!(!page.text().contains("<b>evil"), "{case}");
        let at_other_address = words.starts_with("You opened it at");
        assert_eq!(
            text.contains("Behind a reverse proxy, start it with --base-url"),
            at_other_address,
            "{case}"
        );
        let links = values(&page.text(), "href");
        let expect = format!("{link}return_to=/account/keys");
        assert!(links.contains(&expect), "{case}: {links:?}");
        if link.starts_with("http") {
            assert!(text.contains(&format!("This library is set up for {base_url}")), "{case}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_account_form_links_back_to_its_page() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let browser = app.browser().signed_in(&anna).await;
    for action in ["/account/keys/create", "/account/password", "/sign-out"] {
        let page =
            browser.send(browser.request(Method::POST, action).form(&[("csrf", "x")])).await.expect(403);
        assert!(page.text().contains("This form has expired."), "{action}: {}", page.text());
        let link = values(&page.text(), "href").pop().unwrap();
        let led = browser.open(&link).await;
        assert!(matches!(led.status, 200 | 302), "{action} leads to {link}: {}", led.status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_of_a_page_allows_only_scripts_of_the_service() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    let browser = app.browser().signed_in(&anna).await;
    let page = browser.open("/account").await.expect(200);
    let html = page.text();
    let (_, rest) = html.split_once("<script>").unwrap();
    let (script, rest) = rest.split_once("</script>").unwrap();
    assert!(!rest.contains("<script"), "one script");
    let hash = data_encoding::BASE64.encode(&keys::sha256(script.as_bytes()));
    let policy = page.header("content-security-policy").unwrap();
    // The upload's script is loaded from the service.
    assert!(policy.contains(&format!("script-src 'sha256-{hash}' 'self'; connect-src 'self';")), "{policy}");
    for word in ["unsafe", "http:", "https:"] {
        assert!(!policy.contains(word), "{word}: {policy}");
    }
    assert!(!script.contains("innerHTML") && !html.contains(" onclick="));
    let sign_in = app.browser().open("/sign-in").await.expect(200);
    assert!(!sign_in.header("content-security-policy").unwrap().contains("script-src"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_can_be_installed_as_an_app() {
    let app = TestApp::start().await;
    let ann = app.person("ann").await;
    let browser = app.browser().signed_in(&ann).await;
    let page = browser.open("/").await.expect(200).text();
    let linked = |kind: &str| {
        let (_, link) = page.split_once(&format!("rel=\"{kind}\" href=\"")).unwrap();
        link.split('"').next().unwrap().to_owned()
    };
    let size = async |path: &str| {
        // The icons need no session: systems load them without cookies.
        let icon = app.send(app.request(Method::GET, path)).await.expect(200);
        assert_eq!(icon.header("content-type"), Some("image/png"));
        let bytes = icon.body;
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let number = |from: usize| u32::from_be_bytes(bytes[from..from + 4].try_into().unwrap());
        (number(16), number(20))
    };
    assert_eq!(size(&linked("apple-touch-icon")).await, (180, 180));
    let path = linked("manifest");
    let answer = app.send(app.request(Method::GET, &path)).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/manifest+json"));
    let manifest: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!((&manifest["start_url"], &manifest["scope"]), (&"/".into(), &"/".into()));
    assert_eq!(manifest["share_target"]["action"], "/share");
    for icon in manifest["icons"].as_array().unwrap() {
        let beside = format!("{}/{}", path.rsplit_once('/').unwrap().0, icon["src"].as_str().unwrap());
        let (width, height) = size(&beside).await;
        assert_eq!(icon["sizes"], format!("{width}x{height}"));
    }
}
