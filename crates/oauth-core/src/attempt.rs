use std::fmt;

use ring::hmac;

use crate::{
    AuthorizationRequest, AuthorizationServer, Unavailable,
    random::random_bytes,
    secret::{base64url, constant_time_eq, sign_parts},
};

/// How long after its display a consent form can be submitted.
const FORM_LIFETIME_S: i64 = 3600;
/// Tolerated difference between the clocks of two processes on one store.
const CLOCK_SKEW_S: i64 = 60;

/// One attempt of a user to connect an app: one display of the consent form. The authorization code is derived from it,
/// so it is a secret, and a form that is submitted twice gives the same code.
#[derive(Clone, PartialEq, Eq)]
pub struct Attempt([u8; 32]);

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attempt(…)")
    }
}

impl Attempt {
    /// The attempt that these parts identify, for services with consent forms of their own; others use
    /// [`AuthorizationServer::check_consent_token`]. Different lists of parts give different attempts, also when their
    /// concatenations are equal. Include the session, the request, and a part that is new in every form.
    pub fn derive(secret: &[u8; 32], parts: &[&[u8]]) -> Self {
        Self(sign_parts(&hmac::Key::new(hmac::HMAC_SHA256, secret), parts))
    }

    pub(crate) fn code(&self) -> String {
        base64url(&self.0)
    }
}

impl AuthorizationServer {
    /// A token for a hidden field of a new consent form, against cross-site request forgery. The token is bound to
    /// `session`, which identifies the user's browser and which no other site knows, such as the session cookie.
    /// `session` may also include other data that the form depends on. The token is also bound to the request,
    /// including what the form shows. It contains a random part, the time, and a signature, separated by dots.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub fn consent_token(
        &self,
        session: &[u8],
        request: &AuthorizationRequest,
    ) -> Result<String, Unavailable> {
        let nonce = base64url(&random_bytes::<16>(&*self.random)?);
        let form = format!("{nonce}.{}", self.now().seconds());
        let tag = sign_parts(&self.keys.consent_forms, &parts(&form, session, request));
        Ok(format!("{form}.{}", base64url(&tag)))
    }

    /// The attempt of a submitted form with this token, to pass to [`AuthorizationServer::allow`]. `None` for a token
    /// of another session or request, and for one that is more than an hour old: show the form again.
    pub fn check_consent_token(
        &self,
        session: &[u8],
        request: &AuthorizationRequest,
        token: &str,
    ) -> Option<Attempt> {
        let (form, tag) = token.rsplit_once('.')?;
        let (_, created_at) = form.split_once('.')?;
        let age_s = self.now().seconds().saturating_sub(created_at.parse().ok()?);
        let parts = parts(form, session, request);
        let expected = base64url(&sign_parts(&self.keys.consent_forms, &parts));
        let is_valid = constant_time_eq(expected.as_bytes(), tag.as_bytes())
            && (-CLOCK_SKEW_S..=FORM_LIFETIME_S).contains(&age_s);
        is_valid.then(|| Attempt(sign_parts(&self.keys.attempts, &parts)))
    }
}

/// The data to which a form is bound. A metadata document may have changed by the time the form is submitted, so all
/// that the form shows is included.
fn parts<'a>(form: &'a str, session: &'a [u8], request: &'a AuthorizationRequest) -> Vec<&'a [u8]> {
    let AuthorizationRequest { client, client_url: _, redirect_uri, challenge, resource, scopes, state } =
        request;
    let shown = [
        form,
        &client.id,
        &client.metadata.client_name,
        redirect_uri,
        challenge,
        resource,
        // Distinguishes an absent state from an empty one.
        if state.is_some() { "state" } else { "" },
        state.as_deref().unwrap_or_default(),
    ];
    let texts = shown.into_iter().chain(scopes.iter().map(String::as_str));
    [session].into_iter().chain(texts.map(str::as_bytes)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{TestServer, authorize_query};

    #[tokio::test]
    async fn a_form_token_is_bound_to_session_request_and_time() {
        let test = TestServer::new();
        let id = test.register(json!({})).await.client_id;
        let request = test.server.authorize(&authorize_query(&id)).await.unwrap();
        let token = test.server.consent_token(b"session", &request).unwrap();
        let attempt = test.server.check_consent_token(b"session", &request, &token);
        assert_eq!(format!("{attempt:?}"), "Some(Attempt(…))");
        let again = test.server.consent_token(b"session", &request).unwrap();
        assert_ne!(test.server.check_consent_token(b"session", &request, &again), attempt);

        assert_eq!(test.server.check_consent_token(b"other", &request, &token), None);
        type Change = fn(&mut AuthorizationRequest);
        let changes: [Change; 9] = [
            |request| request.client.id.push('x'),
            |request| request.client.metadata.client_name.push('x'),
            |request| request.redirect_uri.push('x'),
            |request| request.challenge.push('x'),
            |request| request.resource.push('x'),
            |request| request.scopes.push("x".to_owned()),
            |request| request.scopes.push("state".to_owned()),
            |request| request.state = Some(String::new()),
            |request| request.state = Some("x".to_owned()),
        ];
        for change in changes {
            let mut other = request.clone();
            change(&mut other);
            assert_eq!(test.server.check_consent_token(b"session", &other, &token), None, "{other:?}");
        }
        let (form, tag) = token.rsplit_once('.').unwrap();
        let (nonce, time) = form.split_once('.').unwrap();
        for wrong in [
            "",
            "..",
            form,
            tag,
            &format!("{token}x"),
            &format!("{form}.{form}.{tag}"),
            &format!("x{token}"),
            &format!("{nonce}.{time}0.{tag}"),
            &format!("{nonce}.{}.{tag}", i64::MIN),
        ] {
            assert_eq!(test.server.check_consent_token(b"session", &request, wrong), None, "{wrong}");
        }
        for (moved_ms, is_valid) in [(-60_000, true), (-61_000, false), (3_600_000, true), (3_601_000, false)]
        {
            test.clock.advance_ms(moved_ms);
            let now = test.server.check_consent_token(b"session", &request, &token);
            assert_eq!(now, attempt.clone().filter(|_| is_valid), "{moved_ms} ms");
            test.clock.advance_ms(-moved_ms);
        }
    }

    #[test]
    fn an_attempt_depends_on_its_secret_and_on_each_part() {
        let attempt = |parts: &[&[u8]]| Attempt::derive(&[1; 32], parts);
        assert_eq!(attempt(&[b"a", b"bc"]), attempt(&[b"a", b"bc"]));
        assert_ne!(attempt(&[b"a", b"bc"]), attempt(&[b"ab", b"c"]));
        assert_ne!(attempt(&[b"a"]), attempt(&[b"a", b""]));
        assert_ne!(attempt(&[b"a"]), Attempt::derive(&[2; 32], &[b"a"]));
        assert_eq!(attempt(&[]).code().len(), 43);
    }
}
