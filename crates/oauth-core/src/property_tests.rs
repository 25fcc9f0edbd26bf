//! Arbitrary input neither panics nor writes to the store.

use std::sync::atomic::Ordering;

use proptest::prelude::*;
use serde_json::json;

use crate::{RevokeRequest, TokenRequest, testing::TestServer};

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn regex(pattern: &str) -> impl Strategy<Value = String> + use<> {
    prop::string::string_regex(pattern).unwrap()
}

/// Bytes that resemble forms and JSON.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let names = "(grant_type|code|redirect_uri|code_verifier|refresh_token|client_id|client_secret|token|state|scope)";
    let values = "(authorization_code|refresh_token|code|S256|[a-z%+]{0,45}|[\0-\u{ff}]{0,8})";
    let forms =
        prop::collection::vec(regex(&format!("{names}={values}")), 0..8).prop_map(|pairs| pairs.join("&"));
    let objects = prop::collection::vec(regex(&format!("\"{names}\":(\"{values}\"|null|\\[\\]|1)")), 0..6)
        .prop_map(|members| format!("{{{}}}", members.join(",")));
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        forms.prop_map(String::into_bytes),
        objects.prop_map(String::into_bytes),
    ]
}

proptest! {
    #[test]
    fn arbitrary_input_writes_nothing(body in bodies(), header in prop::option::of("(Basic |Bearer )?[A-Za-z0-9+/=:]{0,20}")) {
        block_on(async {
            let test = TestServer::new();
            let id = test.register(json!({})).await.client_id;
            test.tokens(&id).await;
            let writes = test.store.writes.load(Ordering::SeqCst);
            let _ = test.server.register(&body).await.unwrap_err();
            let _ = test.server.authorize(&String::from_utf8_lossy(&body)).await.unwrap_err();
            let requests = [
                TokenRequest::from_form(&body, header.as_deref()),
                TokenRequest::from_json(&body, header.as_deref()),
            ];
            for request in requests.into_iter().flatten() {
                let _ = (request.claimed_client_id(), request.token_hash());
                let _ = test.server.token(request).await.unwrap_err();
            }
            for request in [RevokeRequest::from_form(&body), RevokeRequest::from_json(&body)].into_iter().flatten() {
                test.server.revoke(&request).await.unwrap();
            }
            assert_eq!(test.store.writes.load(Ordering::SeqCst), writes);
        });
    }
}
