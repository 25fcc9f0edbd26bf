use crate::{AlbumId, ImageId, Invalid, Timestamp};

/// Maximum number of albums per account.
pub const MAX_ALBUMS_PER_ACCOUNT: u32 = 500;

/// Maximum number of image ids in one album request: added and removed ids together, repetitions included.
pub const MAX_IMAGE_IDS_PER_CALL: usize = 100;

/// An album's title: 1 to 100 Unicode characters after trimming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlbumTitle(String);

impl AlbumTitle {
    /// Trims and checks a title.
    ///
    /// # Errors
    /// [`Invalid`] naming `title`.
    pub fn parse(title: &str) -> Result<Self, Invalid> {
        let title = title.trim();
        if title.contains('\0') {
            return Err(Invalid::new("title", "must not contain the NUL character"));
        }
        if !(1..=100).contains(&title.chars().count()) {
            return Err(Invalid::new("title", "must have 1 to 100 characters"));
        }
        Ok(Self(title.to_owned()))
    }

    /// The trimmed title.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The order in which an album shows its images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlbumOrder {
    /// By capture time.
    #[default]
    NewestFirst,
    /// By capture time.
    OldestFirst,
    /// As its owner has put them.
    ByHand,
}

/// Images of an album that are put in another place, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlbumMove {
    /// Unchecked ids.
    pub images: Vec<String>,
    /// The id of the image that follows them then; `None` for the end of the album.
    pub before: Option<String>,
}

/// Checks moves that are made together.
///
/// # Errors
/// [`Invalid`] naming `moves`: one has no ids, or they have more than [`MAX_IMAGE_IDS_PER_CALL`] ids, or one of them twice.
pub fn checked_moves(moves: Vec<AlbumMove>) -> Result<Vec<AlbumMove>, Invalid> {
    if moves.is_empty() || moves.iter().any(|moved| moved.images.is_empty()) {
        return Err(Invalid::new("moves", "must each have ids"));
    }
    let mut images: Vec<&String> = moves.iter().flat_map(|moved| &moved.images).collect();
    let count = images.len();
    if count > MAX_IMAGE_IDS_PER_CALL {
        return Err(Invalid::new("moves", "must have at most 100 ids together"));
    }
    images.sort_unstable();
    images.dedup();
    if images.len() < count {
        return Err(Invalid::new("moves", "must have each id once"));
    }
    Ok(moves)
}

/// Which image represents an album.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlbumCover {
    /// The newest visible image.
    Newest,
    /// The image with this id while it is visible and in the album, and otherwise the newest one. The id may be any text.
    Image(String),
}

/// An album as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Album {
    /// The public id.
    pub id: AlbumId,
    pub title: String,
    /// Number of visible images.
    pub image_count: u32,
    /// The chosen cover if it is visible, otherwise the newest visible image.
    pub cover: Option<ImageId>,
    /// Whether the cover was chosen.
    pub is_cover_chosen: bool,
    /// The order of its images.
    pub order: AlbumOrder,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its title, order, cover or images last changed.
    pub updated_at: Timestamp,
}

/// A change to an album. The ids are unchecked: the store decides whether each exists and who owns it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlbumChange {
    pub title: Option<AlbumTitle>,
    /// Ids to add, each once, in the order sent.
    pub add: Vec<String>,
    /// Ids to remove, each once, in the order sent.
    pub remove: Vec<String>,
    /// The new order of its images.
    pub order: Option<AlbumOrder>,
    pub cover: Option<AlbumCover>,
}

