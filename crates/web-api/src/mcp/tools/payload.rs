//! The payloads of tools: records, their source and, if they contain URLs, when those expire.

use mcp_wire::{CallToolResult, Meta};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    images_api::{AlbumRecord, ImageRecord, NO_MODEL, Page, Pagination},
    links::Links,
};

use super::{
    filters::Interpreted,
    records::{ListedImage, ShownImage},
};

/// Key in the `_meta` of the display tool's result: whether the app may change details of images.
const MAY_EDIT: &str = "photo-library/mayEdit";
/// The source in every payload.
pub(super) const SOURCE: &str = "photo-library";

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListPayload<T> {
    #[schemars(extend("const" = SOURCE))]
    source: &'static str,
    results: Vec<T>,
    pagination: Pagination,
    /// When the URLs expire, in UTC. get_image and list_albums return new ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    urls_expire_at: Option<String>,
}

/// A list that names can filter.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NamedPayload<T> {
    #[serde(flatten)]
    pub(super) list: ListPayload<T>,
    /// How names in the arguments were understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Interpreted")]
    pub(super) interpreted: Option<Interpreted>,
}

/// The results of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchPayload<T> {
    #[serde(flatten)]
    list: ListPayload<T>,
    /// How names in the arguments were understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Interpreted")]
    interpreted: Option<Interpreted>,
    /// What this search could not match, and how to change that. Tell the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    note: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectPayload<T> {
    #[schemars(extend("const" = SOURCE))]
    source: &'static str,
    result: T,
    /// When the URLs expire, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    urls_expire_at: Option<String>,
}

/// A record that may contain signed URLs.
pub(super) trait HasUrls {
    fn has_urls(&self) -> bool;
}

impl HasUrls for ImageRecord {
    fn has_urls(&self) -> bool {
        true
    }
}

impl HasUrls for ListedImage {
    fn has_urls(&self) -> bool {
        true
    }
}

impl HasUrls for ShownImage {
    fn has_urls(&self) -> bool {
        true
    }
}

impl HasUrls for AlbumRecord {
    fn has_urls(&self) -> bool {
        self.cover_url.is_some()
    }
}

impl<T: HasUrls> ListPayload<T> {
    /// A page whose URLs were signed by `links`.
    pub(super) fn new(page: Page<T>, links: &Links<'_>) -> Self {
        let Page { results, pagination } = page;
        let has_urls = results.iter().any(HasUrls::has_urls);
        let urls_expire_at = has_urls.then(|| links.expire_at().to_string());
        Self { source: SOURCE, results, pagination, urls_expire_at }
    }
}

impl<T> SearchPayload<T> {
    /// A list, with a note if no vision model took part in the search.
    pub(super) fn new(list: ListPayload<T>, lacks_model: bool, interpreted: Option<Interpreted>) -> Self {
        Self { list, interpreted, note: lacks_model.then_some(NO_MODEL) }
    }
}

impl<T: HasUrls> ObjectPayload<T> {
    /// An object whose URLs were signed by `links`.
    pub(super) fn new(result: T, links: &Links<'_>) -> Self {
        let urls_expire_at = result.has_urls().then(|| links.expire_at().to_string());
        Self { source: SOURCE, result, urls_expire_at }
    }
}

impl<T> ObjectPayload<T> {
    /// An object without signed URLs.
    pub(super) fn without_urls(result: T) -> Self {
        Self { source: SOURCE, result, urls_expire_at: None }
    }
}

/// The result of a successful call: one text with the payload as JSON. If the resource has structured content, the result
/// also contains the same payload as structured content.
pub(super) fn tool_result(
    payload: &impl Serialize,
    is_structured: bool,
) -> serde_json::Result<CallToolResult> {
    let result = CallToolResult::text(serde_json::to_string(payload)?);
    Ok(if is_structured { result.with_structured_content(serde_json::to_value(payload)?) } else { result })
}

