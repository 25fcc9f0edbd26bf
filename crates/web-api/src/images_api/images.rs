use domain::ImageId;
use http::StatusCode;
use library::{Lookup, NewEdit};
use mcp_wire::parse_arguments;
use serde_json::{Map, Value};

use super::{
    ApiError, Call, Envelope, ImageRecord, Page, image_record, library_record,
    parameters::{list_query, search_query},
};
use crate::photo_change::PhotoChange;
use http_server::reply::{Reply, empty, json};

pub(super) async fn library_info(call: &Call<'_>) -> Result<Reply, ApiError> {
    let info = call.api.library.catalogue.info(&call.caller).await?;
    let result = library_record(&info, call.caller.account.plan, &call.api.base_url);
    Ok(json(StatusCode::OK, &Envelope { result }))
}

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, ApiError> {
    let query = list_query(&call.query)?;
    let hits = call.api.library.catalogue.list(&call.caller, &query).await?;
    Ok(page(call, hits, query.limit.get()))
}

pub(super) async fn search(call: &Call<'_>) -> Result<Reply, ApiError> {
    let query = search_query(&call.query)?;
    let hits = call.api.library.catalogue.search(&call.caller, &query).await?;
    Ok(page(call, hits, query.limit.get()))
}

fn page(call: &Call<'_>, hits: Vec<library::Hit>, limit: u32) -> Reply {
    let links = call.api.links();
    let records: Vec<ImageRecord> = hits.into_iter().map(|hit| image_record(hit, &links, false)).collect();
    json(StatusCode::OK, &Page::of_images(records, limit))
}

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, ApiError> {
    let image = found(call.api.library.catalogue.image(&call.caller, &call.id).await?)?;
    let result = ImageRecord::whole(image, &call.api.links());
    Ok(json(StatusCode::OK, &Envelope { result }))
}

pub(super) async fn change(call: &Call<'_>, body: &Map<String, Value>) -> Result<Reply, ApiError> {
    let change = parse_arguments::<PhotoChange>(body)?.into_edit()?;
    if change.is_empty() {
        return Err(ApiError::invalid_body("must have at least one field to change"));
    }
    let library = &call.api.library;
    let Some(id) = ImageId::parse(call.id.as_str()) else { return Err(ApiError::NoImage) };
    let author = library.accounts.editor(&call.caller).await?.author;
    let edit = NewEdit { id: library.catalogue.new_edit_id()?, author };
    found(library.catalogue.edit_images(&call.caller, vec![id], edit, change, false).await?)?;
    get(call).await
}

pub(super) async fn delete(call: &Call<'_>) -> Result<Reply, ApiError> {
    found(call.api.library.catalogue.delete_image(&call.caller, &call.id).await?)?;
    Ok(empty(StatusCode::NO_CONTENT))
}

fn found<T>(lookup: Lookup<T>) -> Result<T, ApiError> {
    match lookup {
        Lookup::Found(value) => Ok(value),
        Lookup::Foreign => Err(ApiError::ForeignImage),
        Lookup::Missing => Err(ApiError::NoImage),
    }
}
