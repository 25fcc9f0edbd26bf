//! Fetches the whole library over the API, as an app does.

use std::collections::HashSet;
use std::io::Cursor;

use ::tests::black_box::AnyError;
use domain::{PixelSize, Rendition};
use serde_json::Value;

use crate::scan;

/// Shorter texts occur in compressed data by chance.
const MIN_TEXT_BYTES: usize = 6;

/// The result of a walk.
#[derive(Default)]
pub(crate) struct Walked {
    pub(crate) images: u64,
    pub(crate) renditions: u64,
    pub(crate) faults: Vec<String>,
}

/// Requests every image of a library and fetches each rendition from its signed URL.
pub(crate) async fn images(base_url: &str, key: &str) -> Result<Walked, AnyError> {
    let api =
        Api { http: reqwest::Client::new(), root: format!("{base_url}/api/ext/v2"), key: key.to_owned() };
    let mut walked = Walked::default();
    let mut seen = HashSet::new();
    let mut end: Option<String> = None;
    loop {
        let until = end.map(|end| format!("&endDate={end}")).unwrap_or_default();
        let page = api.get(&format!("images?limit=100{until}")).await?;
        let ids = page["results"].as_array().ok_or("a list without results")?.iter();
        let new: Vec<String> = ids
            .filter_map(|image| Some(image["id"].as_str()?.to_owned()))
            .filter(|id| seen.insert(id.clone()))
            .collect();
        if new.is_empty() {
            break;
        }
        end = page["results"].as_array().and_then(|all| Some(all.last()?["capturedAt"].as_str()?.to_owned()));
        for id in new {
            let record = api.get(&format!("images/{id}")).await?;
            walked.images += 1;
            open(&api.http, &record["result"], &mut walked).await?;
        }
    }
    let total = api.get("library").await?["result"]["totalImages"].as_u64();
    if total != Some(walked.images) {
        let reached = walked.images;
        walked.faults.push(format!("the library counts {total:?} images but {reached} were reached"));
    }
    Ok(walked)
}

struct Api {
    http: reqwest::Client,
    root: String,
    key: String,
}

impl Api {
    async fn get(&self, path: &str) -> Result<Value, AnyError> {
        let url = format!("{}/{path}", self.root);
        let response = self.http.get(&url).bearer_auth(&self.key).send().await?;
        let status = response.status();
        if status != 200 {
            return Err(format!("{url} returned {status}").into());
        }
        Ok(response.json().await?)
    }
}

async fn open(http: &reqwest::Client, image: &Value, walked: &mut Walked) -> Result<(), AnyError> {
    let name = image["fileName"].as_str().unwrap_or("an image without a name");
    let side = |field: &str| image[field].as_u64().and_then(|side| u32::try_from(side).ok()).unwrap_or(0);
    let full = PixelSize { width: side("width"), height: side("height") };
    for rendition in Rendition::public() {
        let url = image["renditions"][rendition.name()].as_str().unwrap_or_default();
        let response = http.get(url).send().await?;
        let (status, media_type) = (response.status(), response.headers().get("content-type").cloned());
        let bytes = response.bytes().await?;
        walked.renditions += 1;
        let checked = if status != 200 || media_type.is_none_or(|value| value != "image/webp") {
            Err(format!("returned {status}"))
        } else {
            check(&bytes, full.fit_within(rendition.longest_side_px()), image)
        };
        if let Err(fault) = checked {
            walked.faults.push(format!("{name}: {rendition} {fault}"));
        }
    }
    Ok(())
}

/// Checks that a rendition decodes, has the expected size, and contains no text from its image's record.
fn check(bytes: &[u8], expect: PixelSize, image: &Value) -> Result<(), String> {
    let mut reader = image::ImageReader::with_format(Cursor::new(bytes), image::ImageFormat::WebP);
    // The largest pictures that the service accepts exceed the reader's default limits.
    reader.no_limits();
    let decoded = reader.decode().map_err(|error| error.to_string())?;
    let size = PixelSize { width: decoded.width(), height: decoded.height() };
    if size != expect {
        return Err(format!("is {}x{}, not {}x{}", size.width, size.height, expect.width, expect.height));
    }
    for field in ["fileName", "cameraMake", "cameraModel", "description"] {
        let text = image[field].as_str().unwrap_or_default();
        if text.len() >= MIN_TEXT_BYTES && scan::contains(bytes, text.as_bytes()) {
            return Err(format!("contains the {field} {text}"));
        }
    }
    Ok(())
}
