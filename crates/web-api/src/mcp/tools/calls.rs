//! Runs a tool: parses its arguments, calls the library and builds the payload.

use std::sync::Arc;

use domain::{Album, ListQuery, SearchQuery};
use library::{AlbumWrite, Caller, Hit, Lookup};
use mcp_wire::CallToolResult;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Operation,
    arguments::{
        CreateAlbum, GetImage, ListAlbums, ListImages, SearchImages, Selection, ShowImages, UpdateAlbum, read,
    },
    payload::{ListPayload, ObjectPayload, SearchPayload, display_result, tool_result},
    records::{ListedImage, ShownImage},
    tool_error::{ShortArguments, ToolError},
};
use crate::{
    Api,
    images_api::{ImageRecord, Page, Pagination, album_record, library_record},
    links::install_url,
};

type Arguments = Map<String, Value>;
type Outcome = Result<CallToolResult, ToolError>;

/// The context of a tool call: the service, the caller and the resource.
pub(crate) struct ToolContext {
    pub(crate) api: Arc<Api>,
    pub(crate) caller: Caller,
    /// Whether results also contain structured content.
    pub(crate) is_structured: bool,
}

impl ToolContext {
    /// Runs a tool. A failure is also a result, with a text that says what to do.
    pub(crate) async fn run(&self, operation: Operation, arguments: Arguments) -> CallToolResult {
        let sent = ShortArguments::of(&arguments);
        let outcome = self.outcome(operation, arguments).await;
        outcome.unwrap_or_else(|error| error.into_result(&sent))
    }

    async fn outcome(&self, operation: Operation, arguments: Arguments) -> Outcome {
        if operation != Operation::GetInfo && self.caller.account.synced_at.is_none() {
            let install_url = install_url(&self.api.base_url);
            return Err(ToolError::SyncNotSetUp { install_url });
        }
        match operation {
            Operation::GetInfo => self.get_info().await,
            Operation::ListImages => self.list_images(arguments).await,
            Operation::SearchImages => self.search_images(arguments).await,
            Operation::GetImage => self.get_image(arguments).await,
            Operation::ShowImages => self.show_images(arguments).await,
            Operation::ListAlbums => self.list_albums(arguments).await,
            Operation::CreateAlbum => self.create_album(arguments).await,
            Operation::UpdateAlbum => self.update_album(arguments).await,
        }
    }

    async fn get_info(&self) -> Outcome {
        let info = self.api.library.catalogue.info(&self.caller).await?;
        let record = library_record(&info, self.caller.account.plan, &self.api.base_url);
        self.result(&ObjectPayload::without_urls(record))
    }

    async fn list_images(&self, arguments: Arguments) -> Outcome {
        let query: ListQuery = read::<ListImages>(arguments)?.try_into()?;
        let hits = self.api.library.catalogue.list(&self.caller, &query).await?;
        self.result(&self.image_list(hits, query.limit.get()))
    }

    async fn search_images(&self, arguments: Arguments) -> Outcome {
        let query: SearchQuery = read::<SearchImages>(arguments)?.try_into()?;
        let hits = self.api.library.catalogue.search(&self.caller, &query).await?;
        let lacks_model = self.api.library.catalogue.lacks_model_for(&query).await;
        self.result(&SearchPayload::new(self.image_list(hits, query.limit.get()), lacks_model))
    }

    async fn get_image(&self, arguments: Arguments) -> Outcome {
        let GetImage { id } = read(arguments)?;
        let image = match self.api.library.catalogue.image(&self.caller, &id).await? {
            Lookup::Found(image) => image,
            Lookup::Foreign => return Err(ToolError::ForeignImage),
            Lookup::Missing => return Err(ToolError::NoImage),
        };
        let links = self.api.links();
        self.result(&ObjectPayload::new(ImageRecord::whole(image, &links), &links))
    }

    async fn show_images(&self, arguments: Arguments) -> Outcome {
        let library = &self.api.library;
        let (hits, limit, lacks_model) = match read::<ShowImages>(arguments)?.selection()? {
            Selection::Search(query) => {
                let hits = library.catalogue.search(&self.caller, &query).await?;
                (hits, query.limit.get(), library.catalogue.lacks_model_for(&query).await)
            }
            Selection::Ids(ids) => {
                let images = library.catalogue.images(&self.caller, &ids).await?;
                let unknown: Vec<_> = ids
                    .into_iter()
                    .zip(&images)
                    .filter_map(|(id, image)| image.is_none().then_some(id))
                    .collect();
                if !unknown.is_empty() {
                    return Err(ToolError::CannotShow { unknown });
                }
                let hits: Vec<_> = images.into_iter().flatten().map(Hit::from).collect();
                let limit = u32::try_from(hits.len()).unwrap_or(u32::MAX);
                (hits, limit, false)
            }
        };
        let links = self.api.links();
        let records = hits.into_iter().map(|hit| ShownImage::new(hit, &links)).collect();
        let list = ListPayload::new(Page::of_images(records, limit), &links);
        Ok(display_result(&SearchPayload::new(list, lacks_model), self.is_structured)?)
    }

    async fn list_albums(&self, arguments: Arguments) -> Outcome {
        let (limit, offset) = read::<ListAlbums>(arguments)?.page()?;
        let page = self.api.library.catalogue.albums(&self.caller, limit, offset).await?;
        let links = self.api.links();
        let results = page.albums.into_iter().map(|album| album_record(album, &links)).collect();
        let pagination = Pagination { total: page.total, offset: offset.get(), limit: limit.get() };
        self.result(&ListPayload::new(Page { results, pagination }, &links))
    }

    async fn create_album(&self, arguments: Arguments) -> Outcome {
        let (title, images) = read::<CreateAlbum>(arguments)?.album()?;
        self.album(self.api.library.catalogue.create_album(&self.caller, title, images).await?)
    }

    async fn update_album(&self, arguments: Arguments) -> Outcome {
        let update: UpdateAlbum = read(arguments)?;
        let id = update.album_id.clone();
        self.album(self.api.library.catalogue.change_album(&self.caller, &id, update.change()?).await?)
    }

    fn image_list(&self, hits: Vec<Hit>, limit: u32) -> ListPayload<ListedImage> {
        let links = self.api.links();
        let records = hits.into_iter().map(|hit| ListedImage::new(hit, &links)).collect();
        ListPayload::new(Page::of_images(records, limit), &links)
    }

    fn album(&self, written: AlbumWrite) -> Outcome {
        let album: Album = match written {
            AlbumWrite::Done(album) => album,
            AlbumWrite::NoAlbum => return Err(ToolError::NoAlbum),
            AlbumWrite::ForeignImage => return Err(ToolError::ForeignImageId),
            AlbumWrite::UnknownImage => return Err(ToolError::UnknownImageId),
            AlbumWrite::TooManyAlbums => return Err(ToolError::TooManyAlbums),
        };
        let links = self.api.links();
        self.result(&ObjectPayload::new(album_record(album, &links), &links))
    }

    fn result(&self, payload: &impl Serialize) -> Outcome {
        Ok(tool_result(payload, self.is_structured)?)
    }
}
