use domain::KeyName;
use reqwest::{Method, header};
use tests::{
    SeedImage, TestApp, TestResponse,
    oauth::{Browser, HtmlForm, PASSWORD, forms},
};

const PATH: &str = "/account";

/// The first form of the page with this action and, if given, with a field of this value.
fn form(page: &TestResponse, action: &str, value: Option<&str>) -> HtmlForm {
    let holds = |form: &HtmlForm| value.is_none_or(|value| form.fields.values().any(|field| field == value));
    let found = forms(&page.text()).into_iter().find(|form| form.action == action && holds(form));
    found.unwrap_or_else(|| panic!("no form {action} {value:?} in {}", page.text()))
}

async fn opened(browser: &Browser<'_>) -> TestResponse {
    browser.open(PATH).await.expect(200)
}

/// The key that the page shows.
fn shown_key(page: &TestResponse) -> String {
    let text = page.text();
    let (_, rest) = text.split_once("<code>photos_").unwrap();
    format!("photos_{}", rest.split('<').next().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_requires_sign_in_and_returns_afterwards() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let browser = app.browser();
    let answer = browser.open(PATH).await.expect(302);
    let sign_in = answer.header("location").unwrap().to_owned();
    assert_eq!(browser.sign_in(&sign_in, &person, PASSWORD).await.expect(303).header("location"), Some(PATH));
    let page = opened(&browser).await;
    assert!(page.text().contains("anna@example.org"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connected_app_is_listed_and_can_be_disconnected() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let bert = app.person("bert").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &anna).await;
    let others = app.tokens(&client, &bert).await;
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);

    let page = opened(&browser).await;
    for words in ["Test app", "1 June 2024</time>", "organise them into albums"] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    assert!(page.text().contains("(name not verified)"), "{}", page.text());
    let disconnect = form(&page, "/account/apps/disconnect", None);
    let answer = browser.submit(PATH, &disconnect, &[]).await.expect(303);
    assert_eq!(answer.header("location"), Some("/account?done=disconnected"));
    let said = browser.open("/account?done=disconnected").await.expect(200);
    assert!(said.text().contains("The app is disconnected."));
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(401);
    app.refresh(&client, &tokens.refresh).await.expect(400);
    assert!(opened(&browser).await.text().contains("No apps are connected"));

    // A person cannot revoke another person's grant.
    let berts = app.browser().signed_in(&bert).await;
    let grant = form(&opened(&berts).await, "/account/apps/disconnect", None).fields["grant"].clone();
    let again = app.tokens(&client, &anna).await;
    let disconnect = form(&opened(&browser).await, "/account/apps/disconnect", None);
    browser.submit(PATH, &disconnect, &[("grant", &grant)]).await.expect(303);
    app.list_tools("/api/mcp/v1", &others.access).await.expect(200);
    app.list_tools("/api/mcp/v1", &again.access).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_search_section_says_when_there_are_no_photos() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let text = browser.open("/account/search").await.expect(200).text();
    assert!(text.contains("There are no photos yet. <a href=\"/account/sync\">"), "{text}");
    assert!(!text.contains("All photos are ready"), "{text}");
    app.seed(&anna, SeedImage::series(1)).await;
    let text = browser.open("/account/search").await.expect(200).text();
    assert!(!text.contains("There are no photos yet"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_is_shown_once_and_can_be_revoked() {
    let app = TestApp::start().await;
    let (_, browser) = app.signed_in("anna").await;
    let create = form(&opened(&browser).await, "/account/keys/create", None);
    let page = browser.submit(PATH, &create, &[("name", "lap<b>top")]).await.expect(200);
    let key = shown_key(&page);
    assert!(page.text().contains("lap&lt;b&gt;top"));
    app.get("/library", &key).await.expect(200);
    assert!(!opened(&browser).await.text().contains(&key), "only once");

    let taken = browser.submit(PATH, &create, &[("name", "lap<b>top")]).await.expect(400);
    let words = "There is already a key with this name. Choose another name, or revoke that key first.";
    assert!(taken.text().contains(words), "{}", taken.text());
    assert_eq!(form(&taken, "/account/keys/create", None).fields["name"], "lap<b>top");
    let long = "n".repeat(101);
    for name in [" ", &long] {
        let refused = browser.submit(PATH, &create, &[("name", name)]).await.expect(400);
        assert!(
            refused.text().contains("<p>The name must have 1 to 100 characters.</p>"),
            "{}",
            refused.text()
        );
        assert_eq!(form(&refused, "/account/keys/create", None).fields["name"], *name);
    }

    let revoke = form(&opened(&browser).await, "/account/keys/revoke", Some("lap<b>top"));
    browser.submit(PATH, &revoke, &[]).await.expect(303);
    app.get("/library", &key).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_change_needs_the_old_password_and_ends_other_sessions() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let elsewhere = app.browser().signed_in(&anna).await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &anna).await;
    let change = form(&opened(&browser).await, "/account/password", None);
    let with = |current: &'static str, new: &'static str| [("current", current), ("new", new)];

    let wrong = browser.submit(PATH, &change, &with("wrong", "another password")).await.expect(400);
    assert!(wrong.text().contains("The password is incorrect. Nothing was changed."));
    browser.submit(PATH, &change, &with(PASSWORD, "short")).await.expect(400);
    opened(&elsewhere).await;

    browser.submit(PATH, &change, &with(PASSWORD, "another password")).await.expect(303);
    opened(&browser).await;
    elsewhere.open(PATH).await.expect(302);
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
    app.browser().sign_in("/sign-in", &anna, PASSWORD).await.expect(401);
    app.browser().sign_in("/sign-in", &anna, "another password").await.expect(303);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_password_change_devices_keys_and_apps_can_be_revoked() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (bert, _) = app.signed_in("bert").await;
    let client = app.public_client().await;
    let (tokens, of_bert) = (app.tokens(&client, &anna).await, app.tokens(&client, &bert).await);
    let device = KeyName::parse("Anna's phone").unwrap();
    let device = app.library.accounts.create_sync_password(anna.id, device, None).await.unwrap().password;
    let status = async |path: &str, user: &str, password: &str| {
        app.send(app.request(Method::GET, path).basic_auth(user, Some(password))).await.status
    };
    let statuses = async || {
        [
            app.list_tools("/api/mcp/v1", &tokens.access).await.status,
            app.get("/library", &anna.key).await.status,
            status("/ocs/v2.php/cloud/user", "anna@example.org", &device).await,
        ]
    };
    let mut password = PASSWORD.to_owned();
    for (chosen, expect) in [
        (vec![], [200, 200, 200]),
        (vec!["keys"], [200, 401, 200]),
        (vec!["apps", "devices"], [401, 401, 401]),
    ] {
        let change = form(&opened(&browser).await, "/account/password", None);
        let new = format!("{password} and more");
        let changed =
            browser.submit(PATH, &change, &[("current", &*password), ("new", &*new)]).await.expect(303);
        password = new;
        let page = browser.open(changed.header("location").unwrap()).await.expect(200);
        let offer = form(&page, "/account/password/end-access", None);
        let text = page.text();
        assert!(text.contains("Anna's phone"), "{text}");
        assert_eq!(text.contains("Your scripts stop working"), !chosen.contains(&"apps"), "{text}");
        let mut fields = vec![("csrf", &*offer.fields["csrf"])];
        fields.extend(chosen.iter().map(|name| (*name, "yes")));
        let send = async |fields: &[(&str, &str)]| {
            browser.send(browser.request(Method::POST, &offer.action).form(fields)).await
        };
        send(&[("csrf", "wrong"), ("apps", "yes"), ("keys", "yes"), ("devices", "yes")]).await.expect(403);
        let ended = send(&fields).await;
        if chosen.is_empty() {
            // The form is shown again, with the reason.
            let again = ended.expect(400);
            assert!(again.text().contains("role=\"alert\""), "{}", again.text());
            assert!(again.text().contains("Nothing was selected"), "{}", again.text());
            assert!(again.text().contains("<legend>End the access of</legend>"), "{}", again.text());
            assert_eq!(form(&again, "/account/password/end-access", None).action, offer.action);
        } else {
            assert_eq!(ended.expect(303).header("location"), Some("/account?done=access-ended"));
        }
        assert_eq!(statuses().await, expect, "{chosen:?}");
    }
    app.list_tools("/api/mcp/v1", &of_bert.access).await.expect(200);
    app.get("/library", &bert.key).await.expect(200);
    // No access is left that could be ended.
    let page = browser.open("/account/password?done=password-changed").await.expect(200);
    assert!(!page.text().contains("end-access"), "{}", page.text());
    let activity = browser.open("/account/activity").await.expect(200).text();
    assert!(activity.contains("Anna's phone"), "{activity}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unredeemed_code_is_revoked_with_the_sessions() {
    let app = TestApp::start().await;
    let client = app.public_client().await;
    for action in ["/account/password", "/account/sign-out-everywhere"] {
        let (anna, browser) = app.signed_in(if action.ends_with("password") { "anna" } else { "bert" }).await;
        let code = app.code(&client, &anna).await;
        app.browser().signed_in(&anna).await;
        let end = form(&opened(&browser).await, action, None);
        browser.submit(PATH, &end, &[("current", PASSWORD), ("new", "another password")]).await.expect(303);
        let answer = app.redeem(&client, &code).await.expect(400);
        assert_eq!(answer.json["error"], "invalid_grant", "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_everywhere_keeps_only_this_session() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let elsewhere = app.browser().signed_in(&anna).await;
    let everywhere = form(&opened(&browser).await, "/account/sign-out-everywhere", None);
    browser.submit(PATH, &everywhere, &[]).await.expect(303);
    let alone = opened(&browser).await;
    assert!(!alone.text().contains("Sign out everywhere else"), "there is no other session");
    elsewhere.open(PATH).await.expect(302);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_can_be_ended_from_another_browser() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (phone, tablet) = (app.browser().signed_in(&anna).await, app.browser().signed_in(&anna).await);
    let (bert, berts) = app.signed_in("bert").await;
    let page = opened(&browser).await;
    assert!(page.text().contains("this browser"));
    let ends: Vec<HtmlForm> =
        forms(&page.text()).into_iter().filter(|form| form.action == "/account/sessions/end").collect();
    assert_eq!(ends.len(), 2, "one for each of the others");

    let answer = browser.submit(PATH, &ends[0], &[]).await.expect(303);
    assert_eq!(answer.header("location"), Some("/account?done=signed-out"));
    let left = [phone.open(PATH).await.status, tablet.open(PATH).await.status];
    assert!(left.contains(&200) && left.contains(&302), "{left:?}");
    opened(&browser).await;

    // Neither another person's session nor an invalid hash ends anything.
    let shown = forms(&opened(&berts).await.text());
    assert!(!shown.iter().any(|form| form.action == "/account/sessions/end"), "bert has one session");
    let berts_session = app.store.sessions(bert.id).await.unwrap().remove(0);
    let hash: String = berts_session.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    for session in [hash.as_str(), "", "zz", "00"] {
        browser.submit(PATH, &ends[1], &[("session", session)]).await.expect(303);
    }
    opened(&berts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_the_account_needs_the_password() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &anna).await;
    let delete = form(&opened(&browser).await, "/account/delete", None);
    let with = |password: &'static str, sure: &'static str| [("password", password), ("sure", sure)];

    let unsure = browser.submit(PATH, &delete, &with(PASSWORD, "")).await.expect(400);
    assert!(unsure.text().contains("Select the checkbox"));
    browser.submit(PATH, &delete, &with("wrong", "yes")).await.expect(400);
    app.get("/library", &anna.key).await.expect(200);

    let gone = browser.submit(PATH, &delete, &with(PASSWORD, "yes")).await.expect(200);
    assert!(gone.text().contains("Your account is deleted"));
    assert!(gone.header("set-cookie").unwrap().contains("Max-Age=0"));
    app.get("/library", &anna.key).await.expect(401);
    app.list_tools("/api/mcp/v1", &tokens.access).await.expect(401);
    app.refresh(&client, &tokens.refresh).await.expect(400);
    browser.open(PATH).await.expect(302);
    app.browser().sign_in("/sign-in", &anna, PASSWORD).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn activity_lists_the_events_of_the_account() {
    let app = TestApp::start().await;
    let anna = app.person("anna").await;
    app.browser().sign_in("/sign-in", &anna, "wrong").await.expect(401);
    let browser = app.browser().signed_in(&anna).await;
    let client = app.public_client().await;
    app.tokens(&client, &anna).await;
    let page = opened(&browser).await;
    let disconnect = form(&page, "/account/apps/disconnect", None);
    browser.submit(PATH, &disconnect, &[]).await.expect(303);
    let create = form(&page, "/account/keys/create", None);
    browser.submit(PATH, &create, &[("name", "lap<b>top")]).await.expect(200);
    let revoke = form(&opened(&browser).await, "/account/keys/revoke", Some("lap<b>top"));
    browser.submit(PATH, &revoke, &[]).await.expect(303);
    let change = form(&opened(&browser).await, "/account/password", None);
    let words = [("current", PASSWORD), ("new", "another password")];
    browser.submit(PATH, &change, &words).await.expect(303);

    // A wrong password is recorded after the reply.
    let mut text = String::new();
    for _ in 0..100 {
        text = browser.open("/account/activity").await.expect(200).text();
        if text.contains("Sign-in failed: incorrect password") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    for words in [
        "Sign-in failed: incorrect password",
        "Signed in",
        "Test app connected",
        "Test app disconnected",
        "API key lap&lt;b&gt;top created",
        "API key lap&lt;b&gt;top revoked",
        "Password changed",
        "from 127.0.0.1",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (_, berts) = app.signed_in("bert").await;
    for page in [PATH, "/account/activity"] {
        let text = berts.open(page).await.expect(200).text();
        assert!(!text.contains("lap&lt;b&gt;top"), "only one's own");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn activity_lists_a_grant_revoked_after_a_replay() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &anna).await;
    app.refresh(&client, &tokens.refresh).await.expect(200);
    app.clock.advance_ms(31_000);
    app.refresh(&client, &tokens.refresh).await.expect(400);
    let text = opened(&browser).await.text();
    assert!(text.contains("Test app disconnected, because one of its old tokens was used again"), "{text}");
    assert!(text.contains("No apps are connected"));
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_are_valid_only_in_their_session() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let other = app.browser().signed_in(&anna).await;
    let page = opened(&browser).await;
    for action in [
        "/account/keys/create",
        "/account/password",
        "/account/sign-out-everywhere",
        "/account/delete",
        "/account/sessions/end",
    ] {
        let shown = form(&page, action, None);
        let mut without = shown.clone();
        without.fields.remove("csrf");
        browser.submit(PATH, &without, &[]).await.expect(403);
        other.submit(PATH, &shown, &[]).await.expect(403);
        let foreign =
            browser.form_request(action, &shown, &[]).header(header::ORIGIN, "https://evil.example");
        browser.send(foreign).await.expect(403);
        // The token of a form is not valid for another form.
        let mut elsewhere = shown.clone();
        elsewhere.action = "/account/keys/revoke".to_owned();
        browser.submit(PATH, &elsewhere, &[]).await.expect(403);
    }
    browser.open("/account/nothing").await.expect(404);
    for (action, section) in [
        ("/account/apps/disconnect", "/account/apps"),
        ("/account/keys/create", "/account/keys"),
        ("/account/sign-out-everywhere", "/account/sessions"),
        ("/account/sessions/end", "/account/sessions"),
    ] {
        assert_eq!(browser.open(action).await.expect(302).header("location"), Some(section), "{action}");
    }
    // A request without a session is refused, too.
    app.browser().submit(PATH, &form(&page, "/account/password", None), &[]).await.expect(403);
}
