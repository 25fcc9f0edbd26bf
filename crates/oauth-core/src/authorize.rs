use std::fmt;

use crate::{
    AuthorizationServer, Client, ClientUrl, RefusedClientUrl, RefusedRedirectUri, Resource, Unavailable,
    check_redirect_uri,
    parameters::{BadParameter, Parameters, bad},
    redirect_uri::{csp_source, differs_only_in_port, redirect_host, stays_on_device, with_parameters},
    token::PKCE_LENGTH,
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

/// A valid authorization request, ready for the user's consent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthorizationRequest {
    /// The client.
    pub client: Client,
    /// The URL of the client's metadata document; `None` for a registered client.
    pub client_url: Option<ClientUrl>,
    /// Where the response goes: one of the client's redirect URIs, byte by byte. The port of a loopback redirect URI
    /// may differ for a client with a metadata document, and for every client if
    /// [`allows_any_loopback_port`](crate::Policies::allows_any_loopback_port) is set.
    pub redirect_uri: String,
    /// The PKCE challenge, with method S256.
    pub challenge: String,
    /// The URL of the requested resource, as configured.
    pub resource: String,
    /// The scopes to be granted, at least one.
    pub scopes: Vec<String>,
    /// The `state` to return unchanged.
    pub state: Option<String>,
}

impl AuthorizationRequest {
    /// The destination of the response, to show to the user: the host with its port, or `scheme:` for a custom scheme.
    pub fn redirect_host(&self) -> String {
        redirect_host(&self.redirect_uri)
    }

    /// The destination of the response as a source for the `form-action` directive of the consent page's
    /// Content-Security-Policy.
    pub fn redirect_csp_source(&self) -> String {
        csp_source(&self.redirect_uri)
    }

    /// A Content-Security-Policy for the sign-in and consent pages. It forbids framing, scripts, styles and images. It
    /// allows forms that post to this service and redirect to the client. If the redirect URI is https, the client may
    /// also redirect further, to any https URL.
    ///
    /// ```
    /// # use oauth_core::AuthorizationRequest;
    /// # fn page(request: &AuthorizationRequest) {
    /// let styled = format!("{}; style-src 'self'", request.content_security_policy());
    /// # }
    /// ```
    pub fn content_security_policy(&self) -> String {
        let source = self.redirect_csp_source();
        // Browsers apply `form-action` to each redirect after a form is sent.
        let further = if source.starts_with("https://") { " https:" } else { "" };
        format!(
            "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' {source}{further}"
        )
    }

    /// Whether the response goes to a loopback host or a custom scheme. Any program on the user's device can receive it
    /// there and impersonate the client.
    pub fn redirect_stays_on_device(&self) -> bool {
        stays_on_device(&self.redirect_uri)
    }

    /// Whether the response goes to another host than that of the client's metadata document.
    pub fn redirects_to_other_host(&self) -> bool {
        self.client_url.as_ref().is_some_and(|url| !url.host().eq_ignore_ascii_case(&self.redirect_host()))
    }
}

/// A redirect of the user's browser to the client, with an error.
#[derive(Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The complete URL.
    pub to: String,
    /// The error code in it.
    pub code: &'static str,
}

impl fmt::Debug for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redirect").field("code", &self.code).finish_non_exhaustive()
    }
}

