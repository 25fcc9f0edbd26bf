use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tests::TestApp;
use web::RateLimit;

/// Checks a 429 with an OAuth error body and returns its `Retry-After` in seconds.
#[track_caller]
fn retry_after(answer: &tests::TestResponse) -> u64 {
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(answer.json["error"].is_string() && answer.json["error_description"].is_string());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    answer.header("retry-after").unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_from_one_address_are_limited() {
    let limit = RateLimit { burst: 3, per_minute: 2 };
    let app = TestApp::builder().oauth_limits(|limits| limits.registrations = limit).start().await;
    let body = json!({"client_name": "a", "redirect_uris": ["https://a.example/"]});
    for _ in 0..3 {
        app.register(&body).await.expect(201);
    }
    let wait = retry_after(&app.register(&body).await);
    assert!((1..=30).contains(&wait), "{wait}");
    app.advance(Duration::from_secs(wait));
    app.register(&body).await.expect(201);
    retry_after(&app.register(&body).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_from_one_network_are_limited() {
    let app = TestApp::builder()
        .oauth_limits(|limits| {
            limits.registrations = RateLimit { burst: 2, per_minute: 1 };
            limits.registrations_per_network = RateLimit { burst: 3, per_minute: 1 };
        })
        .trusted_proxy("127.0.0.1/32")
        .start()
        .await;
    let body = json!({"client_name": "a", "redirect_uris": ["https://a.example/"]});
    for (address, status) in [
        ("2001:db8:1:1::1", 201),
        ("2001:db8:1:2::1", 201),
        ("2001:db8:1:3::1", 201),
        ("2001:db8:1:4::1", 429),
        ("2001:db8:2:1::1", 201),
        ("192.0.2.1", 201),
        ("192.0.2.1", 201),
        // Requests over the limit of an address do not count for its network.
        ("192.0.2.1", 429),
        ("192.0.2.1", 429),
        ("192.0.2.2", 201),
        ("192.0.2.3", 429),
        ("192.0.3.1", 201),
    ] {
        let request = app.request(Method::POST, "/api/oauth/register").header("x-forwarded-for", address);
        let answer = app.send(request.json(&body)).await;
        assert_eq!(answer.status, status, "{address}");
        if status == 429 {
            assert!(retry_after(&answer) <= 60);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_with_one_token_are_limited() {
    let limit = RateLimit { burst: 5, per_minute: 1 };
    let app = TestApp::builder().oauth_limits(|limits| limits.same_token = limit).start().await;
    let client = app.public_client().await;
    for _ in 0..5 {
        app.refresh(&client, "guessed").await.expect(400);
    }
    assert!(retry_after(&app.refresh(&client, "guessed").await) <= 60);
    app.refresh(&client, "another").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn token_requests_and_revocations_of_one_address_are_limited_together() {
    let limit = RateLimit { burst: 2, per_minute: 60 };
    let app = TestApp::builder().oauth_limits(|limits| limits.token_requests = limit).start().await;
    let client = app.public_client().await;
    app.refresh(&client, "one").await.expect(400);
    app.oauth_form("revoke", &[("token", "x")]).await.expect(200);
    assert_eq!(retry_after(&app.refresh(&client, "two").await), 1);
    retry_after(&app.oauth_form("revoke", &[("token", "x")]).await);
    app.advance(Duration::from_secs(1));
    app.refresh(&client, "two").await.expect(400);
}
