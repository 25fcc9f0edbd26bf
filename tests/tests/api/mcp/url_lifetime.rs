//! The lifetime of signed URLs in descriptions and instructions.

use serde_json::json;
use tests::{SeedImage, TestApp};

use super::{RESOURCES, request};

#[tokio::test(flavor = "multi_thread")]
async fn descriptions_state_the_actual_lifetime_of_signed_urls() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    app.seed_one(&ann, SeedImage::at("2024-01-01")).await;
    let list = app.get("/images", &ann.key).await.expect(200);
    let (_, expiry) = list.results()[0]["url"].as_str().unwrap().split_once("exp=").unwrap();
    let expires_at_s: i64 = expiry.split('&').next().unwrap().parse().unwrap();
    let minutes = (expires_at_s * 1000 - app.library.clock().now().millis()) / 60_000;

    let mut texts = vec![
        include_str!("../../../../docs/openapi.json").to_owned(),
        include_str!("../../../../docs/mcp-tools.json").to_owned(),
    ];
    for resource in RESOURCES {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = request(&app, resource, &ann.key, "initialize", &params).await.expect(200);
        texts.push(answer.json["result"]["instructions"].as_str().unwrap().to_owned());
    }
    for text in texts {
        let stated: Vec<&str> =
            text.match_indices(" minutes").filter_map(|(at, _)| text[..at].rsplit(' ').next()).collect();
        assert!(!stated.is_empty(), "{text}");
        assert!(stated.iter().all(|number| *number == minutes.to_string()), "{stated:?} and not {minutes}");
    }
}
