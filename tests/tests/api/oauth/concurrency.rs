use futures_util::future::join_all;
use tests::{TestApp, oauth::Tokens};

use super::{opens, refused};

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn only_one_of_64_concurrent_redemptions_of_a_code_succeeds() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let code = app.code(&client, &person).await;
    let answers = join_all((0..64).map(|_| app.redeem(&client, &code))).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(won.len(), 1);
    lost.iter().for_each(|answer| refused(answer, 400, "invalid_grant"));
    assert!(opens(&app, &Tokens::read(&won[0]).access).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn only_one_of_64_concurrent_refreshes_of_a_token_succeeds() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    let tokens = app.tokens(&client, &person).await;
    let answers = join_all((0..64).map(|_| app.refresh(&client, &tokens.refresh))).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(won.len(), 1);
    lost.iter().for_each(|answer| refused(answer, 400, "invalid_grant"));
    let next = Tokens::read(&won[0]);
    assert!(opens(&app, &next.access).await, "parallel processes of one client do not revoke its grant");
    app.refresh(&client, &next.refresh).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_refresh_that_races_a_revocation_leaves_no_valid_token() {
    let app = TestApp::start().await;
    let person = app.person("anna").await;
    let client = app.public_client().await;
    for _ in 0..20 {
        let tokens = app.tokens(&client, &person).await;
        let by = [("token", tokens.access.as_str())];
        let (refreshed, revoked) =
            tokio::join!(app.refresh(&client, &tokens.refresh), app.oauth_form("revoke", &by));
        revoked.expect(200);
        assert!(matches!(refreshed.status, 200 | 400), "{}", refreshed.text());
        assert!(!opens(&app, &tokens.access).await);
        if refreshed.status == 200 {
            let next = Tokens::read(&refreshed);
            assert!(!opens(&app, &next.access).await);
            refused(&app.refresh(&client, &next.refresh).await, 400, "invalid_grant");
        }
    }
}
