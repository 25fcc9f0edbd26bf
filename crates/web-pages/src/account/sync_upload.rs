//! The upload on the page of photo sync: a script that uploads by tus, and a plain form without it. Photos that a phone's share
//! sheet sends to the installed app come in as by that form.

use std::net::IpAddr;

use futures_util::{StreamExt as _, TryStreamExt as _};
use http::{HeaderMap, Method, StatusCode, header, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, found, method_not_allowed, retry_after},
};
use library::{ImportError, ImportOutcome, Upload};
use maud::{Markup, html};
use multer::{Constraints, Field, Multipart, SizeLimit};
use web_auth::{is_same_origin, security_log};

use super::{
    AccountSection, Person,
    form_stream::{Delivered, FormStream},
};
use crate::{
    Site,
    form_rejected::form_rejected,
    forms::{CSRF, csrf_field},
    layout::{Icon, Link, Page, accepted_files},
    messages::message_with_link,
    paths,
};

/// The path of the plain form.
pub(super) const PATH: &str = "/account/sync/photos";

/// The purpose that the token of the form is bound to.
const PURPOSE: &str = "upload";

/// Upper bound on the field with the token, in bytes.
const MAX_TOKEN_BYTES: u64 = 256;

/// Maximum number of files that the result names.
const MAX_NAMED: usize = 200;

/// The upload form, which the script replaces by buttons that choose files and folders.
pub(crate) fn upload_area(site: &Site, person: &Person) -> Markup {
    html! {
        div #upload {
            form.drop method="post" action=(PATH) enctype="multipart/form-data" {
                (Icon::Upload.markup())
                // First, so that a form without the token is rejected before its photos are received.
                (csrf_field(&site.forms, &person.token_parts(PURPOSE)))
                label for="photos" { "Choose photos" }
                input #photos type="file" name="photos" multiple required accept=(accepted_files());
                button type="submit" { "Upload" }
            }
        }
    }
}

/// What came of the files of a form.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    imported: u32,
    duplicates: u32,
    restored: u32,
    /// Names and reasons, of at most [`MAX_NAMED`] files.
    refused: Vec<(String, String)>,
    /// The number of further refused files, which are not named.
    more_refused: u32,
}

impl Outcome {
    fn add(&mut self, name: &str, imported: Result<ImportOutcome, ImportError>) {
        match imported {
            Ok(ImportOutcome::Queued(_)) => self.imported += 1,
            Ok(ImportOutcome::Duplicate(..) | ImportOutcome::Reindexed(_)) => self.duplicates += 1,
            Ok(ImportOutcome::Restored(..)) => self.restored += 1,
            Err(_) if self.refused.len() >= MAX_NAMED => self.more_refused += 1,
            Err(error) => {
                if error.is_outage() {
                    tracing::error!(%error, "an uploaded photo could not be stored");
                }
                self.refused.push((name.to_owned(), reason(&error)));
            }
        }
    }
}

/// Why a file was not uploaded, for its owner.
fn reason(error: &ImportError) -> String {
    if error.is_outage() {
        "the photo library is temporarily unavailable; try again in a minute".to_owned()
    } else {
        error.to_string()
    }
}

/// What makes a request trustworthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// The form of the page, with its token.
    Form,
    /// The browser itself, when somebody chose the installed app in a share sheet. No page can make a browser send such a
    /// request: it says that no site started it (<https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header>).
    ShareSheet,
}

/// Handles the plain form, and photos from a share sheet, as the manifest announces it. Each file is imported while it arrives.
pub(super) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let sender = if parts.uri.path() == paths::SHARE { Sender::ShareSheet } else { Sender::Form };
    match parts.method {
        Method::POST => match receive(site, parts, body, address, sender).await {
            Ok((person, outcome)) => result_page(site, &person, &outcome),
            Err(reply) => reply,
        },
        // After the form was rejected, the address bar shows this path, so a browser may request it by GET.
        Method::GET | Method::HEAD => found(AccountSection::Sync.path()),
        _ => method_not_allowed("GET, HEAD, POST"),
    }
}

fn is_started_by_the_browser(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all("sec-fetch-site").iter();
    sites.next().is_some_and(|site| site == "none") && sites.next().is_none()
}

async fn receive(
    site: &Site,
    parts: &Parts,
    mut body: RequestBody,
    address: IpAddr,
    sender: Sender,
) -> Result<(Person, Outcome), Reply> {
    // Browsers send the whole form before they read the reply.
    body.discard_up_to(site.library.settings().limits.max_upload_bytes);
    let reject = |reason| {
        security_log::form_refused(address, reason);
        form_rejected(&site.base_url, &parts.headers, AccountSection::Sync.path())
    };
    let is_own = match sender {
        Sender::Form => is_same_origin(&site.base_url, &parts.headers),
        Sender::ShareSheet => is_started_by_the_browser(&parts.headers),
    };
    if !is_own {
        return Err(reject("another origin"));
    }
    let boundary = boundary(&parts.headers).ok_or_else(|| reject("not sent as a form"))?;
    let person = match (Person::of(site, &parts.headers).await?, sender) {
        (Some(person), _) => person,
        (None, Sender::Form) => return Err(reject("no session")),
        (None, Sender::ShareSheet) => return Err(sign_in_to_share()),
    };
    let slot = site.slots.take(person.holder.account.id.0).ok_or_else(too_many_uploads)?;
    let stream = body.into_stream(slot).map_err(|_| reject("not sent as a form"))?;
    let limits = SizeLimit::new().for_field(CSRF, MAX_TOKEN_BYTES);
    let (stream, delivered) = FormStream::new(stream);
    let mut form = Multipart::with_constraints(stream, boundary, Constraints::new().size_limit(limits));
    if sender == Sender::Form {
        let token = token(&mut form, &delivered).await;
        let token = token.ok_or_else(|| reject("no token in the first field"))?;
        if !site.forms.verify(&person.token_parts(PURPOSE), &token) {
            return Err(reject("a wrong token"));
        }
    }
    let outcome = import(site, &person, &mut form, &delivered).await;
    Ok((person, outcome))
}