/// The result of `show_images`: the whole payload for the app as structured content, and for the model a text without the
/// fields that only the app needs. If the resource declares structured content, the text has all fields too. The app also
/// learns whether it may edit details.
pub(super) fn display_result(
    payload: &SearchPayload<ShownImage>,
    is_structured: bool,
    may_edit: bool,
) -> serde_json::Result<CallToolResult> {
    let text = if is_structured {
        serde_json::to_string(payload)?
    } else {
        let SearchPayload { list, interpreted, note } = payload;
        let results: Vec<_> = list.results.iter().map(ShownImage::without_renditions).collect();
        let list = ListPayload {
            source: list.source,
            results,
            pagination: list.pagination,
            urls_expire_at: list.urls_expire_at.clone(),
        };
        serde_json::to_string(&SearchPayload { list, interpreted: interpreted.clone(), note: *note })?
    };
    let result = CallToolResult::text(text).with_structured_content(serde_json::to_value(payload)?);
    Ok(if may_edit {
        result.with_meta(Meta::from_iter([(MAY_EDIT.to_owned(), json!(true))]))
    } else {
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Timestamp;
    use http_server::BaseUrl;
    use keys::{Secret, UrlSigner};
    use mcp_wire::schema::output_schema_of;
    use serde_json::Value;

    fn album(cover_url: Option<&str>) -> AlbumRecord {
        AlbumRecord {
            id: "a".into(),
            title: "t".into(),
            image_count: 1,
            cover_url: cover_url.map(str::to_owned),
            created_at: "2024-05-01T00:00:00.000Z".into(),
            updated_at: "2024-05-01T00:00:00.000Z".into(),
        }
    }

    /// Checks that the schema describes every member, and that every required member is present.
    fn check(value: &Value, schema: &Value) {
        for required in schema["required"].as_array().unwrap() {
            assert!(value.get(required.as_str().unwrap()).is_some(), "{required}");
        }
        for (name, member) in value.as_object().unwrap() {
            let described = &schema["properties"][name];
            assert!(described.is_object(), "{name}");
            if member.is_object() {
                check(member, described);
            }
        }
    }

    #[test]
    fn payloads_with_urls_say_when_they_expire() {
        let base_url = BaseUrl::parse("http://localhost").unwrap();
        let signer = UrlSigner::new(&Secret::from_text(&"s".repeat(32)).unwrap());
        let links = Links::new(&base_url, &signer, Timestamp::parse_iso("2024-05-01T12:00:00.500Z").unwrap());
        for (covers, expect) in [
            (&[][..], None),
            (&[None], None),
            (&[None, Some("http://localhost/i/x")], Some(json!("2024-05-01T12:15:01.000Z"))),
        ] {
            let results: Vec<_> = covers.iter().map(|cover| album(*cover)).collect();
            let pagination = Pagination { total: 2, offset: 0, limit: 50 };
            let payload = ListPayload::new(Page { results, pagination }, &links);
            let value = serde_json::to_value(&payload).unwrap();
            assert_eq!(value.get("urlsExpireAt"), expect.as_ref());
            assert_eq!(value["source"], SOURCE);
            check(&value, &output_schema_of::<ListPayload<AlbumRecord>>());
            for cover in covers {
                let value = serde_json::to_value(ObjectPayload::new(album(*cover), &links)).unwrap();
                assert_eq!(value.get("urlsExpireAt").is_some(), cover.is_some());
                check(&value, &output_schema_of::<ObjectPayload<AlbumRecord>>());
            }
        }
    }

    #[test]
    fn structured_content_equals_the_text() {
        let payload = ObjectPayload::without_urls(album(None));
        let result = tool_result(&payload, true).unwrap();
        let text: Value = serde_json::from_str(result.first_text().unwrap()).unwrap();
        assert_eq!(result.structured_content, Some(text));
        assert_eq!(result.content.len(), 1);
        assert_eq!(tool_result(&payload, false).unwrap().structured_content, None);
    }
}
