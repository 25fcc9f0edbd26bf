//! The page of a photo.

use domain::{Album, AlbumId, EditId, EditedField, Image, ImageId, Limit, Offset, Rendition};
use http::StatusCode;
use http_server::reply::Reply;
use library::{EditableImage, ImageEdits, Lookup, PhotoContext};
use maud::{Markup, html};

use super::{
    delete,
    facts::{coordinates, wall_time, zone},
    no_photo, path_of,
    undo::{Undone, button},
};
use crate::{
    Site,
    assets::Asset,
    forms::csrf_field,
    gallery::picture_path,
    layout::{LibraryPage, LibraryTab},
    messages, selection,
    session::Person,
};

/// What a request asks the page to show.
pub(super) struct Request<'a> {
    /// The album in which the person browses.
    pub(super) album: Option<&'a str>,
    /// The outcome of a form.
    pub(super) done: Option<Done>,
    /// The correction that the form made.
    pub(super) edit: Option<EditId>,
}

/// The successful outcome of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Edited,
    Unchanged,
    Undone,
}

impl Done {
    const ALL: [Self; 3] = [Self::Edited, Self::Unchanged, Self::Undone];

    /// Its name in the query of the page.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Unchanged => "unchanged",
            Self::Undone => "undone",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.name() == name)
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Edited => "The photo is corrected.",
            Self::Unchanged => "Nothing changed: the photo has these values already.",
            Self::Undone => "The correction is undone.",
        }
    }
}

/// The page of a photo.
pub(super) async fn page(
    site: &Site,
    person: &Person,
    id: &ImageId,
    request: &Request<'_>,
) -> Result<Reply, Reply> {
    let (library, caller) = (&site.library, person.caller());
    let caller = &caller;
    let unavailable = |error| messages::unavailable(&error);
    let Lookup::Found(image) = library.image(caller, id.as_str()).await.map_err(unavailable)? else {
        return Err(no_photo());
    };
    let Lookup::Found((values, edits)) = library.photo_edits(caller, id).await.map_err(unavailable)? else {
        return Err(no_photo());
    };
    let album = request.album.and_then(AlbumId::parse);
    let own_albums = library.albums(caller, Limit::MAX, Offset::default()).await.map_err(unavailable)?.albums;
    let context = library.photo_context(caller, id, album.as_ref()).await.map_err(unavailable)?;
    let view = View {
        site,
        person,
        image: &image,
        values: &values,
        edits: edits.as_ref(),
        context: &context,
        album,
        own_albums: &own_albums,
    };
    let title = view.title();
    let here = path_of(id);
    let page = LibraryPage {
        title: &title,
        tab: Some(LibraryTab::Photos),
        shows_heading: false,
        scripts: &[Asset::First, Asset::Photo],
        // The links repeat the album of the request.
        can_compress: false,
    };
    Ok(page.framed(StatusCode::OK, &person.header(site, &here), &view.main(request)))
}

struct View<'a> {
    site: &'a Site,
    person: &'a Person,
    image: &'a Image,
    values: &'a EditableImage,
    edits: Option<&'a ImageEdits>,
    context: &'a PhotoContext,
    album: Option<AlbumId>,
    /// The newest albums of the person.
    own_albums: &'a [Album],
}

