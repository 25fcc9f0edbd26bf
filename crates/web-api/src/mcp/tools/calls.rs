//! Runs a tool: parses its arguments, calls the library and builds the payload.

use std::sync::Arc;

use domain::{Album, Filter, Image, ImageId};
use library::{AlbumWrite, Caller, Hit, Lookup};
use mcp_wire::{
    CallToolResult,
    server::{ToolCall, ToolReply},
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    super::McpResource,
    Operation,
    arguments::{
        CreateAlbum, GetImage, ListAlbums, ListImages, SearchImages, Selection, ShowImages, UpdateAlbum,
        ViewImages, Views, read,
    },
    filters::{Interpreted, NamedFilters},
    payload::{ListPayload, NamedPayload, ObjectPayload, SearchPayload, display_result, tool_result},
    records::{ListedImage, ShownImage},
    tool_error::{ShortArguments, ToolError},
    views::ViewPayload,
};
use crate::{
    Api,
    images_api::{ImageRecord, Page, Pagination, album_record, library_record},
    links::install_url,
};

type Arguments = Map<String, Value>;
pub(super) type Outcome = Result<CallToolResult, ToolError>;

/// The context of a tool call.
pub(crate) struct ToolContext {
    pub(crate) api: Arc<Api>,
    pub(crate) caller: Caller,
    pub(crate) resource: McpResource,
}

impl ToolContext {
    /// Runs a tool. A failure is also a result, with a text that says what to do.
    pub(crate) async fn run(operation: Operation, mut call: ToolCall<Self>) -> ToolReply {
        let arguments = std::mem::take(&mut call.params.arguments);
        let sent = ShortArguments::of(&arguments);
        match call.context.outcome(operation, arguments, &call).await {
            Ok(result) => result.into(),
            Err(error) => error.into_reply(&sent),
        }
    }

    async fn outcome(&self, operation: Operation, arguments: Arguments, call: &ToolCall<Self>) -> Outcome {
        if operation != Operation::GetInfo && self.caller.account.synced_at.is_none() {
            let install_url = install_url(&self.api.base_url);
            return Err(ToolError::SyncNotSetUp { install_url });
        }
        match operation {
            Operation::GetInfo => self.get_info().await,
            Operation::ListImages => self.list_images(arguments, call).await,
            Operation::SearchImages => self.search_images(arguments, call).await,
            Operation::GetImage => self.get_image(arguments).await,
            Operation::ViewImages => self.view_images(arguments).await,
            Operation::ShowImages => self.show_images(arguments, call).await,
            Operation::ListAlbums => self.list_albums(arguments).await,
            Operation::CreateAlbum => self.create_album(arguments).await,
            Operation::UpdateAlbum => self.update_album(arguments).await,
            Operation::UpdateImages => self.update_images(arguments, call).await,
            Operation::UndoChanges => self.undo_changes(arguments).await,
        }
    }

    /// The filters by names and marks in the arguments, `None` if there are none, and how names were understood.
    async fn named_filter(
        &self,
        arguments: &Arguments,
        call: &ToolCall<Self>,
    ) -> Result<(Option<Filter>, Option<Interpreted>), ToolError> {
        let named: NamedFilters = read(arguments.clone())?;
        if named.is_empty() {
            return Ok((None, None));
        }
        let mut filter = Filter::default();
        let interpreted = named.add_to(&mut filter, call).await?;
        Ok((Some(filter), interpreted))
    }

    async fn get_info(&self) -> Outcome {
        let info = self.api.library.catalogue.info(&self.caller).await?;
        let record = library_record(&info, self.caller.account.plan, &self.api.base_url);
        self.result(&ObjectPayload::without_urls(record))
    }

    async fn list_images(&self, arguments: Arguments, call: &ToolCall<Self>) -> Outcome {
        let (filter, interpreted) = self.named_filter(&arguments, call).await?;
        let query = read::<ListImages>(arguments)?.query(filter.unwrap_or_default())?;
        let hits = self.api.library.catalogue.list(&self.caller, &query).await?;
        self.result(&NamedPayload { list: self.image_list(hits, query.limit.get()), interpreted })
    }

    async fn search_images(&self, arguments: Arguments, call: &ToolCall<Self>) -> Outcome {
        let (filter, interpreted) = self.named_filter(&arguments, call).await?;
        let query = read::<SearchImages>(arguments)?.query(filter.unwrap_or_default())?;
        let hits = self.api.library.catalogue.search(&self.caller, &query).await?;
        let lacks_model = self.api.library.catalogue.lacks_model_for(&query).await;
        let list = self.image_list(hits, query.limit.get());
        self.result(&SearchPayload::new(list, lacks_model, interpreted))
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

    async fn show_images(&self, arguments: Arguments, call: &ToolCall<Self>) -> Outcome {
        let library = &self.api.library;
        let (filter, interpreted) = self.named_filter(&arguments, call).await?;
        let (hits, limit, lacks_model) = match read::<ShowImages>(arguments)?.selection(filter)? {
            Selection::Search(query) => {
                let hits = library.catalogue.search(&self.caller, &query).await?;
                (hits, query.limit.get(), library.catalogue.lacks_model_for(&query).await)
            }
            Selection::Ids(ids) => {
                let images = self.images(ids).await?;
                let hits: Vec<_> = images.into_iter().map(Hit::from).collect();
                let limit = u32::try_from(hits.len()).unwrap_or(u32::MAX);
                (hits, limit, false)
            }
        };
        let links = self.api.links();
        let records = hits.into_iter().map(|hit| ShownImage::new(hit, &links)).collect();
        let list = ListPayload::new(Page::of_images(records, limit), &links);
        let payload = SearchPayload::new(list, lacks_model, interpreted);
        // The older resource cannot edit.
        let may_edit = self.resource.has_albums() && library.accounts.editor(&self.caller).await?.may_edit;
        Ok(display_result(&payload, self.resource.is_structured(), may_edit)?)
    }

    async fn view_images(&self, arguments: Arguments) -> Outcome {
        let Views { ids, size, sheet } = read::<ViewImages>(arguments)?.views()?;
        let images = self.images(ids).await?;
        let viewed: Vec<ImageId> = images.iter().map(|image| image.id.clone()).collect();
        let views = self.api.library.catalogue.views(&viewed, size, sheet).await?;
        let payload = ViewPayload::new(images, sheet, &self.api.links());
        Ok(payload.into_result(&views, self.resource.is_structured())?)
    }

    /// All images with these ids.
    async fn images(&self, ids: Vec<String>) -> Result<Vec<Image>, ToolError> {
        let images = self.api.library.catalogue.images(&self.caller, &ids).await?;
        let unknown: Vec<_> =
            ids.into_iter().zip(&images).filter_map(|(id, image)| image.is_none().then_some(id)).collect();
        if unknown.is_empty() {
            Ok(images.into_iter().flatten().collect())
        } else {
            Err(ToolError::CannotShow { unknown })
        }
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

    pub(super) fn result(&self, payload: &impl Serialize) -> Outcome {
        Ok(tool_result(payload, self.resource.is_structured())?)
    }
}
