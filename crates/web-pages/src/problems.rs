//! `/problems`: photos that could not be read, and how far indexing is.

use std::net::IpAddr;

use domain::ImageId;
use http::{Method, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, method_not_allowed, see_other},
};
use library::{IndexingProgress, PhotoProblem, StorageError};
use maud::{Markup, html};

use crate::{
    Site,
    assets::Asset,
    form_reader::read_signed_form,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    messages,
    photo_text::date_of,
    selection::photos,
    session::Person,
};

/// The path of the page; also the purpose of its forms.
const PATH: &str = "/problems";

/// Photos on a page.
const PAGE: u32 = 100;

/// The values of the buttons.
const RETRY: &str = "retry";
const RETRY_ALL: &str = "retry_all";
const DISMISS: &str = "dismiss";
const DISMISS_ALL: &str = "dismiss_all";
const DELETE: &str = "delete";

/// Whether a path belongs to this module.
pub(crate) fn is_path(path: &str) -> bool {
    path == PATH
}

pub(crate) async fn handle(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Reply {
    let result = match parts.method {
        Method::GET | Method::HEAD => show(site, parts).await,
        Method::POST => submit(site, parts, body, address).await,
        _ => Ok(method_not_allowed("GET, HEAD, POST")),
    };
    result.unwrap_or_else(|reply| reply)
}

async fn load(
    site: &Site,
    person: &Person,
    before: Option<&ImageId>,
) -> Result<(IndexingProgress, Vec<PhotoProblem>), StorageError> {
    let caller = person.caller();
    let progress = site.library.catalogue.indexing_progress(&caller).await?;
    Ok((progress, site.library.catalogue.problems(&caller, before, PAGE + 1).await?))
}

/// `GET /problems?before=`: the photos that were added before the photo `before`.
async fn show(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let query = Query::parse(parts.uri.query());
    let before = query.get("before").and_then(ImageId::parse);
    let (progress, mut failed) =
        load(site, &person, before.as_ref()).await.map_err(|error| messages::unavailable(&error))?;
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let has_more = failed.len() > page;
    failed.truncate(page);
    let token = csrf_field(&site.forms, &person.token_parts(PATH));
    let content = html! {
        @if progress.waiting == 0 && progress.failed == 0 {
            (empty_state(Icon::Done, &summary(progress), &html! {
                p { "Photos that cannot be read are listed here, with the reason." }
                p { a.button href="/" { "Go to the timeline" } }
            }))
        } @else {
            p.lead { (summary(progress)) }
        }
        @if !failed.is_empty() {
            p { "The library keeps these files unchanged, but cannot show them. Dismiss a photo to hide it from this list. It comes back only if it fails for another reason." }
        }
        @if !failed.is_empty() {
            form.tools method="post" action=(PATH) {
                (token)
                button type="submit" name="action" value=(RETRY_ALL) { "Try all again" }
                button.quiet type="submit" name="action" value=(DISMISS_ALL) { "Dismiss all" }
            }
            ul.entries {
                @for image in &failed { (entry(image, &token)) }
            }
        }
        @if before.is_some() || has_more {
            nav.pages aria-label="Pages" {
                @if before.is_some() { a rel="prev" href=(PATH) { "Newest problems" } }
                @if let Some(last) = failed.last().filter(|_| has_more) {
                    a rel="next" href={ (PATH) "?before=" (last.image.id) } { "Older problems" }
                }
            }
        }
    };
    let frame = LibraryPage {
        title: "Problems",
        tab: Some(LibraryTab::Problems),
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: true,
    };
    Ok(frame.reply(&person.header(site, PATH), "library", &content))
}

fn summary(progress: IndexingProgress) -> String {
    let waiting = match progress.waiting {
        0 => None,
        1 => Some("1 photo is being read.".to_owned()),
        photos => Some(format!("{photos} photos are being read.")),
    };
    let failed = match progress.failed {
        0 => "There are no problems.".to_owned(),
        failed => format!("{} could not be read.", photos(failed)),
    };
    match waiting {
        None => failed,
        Some(waiting) if progress.failed == 0 => waiting,
        Some(waiting) => format!("{waiting} {failed}"),
    }
}

fn entry(problem: &PhotoProblem, token: &Markup) -> Markup {
    let image = &problem.image;
    let name = image.file_name.as_deref().unwrap_or("A photo without a name");
    html! {
        li.unread {
            div {
                p.name { (name) }
                p.facts {
                    // Files in no folder were uploaded one by one.
                    @if let Some(folder) = &image.folder { "In the folder " (folder) " · " }
                    "Added on " (date_of(image.added_at))
                }
                p { (problem.what) ". " (problem.help) }
                details.technical {
                    summary { "Technical details" }
                    p { code { (image.reason) } }
                }
            }
            div.choices {
                form method="post" action=(PATH) {
                    (token)
                    input type="hidden" name="image" value=(image.id);
                    button.quiet type="submit" name="action" value=(RETRY) aria-label={ "Try again: " (name) } { "Try again" }
                    button.quiet type="submit" name="action" value=(DISMISS) aria-label={ "Dismiss: " (name) } { "Dismiss" }
                }
                details.ask {
                    summary aria-label={ "Delete: " (name) } { "Delete" }
                    div.asked {
                        p { "“" (name) "” moves to the trash. You can restore it for 30 days." }
                        form method="post" action=(PATH) {
                            (token)
                            input type="hidden" name="image" value=(image.id);
                            button.danger type="submit" name="action" value=(DELETE) { "Move to the trash" }
                        }
                    }
                }
            }
        }
    }
}

/// `POST /problems`: queues one photo or all photos again, dismisses them, or deletes one.
async fn submit(site: &Site, parts: &Parts, body: RequestBody, address: IpAddr) -> Result<Reply, Reply> {
    let (person, form) = read_signed_form(site, parts, body, address, PATH, PATH).await?;
    let caller = person.caller();
    let image = form.get("image").unwrap_or_default();
    let library = &site.library;
    // The form may be sent twice: then the photo is queued or dismissed already.
    let done = match form.get("action").unwrap_or_default() {
        RETRY => library.catalogue.retry_problem(&caller, image).await.map(|_| ()),
        RETRY_ALL => library.catalogue.retry_problems(&caller).await.map(|_| ()),
        DISMISS => library.catalogue.dismiss_problem(&caller, image).await.map(|_| ()),
        DELETE => library.catalogue.delete_problem(&caller, image).await.map(|_| ()),
        DISMISS_ALL => library.catalogue.dismiss_problems(&caller).await.map(|_| ()),
        _ => Ok(()),
    };
    done.map_err(|error| messages::unavailable(&error))?;
    Ok(see_other(PATH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_the_counts() {
        let text = |waiting, failed| summary(IndexingProgress { waiting, failed });
        assert_eq!(text(0, 0), "There are no problems.");
        assert_eq!(text(1, 0), "1 photo is being read.");
        assert_eq!(text(5, 1), "5 photos are being read. 1 photo could not be read.");
    }
}
