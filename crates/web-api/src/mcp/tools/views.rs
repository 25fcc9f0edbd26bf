//! The results of `view_images`: records, then pictures.

use bytes::Bytes;
use data_encoding::BASE64;
use domain::{Image, MAX_TEXT_CHARS};
use mcp_wire::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;

use super::payload::{SOURCE, tool_result};
use crate::{images_api::ImageRecord, links::Links};

/// The most bytes of a message without its pictures. Several apps refuse results of more than a megabyte. With
/// [`MAX_VIEW_BYTES`](library::MAX_VIEW_BYTES) in base64, the whole message has less than 700,000 bytes.
const MAX_RECORD_BYTES: usize = 110_000;

const PICTURE_NUMBERS: &str =
    "number is the position of the picture among the image blocks that follow this text, from 1";
const SHEET_NUMBERS: &str = "number is drawn in white on black at the top left of the picture on the sheet, the image block that follows this text; the numbers run from left to right, row by row from the top";
const SHORTENED: &str =
    "Long texts end with … because the records of these images are long. get_image returns them whole.";

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ViewPayload {
    #[schemars(extend("const" = SOURCE))]
    source: &'static str,
    /// Where the picture with a number is.
    numbers: &'static str,
    results: Vec<ViewedImage>,
    /// When the URLs expire, in UTC. get_image returns new ones.
    urls_expire_at: String,
    /// Present if texts in the records are not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    shortened: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ViewedImage {
    /// The number of its picture.
    number: usize,
    #[serde(flatten)]
    image: ImageRecord,
}

impl ViewPayload {
    /// The records of images in the order of their pictures.
    pub(super) fn new(images: Vec<Image>, sheet: bool, links: &Links<'_>) -> Self {
        let record = |(number, image)| ViewedImage { number, image: ImageRecord::whole(image, links) };
        Self {
            source: SOURCE,
            numbers: if sheet { SHEET_NUMBERS } else { PICTURE_NUMBERS },
            results: (1..).zip(images).map(record).collect(),
            urls_expire_at: links.expire_at().to_string(),
            shortened: None,
        }
    }

    /// The result with these pictures. Long texts in the records are shortened if there are too many.
    pub(super) fn into_result(
        mut self,
        views: &[Bytes],
        is_structured: bool,
    ) -> serde_json::Result<CallToolResult> {
        let mut result = tool_result(&self, is_structured)?;
        let mut max_chars = MAX_TEXT_CHARS;
        while max_chars > 0 && serde_json::to_vec(&result)?.len() > MAX_RECORD_BYTES {
            max_chars /= 2;
            self.shortened = Some(SHORTENED);
            self.results.iter_mut().for_each(|viewed| viewed.image.shorten(max_chars));
            result = tool_result(&self, is_structured)?;
        }
        let pictures = views.iter().map(|view| ContentBlock::image(BASE64.encode(view), "image/jpeg"));
        result.content.extend(pictures);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{ImageId, PhotoDetails, PixelSize, Timestamp};
    use http_server::BaseUrl;
    use keys::{Secret, UrlSigner};
    use library::MAX_VIEW_BYTES;
    use serde_json::Value;

    /// An image whose texts all have this many characters.
    fn image(text: &str, chars: usize) -> Image {
        let text = Some(text.repeat(chars));
        Image {
            id: ImageId::parse("x".repeat(64)).unwrap(),
            captured_at: Timestamp::MAX,
            utc_offset: None,
            added_at: Timestamp::MAX,
            size: PixelSize { width: 4000, height: 3000 },
            details: PhotoDetails {
                position: None,
                description: text.clone(),
                camera_make: text.clone(),
                camera_model: text.clone(),
            },
            marks: domain::Marks::default(),
            place: Some("A place, with a country".into()),
            text: text.clone(),
            file_name: text,
            file_bytes: 1,
            picture_version: 1,
            thumbhash: None,
        }
    }

    fn result(images: Vec<Image>, views: &[Bytes], is_structured: bool) -> CallToolResult {
        let base_url = BaseUrl::parse(&format!("https://{}.example.org", "x".repeat(60))).unwrap();
        let signer = UrlSigner::new(&Secret::from_text(&"s".repeat(32)).unwrap());
        let links = Links::new(&base_url, &signer, Timestamp::parse_iso("2024-05-01").unwrap());
        ViewPayload::new(images, false, &links).into_result(views, is_structured).unwrap()
    }

    fn payload(result: &CallToolResult) -> Value {
        serde_json::from_str(result.first_text().unwrap()).unwrap()
    }

    #[test]
    fn the_longest_result_has_less_than_700_000_bytes() {
        for text in ["\"", "🏔", "\n", "a"] {
            for is_structured in [false, true] {
                let views = vec![Bytes::from(vec![0xFF; MAX_VIEW_BYTES / 16]); 16];
                let images = vec![image(text, MAX_TEXT_CHARS); 16];
                let result = result(images, &views, is_structured);
                let length = serde_json::to_vec(&result).unwrap().len();
                assert!(length < 698_000, "{text:?}: {length}");
                let payload = payload(&result);
                assert_eq!(payload["shortened"], SHORTENED);
                for record in payload["results"].as_array().unwrap() {
                    let description = record["description"].as_str().unwrap();
                    assert!(description.ends_with('…') && description.chars().count() > 30, "{description}");
                }
                assert_eq!(result.structured_content, is_structured.then_some(payload));
            }
        }
    }

    #[test]
    fn ordinary_records_are_whole() {
        let result = result(vec![image("abcdefgh", 10); 16], &[], true);
        let payload = payload(&result);
        assert_eq!(payload.get("shortened"), None);
        assert_eq!(payload["results"][15]["text"], "abcdefgh".repeat(10));
        assert_eq!(payload["results"][15]["number"], 16);
    }

    #[test]
    fn pictures_follow_the_text() {
        let result = result(vec![image("a", 1)], &[Bytes::from_static(b"jpeg")], false);
        assert_eq!(result.content[1..], [ContentBlock::image("anBlZw==", "image/jpeg")]);
    }
}