impl AlbumChange {
    /// Checks the fields of a change. At least one must be present.
    ///
    /// # Errors
    /// [`Invalid`] naming `title`, `addImageIds` or `removeImageIds`: no field is present, there are more than
    /// [`MAX_IMAGE_IDS_PER_CALL`] ids, or an id is in both lists.
    pub fn new(
        title: Option<&str>,
        add: Option<Vec<String>>,
        remove: Option<Vec<String>>,
    ) -> Result<Self, Invalid> {
        if title.is_none() && add.is_none() && remove.is_none() {
            return Err(Invalid::new("title", "is missing; give it, or addImageIds, or removeImageIds"));
        }
        let title = title.map(AlbumTitle::parse).transpose()?;
        let (add, remove) = (add.unwrap_or_default(), remove.unwrap_or_default());
        if add.len() + remove.len() > MAX_IMAGE_IDS_PER_CALL {
            let field = if add.len() >= remove.len() { "addImageIds" } else { "removeImageIds" };
            return Err(Invalid::new(
                field,
                "must have at most 100 ids in one call, added and removed together",
            ));
        }
        let change = Self { title, add: distinct(add), remove: distinct(remove), order: None, cover: None };
        if change.add.iter().any(|id| change.remove.contains(id)) {
            return Err(Invalid::new("addImageIds", "shares an id with removeImageIds"));
        }
        Ok(change)
    }

    /// Checks the fields of a new album.
    ///
    /// # Errors
    /// [`Invalid`] naming `title` or `imageIds`.
    pub fn creation(
        title: Option<&str>,
        image_ids: Option<Vec<String>>,
    ) -> Result<(AlbumTitle, Vec<String>), Invalid> {
        let title = title.ok_or_else(|| Invalid::new("title", "is missing"))?;
        let title = AlbumTitle::parse(title)?;
        Ok((title, distinct_image_ids(image_ids.unwrap_or_default())?))
    }
}

/// Checks the image ids of one request and removes repetitions. The order is kept.
///
/// # Errors
/// [`Invalid`] naming `imageIds` for more than [`MAX_IMAGE_IDS_PER_CALL`] ids, repetitions included.
pub fn distinct_image_ids(image_ids: Vec<String>) -> Result<Vec<String>, Invalid> {
    if image_ids.len() > MAX_IMAGE_IDS_PER_CALL {
        return Err(Invalid::new("imageIds", "must have at most 100 ids in one call"));
    }
    Ok(distinct(image_ids))
}

/// Removes repetitions. Quadratic, which is fastest for at most a hundred ids.
fn distinct(ids: Vec<String>) -> Vec<String> {
    ids.into_iter().fold(Vec::new(), |mut kept, id| {
        if !kept.contains(&id) {
            kept.push(id);
        }
        kept
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(range: std::ops::Range<u32>) -> Option<Vec<String>> {
        Some(range.map(|id| id.to_string()).collect())
    }

    #[test]
    fn title_length_is_counted_in_characters_after_trimming() {
        assert_eq!(AlbumTitle::parse("  Été \n").unwrap().as_str(), "Été");
        assert!(AlbumTitle::parse(&"🏔".repeat(100)).is_ok());
        for bad in ["", " \t ", &"x".repeat(101), "a\0b"] {
            assert_eq!(AlbumTitle::parse(bad).unwrap_err().field, "title", "{bad:?}");
        }
    }

    #[test]
    fn an_invalid_change_names_the_field() {
        let field = |title, add, remove| AlbumChange::new(title, add, remove).unwrap_err().field;
        assert_eq!(field(None, None, None), "title");
        assert_eq!(field(None, ids(0..101), None), "addImageIds");
        assert_eq!(field(None, ids(0..50), ids(100..151)), "removeImageIds");
        assert_eq!(field(None, ids(0..2), ids(1..3)), "addImageIds");
        assert!(AlbumChange::new(None, ids(0..50), ids(50..100)).is_ok());
        assert!(AlbumChange::new(None, Some(vec![]), None).is_ok());
    }

    #[test]
    fn repeated_ids_count_towards_the_limit_and_are_removed() {
        let repeated = Some(vec!["a".to_owned(); 100]);
        assert_eq!(AlbumChange::new(None, repeated, None).unwrap().add, ["a"]);
        let repeated = Some(vec!["a".to_owned(); 101]);
        assert_eq!(AlbumChange::creation(Some("t"), repeated).unwrap_err().field, "imageIds");
    }
}
