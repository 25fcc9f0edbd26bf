use accounts::{Caller, Credential};
use domain::KeyName;
use oauth_core::{
    AuthMethod, Client, ClientMetadata, ClientStore as _, Grant, GrantStore as _, GrantType, Grants,
    IssuedCode, NewClient, NewCode, SecretHash, UnixMillis,
};
use storage::GrantHolderStore as _;

use crate::{HOUR_MS, MINUTE_MS, Process, SECOND_MS, eventually, with_ann};

/// A grant of this account. Its code is not redeemed.
async fn grant(it: &Process, account: &domain::Account) -> Grant {
    let at = UnixMillis(it.now().millis());
    let metadata = ClientMetadata {
        client_name: "Viewer".into(),
        redirect_uris: vec!["https://viewer.example/back".into()],
        grant_types: vec![GrantType::AuthorizationCode],
        scopes: vec!["mcp:images".into()],
        token_endpoint_auth_method: AuthMethod::None,
        requires_assertion: false,
        software_id: None,
        software_version: None,
    };
    let client = Client { id: "viewer".into(), metadata, secret: None, issued_at: at };
    let new = NewClient { client, digest: Some(SecretHash([7; 32])), eviction: None };
    it.store.register_client(new).await.unwrap();
    let grant = Grant {
        id: "grant".into(),
        client_id: "viewer".into(),
        subject: account.id.0.to_string(),
        resource: "https://photos.example/api/mcp/v1".into(),
        scopes: vec!["mcp:images".into()],
        created_at: at,
        revoked_at: None,
    };
    let code = IssuedCode {
        redirect_uri: "https://viewer.example/back".into(),
        challenge: "c".repeat(43),
        expires_at: at.plus_ms(10 * MINUTE_MS),
        redeemed_at: None,
    };
    let hash = SecretHash([1; 32]);
    it.store.issue_code(NewCode { hash, code, grant: grant.clone(), client: None }).await.unwrap();
    grant
}

#[tokio::test]
async fn grant_identifies_its_account() {
    let (_dir, it, ann) = with_ann().await;
    let grant = grant(&it, &ann).await;
    let caller = it.accounts.caller_by_grant("grant").await.unwrap().unwrap();
    assert_eq!(caller.credential.scopes(), Some(&grant.scopes[..]));
    assert_eq!(caller, Caller { account: ann.clone(), credential: Credential::AccessToken(grant) });
    assert!(it.accounts.caller_by_grant("other").await.unwrap().is_none());

    let revoked_at = UnixMillis(it.now().millis());
    it.store.revoke(Grants::WithId("grant"), revoked_at).await.unwrap();
    let caller = it.accounts.caller_by_grant("grant").await.unwrap().unwrap();
    let found = caller.credential.grant().unwrap().revoked_at;
    assert_eq!(found, Some(revoked_at), "revocation is left to the caller to check");
    it.accounts.delete_account(ann.id).await.unwrap();
    assert!(it.accounts.caller_by_grant("grant").await.unwrap().is_none());
}

#[tokio::test]
async fn use_of_a_grant_is_recorded_once_a_minute() {
    let (_dir, it, ann) = with_ann().await;
    grant(&it, &ann).await;
    let recorded = async || it.store.grant_holder("grant").await.unwrap().unwrap().last_used_at;
    assert_eq!(recorded().await, None);
    it.accounts.caller_by_grant("grant").await.unwrap();
    let first = it.now();
    eventually("the use is recorded", || async { recorded().await == Some(first) }).await;
    it.later(59 * SECOND_MS);
    it.accounts.caller_by_grant("grant").await.unwrap();
    it.later(SECOND_MS);
    let second = it.now();
    it.accounts.caller_by_grant("grant").await.unwrap();
    eventually("the next use is recorded", || async { recorded().await == Some(second) }).await;

    it.store.revoke(Grants::WithId("grant"), UnixMillis(second.millis())).await.unwrap();
    it.later(HOUR_MS);
    it.accounts.caller_by_grant("grant").await.unwrap();
    assert_eq!(recorded().await, Some(second));
}

#[tokio::test]
async fn a_caller_carries_its_credential() {
    let (_dir, it, ann) = with_ann().await;
    let key = it.accounts.create_key(&ann.email, KeyName::parse("test").unwrap()).await.unwrap();
    let by_key = it.accounts.caller_by_key(&key).await.unwrap().unwrap();
    assert!(matches!(by_key.credential, Credential::ApiKey(_)) && by_key.credential.scopes().is_none());
    assert_eq!(by_key.account, ann);
    let token = it.token().await;
    let signed_in = Caller::signed_in(ann.clone(), &token);
    let session = it.accounts.sessions(ann.id).await.unwrap().remove(0);
    assert_eq!(signed_in.credential, Credential::Session(session.hash));
}
