use std::fmt;

use crate::{
    AuthorizationRequest, AuthorizationServer, CodeStatus, Grant, IssuedCode, NewCode, Redirect, SecretHash,
    Unavailable,
    secret::{base64url, new_id},
};

/// A redirect of the user's browser to the client that brings it a code.
#[derive(Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The complete URL. Whoever has it, has the code.
    pub to: String,
}

impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Allowed(…)")
    }
}

/// Why a consent gives no code.
#[derive(Debug, thiserror::Error)]
pub enum AllowError {
    /// The code of this consent was used already, or is another request's.
    #[error("this request was answered already; go back to the app and connect it again")]
    AlreadyAnswered,
    /// Not now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl AuthorizationServer {
    /// The user of that name consents: a grant is made, whose code the redirect carries.
    ///
    /// The code is `attempt` itself. The caller derives it from a secret and the form that was shown, so that a form
    /// that is sent twice gives the same code and one grant.
    ///
    /// # Errors
    /// [`AllowError`]; no grant was made then.
    pub async fn allow(
        &self,
        request: &AuthorizationRequest,
        subject: &str,
        attempt: &[u8; 32],
    ) -> Result<Allowed, AllowError> {
        let now = self.now();
        let code = base64url(attempt);
        let grant = Grant {
            id: new_id(&*self.random).map_err(Unavailable::from)?,
            client_id: request.client.id.clone(),
            subject: subject.to_owned(),
            resource: request.resource.clone(),
            scopes: request.scopes.clone(),
            created_at: now,
            revoked_at: None,
        };
        let issued = IssuedCode {
            grant,
            redirect_uri: request.redirect_uri.clone(),
            challenge: request.challenge.clone(),
            expires_at: now.plus_ms(i64::from(self.config.lifetimes().code_seconds) * 1000),
            redeemed_at: None,
        };
        let client = request.client_url.is_some().then(|| request.client.clone());
        let new = NewCode { hash: SecretHash::of(&code), code: issued, client };
        match self.store.issue_code(new).await.map_err(Unavailable::from)? {
            CodeStatus::Pending => Ok(Allowed {
                to: self.answer(&request.redirect_uri, &[("code", &code)], request.state.as_deref()),
            }),
            CodeStatus::Spent => Err(AllowError::AlreadyAnswered),
        }
    }

    /// The user refuses. Nothing is stored.
    pub fn deny(&self, request: &AuthorizationRequest) -> Redirect {
        let code = "access_denied";
        let answer = [("error", code), ("error_description", "the user refused")];
        Redirect { to: self.answer(&request.redirect_uri, &answer, request.state.as_deref()), code }
    }
}
