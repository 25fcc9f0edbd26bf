use std::fmt;

/// Maximum length of an image or album id.
pub const MAX_ID_LENGTH: usize = 128;

fn is_well_formed(id: &str) -> bool {
    (1..=MAX_ID_LENGTH).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

macro_rules! public_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Parses an id of 1 to 128 characters from `A-Z a-z 0-9 _ -`; `None` for anything else, which
            /// callers treat as an unknown id.
            pub fn parse(id: impl Into<String>) -> Option<Self> {
                let id = id.into();
                is_well_formed(&id).then_some(Self(id))
            }

            /// The id in URLs and responses.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

public_id!(
    /// The public id of an image. It reveals nothing about the account, the content or the time.
    ImageId
);
public_id!(
    /// The public id of an album.
    AlbumId
);
public_id!(
    /// The id of a correction of one or many images. A repeated request with the same id changes nothing. Undo refers
    /// to the correction by this id.
    EditId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_documented_characters_and_lengths() {
        for good in ["a", "A-z_0", &"x".repeat(128)] {
            assert!(ImageId::parse(good).is_some(), "{good}");
        }
        for bad in ["", "a b", "ä", "a/b", "a.b", "a\0", &"x".repeat(129)] {
            assert!(ImageId::parse(bad).is_none(), "{bad}");
        }
    }
}