impl View<'_> {
    /// The time and the place, such as `14 July 2024, 15:04:30, Lisbon, Portugal`.
    fn title(&self) -> String {
        let time = wall_time(&self.values.capture);
        match &self.values.place {
            Some(place) => format!("{time}, {place}"),
            None => time,
        }
    }

    /// The page of another photo in the same album or timeline.
    fn link(&self, id: &ImageId) -> String {
        match &self.album {
            Some(album) => format!("{}?in={album}", path_of(id)),
            None => path_of(id),
        }
    }

    fn main(&self, request: &Request<'_>) -> Markup {
        let (image, context) = (self.image, self.context);
        let newer = context.newer.as_ref().map(|id| self.link(id));
        let older = context.older.as_ref().map(|id| self.link(id));
        let shown = image.size.fit_within(Rendition::Medium.longest_side_px());
        let alt = match &self.values.description {
            Some(description) => description.clone(),
            None => format!("Photo, {}", self.title()),
        };
        html! {
            main #content .photo data-id=(image.id) data-t=(image.captured_at.millis()) data-v=(image.picture_version)
                data-newer=[newer.as_deref()] data-older=[older.as_deref()]
            {
                h1.unseen { "Photo, " (self.title()) }
                @if let Some(done) = request.done { (self.notice(done, request.edit.as_ref())) }
                figure #viewer {
                    a href=(picture_path(image, Rendition::Full)) {
                        img #photo src=(picture_path(image, Rendition::Medium)) width=(shown.width) height=(shown.height) alt=(alt);
                    }
                }
                nav aria-label="Photos" {
                    @if let Some(newer) = &newer { a rel="prev" href=(newer) { "Newer" } " " }
                    @if let Some(older) = &older { a rel="next" href=(older) { "Older" } " " }
                    (self.way_back())
                }
                section.about aria-label="About this photo" { (self.about()) }
            }
        }
    }

    fn way_back(&self) -> Markup {
        match &self.album {
            Some(album) => html! { a.back href={ "/albums/" (album) } { "Back to the album" } },
            None => html! {
                a.back href={ "/?at=" (self.image.captured_at.millis()) } { "Back to the timeline" }
            },
        }
    }

    fn notice(&self, done: Done, edit: Option<&EditId>) -> Markup {
        // Only the last correction can be undone as a whole.
        let last = self.edits.and_then(|edits| edits.last.as_ref());
        let undone = edit.filter(|edit| done == Done::Edited && Some(*edit) == last);
        html! {
            div.notice role="status" {
                p { (done.text()) }
                @if let Some(edit) = undone {
                    (button(&self.site.forms, self.person, &self.image.id, &Undone::Edit(edit), "Undo", "the correction"))
                }
            }
        }
    }

    fn about(&self) -> Markup {
        let (image, values) = (self.image, self.values);
        let estimate = match values.capture.source {
            _ if self.is_edited(EditedField::Time) => None,
            domain::CaptureSource::FileName => Some("estimated from the file name"),
            domain::CaptureSource::FileModified => Some("estimated: when the file was last changed"),
            domain::CaptureSource::Added => Some("unknown: shown is when the photo was added"),
            _ => None,
        };
        let details = &image.details;
        html! {
            dl {
                dt { "Taken" }
                dd {
                    (wall_time(&values.capture)) " (" (zone(&values.capture)) ")"
                    @if let Some(estimate) = estimate { ", " (estimate) }
                    (self.edited(EditedField::Time))
                }
                @if values.place.is_some() || values.position.is_some() || self.is_edited(EditedField::Place) {
                    dt { "Place" }
                    dd {
                        @match (&values.place, values.position) {
                            (Some(place), Some(position)) => { (place) " " span.facts { "(" (coordinates(position)) ")" } }
                            (Some(place), None) => { (place) }
                            (None, Some(position)) => { (coordinates(position)) }
                            (None, None) => { "None" }
                        }
                        (self.edited(EditedField::Place))
                    }
                }
                @if values.description.is_some() || self.is_edited(EditedField::Description) {
                    dt { "Description" }
                    dd {
                        p.text { (values.description.as_deref().unwrap_or("None")) }
                        (self.edited(EditedField::Description))
                    }
                }
                @if let Some(camera) = details.camera() {
                    dt { "Camera" }
                    dd { (camera) }
                }
                dt { "Size" }
                dd { (image.size.width) " × " (image.size.height) " pixels" }
                @if let Some(name) = &image.file_name {
                    dt { "File" }
                    dd { (name) }
                }
                @if let Some(text) = &image.text {
                    dt { "Words in the photo" }
                    dd { p.text { (text) } }
                }
                dt { "Albums" }
                dd { (self.albums()) }
            }
            p { a.button href={ (path_of(&image.id)) "/edit" } { "Edit" } }
            (self.undo_all())
            (delete::form(self.site, self.person, &image.id))
        }
    }

    fn albums(&self) -> Markup {
        let contains = |id: &AlbumId| self.context.albums.iter().any(|(album, _)| album == id);
        html! {
            @if !self.context.albums.is_empty() {
                ul.albums {
                    @for (id, title) in &self.context.albums {
                        li {
                            a href={ "/albums/" (id) } { (title) }
                            (self.album_form("remove_from_album", &html! {
                                input type="hidden" name="album" value=(id);
                                button.quiet type="submit" aria-label=(format!("Remove from the album {title}")) { "Remove" }
                            }))
                        }
                    }
                }
            }
            details.ask {
                summary { "Add to an album" }
                @if self.own_albums.iter().any(|album| !contains(&album.id)) {
                    (self.album_form("add_to_album", &html! {
                        label for="album" { "Album" }
                        select #album name="album" {
                            @for album in self.own_albums.iter().filter(|album| !contains(&album.id)) {
                                option value=(album.id) { (album.title) }
                            }
                        }
                        button type="submit" { "Add" }
                    }))
                }
                (self.album_form("add_to_album", &html! {
                    label for="title" { "New album" }
                    input #title type="text" name="title" maxlength="100" required autocomplete="off";
                    button type="submit" { "Create" }
                }))
            }
        }
    }

    /// A form that changes the albums of this photo, and returns to this page.
    fn album_form(&self, action: &str, content: &Markup) -> Markup {
        html! {
            form method="post" action=(selection::PATH) {
                (csrf_field(&self.site.forms, &self.person.token_parts(selection::PATH)))
                input type="hidden" name="action" value=(action);
                input type="hidden" name="image" value=(self.image.id);
                input type="hidden" name="return_to" value=(path_of(&self.image.id));
                (content)
            }
        }
    }

    fn is_edited(&self, field: EditedField) -> bool {
        self.edits.is_some_and(|edits| edits.fields.contains(&field))
    }

    /// What the file says about a corrected field, with a button to use that again.
    fn edited(&self, field: EditedField) -> Markup {
        let Some(edits) = self.edits.filter(|edits| edits.fields.contains(&field)) else { return html! {} };
        let file = &edits.of_file;
        let (object, original) = match field {
            EditedField::Time => {
                ("the time", Some(format!("{} ({})", wall_time(&file.capture), zone(&file.capture))))
            }
            EditedField::Place => {
                ("the place", file.place.clone().or_else(|| file.position.map(coordinates)))
            }
            EditedField::Description => ("the description", file.description.clone()),
        };
        html! {
            div.edited {
                span.facts { "Corrected. In the file: " (original.as_deref().unwrap_or("none")) }
                " "
                (button(&self.site.forms, self.person, &self.image.id, &Undone::Field(Some(field)), "Undo", object))
            }
        }
    }

    fn undo_all(&self) -> Markup {
        match self.edits {
            Some(edits) if edits.fields.len() > 1 => button(
                &self.site.forms,
                self.person,
                &self.image.id,
                &Undone::Field(None),
                "Undo all corrections",
                "of this photo",
            ),
            _ => html! {},
        }
    }
}
