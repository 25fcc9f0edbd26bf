use std::fmt;

use crate::{
    Attempt, AuthorizationRequest, AuthorizationServer, CodeStatus, Grant, IssuedCode, NewCode, Redirect,
    SecretHash, Unavailable, new_id,
};

/// A redirect of the user's browser to the client, with an authorization code.
#[derive(Clone, PartialEq, Eq)]
pub struct CodeRedirect {
    /// The complete URL. It contains the code.
    pub to: String,
}

impl fmt::Debug for CodeRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeRedirect(…)")
    }
}

/// Why a consent does not give a code. The user sees a page, because the app may have its answer already.
#[derive(Debug, thiserror::Error)]
pub enum AllowError {
    /// The code of this consent was used, or belongs to another request.
    #[error("this request was already answered; go back to the app and connect it again")]
    AlreadyAnswered,
    /// A temporary failure.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl AllowError {
    /// The HTTP status of the page.
    pub fn status(&self) -> u16 {
        match self {
            Self::AlreadyAnswered => 409,
            Self::Unavailable(error) => error.status(),
        }
    }
}

impl AuthorizationServer {
    /// Records the consent of the user `subject`: creates a grant and redirects to the client with its code.
    ///
    /// `attempt` identifies the consent form that the user answered; see [`AuthorizationServer::check_consent_token`].
    /// A form that is submitted twice gives the same code and one grant.
    ///
    /// # Errors
    /// [`AllowError`]; no grant was created.
    pub async fn allow(
        &self,
        request: &AuthorizationRequest,
        subject: &str,
        attempt: &Attempt,
    ) -> Result<CodeRedirect, AllowError> {
        let now = self.now();
        let code = attempt.code();
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
            redirect_uri: request.redirect_uri.clone(),
            challenge: request.challenge.clone(),
            expires_at: now.plus_ms(i64::from(self.config.lifetimes().code_seconds) * 1000),
            redeemed_at: None,
        };
        let client = request.client_url.is_some().then(|| request.client.clone());
        let new = NewCode { hash: SecretHash::of(&code), code: issued, grant, client };
        match self.store.issue_code(new).await.map_err(Unavailable::from)? {
            CodeStatus::Pending => Ok(CodeRedirect {
                to: self.response_url(&request.redirect_uri, &[("code", &code)], request.state.as_deref()),
            }),
            CodeStatus::Spent => Err(AllowError::AlreadyAnswered),
        }
    }

    /// Redirects to the client with `access_denied`. Nothing is stored.
    pub fn deny(&self, request: &AuthorizationRequest) -> Redirect {
        let code = "access_denied";
        let response = [("error", code), ("error_description", "the user refused")];
        Redirect { to: self.response_url(&request.redirect_uri, &response, request.state.as_deref()), code }
    }
}
