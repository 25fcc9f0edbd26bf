//! `/index.php/login/v2/flow/{token}`: asks whether to connect a device that began a login flow.

use std::net::IpAddr;

use http::{HeaderMap, Method, StatusCode, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, found, method_not_allowed},
};
use keys::session_hash;
use library::{LoginFlow, SessionHolder, StorageError};
use maud::html;
use web_auth::{LOGIN_PAGE_PREFIX, security_log};

use crate::{
    Site,
    consent::DECISION,
    form_reader::read_form,
    form_rejected::form_rejected,
    forms::{Form, csrf_field},
    layout::Page,
    messages::{self, message},
    return_to::ReturnTo,
    session::{session, session_token},
    sign_out_button::sign_out_button,
};

/// The purpose that the token of the form is bound to, beside the session and the page.
const PURPOSE: &[u8] = b"connect a device";

/// Whether a path belongs to this page.
pub(crate) fn is_path(path: &str) -> bool {
    path.starts_with(LOGIN_PAGE_PREFIX)
}

/// Shows the form, after sign-in, or handles it. A GET changes nothing.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let here = parts.uri.path();
    let token = here.strip_prefix(LOGIN_PAGE_PREFIX).unwrap_or_default();
    match parts.method {
        Method::GET | Method::HEAD => show(site, parts, here, token).await.unwrap_or_else(|reply| reply),
        Method::POST => {
            let form = match read_form(site, parts, body, address).await {
                Ok(form) => form,
                Err(reply) => return reply,
            };
            let submission = Submission { site, headers: &parts.headers, here, token, address };
            submission.handle(&form).await.unwrap_or_else(|reply| reply)
        }
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}

async fn show(site: &Site, parts: &Parts, here: &str, token: &str) -> Result<Reply, Reply> {
    let flow =
        site.library.accounts.login_flow(token).await.map_err(|error| messages::unavailable(&error))?;
    let Some(flow) = flow else { return Err(expired()) };
    Ok(match session(site, &parts.headers).await? {
        Some(session) => page(site, &parts.headers, &session, here, &flow),
        None => found(&ReturnTo::here(here).via_sign_in()),
    })
}

/// The parts that the token of the form is bound to.
fn token_parts<'a>(session: &'a [u8; 32], here: &'a str) -> [&'a [u8]; 3] {
    [PURPOSE, session, here.as_bytes()]
}

fn page(site: &Site, headers: &HeaderMap, session: &SessionHolder, here: &str, flow: &LoginFlow) -> Reply {
    let session_token = session_token(&site.base_url, headers).unwrap_or_default();
    let (forms, hash) = (&site.forms, session_hash(&session_token));
    let content = html! {
        p.asks {
            "Connect " strong { "“" (flow.device) "”" } " to the photo library of "
            strong { (session.account.email) } "?"
        }
        dl.grant {
            dt { "Name (not verified)" } dd { "“" (flow.device) "”" }
            dt { "Can" }
            dd { "upload photos" }
            dd { "list, rename, move and delete the photos that devices have uploaded" }
            dd { "show previews" }
            dt { "Cannot" }
            dd { "download your original files" }
            dd { "see your albums or your other apps, or change your account" }
        }
        p.notice.warn {
            "Allow this only if you have just started to connect this device yourself. If somebody sent you a link to this page, choose Deny."
        }
        p { "You can disconnect the device at any time on the page Photo sync." }
        form method="post" action=(here) {
            (csrf_field(forms, &token_parts(&hash, here)))
            div.buttons {
                button type="submit" name=(DECISION) value="allow" { "Allow" }
                button.quiet type="submit" name=(DECISION) value="deny" { "Deny" }
            }
        }
        (sign_out_button(forms, &session_token, here, "Use another account"))
    };
    Page { title: "Connect a device", status: StatusCode::OK, form_targets: &[] }.reply(&content)
}

/// A form that was sent.
struct Submission<'a> {
    site: &'a Site,
    headers: &'a HeaderMap,
    here: &'a str,
    token: &'a str,
    address: IpAddr,
}

impl Submission<'_> {
    async fn handle(&self, form: &Form) -> Result<Reply, Reply> {
        let session = session(self.site, self.headers).await?;
        let hash = session_hash(&session_token(&self.site.base_url, self.headers).unwrap_or_default());
        let is_valid = form.has_token(&self.site.forms, &token_parts(&hash, self.here));
        let Some(session) = session.filter(|_| is_valid) else {
            security_log::form_refused(self.address, "connecting a device without its token");
            return Err(form_rejected(&self.site.base_url, self.headers, self.here));
        };
        match form.get(DECISION) {
            Some("allow") => self.allow(&session).await,
            Some("deny") => self.deny(&session).await,
            _ => {
                let text = "Go back and choose Allow or Deny.";
                Err(message(StatusCode::BAD_REQUEST, "No answer was sent", text))
            }
        }
    }

    async fn allow(&self, session: &SessionHolder) -> Result<Reply, Reply> {
        let (library, account) = (&self.site.library, session.account.id);
        let unavailable = |error: StorageError| messages::unavailable(&error);
        if library.accounts.confirm_login_flow(self.token, account).await.map_err(unavailable)? {
            security_log::sync_password_changed(self.address, account, "device_allowed");
            return Ok(self.connected());
        }
        // If the person clicked twice, the first click has connected the device.
        let flow = library.accounts.login_flow(self.token).await.map_err(unavailable)?;
        let is_connected = flow.is_some_and(|flow| flow.account == Some(account));
        if is_connected { Ok(self.connected()) } else { Err(expired()) }
    }

    fn connected(&self) -> Reply {
        let content = html! {
            p role="status" { "Go back to the app. It finishes the connection by itself within a minute." }
            p { a href="/account/sync" { "Connected devices and their passwords" } }
        };
        Page { title: "The device is connected", status: StatusCode::OK, form_targets: &[] }.reply(&content)
    }

    async fn deny(&self, session: &SessionHolder) -> Result<Reply, Reply> {
        let denied = self.site.library.accounts.deny_login_flow(self.token).await;
        if !denied.map_err(|error| messages::unavailable(&error))? {
            return Err(expired());
        }
        security_log::sync_password_changed(self.address, session.account.id, "device_denied");
        let text = "The device has no access to your photos. You can close this page.";
        Ok(message(StatusCode::OK, "The device is not connected", text))
    }
}

fn expired() -> Reply {
    let text = "This link was used already, or it has expired. If the app is still waiting, start to connect it again.";
    message(StatusCode::NOT_FOUND, "This link is no longer valid", text)
}