/// 401 for photos that nobody signed in shares. They are not kept.
fn sign_in_to_share() -> Reply {
    let text = "You are not signed in, so the photos were not uploaded. Sign in, then share them again.";
    let link = Link { href: "/sign-in", label: "Sign in" };
    message_with_link(StatusCode::UNAUTHORIZED, "Sign in to upload photos", text, link)
}

/// 503 while all slots for uploads of the account are taken.
fn too_many_uploads() -> Reply {
    let text =
        "Other uploads of this account are still running. Upload the photos again when they have finished.";
    let back = Link { href: AccountSection::Sync.path(), label: "Back to photo sync" };
    let page = message_with_link(StatusCode::SERVICE_UNAVAILABLE, "Too many uploads at once", text, back);
    retry_after(page, 5)
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    multer::parse_boundary(headers.get(header::CONTENT_TYPE)?.to_str().ok()?).ok()
}

/// The token, which is the first field.
async fn token(form: &mut Multipart<'_>, delivered: &Delivered) -> Option<String> {
    let field = form.next_field().await.ok()??;
    delivered.reset();
    let token = if field.name() == Some(CSRF) { field.text().await.ok() } else { None };
    delivered.reset();
    token
}

async fn import(site: &Site, person: &Person, form: &mut Multipart<'_>, delivered: &Delivered) -> Outcome {
    let mut outcome = Outcome::default();
    loop {
        let field = form.next_field().await;
        delivered.reset();
        match field {
            Ok(Some(field)) => {
                let name = field.file_name().unwrap_or_default().to_owned();
                // Without a chosen file, browsers send one without a name.
                if !name.is_empty() {
                    let imported = import_file(site, person, &name, field, delivered).await;
                    outcome.add(&name, imported);
                }
            }
            Ok(None) => return outcome,
            Err(error) => {
                let interrupted = ImportError::Interrupted(std::io::Error::other(error));
                outcome.add("The rest of the form", Err(interrupted));
                return outcome;
            }
        }
    }
}

async fn import_file(
    site: &Site,
    person: &Person,
    name: &str,
    field: Field<'_>,
    delivered: &Delivered,
) -> Result<ImportOutcome, ImportError> {
    let upload = Upload {
        // Some browsers send the path of a file in a chosen folder.
        name: name.rsplit(['/', '\\']).next().map(str::to_owned),
        quota_bytes: site.library.settings().limits.account_quota_bytes,
        ..Upload::default()
    };
    let mut bytes = field.map_err(std::io::Error::other).inspect(|_| delivered.reset());
    let imported = site.library.ingest.import_stream(person.holder.account.id, upload, &mut bytes).await;
    // The rest of a refused file. An error of the form shows again at the next field.
    while let Some(Ok(_)) = bytes.next().await {}
    imported
}

fn result_page(site: &Site, person: &Person, outcome: &Outcome) -> Reply {
    let path = AccountSection::Sync.path();
    let header = person.header(site, path);
    let refused = outcome.refused.len() + usize::try_from(outcome.more_refused).unwrap_or_default();
    let content = html! {
        ul {
            li { (photos(outcome.imported)) " added" }
            @if outcome.duplicates > 0 { li { (photos(outcome.duplicates)) " already there" } }
            @if outcome.restored > 0 { li { (photos(outcome.restored)) " restored from the deleted photos" } }
            @if refused > 0 { li { (refused) " not uploaded" } }
        }
        @if refused > 0 {
            h2 { "Not uploaded" }
            ul.uploads {
                @for (name, reason) in &outcome.refused { li { (name) ": " (reason) } }
                @if outcome.more_refused > 0 { li { "And " (outcome.more_refused) " more files." } }
            }
        }
        p { a href=(path) { "Upload more photos" } }
    };
    Page { title: "Upload finished", status: StatusCode::OK, form_targets: &[] }.text(&header, &content)
}

fn photos(number: u32) -> String {
    match number {
        1 => "1 photo".to_owned(),
        number => format!("{number} photos"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_refused_files_are_counted_and_not_named() {
        let mut outcome = Outcome::default();
        for number in 0..MAX_NAMED + 3 {
            outcome.add(&number.to_string(), Err(ImportError::TooLarge { max_bytes: 7 }));
        }
        assert_eq!((outcome.refused.len(), outcome.more_refused), (MAX_NAMED, 3));
        let (name, reason) = outcome.refused.first().unwrap();
        assert_eq!((name.as_str(), reason.as_str()), ("0", "the file is larger than the limit of 7 bytes"));
    }
}
