//! The page of a photo.

use domain::{Album, AlbumId, AlbumOrder, EditId, EditedField, Image, ImageId, Invalid, Keyword, Rendition};
use http::StatusCode;
use http_server::reply::Reply;
use library::{AlbumName, EditableImage, ImageEdits, Lookup, NameKind, PhotoContext};
use maud::{Markup, html};

use super::{
    Opened, cover, delete,
    facts::{coordinates, exposure, file_size, saved_name, wall_time, zone},
    marks, no_photo,
    undo::{CORRECTED, Undone, button},
};
use crate::{
    Site,
    assets::Asset,
    forms::csrf_field,
    layout::{Icon, LibraryPage},
    map,
    marks::Mark,
    messages,
    origin::Origin,
    paths,
    pictures::picture_path,
    selection::{self, sentence},
    session::Person,
};

/// What a request asks the page to show.
#[derive(Default)]
pub(super) struct Request {
    /// The outcome of a form.
    pub(super) done: Option<Done>,
    /// The correction that the form made.
    pub(super) edit: Option<EditId>,
    /// What is wrong with a form that was sent.
    pub(super) invalid: Option<Invalid>,
}

/// The successful outcome of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Edited,
    Marked(Mark),
    Rated,
    Keywords,
    Cover,
    NewestCover,
    Unchanged,
    Undone,
}

impl Done {
    const OTHERS: [Self; 7] = [
        Self::Edited,
        Self::Rated,
        Self::Keywords,
        Self::Cover,
        Self::NewestCover,
        Self::Unchanged,
        Self::Undone,
    ];

    /// Its name in the query of the page.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Marked(mark) => mark.name(),
            Self::Rated => "rated",
            Self::Keywords => "keywords",
            Self::Cover => "cover",
            Self::NewestCover => "newest-cover",
            Self::Unchanged => "unchanged",
            Self::Undone => "undone",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let marked = Mark::parse(name).map(Self::Marked);
        marked.or_else(|| Self::OTHERS.into_iter().find(|done| done.name() == name))
    }

    fn text(self) -> String {
        let text = match self {
            Self::Edited => "The photo is corrected.",
            Self::Marked(mark) => return sentence(mark.outcome()),
            Self::Rated => "The rating is changed.",
            Self::Keywords => "The keywords are changed.",
            Self::Cover => "This photo is the cover of the album now.",
            Self::NewestCover => "The newest photo is the cover of the album now.",
            Self::Unchanged => "Nothing changed: the photo has these values already.",
            Self::Undone => "The change is undone.",
        };
        text.to_owned()
    }

    /// What the button that undoes it refers to.
    const fn object(self) -> Option<&'static str> {
        match self {
            Self::Edited => Some("the correction"),
            Self::Marked(_) | Self::Rated | Self::Keywords => Some("the change"),
            Self::Cover | Self::NewestCover | Self::Unchanged | Self::Undone => None,
        }
    }
}

/// The page of a photo.
pub(super) async fn page(
    site: &Site,
    person: &Person,
    opened: &Opened,
    request: &Request,
) -> Result<Reply, Reply> {
    let (library, caller) = (&site.library, person.caller());
    let (caller, id) = (&caller, &opened.id);
    let unavailable = |error| messages::unavailable(&error);
    let Lookup::Found(image) = library.catalogue.image(caller, id.as_str()).await.map_err(unavailable)?
    else {
        return Err(no_photo());
    };
    let Lookup::Found((values, edits)) =
        library.catalogue.photo_edits(caller, id).await.map_err(unavailable)?
    else {
        return Err(no_photo());
    };
    let (origin, album) = browsed(site, person, &opened.origin).await?;
    let own_albums = library.catalogue.album_names(caller).await.map_err(unavailable)?;
    let context = library.catalogue.photo_context(caller, id, origin.album()).await.map_err(unavailable)?;
    let known = library.catalogue.names(caller, NameKind::Keyword).await.map_err(unavailable)?;
    let map = match values.position {
        Some(position) => map::small_map(position).await,
        None => None,
    };
    let view = View {
        site,
        person,
        map,
        image: &image,
        values: &values,
        edits: edits.as_ref(),
        context: &context,
        opened: &Opened { id: id.clone(), origin },
        album: album.as_ref(),
        own_albums: &own_albums,
        keywords: &known,
    };
    let title = view.title();
    let page = LibraryPage {
        title: &title,
        tab: Some(view.opened.origin.tab()),
        shows_heading: false,
        scripts: &[Asset::PhotoFirst, Asset::Viewer],
        // The links repeat the origin of the request.
        can_compress: false,
    };
    let status = if request.invalid.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(page.framed(status, &person.header(site, &view.opened.page()), &view.main(request)))
}

/// The origin, and its album. If the person does not have the album, the origin is the timeline.
async fn browsed(site: &Site, person: &Person, origin: &Origin) -> Result<(Origin, Option<Album>), Reply> {
    let Origin::Album(id) = origin else { return Ok((origin.clone(), None)) };
    let album = site.library.catalogue.album(&person.caller(), id.as_str()).await;
    Ok(match album.map_err(|error| messages::unavailable(&error))? {
        Some(album) => (origin.clone(), Some(album)),
        None => (Origin::Timeline, None),
    })
}