/// Why an authorization request is refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AuthorizeError {
    /// The client or its redirect URI cannot be trusted: the user sees this message, and nothing is redirected.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The error goes to the client.
    #[error("the client gets the error {}", .0.code)]
    Redirect(Redirect),
    /// A temporary failure.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// An error page for the user: the request has a client or redirect URI that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// No usable `client_id`.
    #[error(
        "The app's request is invalid: its client_id is missing, empty or repeated. Go back to the app and connect it \
         again. If that does not help, tell the app's developer."
    )]
    BadClientId,
    /// A `client_id` that is not registered.
    #[error(
        "This service does not know the app: it registered with another service, or its registration was removed \
         because it was unused. Remove this connection in the app and add it again, so that the app registers again."
    )]
    UnknownClient,
    /// A `client_id` that is a URL but not a valid one.
    #[error(
        "The app's request is invalid: its client_id is an address that cannot be used, because {0}. Go back to the \
         app and connect it again. If that does not help, tell the app's developer."
    )]
    BadClientUrl(RefusedClientUrl),
    /// The client's metadata document could not be fetched.
    #[error(
        "This service could not read the document in which the app describes itself: {message}. Try again in a \
         minute. If that does not help, tell the app's developer."
    )]
    UnreadableDocument {
        /// The reason, for the user.
        message: &'static str,
        /// The cause, for the log only.
        detail: String,
    },
    /// The client's metadata document is invalid.
    #[error(
        "The document in which the app describes itself is invalid: {0}. The app cannot be connected until its \
         developer fixes this."
    )]
    RefusedDocument(String),
    /// Too many metadata documents are being fetched.
    #[error(
        "This service is looking up many apps at the moment. Nothing was changed. Try again in a minute."
    )]
    Busy,
    /// No usable `redirect_uri`.
    #[error(
        "The app's request is invalid: its redirect_uri is missing, empty or repeated. Go back to the app and connect \
         it again. If that does not help, tell the app's developer."
    )]
    BadRedirectUri,
    /// A `redirect_uri` that the client did not register.
    #[error(
        "The app asked to be sent to an address that it did not register, so you were not redirected. If somebody \
         gave you a link to this page, close it. Otherwise remove this connection in the app and add it again."
    )]
    UnregisteredRedirectUri,
    /// A registered `redirect_uri` that the current rules refuse.
    #[error(
        "The app asked to be sent to an address that this service does not redirect to: {0}. The app cannot be \
         connected until its developer registers another address."
    )]
    RefusedRedirectUri(RefusedRedirectUri),
}

impl PageError {
    /// The HTTP status of the page.
    pub fn status(&self) -> u16 {
        if matches!(self, Self::Busy) { 503 } else { 400 }
    }
}

impl AuthorizeError {
    /// The HTTP status of the response: 303 for a redirect.
    pub fn status(&self) -> u16 {
        match self {
            Self::Page(error) => error.status(),
            Self::Redirect(_) => 303,
            Self::Unavailable(error) => error.status(),
        }
    }
}

/// An error that goes to the client by redirect.
struct ClientError {
    code: &'static str,
    description: String,
}

impl From<BadParameter> for ClientError {
    fn from(bad: BadParameter) -> Self {
        Self { code: "invalid_request", description: bad.to_string() }
    }
}

impl AuthorizationServer {
    /// Checks an authorization request, given as the query of its URL. Nothing is stored.
    ///
    /// # Errors
    /// [`AuthorizeError`] says whether the user or the client gets the error.
    pub async fn authorize(&self, query: &str) -> Result<AuthorizationRequest, AuthorizeError> {
        let parameters = Parameters::from_form(query.as_bytes(), &KNOWN);
        let (client, client_url, redirect_uri) = self.client_and_redirect_uri(&parameters).await?;
        // A repeated state is not returned, because it is unclear which value the client expects.
        let state = parameters.get("state").ok().flatten().map(str::to_owned);
        match self.check_parameters(&parameters, &client) {
            Ok((challenge, resource, scopes)) => Ok(AuthorizationRequest {
                client,
                client_url,
                redirect_uri,
                challenge,
                resource,
                scopes,
                state,
            }),
            Err(ClientError { code, description }) => {
                let error = [("error", code), ("error_description", description.as_str())];
                let to = self.response_url(&redirect_uri, &error, state.as_deref());
                Err(AuthorizeError::Redirect(Redirect { to, code }))
            }
        }
    }

