//! The example photos that an empty library offers.

use std::time::Duration;

use library::{IndexingScope, Ingest};
use reqwest::Method;
use tests::{
    TestApp,
    oauth::{Browser, HtmlForm, forms},
};

fn form_of(page: &str, action: &str) -> Option<HtmlForm> {
    forms(page).into_iter().find(|form| form.action == action)
}

async fn submit(browser: &Browser<'_>, form: &HtmlForm, status: u16) -> String {
    browser.send(browser.form_request(&form.action, form, &[])).await.expect(status).text()
}

#[tokio::test(flavor = "multi_thread")]
async fn example_photos_are_added_once_and_leave_nothing_but_the_trash() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let indexing = app.library.indexer.start_indexing(IndexingScope::Images).unwrap();
    let start = browser.open("/").await.expect(200).text();
    let add = form_of(&start, "/examples").expect("an empty library offers examples");
    browser.send(browser.request(Method::POST, "/examples").form(&[("csrf", "wrong")])).await.expect(403);
    for _ in 0..2 {
        submit(&browser, &add, 303).await;
    }
    let notice = format!("{} of the photos are examples.", Ingest::EXAMPLES);
    let page = loop {
        let page = browser.open("/").await.expect(200).text();
        if page.matches("data-id=").count() == 11 {
            break page;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(page.contains(&notice) && page.contains("The flag tower of Hue"), "{page}");
    assert!(browser.open("/account/sync").await.expect(200).text().contains(&notice));
    assert_eq!(app.library.ingest.examples(anna.id).await.unwrap().len(), 11);

    // Another account has none.
    let (_, other) = app.signed_in("ben").await;
    assert!(!other.open("/account/sync").await.expect(200).text().contains("are examples"));

    let remove = forms(&page).into_iter().find(page_form_removes).unwrap();
    let images: Vec<_> = app.library.ingest.examples(anna.id).await.unwrap();
    let mut fields = vec![
        ("csrf", &*remove.fields["csrf"]),
        ("action", "delete"),
        ("confirmed", "yes"),
        ("return_to", "/"),
    ];
    fields.extend(images.iter().map(|id| ("image", id.as_str())));
    browser.send(browser.request(Method::POST, "/web/selection").form(&fields)).await.expect(303);
    let start = browser.open("/").await.expect(200).text();
    assert!(form_of(&start, "/examples").is_some() && !start.contains(&notice), "{start}");
    // Added again, they come back from the trash.
    submit(&browser, &add, 303).await;
    assert_eq!(app.library.ingest.examples(anna.id).await.unwrap(), images);
    indexing.stop().await;
}

fn page_form_removes(form: &HtmlForm) -> bool {
    form.action == "/web/selection" && form.fields.contains_key("image")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_without_room_is_told_why_it_gets_no_examples() {
    let app = TestApp::builder().settings(|settings| settings.limits.account_quota_bytes = Some(1_000));
    let app = app.start().await;
    let (_, browser) = app.signed_in("anna").await;
    let start = browser.open("/").await.expect(200).text();
    let answer = submit(&browser, &form_of(&start, "/examples").unwrap(), 409).await;
    assert!(answer.contains("Not all example photos were added: "), "{answer}");
}
