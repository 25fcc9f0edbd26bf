use std::net::IpAddr;

use domain::{AlbumChange, AlbumCover, AlbumId, AlbumOrder, AlbumTitle};
use http::request::Parts;
use http_server::{
    Query,
    body::RequestBody,
    reply::{Reply, see_other},
};
use library::AlbumWrite;

use super::{album, no_album};
use crate::{
    Site,
    form_reader::read_signed_form,
    forms::Form,
    messages, paths,
    return_to::ReturnTo,
    selection::{self, sentence},
    session::Person,
};

/// The change that a form asks for.
fn change_of(form: &Form) -> Result<AlbumChange, String> {
    let title = form.get("title").map(AlbumTitle::parse).transpose();
    let title = title.map_err(|invalid| sentence(&format!("the title {}", invalid.reason)))?;
    let order = match form.get("order") {
        None => None,
        Some("newest") => Some(AlbumOrder::NewestFirst),
        Some("oldest") => Some(AlbumOrder::OldestFirst),
        Some("own") => Some(AlbumOrder::ByHand),
        Some(_) => {
            return Err(
                "This order is unknown. Choose the newest or the oldest first, or my order.".to_owned()
            );
        }
    };
    let cover = form.get("cover").map(|_| AlbumCover::Newest);
    Ok(AlbumChange { title, order, cover, ..AlbumChange::default() })
}

/// `POST /albums/{id}`: changes title, order or cover. Leads to the album, or to the page that the form names.
pub(super) async fn submit(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    id: &AlbumId,
) -> Result<Reply, Reply> {
    let path = paths::album(id);
    let (person, form) = read_signed_form(site, parts, body, address, &path, &path).await?;
    match change_of(&form) {
        Ok(change) => {
            let back = ReturnTo::parse(form.get("return_to").or(Some(&path)));
            apply(site, &person, id, change, back.as_str()).await
        }
        Err(problem) => album::page(site, &person, id, &Query::parse(None), Some(&problem)).await,
    }
}

/// `POST /albums/{id}/cover`: makes the selected photo the cover.
pub(super) async fn set_cover(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    id: &AlbumId,
) -> Result<Reply, Reply> {
    let (person, input) = selection::read_form(site, parts, body, address).await?;
    let [image] = &*input.ids else {
        let problem = "Select one photo, then use it as the cover.";
        return album::page(site, &person, id, &Query::parse(None), Some(problem)).await;
    };
    let change = AlbumChange { cover: Some(AlbumCover::Image(image.clone())), ..AlbumChange::default() };
    let back = ReturnTo::parse(input.return_to.as_deref());
    apply(site, &person, id, change, back.as_str()).await
}

async fn apply(
    site: &Site,
    person: &Person,
    id: &AlbumId,
    change: AlbumChange,
    back: &str,
) -> Result<Reply, Reply> {
    let changed = site.library.catalogue.change_album(&person.caller(), id.as_str(), change).await;
    match changed.map_err(|error| messages::unavailable(&error))? {
        AlbumWrite::Done(_) => Ok(see_other(back)),
        AlbumWrite::NoAlbum => Err(no_album()),
        AlbumWrite::ForeignImage | AlbumWrite::UnknownImage | AlbumWrite::TooManyAlbums => {
            let problem = "This photo is not in the album any more. Choose another cover.";
            album::page(site, person, id, &Query::parse(None), Some(problem)).await
        }
    }
}

/// `POST /albums/{id}/delete`.
pub(super) async fn delete(
    site: &Site,
    parts: &Parts,
    body: RequestBody,
    address: IpAddr,
    id: &AlbumId,
) -> Result<Reply, Reply> {
    let path = paths::album(id);
    let (person, _) = read_signed_form(site, parts, body, address, &path, &path).await?;
    let deleted = site.library.catalogue.delete_album(&person.caller(), id.as_str()).await;
    // The album may be deleted already, because the form was sent twice.
    deleted.map_err(|error| messages::unavailable(&error))?;
    Ok(see_other(paths::ALBUMS))
}
