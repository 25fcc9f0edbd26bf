//! Marks that one click sets on a photo or on selected photos.

use domain::{Correction, MarksEdit, PhotoEdit};

/// A change of a mark that is set or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Favorite,
    NotFavorite,
    Archive,
    Unarchive,
}

impl Mark {
    pub(crate) const ALL: [Self; 4] = [Self::Favorite, Self::NotFavorite, Self::Archive, Self::Unarchive];

    /// The change that adds a photo to the favourites, or removes it from them.
    pub(crate) const fn favorite(is_favorite: bool) -> Self {
        if is_favorite { Self::Favorite } else { Self::NotFavorite }
    }

    /// The change that moves a photo to the archive, or out of it.
    pub(crate) const fn archived(is_archived: bool) -> Self {
        if is_archived { Self::Archive } else { Self::Unarchive }
    }

    /// The name in forms and requests.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Favorite => "favorite",
            Self::NotFavorite => "unfavorite",
            Self::Archive => "archive",
            Self::Unarchive => "unarchive",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.name() == name)
    }

    /// The text of its button.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Favorite => "Favourite",
            Self::NotFavorite => "Not a favourite",
            Self::Archive => "Archive",
            Self::Unarchive => "Unarchive",
        }
    }

    /// What was done, such as `2 photos` `moved to the archive`.
    pub(crate) const fn outcome(self) -> &'static str {
        match self {
            Self::Favorite => "added to your favourites",
            Self::NotFavorite => "removed from your favourites",
            Self::Archive => "moved to the archive",
            Self::Unarchive => "moved out of the archive",
        }
    }

    pub(crate) fn edit(self) -> PhotoEdit {
        let mut marks = MarksEdit::default();
        match self {
            Self::Favorite => marks.favorite = Correction::Set(true),
            Self::NotFavorite => marks.favorite = Correction::Set(false),
            Self::Archive => marks.archived = Correction::Set(true),
            Self::Unarchive => marks.archived = Correction::Set(false),
        }
        PhotoEdit { marks, ..PhotoEdit::default() }
    }
}
