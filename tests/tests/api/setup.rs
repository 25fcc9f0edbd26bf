use tests::{
    TestApp, TestResponse,
    oauth::{HtmlForm, PASSWORD, forms},
};

/// The path of a valid link.
async fn setup_link(app: &TestApp) -> String {
    let token = app.library.accounts.create_setup_link().await.unwrap().unwrap();
    format!("/setup?token={token}")
}

fn form(page: &TestResponse) -> HtmlForm {
    let mut forms = forms(&page.text());
    assert_eq!(forms.len(), 1, "{}", page.text());
    forms.remove(0)
}

const FIELDS: [(&str, &str); 2] = [("email", "Anna@Example.org"), ("password", PASSWORD)];

#[tokio::test(flavor = "multi_thread")]
async fn a_link_creates_the_first_account_and_signs_in() {
    let app = TestApp::start().await;
    let (link, browser) = (setup_link(&app).await, app.browser());
    let page = browser.open(&link).await.expect(200);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    let form = form(&page);
    let answer = browser.submit(&link, &form, &FIELDS).await.expect(303);
    assert_eq!(answer.header("location"), Some("/"));
    let account = browser.open("/account").await.expect(200).text();
    for words in ["anna@example.org", "Connected apps", "Account created"] {
        assert!(account.contains(words), "{words}: {account}");
    }

    // A double click sends the form twice.
    let again = browser.submit(&link, &form, &FIELDS).await.expect(303);
    assert_eq!(again.header("location"), Some("/"));
    // The link can be used only once.
    browser.open(&link).await.expect(404);
    let other = [("email", "bert@example.org"), ("password", PASSWORD)];
    browser.submit(&link, &form, &other).await.expect(404);
    assert_eq!(app.library.accounts.accounts().await.unwrap().len(), 1);
    assert!(app.library.accounts.create_setup_link().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_printed_link_works() {
    let app = TestApp::start().await;
    let (link, browser) = (setup_link(&app).await, app.browser());
    for other in ["/setup", "/setup?token=", "/setup?token=x", &format!("{link}x")] {
        let page = browser.open(other).await.expect(404);
        assert!(page.text().contains("This set-up link is invalid or has expired"), "{other}");
    }
    let mut form = form(&browser.open(&link).await.expect(200));
    form.action = "/setup?token=x".to_owned();
    browser.submit(&link, &form, &FIELDS).await.expect(404);
    assert!(app.library.accounts.accounts().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_shown_in_the_form() {
    let app = TestApp::start().await;
    let (link, browser) = (setup_link(&app).await, app.browser());
    let form = form(&browser.open(&link).await.expect(200));
    for (email, password, words) in [
        ("anna", PASSWORD, "Enter a valid email address"),
        ("", PASSWORD, "Enter a valid email address"),
        ("anna@example.org", "short", "at least 10 characters"),
        ("anna@example.org", "", "at least 10 characters"),
    ] {
        let fields = [("email", email), ("password", password)];
        let page = browser.submit(&link, &form, &fields).await.expect(400);
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    browser.submit(&link, &form, &FIELDS).await.expect(303);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_is_valid_only_in_its_browser() {
    let app = TestApp::start().await;
    let (link, browser) = (setup_link(&app).await, app.browser());
    let shown = form(&browser.open(&link).await.expect(200));
    let mut without = shown.clone();
    without.fields.remove("csrf");
    browser.submit(&link, &without, &FIELDS).await.expect(403);
    app.browser().submit(&link, &shown, &FIELDS).await.expect(403);
    let foreign = browser.form_request(&link, &shown, &FIELDS).header("origin", "https://evil.example");
    browser.send(foreign).await.expect(403);
    assert!(app.library.accounts.accounts().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn before_set_up_pages_say_where_the_link_is() {
    let app = TestApp::start().await;
    let (link, browser) = (setup_link(&app).await, app.browser());
    let token = link.split_once('=').unwrap().1;
    for path in ["/", "/sign-in", "/sign-in?return_to=/account"] {
        let page = browser.open(path).await.expect(200).text();
        assert!(page.contains("The server printed a link") && !page.contains(token), "{path}: {page}");
    }
    app.person("anna").await;
    browser.open("/").await.expect(302);
    assert!(!browser.open("/sign-in").await.expect(200).text().contains("no account yet"));
}
