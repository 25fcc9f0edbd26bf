//! The styles of the library's pages, put together from their sources.

const STYLES: [&str; 5] = [
    include_str!("../layout/style.css"),
    include_str!("../gallery/gallery.css"),
    include_str!("../gallery/timeline.css"),
    include_str!("../albums/albums.css"),
    include_str!("../photo/photo.css"),
];

const VIEWER_STYLES: [&str; 2] = [include_str!("../photo/stage.css"), include_str!("../map/map.css")];

pub(crate) fn style() -> String {
    joined(&STYLES)
}

pub(crate) fn viewer_style() -> String {
    joined(&VIEWER_STYLES)
}

pub(crate) fn edit_style() -> String {
    joined(&[include_str!("../photo/edit.css")])
}

pub(crate) fn suggest_style() -> String {
    joined(&[include_str!("../search/suggest.css")])
}

pub(crate) fn upload_style() -> String {
    joined(&[include_str!("../upload/upload.css")])
}

/// The lines of the sources without comments that begin a line and without indentation.
fn joined(styles: &[&str]) -> String {
    styles.iter().copied().flat_map(code).map(|line| format!("{line}\n")).collect()
}

fn code(source: &str) -> impl Iterator<Item = &str> {
    let mut is_comment = false;
    source.lines().map(str::trim).filter(move |line| {
        let is_code = !is_comment && !line.starts_with("/*") && !line.starts_with("//") && !line.is_empty();
        is_comment = (is_comment || line.starts_with("/*")) && !line.ends_with("*/");
        is_code
    })
}
