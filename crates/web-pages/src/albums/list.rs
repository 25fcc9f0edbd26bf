use std::{collections::HashMap, net::IpAddr};

use domain::{Album, AlbumTitle, Image, ImageId, Limit, Offset, Rendition};
use http::{StatusCode, request::Parts};
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, see_other},
};
use library::{AlbumPage, AlbumWrite, StorageError};
use maud::{Markup, html};

use crate::{
    Site,
    assets::Asset,
    form_reader::read_signed_form,
    forms::csrf_field,
    layout::{Icon, LibraryPage, LibraryTab, empty_state},
    messages, paths,
    pictures::picture_path,
    selection::{photos, sentence},
    session::Person,
};

/// Albums on a page, at most [`domain::MAX_IMAGE_IDS_PER_CALL`], because their covers are looked up together.
const PAGE: u32 = 60;

/// A title that was rejected.
struct Rejected<'a> {
    title: &'a str,
    reason: String,
}

/// `GET /albums?offset=`.
pub(super) async fn show(site: &Site, parts: &Parts) -> Result<Reply, Reply> {
    let person = Person::required(site, parts).await?;
    let query = Query::parse(parts.uri.query());
    let offset = query.get("offset").and_then(|digits| Offset::parse(digits).ok()).unwrap_or_default();
    page(site, &person, offset, None).await
}

/// `POST /albums`: creates an album.
pub(super) async fn create(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
) -> Result<Reply, Reply> {
    let (person, form) = read_signed_form(site, parts, body, address, paths::ALBUMS, paths::ALBUMS).await?;
    let title = form.get("title").unwrap_or_default();
    let rejected = |reason: &str| Some(Rejected { title, reason: sentence(reason) });
    let parsed = match AlbumTitle::parse(title) {
        Ok(parsed) => parsed,
        Err(invalid) => {
            return page(
                site,
                &person,
                Offset::default(),
                rejected(&format!("the title {}", invalid.reason)),
            )
            .await;
        }
    };
    let created = site.library.catalogue.create_album(&person.caller(), parsed, Vec::new()).await;
    match created.map_err(|error| messages::unavailable(&error))? {
        AlbumWrite::Done(album) => Ok(see_other(&paths::album(&album.id))),
        _ => {
            let reason = "there are 500 albums already; delete one first";
            page(site, &person, Offset::default(), rejected(reason)).await
        }
    }
}

async fn load(
    site: &Site,
    person: &Person,
    offset: Offset,
) -> Result<(AlbumPage, HashMap<ImageId, Image>), StorageError> {
    let caller = person.caller();
    let page = site.library.catalogue.albums(&caller, Limit::new(PAGE).unwrap_or_default(), offset).await?;
    let mut ids: Vec<String> =
        page.albums.iter().filter_map(|album| Some(album.cover.as_ref()?.to_string())).collect();
    ids.sort_unstable();
    ids.dedup();
    let covers = site.library.catalogue.images(&caller, &ids).await?;
    Ok((page, covers.into_iter().flatten().map(|image| (image.id.clone(), image)).collect()))
}

async fn page(
    site: &Site,
    person: &Person,
    offset: Offset,
    rejected: Option<Rejected<'_>>,
) -> Result<Reply, Reply> {
    let (page, covers) = load(site, person, offset).await.map_err(|error| messages::unavailable(&error))?;
    let shown = offset.get().saturating_add(u32::try_from(page.albums.len()).unwrap_or(u32::MAX));
    let content = html! {
        @if page.total == 0 {
            (empty_state(Icon::Albums, "There are no albums yet.", &html! {
                p { "Create one here, or select photos in the " a href="/" { "timeline" } " and add them to a new album." }
                (create_form(site, person, rejected.as_ref(), true))
            }))
        } @else {
            (create_form(site, person, rejected.as_ref(), false))
            ul.albums {
                @for album in &page.albums {
                    (entry(album, album.cover.as_ref().and_then(|cover| covers.get(cover))))
                }
            }
        }
        @if offset.get() > 0 || shown < page.total {
            nav.pages aria-label="Pages" {
                @if offset.get() > 0 {
                    a rel="prev" href={ (paths::ALBUMS) "?offset=" (offset.get().saturating_sub(PAGE)) } { "Newer albums" }
                }
                @if shown < page.total { a rel="next" href={ (paths::ALBUMS) "?offset=" (shown) } { "Older albums" } }
            }
        }
    };
    let frame = LibraryPage {
        title: "Albums",
        tab: Some(LibraryTab::Albums),
        shows_heading: true,
        scripts: &[Asset::Library],
        can_compress: rejected.is_none(),
    };
    let status = if rejected.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(frame.reply_with(status, &person.header(site, paths::ALBUMS), "library", &content))
}

fn create_form(site: &Site, person: &Person, rejected: Option<&Rejected<'_>>, is_open: bool) -> Markup {
    html! {
        div.tools {
            details.ask open[is_open || rejected.is_some()] {
                summary { "New album" }
                form.asked method="post" action=(paths::ALBUMS) {
                    (csrf_field(&site.forms, &person.token_parts(paths::ALBUMS)))
                    label for="new-title" { "Title" }
                    input #new-title type="text" name="title" required maxlength="100" autocomplete="off"
                        value=[rejected.map(|rejected| rejected.title)] aria-invalid=[rejected.map(|_| "true")]
                        aria-describedby=[rejected.map(|_| "title-problem")];
                    @if let Some(rejected) = rejected {
                        p #title-problem .problem role="alert" { (rejected.reason) }
                    }
                    button type="submit" { "Create" }
                }
            }
        }
    }
}

fn entry(album: &Album, cover: Option<&Image>) -> Markup {
    html! {
        li {
            a href=(paths::album(&album.id)) {
                @match cover {
                    Some(image) => {
                        @let size = image.size.fit_within(Rendition::Thumb.longest_side_px());
                        img src=(picture_path(image, Rendition::Thumb)) width=(size.width) height=(size.height) alt=""
                            loading="lazy" decoding="async";
                    }
                    None => span.empty {}
                }
                span.name { (album.title) }
            }
            p.facts { (photos(album.image_count)) }
        }
    }
}
