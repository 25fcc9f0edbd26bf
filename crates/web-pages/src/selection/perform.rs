//! Carries out what was asked for selected photos.

use domain::{AlbumTitle, EditId, Invalid, Selection, Timestamp};
use library::{AlbumWrite, Caller, EditError, Library, NewEdit, StorageError, Unavailable};
use serde::Serialize;
use tracing::Instrument as _;

use super::input::Input;
use crate::marks::Mark;

/// What a person does with selected photos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Delete,
    Restore { deleted_at: Option<Timestamp> },
    DeleteForever,
    AddToAlbum(Target),
    RemoveFromAlbum(String),
    Mark(Mark),
    UndoMark(EditId),
}

/// The album that photos are added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Album(String),
    New(AlbumTitle),
}

/// An album in a reply.
#[derive(Debug, Serialize)]
pub(super) struct AlbumName {
    id: String,
    title: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Done {
    /// Number of photos that changed.
    pub(super) count: u32,
    /// The time of a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    /// The album that the photos were added to.
    #[serde(skip_serializing_if = "Option::is_none")]
    album: Option<AlbumName>,
    /// The id of the change of marks, to undo it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edit: Option<String>,
}

impl Done {
    fn count(count: u32) -> Self {
        Self { count, at: None, album: None, edit: None }
    }

    fn count_of(count: u64) -> Self {
        Self::count(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no album with this id")]
    NoAlbum,
    #[error("there are 500 albums already; delete one first")]
    TooManyAlbums,
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<EditError> for Refusal {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Invalid(invalid) => invalid.into(),
            EditError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl Action {
    /// The action of a request.
    ///
    /// # Errors
    /// [`Invalid`] naming the field.
    pub(super) fn of(input: &Input) -> Result<Self, Invalid> {
        let album = || input.album.clone().ok_or_else(|| Invalid::new("album", "is missing"));
        Ok(match &*input.action {
            "delete" => Self::Delete,
            "restore" => Self::Restore { deleted_at: input.deleted_at()? },
            "delete_forever" => Self::DeleteForever,
            "remove_from_album" => Self::RemoveFromAlbum(album()?),
            "add_to_album" => Self::AddToAlbum(match &input.title {
                Some(title) => Target::New(AlbumTitle::parse(title)?),
                None => Target::Album(album()?),
            }),
            "undo" => {
                let edit = input.edit.clone().and_then(EditId::parse);
                Self::UndoMark(edit.ok_or_else(|| Invalid::new("edit", "is not the id of a change"))?)
            }
            name => Self::Mark(Mark::parse(name).ok_or_else(|| Invalid::new("action", "is unknown"))?),
        })
    }

    /// The mark that it changes.
    pub(super) const fn mark(&self) -> Option<Mark> {
        if let Self::Mark(mark) = self { Some(*mark) } else { None }
    }

    /// Runs the action to its end, also if the sender of the request does not wait for it.
    pub(super) async fn run(
        self,
        library: &Library,
        caller: Caller,
        selection: Selection,
    ) -> Result<Done, Refusal> {
        let library = library.clone();
        let task = async move { self.run_here(&library, &caller, &selection).await };
        match tokio::spawn(task.in_current_span()).await {
            Ok(done) => done,
            Err(error) => Err(StorageError::Unavailable(error.to_string()).into()),
        }
    }

    async fn run_here(
        &self,
        library: &Library,
        caller: &Caller,
        selection: &Selection,
    ) -> Result<Done, Refusal> {
        match self {
            Self::Delete => {
                let deleted = library.catalogue.delete_selection(caller, selection).await?;
                Ok(Done { at: Some(deleted.at.millis()), ..Done::count(deleted.count) })
            }
            Self::Restore { deleted_at } => {
                Ok(Done::count(library.catalogue.restore_selection(caller, selection, *deleted_at).await?))
            }
            Self::DeleteForever => {
                Ok(Done::count(library.catalogue.delete_forever(caller, selection).await?))
            }
            Self::RemoveFromAlbum(album) => {
                let removed = library.catalogue.remove_selection_from_album(caller, selection, album).await?;
                removed.map(Done::count).ok_or(Refusal::NoAlbum)
            }
            Self::AddToAlbum(target) => add(library, caller, selection, target).await,
            Self::Mark(mark) => {
                let id = library.catalogue.new_edit_id()?;
                let edit = NewEdit::by_person(id.clone());
                let totals = library.catalogue.edit_photos(caller, selection, edit, mark.edit()).await?;
                Ok(Done { edit: Some(id.to_string()), ..Done::count_of(totals.changed) })
            }
            Self::UndoMark(edit) => Ok(Done::count_of(library.catalogue.undo_edit(caller, edit).await?)),
        }
    }
}

async fn add(
    library: &Library,
    caller: &Caller,
    selection: &Selection,
    target: &Target,
) -> Result<Done, Refusal> {
    let album = match target {
        Target::Album(id) => library.catalogue.album(caller, id).await?.ok_or(Refusal::NoAlbum)?,
        Target::New(title) => {
            match library.catalogue.create_album(caller, title.clone(), Vec::new()).await? {
                AlbumWrite::Done(album) => album,
                AlbumWrite::TooManyAlbums => return Err(Refusal::TooManyAlbums),
                AlbumWrite::NoAlbum | AlbumWrite::ForeignImage | AlbumWrite::UnknownImage => {
                    return Err(Refusal::NoAlbum);
                }
            }
        }
    };
    let added = library.catalogue.add_selection_to_album(caller, selection, album.id.as_str()).await?;
    let album_name = AlbumName { id: album.id.to_string(), title: album.title };
    Ok(Done { album: Some(album_name), ..Done::count(added.ok_or(Refusal::NoAlbum)?) })
}