struct View<'a> {
    site: &'a Site,
    person: &'a Person,
    /// Where it was taken.
    map: Option<Markup>,
    image: &'a Image,
    values: &'a EditableImage,
    edits: Option<&'a ImageEdits>,
    context: &'a PhotoContext,
    opened: &'a Opened,
    /// The album in which the photo was opened.
    album: Option<&'a Album>,
    /// The albums of the person, the newest first.
    own_albums: &'a [AlbumName],
    /// Keywords of the person, that of the newest photo first.
    keywords: &'a [String],
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

    /// The links to the previous and the next photo: relation, label and address.
    fn neighbours(&self) -> Vec<(&'static str, &'static str, String)> {
        let (previous, next) = match self.album.map_or(AlbumOrder::NewestFirst, |album| album.order) {
            AlbumOrder::NewestFirst => ("Newer", "Older"),
            AlbumOrder::OldestFirst => ("Older", "Newer"),
            AlbumOrder::ByHand => ("Previous", "Next"),
        };
        let link =
            |rel, label, id: &Option<ImageId>| Some((rel, label, self.opened.origin.link(id.as_ref()?)));
        let context = self.context;
        let links = [link("prev", previous, &context.previous), link("next", next, &context.next)];
        links.into_iter().flatten().collect()
    }

    fn main(&self, request: &Request) -> Markup {
        let image = self.image;
        let shown = image.size.fit_within(Rendition::Medium.longest_side_px());
        let alt = match &self.values.description {
            Some(description) => description.clone(),
            None => format!("Photo, {}", self.title()),
        };
        html! {
            // The place in the timeline is that of the filmstrip.
            main #content .photo data-id=(image.id) data-v=(image.picture_version)
                data-t=[self.opened.origin.album().is_none().then(|| image.local_time())] {
                h1.unseen { "Photo, " (self.title()) }
                @if let Some(done) = request.done { (self.notice(done, request.edit.as_ref())) }
                @if let Some(invalid) = &request.invalid {
                    @let reason = sentence(&format!("{} {}", invalid.field, invalid.reason));
                    div.notice.warn role="alert" { p { "Nothing was changed. " (reason) } }
                }
                div.stage {
                    (self.bar())
                    figure #viewer {
                        a href=(picture_path(image, Rendition::Full)) {
                            img #photo src=(picture_path(image, Rendition::Medium)) width=(shown.width)
                                height=(shown.height) alt=(alt);
                        }
                    }
                    nav aria-label="Photos" {
                        @for (rel, label, href) in self.neighbours() { a rel=(rel) href=(href) { (label) } " " }
                    }
                }
                section #about .about aria-label="About this photo" {
                    div.head { h2 { "About this photo" } }
                    (self.marks())
                    (self.about())
                    p { a.button.quiet href=(picture_path(image, Rendition::Full)) download=(saved_name(image)) { "Save this picture" } }
                }
            }
        }
    }

    /// The way back, and what can be done with the photo.
    fn bar(&self) -> Markup {
        let origin = &self.opened.origin;
        html! {
            div.bar {
                a #back .back href=(origin.back(self.image)) aria-label=(origin.label()) title=(origin.label()) { (Icon::Back.markup()) }
                div.acts {
                    (marks::favorite(self.site, self.person, self.opened, self.values.marks.favorite))
                    a #info href="#about" aria-label="About this photo" title="About this photo" { (Icon::Info.markup()) }
                    @if let Some(album) = self.cover_album() { (cover::form(self.site, self.person, self.opened, album)) }
                    a #edit href=(self.opened.action("edit")) aria-label="Edit" title="Edit" { (Icon::Edit.markup()) }
                    (delete::form(self.site, self.person, self.opened))
                }
            }
        }
    }

    /// The album that the photo can be the cover of.
    fn cover_album(&self) -> Option<&Album> {
        self.album.filter(|album| self.context.albums.iter().any(|(id, _)| *id == album.id))
    }

    fn marks(&self) -> Markup {
        let of_file = html! {
            @for field in [EditedField::Favorite, EditedField::Rating, EditedField::Archived] { (self.edited(field)) }
        };
        marks::forms(self.site, self.person, self.opened, &self.values.marks, &of_file)
    }

    fn keywords(&self) -> Markup {
        html! {
            (marks::keywords(self.site, self.person, self.opened, &self.values.marks.keywords, self.keywords))
            (self.edited(EditedField::Keywords))
        }
    }

    fn notice(&self, done: Done, edit: Option<&EditId>) -> Markup {
        // Only the last correction can be undone as a whole.
        let last = self.edits.and_then(|edits| edits.last.as_ref());
        let undone = done.object().zip(edit.filter(|edit| Some(*edit) == last));
        html! {
            div.notice role="status" {
                p { (done.text()) }
                @if let Some((object, edit)) = undone {
                    (button(&self.site.forms, self.person, self.opened, &Undone::Edit(edit), "Undo", object))
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
                dt { "Description" @if values.description.is_some() { (self.correct("description")) } }
                dd {
                    @match &values.description {
                        Some(description) => { p.text.description { (description) } }
                        None => { (self.add("description")) }
                    }
                    (self.edited(EditedField::Description))
                }
                dt { "Taken" (self.correct("time")) }
                dd {
                    (wall_time(&values.capture))
                    p.facts { (zone(&values.capture)) @if let Some(estimate) = estimate { ", " (estimate) } }
                    (self.edited(EditedField::Time))
                }
                @let has_place = values.place.is_some() || values.position.is_some();
                dt { "Place" @if has_place { (self.correct("place")) } }
                dd {
                    @if let Some(place) = &values.place { (place) }
                    @if let Some(position) = values.position {
                        p.facts { (coordinates(position)) }
                        @if let Some(map) = &self.map { (map) }
                    }
                    @if !has_place { (self.add("place")) }
                    (self.edited(EditedField::Place))
                }
                @if let Some(camera) = details.camera() {
                    dt { "Camera" }
                    dd { (camera) (self.settings()) }
                } @else if self.context.settings.is_some() {
                    dt { "Camera" }
                    dd { (self.settings()) }
                }
                dt { "Size" }
                dd { (image.size.width) " × " (image.size.height) " pixels · " (file_size(image.file_bytes)) }
                @if let Some(name) = &image.file_name {
                    dt { "File" }
                    dd { (name) }
                }
                dt { "Keywords" }
                dd { (self.keywords()) }
                dt { "Albums" }
                dd { (self.albums()) }
                @if let Some(text) = &image.text {
                    dt { "Words in the photo" }
                    dd { p.text { (text) } }
                }
            }
            (self.undo_all())
        }
    }

    /// A link to the form that corrects a field. The script opens the form on this page.
    fn correct(&self, field: &str) -> Markup {
        let label = format!("Edit the {field}");
        html! {
            a.pencil id={ "edit-" (field) } href={ (self.opened.action("edit")) "#of-" (field) } aria-label=(label)
                title=(label) { (Icon::Edit.markup()) }
        }
    }

    /// The same for a field without a value.
    fn add(&self, field: &str) -> Markup {
        html! {
            a id={ "edit-" (field) } href={ (self.opened.action("edit")) "#of-" (field) } { "Add a " (field) }
        }
    }

    /// The lens and the settings of the camera.
    fn settings(&self) -> Markup {
        let settings = self.context.settings.as_ref();
        html! {
            @if let Some(settings) = settings {
                @if let Some(lens) = &settings.lens { p.facts.name { (lens) } }
                @let exposure = exposure(settings);
                @if !exposure.is_empty() { p.facts.name { (exposure) } }
            }
        }
    }

    fn albums(&self) -> Markup {
        let contains = |id: &AlbumId| self.context.albums.iter().any(|(album, _)| album == id);
        html! {
            @if !self.context.albums.is_empty() {
                ul.albums {
                    @for (id, title) in &self.context.albums {
                        li {
                            a href=(paths::album(id)) { (title) }
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
                (csrf_field(&self.site.forms, &self.person.token_parts(selection::PURPOSE)))
                input type="hidden" name="action" value=(action);
                input type="hidden" name="image" value=(self.image.id);
                input type="hidden" name="return_to" value=(self.opened.page());
                (content)
            }
        }
    }

    fn is_edited(&self, field: EditedField) -> bool {
        self.edits.is_some_and(|edits| edits.fields.contains(&field))
    }

    /// What the file says about a corrected field, with a button that restores the value of the file. Nothing for a mark that
    /// the file does not have.
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
            EditedField::Favorite => ("the favourite", file.marks.favorite.then(|| "a favourite".to_owned())),
            EditedField::Rating => {
                ("the rating", file.marks.rating.map(|rating| marks::stars_text(rating.stars())))
            }
            EditedField::Keywords => {
                let keywords: Vec<&str> = file.marks.keywords.iter().map(Keyword::as_str).collect();
                ("the keywords", (!keywords.is_empty()).then(|| keywords.join(", ")))
            }
            EditedField::Archived => ("the archive", file.marks.archived.then(|| "archived".to_owned())),
        };
        let is_mark = !CORRECTED.contains(&field);
        if is_mark && original.is_none() {
            return html! {};
        }
        html! {
            div.edited {
                span.facts {
                    @if !is_mark { "Corrected. " }
                    "In the file: " (original.as_deref().unwrap_or("none"))
                }
                " "
                (button(&self.site.forms, self.person, self.opened, &Undone::Field(Some(field)), "Undo", object))
            }
        }
    }

    fn undo_all(&self) -> Markup {
        match self.edits {
            Some(edits) if edits.fields.iter().filter(|field| CORRECTED.contains(field)).count() > 1 => {
                button(
                    &self.site.forms,
                    self.person,
                    self.opened,
                    &Undone::Field(None),
                    "Undo all corrections",
                    "of this photo",
                )
            }
            _ => html! {},
        }
    }
}