    /// The client and where the response goes.
    async fn client_and_redirect_uri(
        &self,
        parameters: &Parameters,
    ) -> Result<(Client, Option<ClientUrl>, String), AuthorizeError> {
        let id = parameters.required(CLIENT_ID).map_err(|_| PageError::BadClientId)?;
        let redirect_uri = parameters.required(REDIRECT_URI).map_err(|_| PageError::BadRedirectUri)?;
        let (client, url) = self.find_client(id).await?;
        let mut registered = client.metadata.redirect_uris.iter();
        let allows_any_port = url.is_some() || self.config.policies().allows_any_loopback_port;
        let is_known = registered.any(|uri| {
            uri == redirect_uri
                || (allows_any_port
                    && differs_only_in_port(uri, redirect_uri)
                    && check_redirect_uri(redirect_uri).is_ok())
        });
        if !is_known {
            return Err(PageError::UnregisteredRedirectUri.into());
        }
        // The client may have registered under the rules of an earlier version.
        check_redirect_uri(redirect_uri).map_err(PageError::RefusedRedirectUri)?;
        Ok((client, url, redirect_uri.to_owned()))
    }

    /// The client with that id, and the URL of its metadata document if it has one.
    async fn find_client(&self, id: &str) -> Result<(Client, Option<ClientUrl>), AuthorizeError> {
        if ClientUrl::is_url(id) {
            // The store may have a copy of this client from the last consent, but the current document applies.
            let documents = self.documents.as_deref().ok_or(PageError::UnknownClient)?;
            let url = ClientUrl::parse(id).map_err(PageError::BadClientUrl)?;
            return Ok((self.fetch_client(documents, &url).await?, Some(url)));
        }
        Ok((self.known_client(id).await?.ok_or(PageError::UnknownClient)?, None))
    }

    /// The challenge, the resource's URL and the scopes to be granted.
    fn check_parameters(
        &self,
        parameters: &Parameters,
        client: &Client,
    ) -> Result<(String, String, Vec<String>), ClientError> {
        parameters.check()?;
        if parameters.required("response_type")? != "code" {
            return Err(bad("response_type", "is not code").into());
        }
        let challenge = parameters.required("code_challenge")?;
        let is_challenge = PKCE_LENGTH.contains(&challenge.len())
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

    fn requested_resource(&self, url: Option<&str>) -> Result<&Resource, ClientError> {
        let resource = match url {
            None if self.config.policies().requires_resource => None,
            None => self.config.resources().first(),
            Some(url) => self.config.resource(url),
        };
        resource.ok_or_else(|| ClientError {
            code: "invalid_target",
            description: match url {
                None => "resource is missing".to_owned(),
                Some(_) => "resource is not one of this service".to_owned(),
            },
        })
    }

    fn requested_scopes(
        &self,
        scope: Option<&str>,
        client: &Client,
        resource: &Resource,
    ) -> Result<Vec<String>, ClientError> {
        let invalid =
            |description: &str| ClientError { code: "invalid_scope", description: description.to_owned() };
        let known = self.config.scopes();
        let registered = &client.metadata.scopes;
        let requested: Vec<&str> =
            scope.unwrap_or_default().split(' ').filter(|scope| !scope.is_empty()).collect();
        if requested.iter().any(|scope| !known.contains(scope)) {
            return Err(invalid("scope has a value that this service does not know"));
        }
        if requested.iter().any(|scope| !registered.iter().any(|own| own == scope)) {
            return Err(invalid("scope has a value that the client did not register"));
        }
        let granted = if requested.is_empty() {
            resource.grantable_scopes(&registered.iter().map(String::as_str).collect::<Vec<_>>())
        } else {
            resource.grantable_scopes(&requested)
        };
        if granted.is_empty() {
            return Err(invalid("scope has no value that applies to the resource"));
        }
        Ok(granted)
    }

    /// The redirect URI with the parameters of the response, the state and the issuer (RFC 9207).
    pub(crate) fn response_url(
        &self,
        redirect_uri: &str,
        response: &[(&str, &str)],
        state: Option<&str>,
    ) -> String {
        let state = state.map(|state| ("state", state));
        let issuer = ("iss", self.config.issuer());
        let parameters: Vec<_> = response.iter().copied().chain(state).chain([issuer]).collect();
        with_parameters(redirect_uri, &parameters)
    }
}

#[cfg(test)]
mod tests;
