//! Two replicas on one store, on machines whose clocks are 90 s apart. Both follow the clock of the store.

use std::time::Duration;

use storage::LeaseRequest;
use tests::{
    TestApp,
    oauth::{Authorize, PASSWORD, Tokens, forms},
};

use crate::sync_sign_in::{ANDROID, Device, Flow};

const AHEAD: Duration = Duration::from_secs(90);

/// The clocks that the replicas follow: that of the store, or, to show what would go wrong, their own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Clocks {
    Followed,
    OwnClocks,
}

async fn replicas(clocks: Clocks) -> (TestApp, TestApp) {
    let builder = match clocks {
        Clocks::Followed => TestApp::builder().store_with_clock(),
        Clocks::OwnClocks => TestApp::builder(),
    };
    let one = builder.start().await;
    let ahead = one.replica(AHEAD).await;
    (one, ahead)
}

/// Moves the clocks of both replicas and of the store.
fn advance(one: &TestApp, ahead: &TestApp, time: Duration) {
    one.advance(time);
    ahead.clock.advance_ms(i64::try_from(time.as_millis()).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_immediate_replay_at_another_replica_does_not_end_the_grant() {
    for (clocks, expect) in [(Clocks::Followed, 200), (Clocks::OwnClocks, 400)] {
        let (one, ahead) = replicas(clocks).await;
        let person = one.person("anna").await;
        let client = one.public_client().await;
        let first = one.tokens(&client, &person).await;
        let second = Tokens::read(&one.refresh(&client, &first.refresh).await);
        advance(&one, &ahead, Duration::from_secs(1));
        assert_eq!(ahead.refresh(&client, &first.refresh).await.oauth_error(), "invalid_grant");
        assert_eq!(one.refresh(&client, &second.refresh).await.status, expect, "{clocks:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_replay_at_another_replica_ends_the_grant() {
    let (one, ahead) = replicas(Clocks::Followed).await;
    let person = one.person("anna").await;
    let client = one.public_client().await;
    let first = ahead.tokens(&client, &person).await;
    let second = Tokens::read(&ahead.refresh(&client, &first.refresh).await);
    advance(&one, &ahead, Duration::from_secs(31));
    assert_eq!(one.refresh(&client, &first.refresh).await.oauth_error(), "invalid_grant");
    assert_eq!(ahead.refresh(&client, &second.refresh).await.oauth_error(), "invalid_grant");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consent_form_of_one_replica_is_accepted_by_the_other() {
    let (one, ahead) = replicas(Clocks::Followed).await;
    let person = one.person("anna").await;
    let client = one.public_client().await;
    let at_one = one.browser().signed_in(&person).await;
    for (shows, accepts) in [(&one, &ahead), (&ahead, &one)] {
        let request = Authorize::of(&one, &client).path();
        let browser = at_one.moved_to(shows);
        let page = browser.open(&request).await.expect(200);
        let form = forms(&page.text()).remove(0);
        let answer = browser.moved_to(accepts).submit(&request, &form, &[("decision", "allow")]).await;
        let tokens = Tokens::read(&shows.redeem(&client, &answer.expect(303).code()).await);
        for app in [&one, &ahead] {
            app.list_tools("/api/mcp/v1", &tokens.access).await.expect(200);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_form_and_a_set_up_link_of_one_replica_work_at_the_other() {
    for flip in [false, true] {
        let (one, ahead) = replicas(Clocks::Followed).await;
        let (makes, uses) = if flip { (&ahead, &one) } else { (&one, &ahead) };
        let token = makes.library.accounts.create_setup_link().await.unwrap().unwrap();
        let link = format!("/setup?token={token}");
        let browser = makes.browser();
        let form = forms(&browser.open(&link).await.expect(200).text()).remove(0);
        let fields = [("email", "anna@example.org"), ("password", PASSWORD)];
        let browser = browser.moved_to(uses);
        browser.submit(&link, &form, &fields).await.expect(303);
        browser.open("/account").await.expect(200);
        browser.moved_to(makes).open("/account").await.expect(200);

        let visitor = makes.browser();
        let form = forms(&visitor.open("/sign-in").await.expect(200).text()).remove(0);
        visitor.moved_to(uses).submit("/sign-in", &form, &fields).await.expect(303);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_flow_works_across_replicas() {
    let (one, ahead) = replicas(Clocks::Followed).await;
    let person = one.person("anna").await;
    let browser = one.browser().signed_in(&person).await;
    for (begins, allows) in [(&one, &ahead), (&ahead, &one)] {
        let flow = Flow::begin(begins, ANDROID).await;
        // The flow lives for 20 minutes, although the clocks of the machines are 90 s apart.
        advance(&one, &ahead, Duration::from_secs(20 * 60 - 2));
        flow.answer(&browser.moved_to(allows), "allow").await.expect(200);
        let device = Device::of(&flow.poll(begins).await.expect(200));
        assert_eq!((device.status(&one).await, device.status(&ahead).await), (200, 200));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_of_one_replica_is_valid_at_the_other() {
    for (clocks, expect) in [(Clocks::Followed, 0), (Clocks::OwnClocks, 1)] {
        let (one, ahead) = replicas(clocks).await;
        let person = one.account("anna").await;
        let photo = tests::fixture("media/grey.jpg");
        let photo = bytes(&photo);
        let stream = futures_util::stream::iter([Ok::<_, std::io::Error>(photo)]);
        one.library.ingest.import_stream(person.id, library::Upload::default(), stream).await.unwrap();
        let lease = async |app: &TestApp, worker: &str| {
            let at = app.library.clock().now();
            let until = at.plus_millis(15_000);
            let request = LeaseRequest { worker, at, until, max: 1, max_attempts: 9 };
            app.store.lease_jobs(request, media::DECODER_VERSION).await.unwrap().len()
        };
        assert_eq!(lease(&one, "one").await, 1);
        assert_eq!(lease(&ahead, "ahead").await, expect, "{clocks:?}");
        advance(&one, &ahead, Duration::from_secs(16));
        if clocks == Clocks::Followed {
            assert_eq!(lease(&ahead, "ahead").await, 1, "it has expired");
        }
    }
}

fn bytes(path: &std::path::Path) -> bytes::Bytes {
    std::fs::read(path).unwrap().into()
}
