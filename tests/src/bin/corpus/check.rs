use std::{collections::HashSet, sync::Arc};

use blobs::BlobStore;
use domain::{BlobKind, DateRange, Limit, ListQuery, Rendition, Timestamp};
use futures_util::TryStreamExt as _;
use keys::{Secret, SystemRandom, UrlSigner};
use library::{Caller, Library, Settings, SystemClock};
use serde_json::Value;
use storage::{BlobRegistry as _, SchemaStore as _};
use storage_sqlite::{SqliteOptions, SqliteStore};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use web::{App, BaseUrl, WebConfig};

use crate::AnyError;

/// A library of its own, served over HTTP.
pub(crate) struct Served {
    pub(crate) library: Library,
    store: SqliteStore,
    blobs: BlobStore,
    base_url: String,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
    _folder: tempfile::TempDir,
}

/// What a check counted and what it found wrong.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) images: u64,
    pub(crate) renditions: u64,
    pub(crate) faults: Vec<String>,
}

pub(crate) struct CheckedBlobs {
    pub(crate) count: usize,
    pub(crate) faults: Vec<String>,
}

impl Served {
    pub(crate) async fn start(settings: Settings) -> Result<Self, AnyError> {
        let folder = tempfile::tempdir()?;
        let store =
            SqliteStore::open(&folder.path().join("library.sqlite"), SqliteOptions::default()).await?;
        store.migrate().await?;
        let blobs = BlobStore::open_folder(&folder.path().join("blobs"))?;
        let random = Arc::new(SystemRandom::new());
        let library = Library::new(
            Arc::new(store.clone()),
            blobs.clone(),
            Arc::new(SystemClock),
            random.clone(),
            settings,
        );
        let secret = Secret::load_or_create(&folder.path().join("secret"), random.as_ref())?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let app =
            App::new(library.clone(), UrlSigner::new(&secret), WebConfig::new(BaseUrl::parse(&base_url)?))?;
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(web::serve(app, listener, async {
            // An error means that the sender is gone, which ends the run as well.
            let _ = stopped.await;
        }));
        Ok(Self { library, store, blobs, base_url, stop, server, _folder: folder })
    }

    pub(crate) async fn stop(self) {
        // The server may have ended already.
        let _ = self.stop.send(());
        let _ = self.server.await;
    }

    /// Walks the whole library over HTTP and opens every rendition of every image from its signed URL.
    pub(crate) async fn check_images(&self, caller: &Caller) -> Result<Checked, AnyError> {
        let key = self.library.create_key(&caller.account.email, domain::KeyName::parse("check")?).await?;
        let http = reqwest::Client::new();
        let mut checked = Checked::default();
        let mut seen = HashSet::new();
        let mut end = Timestamp::MAX;
        loop {
            let query =
                ListQuery { limit: Limit::new(100)?, range: DateRange::new(None, Some(end))?, circle: None };
            let page = self.library.list(caller, &query).await?;
            let new: Vec<_> = page.iter().filter(|hit| seen.insert(hit.image.id.clone())).collect();
            let Some(last) = new.last() else { break };
            end = last.image.captured_at;
            for hit in new {
                let url = format!("{}/api/ext/v2/images/{}", self.base_url, hit.image.id);
                let record: Value = http.get(url).bearer_auth(&key).send().await?.json().await?;
                checked.images += 1;
                check_image(&http, &record["result"], &mut checked).await?;
            }
        }
        let total = u64::from(self.library.info(caller).await?.total_images);
        if total != checked.images {
            checked
                .faults
                .push(format!("the library counts {total} images but {} were reached", checked.images));
        }
        Ok(checked)
    }

    /// Compares the blob store with the register.
    pub(crate) async fn check_blobs(&self) -> Result<CheckedBlobs, AnyError> {
        let mut faults = Vec::new();
        let mut count = 0;
        for kind in [BlobKind::Original, BlobKind::Rendition] {
            let found: HashSet<_> = self.blobs.list(kind).map_ok(|(hash, _)| hash).try_collect().await?;
            let kept: HashSet<_> = self
                .store
                .kept_blobs(kind, None, u32::MAX)
                .await?
                .into_iter()
                .map(|blob| blob.hash)
                .collect();
            count += found.len();
            faults
                .extend(found.difference(&kept).map(|hash| format!("{} {hash} has no image", kind.as_str())));
            faults.extend(kept.difference(&found).map(|hash| format!("{} {hash} is missing", kind.as_str())));
        }
        Ok(CheckedBlobs { count, faults })
    }
}

async fn check_image(http: &reqwest::Client, image: &Value, checked: &mut Checked) -> Result<(), AnyError> {
    let name = image["fileName"].as_str().unwrap_or("an image without a name");
    let side = |field: &str| image[field].as_u64().and_then(|side| u32::try_from(side).ok()).unwrap_or(0);
    let full = domain::PixelSize { width: side("width"), height: side("height") };
    for rendition in Rendition::ALL {
        let url = image["renditions"][rendition.name()].as_str().unwrap_or_default();
        let response = http.get(url).send().await?;
        let (status, media_type) = (response.status(), response.headers().get("content-type").cloned());
        let bytes = response.bytes().await?;
        checked.renditions += 1;
        let expect = full.fit_within(rendition.longest_side_px());
        if status != 200 || media_type.as_ref().is_none_or(|value| value != "image/webp") {
            checked.faults.push(format!("{name}: {rendition} answered {status}"));
        } else if let Err(fault) = check_webp(&bytes, expect) {
            checked.faults.push(format!("{name}: {rendition} {fault}"));
        }
    }
    Ok(())
}

/// A rendition decodes, has the size that its image's record promises, and carries no metadata.
fn check_webp(bytes: &[u8], expect: domain::PixelSize) -> Result<(), String> {
    let decoded = image::load_from_memory_with_format(bytes, image::ImageFormat::WebP)
        .map_err(|error| error.to_string())?;
    if (decoded.width(), decoded.height()) != (expect.width, expect.height) {
        return Err(format!(
            "is {}x{} but must be {}x{}",
            decoded.width(),
            decoded.height(),
            expect.width,
            expect.height
        ));
    }
    let chunks = chunk_names(bytes);
    match chunks.iter().find(|name| !matches!(name.as_slice(), b"VP8 " | b"VP8L" | b"VP8X" | b"ALPH")) {
        Some(name) => Err(format!("carries a chunk {}", String::from_utf8_lossy(name))),
        None => Ok(()),
    }
}

/// The names of a RIFF file's chunks.
fn chunk_names(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    let mut rest = bytes.get(12..).unwrap_or_default();
    while let Some((head, after)) = rest.split_at_checked(8) {
        let (name, length) = head.split_at(4);
        names.push(name.to_vec());
        let length = length.iter().rev().fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
        rest = after.get(length + length % 2..).unwrap_or_default();
    }
    names
}
