//! The icons of the pages: strokes on a grid of 24 by 24.

use maud::{Markup, html};

/// An icon. It is part of the page, because most pages load nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Icon {
    Albums,
    Archive,
    Back,
    Chat,
    Cover,
    Done,
    Edit,
    Folder,
    Heart,
    Info,
    Later,
    Map,
    Person,
    Phone,
    Photos,
    Problem,
    Search,
    SignOut,
    ToEnd,
    ToStart,
    Trash,
    Upload,
}

impl Icon {
    const fn strokes(self) -> &'static str {
        match self {
            Self::Albums => "M4 9.5h16V20H4zM6 6.5h12M8 3.5h8",
            Self::Archive => "M3.5 5h17v4h-17zM5.5 9v10.5h13V9M10 13h4",
            Self::Back => "M20 12H4.5M11 5.5 4.5 12l6.5 6.5",
            Self::Chat => "M3.5 5h17v12H12l-4.5 3.5V17h-4zM8 9.5h8M8 12.5h5",
            Self::Cover => {
                "M3.5 4.5h17v15h-17zM12 7.5l1.4 2.9 3.1.4-2.3 2.2.6 3.1-2.8-1.5-2.8 1.5.6-3.1-2.3-2.2 3.1-.4z"
            }
            Self::Done => "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM8.5 12l2.5 2.5 4.5-5",
            Self::Edit => "M4.5 19.5l.9-4.1L16 4.8l3.2 3.2L8.6 18.6zM13.7 7.1l3.2 3.2",
            Self::Folder => "M3.5 5.5h6l2 2.5h9v11h-17z",
            Self::Heart => {
                "M12 20C7 16.4 4 13.4 4 9.8A4.3 4.3 0 0 1 12 7.4a4.3 4.3 0 0 1 8 2.4c0 3.6-3 6.6-8 10.2z"
            }
            Self::Info => "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5.5M12 7.7v.01",
            Self::Later => "M4 12h15.5M13 5.5l6.5 6.5-6.5 6.5",
            Self::Map => {
                "M12 21c4-4.3 6.5-7.6 6.5-11a6.5 6.5 0 0 0-13 0c0 3.4 2.5 6.7 6.5 11zM12 12.3a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6z"
            }
            Self::Person => {
                "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c.8-3.7 3.8-5.5 7.5-5.5s6.7 1.8 7.5 5.5"
            }
            Self::Phone => "M7 3h10v18H7zM11 18h2",
            Self::Photos => "M3.5 4.5h17v15h-17zM3.5 17l5-5 3.5 3.5L15.5 11l5 5M9 8.5v.01",
            Self::Problem => "M12 4 21 19.5H3zM12 10v4.5M12 17v.01",
            Self::Search => "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.3 15.3l5.2 5.2",
            Self::SignOut => "M14 4.5H5.5v15H14M10.5 12h10M16.5 8l4 4-4 4",
            Self::ToEnd => "M19.5 5v14M4 12h11.5M10 6.5l5.5 5.5-5.5 5.5",
            Self::ToStart => "M4.5 5v14M20 12H8.5M14 6.5 8.5 12l5.5 5.5",
            Self::Trash => "M4.5 7h15M9.5 7V4h5v3M6.5 7l1 13h9l1-13M10.3 11v5M13.7 11v5",
            Self::Upload => "M12 16V4.5M7 9.5l5-5 5 5M4.5 15.5v5h15v-5",
        }
    }

    /// The icon. The text beside it says what it means.
    pub(crate) fn markup(self) -> Markup {
        html! { svg.icon viewBox="0 0 24 24" aria-hidden="true" { path d=(self.strokes()) {} } }
    }
}
