use std::fmt;

use crate::{
    AuthorizationServer, Client, ClientUrl, RefusedClientUrl, RefusedRedirectUri, Resource, Unavailable,
    check_redirect_uri,
    parameters::{BadParameter, Parameters, bad},
    redirect_uri::{
        is_same_on_another_port, redirect_host, redirect_target, stays_on_device, with_parameters,
    },
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
    /// Where the client describes itself; `None` for one that was registered.
    pub client_url: Option<ClientUrl>,
    /// Where the answer goes: one of the client's redirect URIs, byte by byte; of a client that describes itself and
    /// listens on the user's own device, perhaps on another port.
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
    pub fn redirect_csp_source(&self) -> String {
        redirect_target(&self.redirect_uri)
    }

    /// Whether this answer goes to a loopback host or an app's own scheme. Any program on the user's device could take
    /// it and pass itself off as the client.
    pub fn redirect_stays_on_device(&self) -> bool {
        stays_on_device(&self.redirect_uri)
    }

    /// Whether the answer of a client that describes itself goes elsewhere than to the host that describes it.
    pub fn redirects_to_other_host(&self) -> bool {
        self.client_url.as_ref().is_some_and(|url| !url.host().eq_ignore_ascii_case(&self.redirect_host()))
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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// A `client_id` that is a URL, and none that a client may have.
    #[error(
        "The app did not say properly who it is: its client_id is an address that cannot be one, because {0}. Go back \
         to the app and connect it again; if that does not help, tell its makers."
    )]
    BadClientUrl(RefusedClientUrl),
    /// The client describes itself, and its document could not be read.
    #[error(
        "The app says who it is at an address that could not be read: {told}. Try again in a minute; if that does not \
         help, tell the app's makers."
    )]
    UnreadableDocument {
        /// What the user is told.
        told: &'static str,
        /// What the log is told, and nobody else.
        detail: String,
    },
    /// The client describes itself, and not in a way that can be used.
    #[error(
        "The app describes itself in a way that this service cannot use: {0}. Tell the app's makers; it cannot be \
         connected before they mend that."
    )]
    RefusedDocument(String),
    /// Too many clients that describe themselves come at once.
    #[error(
        "This service is looking up many apps at the moment. Nothing was changed; try again in a minute."
    )]
    Busy,
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
    /// A `redirect_uri` that was registered, and that the rules of today refuse.
    #[error(
        "The app wants to go to an address that this service sends nobody to: {0}. You were not sent there. Tell the \
         app's makers; it cannot be connected before they register another address."
    )]
    RefusedRedirectUri(RefusedRedirectUri),
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
        let (client, client_url, redirect_uri) = self.addressee(&parameters).await?;
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
                    client_url: client_url.clone(),
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
    async fn addressee(
        &self,
        parameters: &Parameters,
    ) -> Result<(Client, Option<ClientUrl>, String), AuthorizeError> {
        let id = parameters.required(CLIENT_ID).map_err(|_| PageError::BadClientId)?;
        let redirect_uri = parameters.required(REDIRECT_URI).map_err(|_| PageError::BadRedirectUri)?;
        let (client, url) = self.asking(id).await?;
        let mut registered = client.metadata.redirect_uris.iter();
        let is_known = match &url {
            None => registered.any(|uri| uri == redirect_uri),
            Some(_) => registered.any(|uri| {
                uri == redirect_uri
                    || (is_same_on_another_port(uri, redirect_uri)
                        && check_redirect_uri(redirect_uri).is_ok())
            }),
        };
        if !is_known {
            return Err(PageError::UnregisteredRedirectUri.into());
        }
        // A client may have registered under the rules of an earlier version.
        check_redirect_uri(redirect_uri).map_err(PageError::RefusedRedirectUri)?;
        Ok((client, url, redirect_uri.to_owned()))
    }

    /// The client of that id, with the URL where it describes itself if it was not registered.
    async fn asking(&self, id: &str) -> Result<(Client, Option<ClientUrl>), AuthorizeError> {
        if ClientUrl::is_meant(id) {
            // What the store keeps of such a client is as it was at somebody's consent: it is asked anew.
            let documents = self.documents.as_deref().ok_or(PageError::UnknownClient)?;
            let url = ClientUrl::parse(id).map_err(PageError::BadClientUrl)?;
            return Ok((self.described_client(documents, &url).await?, Some(url)));
        }
        let client =
            if is_client_id(id) { self.store.client(id).await.map_err(Unavailable::from)? } else { None };
        Ok((client.ok_or(PageError::UnknownClient)?, None))
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
