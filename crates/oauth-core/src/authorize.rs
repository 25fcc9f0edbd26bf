use std::fmt;

use crate::{
    AuthorizationServer, Client, Resource, Unavailable,
    parameters::{BadParameter, Parameters, bad},
    redirect_uri::{is_loopback, redirect_host, redirect_target, with_parameters},
    token::is_client_id,
};

const CLIENT_ID: &str = "client_id";
const REDIRECT_URI: &str = "redirect_uri";
const KNOWN: [&str; 8] = [
    CLIENT_ID,
    REDIRECT_URI,
    "response_type",
    "code_challenge",
    "code_challenge_method",
    "resource",
    "scope",
    "state",
];

/// A checked request for authorization, to which a user can consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationRequest {
    /// Who asks.
    pub client: Client,
    /// Where the answer goes: one of the client's redirect URIs, byte by byte.
    pub redirect_uri: String,
    /// The PKCE challenge, of method S256.
    pub challenge: String,
    /// The URL of the resource that is to be opened, as the configuration has it.
    pub resource: String,
    /// What would be granted there, at least one.
    pub scopes: Vec<String>,
    /// What the client wants back unchanged.
    pub state: Option<String>,
}

impl AuthorizationRequest {
    /// Where the answer goes, to show to the user: the host with its port, or `scheme:` for an app's own scheme.
    pub fn redirect_host(&self) -> String {
        redirect_host(&self.redirect_uri)
    }

    /// Where the answer goes, as a source for the `form-action` directive of the consent page's
    /// Content-Security-Policy.
    pub fn redirect_target(&self) -> String {
        redirect_target(&self.redirect_uri)
    }

    /// Whether the client takes answers on the user's own device only, where any program could pass itself off as it.
    pub fn all_redirects_are_loopback(&self) -> bool {
        self.client.metadata.redirect_uris.iter().all(|uri| is_loopback(uri))
    }
}

/// A redirect of the user's browser to the client that tells it what went wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The complete URL.
    pub to: String,
    /// The code in it.
    pub code: &'static str,
}

impl fmt::Debug for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redirect").field("code", &self.code).finish_non_exhaustive()
    }
}

/// Why a request for authorization is not shown to the user.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizeError {
    /// It cannot be told where the answer would go: the user is shown these words.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The client is told.
    #[error("the request is answered with {}", .0.code)]
    Redirect(Redirect),
    /// Not now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// What the user is told who was sent here with a client or redirect URI that cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// No usable `client_id`.
    #[error(
        "The app did not say properly who it is: its client_id is missing, empty or there more than once. Go back to \
         the app and connect it again; if that does not help, tell its makers."
    )]
    BadClientId,
    /// A `client_id` that is not registered.
    #[error(
        "This service does not know the app: its registration was made elsewhere, or removed after long disuse. \
         Remove this connection in the app and add it again, so that the app registers anew."
    )]
    UnknownClient,
    /// No usable `redirect_uri`.
    #[error(
        "The app did not say properly where to go afterwards: its redirect_uri is missing, empty or there more than \
         once. Go back to the app and connect it again; if that does not help, tell its makers."
    )]
    BadRedirectUri,
    /// A `redirect_uri` that the client did not register.
    #[error(
        "The app wants to go to an address that it did not register, so you were not sent there. If you came here by \
         a link that somebody gave you, close this page. Otherwise remove this connection in the app and add it again."
    )]
    UnregisteredRedirectUri,
}

/// What is wrong with a request that is answered by redirect.
struct Fault {
    code: &'static str,
    description: String,
}

impl From<BadParameter> for Fault {
    fn from(bad: BadParameter) -> Self {
        Self { code: "invalid_request", description: bad.to_string() }
    }
}

