//! Example photos: the forms that add them and remove them.

use std::net::IpAddr;

use http::{Method, StatusCode, request::Parts};
use http_server::{
    body::RequestBody,
    reply::{Reply, found, method_not_allowed, see_other},
};
use library::{Ingest, StorageError};
use maud::{Markup, html};
use tracing::Instrument as _;

use crate::{
    Site,
    form_reader::read_signed_form,
    forms::csrf_field,
    layout::Link,
    messages::{self, message_with_link},
    paths, selection,
    session::Person,
};

/// The button that adds the example photos.
pub(crate) fn form(site: &Site, person: &Person) -> Markup {
    html! {
        form.examples method="post" action=(paths::EXAMPLES) {
            (csrf_field(&site.forms, &person.token_parts(paths::EXAMPLES)))
            p { "Nothing at hand? Look around with " (Ingest::EXAMPLES) " example photos. You can remove them again." }
            button.quiet type="submit" { "Add example photos" }
        }
    }
}

/// Says which photos are examples, with the button that removes them, if the account has some.
pub(crate) async fn notice(site: &Site, person: &Person) -> Result<Markup, StorageError> {
    let examples = site.library.ingest.examples(person.holder.account.id).await?;
    Ok(html! {
        @if !examples.is_empty() {
            form.notice.examples method="post" action=(selection::PATH) {
                (csrf_field(&site.forms, &person.token_parts(selection::PURPOSE)))
                input type="hidden" name="return_to" value="/";
                @for id in &examples { input type="hidden" name="image" value=(id); }
                p {
                    @match examples.len() {
                        1 => { "One of the photos is an example." }
                        count => { (count) " of the photos are examples." }
                    }
                }
                button.quiet type="submit" name="action" value="delete" { "Remove the examples" }
            }
        }
    })
}

/// `POST /examples`: adds the example photos.
pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    match parts.method {
        Method::POST => {}
        // After the form was rejected, the address bar shows this path, so a browser may request it by GET.
        Method::GET | Method::HEAD => return found("/"),
        _ => return method_not_allowed("GET, HEAD, POST"),
    }
    let person = match read_signed_form(site, parts, body, address, paths::EXAMPLES, "/").await {
        Ok((person, _)) => person,
        Err(reply) => return reply,
    };
    let (ingest, account) = (site.library.ingest.clone(), person.holder.account.id);
    // In a task of its own, which continues if the browser closes the connection.
    let add = async move { ingest.add_examples(account).await };
    match tokio::spawn(add.in_current_span()).await {
        Ok(Ok(())) => see_other("/"),
        Ok(Err(error)) if !error.is_outage() => {
            let text = format!("Not all example photos were added: {error}.");
            let back = Link { href: "/", label: "Go back" };
            message_with_link(StatusCode::CONFLICT, "No example photos", &text, back)
        }
        Ok(Err(error)) => messages::unavailable(&error),
        Err(error) => messages::unavailable(&error),
    }
}
