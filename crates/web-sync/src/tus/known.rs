//! Which photos the account has, so that a client does not send them again.

use data_encoding::HEXLOWER_PERMISSIVE;
use domain::ContentHash;
use http::{StatusCode, request::Parts};
use http_server::{
    body::{BodyKind, MAX_BODY_BYTES, ReadBodyError, RequestBody},
    reply::{Reply, error, json},
};
use library::{Caller, MAX_KNOWN_HASHES};
use serde::{Deserialize, Serialize};

use super::replies::bad_request;
use crate::{Sync, replies::unavailable};

#[derive(Deserialize)]
struct Question {
    sha256: Vec<String>,
}

#[derive(Serialize)]
struct Answer {
    known: Vec<String>,
}

/// POST `{"sha256": […]}`: `{"known": […]}` with those hashes whose photos the account has.
pub(super) async fn known(sync: &Sync, caller: &Caller, parts: &Parts, body: RequestBody) -> Reply {
    if BodyKind::of(&parts.headers) != Some(BodyKind::Json) {
        return error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON");
    }
    let body = match body.read(MAX_BODY_BYTES).await {
        Ok(body) => body,
        Err(ReadBodyError::TooLarge) => return error(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"),
        Err(_) => return bad_request("the body did not arrive"),
    };
    let Some(hashes) = hashes(&body) else {
        return bad_request("send {\"sha256\": […]} with at most 1000 hashes in hexadecimal");
    };
    match sync.library.ingest.known_originals(caller, &hashes).await {
        Ok(known) => {
            let known = known.iter().map(ToString::to_string).collect();
            json(StatusCode::OK, &Answer { known })
        }
        Err(error) => unavailable(&error),
    }
}

fn hashes(body: &[u8]) -> Option<Vec<ContentHash>> {
    let question: Question = serde_json::from_slice(body).ok()?;
    if question.sha256.len() > MAX_KNOWN_HASHES {
        return None;
    }
    let hash = |text: &String| {
        let digest = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        ContentHash::from_slice(&digest)
    };
    question.sha256.iter().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_a_thousand_hashes_are_read() {
        let hash = "0F".repeat(32);
        let body = |hashes: &[&str]| serde_json::json!({ "sha256": hashes }).to_string();
        assert_eq!(hashes(body(&[&hash]).as_bytes()), Some(vec![ContentHash::new([15; 32])]));
        assert_eq!(hashes(body(&[]).as_bytes()), Some(Vec::new()));
        assert_eq!(hashes(body(&vec![hash.as_str(); 1000]).as_bytes()).map(|found| found.len()), Some(1000));
        assert_eq!(hashes(body(&vec![hash.as_str(); 1001]).as_bytes()), None);
        for bad in [body(&["0f"]).as_str(), &body(&["x"]), "{}", "[]", "{\"sha256\": 7}", ""] {
            assert_eq!(hashes(bad.as_bytes()), None, "{bad}");
        }
    }
}
