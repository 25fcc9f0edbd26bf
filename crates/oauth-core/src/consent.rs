use std::fmt;

use data_encoding::BASE32_NOPAD;

use crate::{
    Attempt, AuthorizationRequest, AuthorizationServer, CodeStatus, Grant, IssuedCode, NewCode, Redirect,
    SecretHash, Unavailable, escape_html, visible_name,
};

/// A redirect of the user's browser to the client, with an authorization code.
#[derive(Clone, PartialEq, Eq)]
pub struct CodeRedirect {
    /// The complete URL. It contains the code.
    pub to: String,
    /// The id of the grant. An answer that arrives twice gives the same one.
    pub grant_id: String,
}

impl fmt::Debug for CodeRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeRedirect(…)")
    }
}

/// The id of the grant of a code, which does not reveal the code.
fn grant_id(code: &str) -> String {
    let SecretHash(hash) = SecretHash::of(&format!("grant of {code}"));
    BASE32_NOPAD.encode(&hash[..16]).to_ascii_lowercase()
}

/// Why a consent does not give a code. The response is a page for the user and not a redirect: after a double click, a
/// redirect with an error would overtake the one with the code.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AllowError {
    /// The code of this consent was used, or belongs to another request.
    #[error("This request was already answered. Go back to the app and connect it again.")]
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
    /// A plain consent form in English, as HTML, for services without their own form. It shows what the user needs to
    /// know, warns if the answer may reach another program or site, and posts to the URL of its page. Its fields are
    /// `token`, the [`consent_token`](Self::consent_token) for this session, and `answer`, which is `allow` or `deny`.
    /// Send it with [`content_security_policy`](AuthorizationRequest::content_security_policy).
    ///
    /// # Errors
    /// [`Unavailable`].
    pub fn consent_form(
        &self,
        session: &[u8],
        request: &AuthorizationRequest,
    ) -> Result<String, Unavailable> {
        let token = self.consent_token(session, request)?;
        let host = escape_html(&request.redirect_host());
        let name = escape_html(&visible_name(&request.client.metadata.client_name));
        let resource = self.resource(&request.resource).map_or(&request.resource, |known| &known.name);
        let (resource, scopes) = (escape_html(resource), escape_html(&request.scopes.join(", ")));
        let warning = if request.redirect_stays_on_device() {
            "<p><strong>This app runs on your device, where any program can use its name. Allow this only if you have just \
             started to connect the app yourself.</strong></p>\n"
        } else if request.redirects_to_other_host() {
            "<p><strong>You will be sent to another site than the one that describes the app. Allow this only if you know \
             that both belong together.</strong></p>\n"
        } else {
            ""
        };
        let links = self.config.links().iter();
        let links: String = links
            .map(|(text, url)| format!("<p><a href=\"{}\">{text}</a></p>\n", escape_html(url)))
            .collect();
        Ok(format!(
            "<form method=\"post\">\n<h1>{host}</h1>\n\
             <p>An app at this address asks for access to {resource}: {scopes}. It calls itself “{name}”. This name is not \
             verified.</p>\n{warning}<input type=\"hidden\" name=\"token\" value=\"{token}\">\n\
             <button name=\"answer\" value=\"allow\">Allow</button>\n\
             <button name=\"answer\" value=\"deny\">Deny</button>\n</form>\n{links}"
        ))
    }

    /// Records the consent of the user `subject`: creates a grant and redirects to the client with its code.
    ///
    /// `attempt` identifies the consent form that the user answered; see [`AuthorizationServer::check_consent_token`].
    /// A form that is submitted twice gives the same code and one grant.
    ///
    /// # Errors
    /// [`AllowError`].
    pub async fn allow(
        &self,
        request: &AuthorizationRequest,
        subject: &str,
        attempt: &Attempt,
    ) -> Result<CodeRedirect, AllowError> {
        let now = self.now();
        let code = attempt.code();
        let grant = Grant {
            id: grant_id(&code),
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
        let grant_id = grant.id.clone();
        let new = NewCode { hash: SecretHash::of(&code), code: issued, grant, client };
        match self.store.issue_code(new).await.map_err(Unavailable::from)? {
            CodeStatus::Pending => Ok(CodeRedirect {
                to: self.response_url(&request.redirect_uri, &[("code", &code)], request.state.as_deref()),
                grant_id,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{CLIENT_URL, TestServer, authorize_query};

    #[tokio::test]
    async fn a_consent_form_shows_the_request_and_warns() {
        let test = TestServer::new();
        let id = test.register(json!({})).await.client_id;
        let mut request = test.server.authorize(&authorize_query(&id)).await.unwrap();
        "A<b>\u{202e}pp".clone_into(&mut request.client.metadata.client_name);
        let check = |request: &crate::AuthorizationRequest, texts: &[&str], absent: &str| {
            let form = test.server.consent_form(b"session", request).unwrap();
            for text in texts {
                assert!(form.contains(text), "{text}: {form}");
            }
            assert!(!form.contains(absent), "{form}");
            let token = form.split_once("name=\"token\" value=\"").unwrap().1.split('"').next().unwrap();
            assert!(test.server.check_consent_token(b"session", request, token).is_some());
            assert!(test.server.check_consent_token(b"other", request, token).is_none());
        };
        check(&request, &["<h1>app.example</h1>", "“A&lt;b&gt;pp”", "Photos: mcp:images."], "<strong>");
        "http://127.0.0.1:8/".clone_into(&mut request.redirect_uri);
        check(&request, &["<h1>127.0.0.1:8</h1>", "on your device"], "<b>");
        "https://other.example/cb".clone_into(&mut request.redirect_uri);
        request.client_url = Some(crate::ClientUrl::parse(CLIENT_URL).unwrap());
        check(&request, &["<h1>other.example</h1>", "another site"], "on your device");
    }
}