impl AuthorizationServer {
    /// Checks a request for authorization, which comes as the query of a URL. Nothing is stored.
    ///
    /// # Errors
    /// [`AuthorizeError`] tells who is to know.
    pub async fn authorize(&self, query: &str) -> Result<AuthorizationRequest, AuthorizeError> {
        let parameters = Parameters::from_form(query.as_bytes(), &KNOWN);
        let (client, redirect_uri) = self.addressee(&parameters).await?;
        // A state that cannot be told cannot be given back.
        let state = parameters.get("state").ok().flatten().map(str::to_owned);
        self.checked(&parameters, &client).map_or_else(
            |Fault { code, description }| {
                let to = self.answer(
                    &redirect_uri,
                    &[("error", code), ("error_description", &description)],
                    state.as_deref(),
                );
                Err(AuthorizeError::Redirect(Redirect { to, code }))
            },
            |(challenge, resource, scopes)| {
                Ok(AuthorizationRequest {
                    client: client.clone(),
                    redirect_uri: redirect_uri.clone(),
                    challenge,
                    resource,
                    scopes,
                    state: state.clone(),
                })
            },
        )
    }

    /// Who asks and where the answer goes.
    async fn addressee(&self, parameters: &Parameters) -> Result<(Client, String), AuthorizeError> {
        let id = parameters.required(CLIENT_ID).map_err(|_| PageError::BadClientId)?;
        let redirect_uri = parameters.required(REDIRECT_URI).map_err(|_| PageError::BadRedirectUri)?;
        let client =
            if is_client_id(id) { self.store.client(id).await.map_err(Unavailable::from)? } else { None };
        let client = client.ok_or(PageError::UnknownClient)?;
        if !client.metadata.redirect_uris.iter().any(|uri| uri == redirect_uri) {
            return Err(PageError::UnregisteredRedirectUri.into());
        }
        Ok((client, redirect_uri.to_owned()))
    }

    /// The challenge, the resource's URL and the scopes that a request asks for.
    fn checked(
        &self,
        parameters: &Parameters,
        client: &Client,
    ) -> Result<(String, String, Vec<String>), Fault> {
        parameters.first_bad()?;
        if parameters.required("response_type")? != "code" {
            return Err(bad("response_type", "is not code").into());
        }
        let challenge = parameters.required("code_challenge")?;
        let is_challenge = (43..=128).contains(&challenge.len())
            && challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_challenge {
            return Err(bad("code_challenge", "is not 43 to 128 characters of base64url").into());
        }
        if parameters.required("code_challenge_method")? != "S256" {
            return Err(bad("code_challenge_method", "is not S256").into());
        }
        let resource = self.requested_resource(parameters.get("resource")?)?;
        let scopes = self.requested_scopes(parameters.get("scope")?, client, resource)?;
        Ok((challenge.to_owned(), resource.url.clone(), scopes))
    }

    fn requested_resource(&self, url: Option<&str>) -> Result<&Resource, Fault> {
        let resource = match url {
            None => self.config.resources().first(),
            Some(url) => self.config.resource(url),
        };
        resource.ok_or_else(|| Fault {
            code: "invalid_target",
            description: "resource is none of this service".to_owned(),
        })
    }

    fn requested_scopes(
        &self,
        scope: Option<&str>,
        client: &Client,
        resource: &Resource,
    ) -> Result<Vec<String>, Fault> {
        let invalid =
            |description: &str| Fault { code: "invalid_scope", description: description.to_owned() };
        let known = self.config.scopes();
        let registered = &client.metadata.scopes;
        let asked: Vec<&str> =
            scope.unwrap_or_default().split(' ').filter(|scope| !scope.is_empty()).collect();
        if asked.iter().any(|scope| !known.contains(scope)) {
            return Err(invalid("scope has one that this service does not know"));
        }
        if asked.iter().any(|scope| !registered.iter().any(|own| own == scope)) {
            return Err(invalid("scope has one that the client did not register"));
        }
        let granted = if asked.is_empty() {
            resource.applicable(&registered.iter().map(String::as_str).collect::<Vec<_>>())
        } else {
            resource.applicable(&asked)
        };
        if granted.is_empty() {
            return Err(invalid("scope has none that applies to the resource"));
        }
        Ok(granted)
    }

    /// The URL that takes an answer to the client, with the issuer (RFC 9207).
    pub(crate) fn answer(&self, redirect_uri: &str, answer: &[(&str, &str)], state: Option<&str>) -> String {
        let state = state.map(|state| ("state", state));
        let issuer = ("iss", self.config.issuer());
        let parameters: Vec<_> = answer.iter().copied().chain(state).chain([issuer]).collect();
        with_parameters(redirect_uri, &parameters)
    }
}

#[cfg(test)]
mod tests;
