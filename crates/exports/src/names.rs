//! Names of archives, folders and files.

use std::path::Path;

pub(crate) use domain::composed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveKind {
    Zip,
    Tar,
    TarGz,
}

const EXTENSIONS: [(&str, ArchiveKind); 4] = [
    (".zip", ArchiveKind::Zip),
    (".tar", ArchiveKind::Tar),
    (".tar.gz", ArchiveKind::TarGz),
    (".tgz", ArchiveKind::TarGz),
];

impl ArchiveKind {
    /// The kind of an archive with that file name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        split_archive_name(name).map(|(_, kind)| kind)
    }
}

/// Whether a file with this name is read as an archive.
pub fn is_archive_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| ArchiveKind::of(&name.to_string_lossy()).is_some())
}

fn split_archive_name(name: &str) -> Option<(&str, ArchiveKind)> {
    EXTENSIONS.iter().find_map(|(extension, kind)| {
        let (stem, end) = name.split_at_checked(name.len().checked_sub(extension.len())?)?;
        (end.eq_ignore_ascii_case(extension) && !stem.is_empty()).then_some((stem, *kind))
    })
}

/// The name that the parts of an export share: the archive's name without the number of the part
/// (`takeout-20240101T000000Z-001.zip`, `iCloud Photos Part 1 of 3.zip`).
pub(crate) fn export_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let mut stem = split_archive_name(&name).map_or(name.as_str(), |(stem, _)| stem);
    while let Some(cut) = without_number(stem) {
        stem = cut;
    }
    path.with_file_name(stem).to_string_lossy().into_owned()
}

/// The name without the number of a part at its end. Longer numbers are dates.
fn without_number(stem: &str) -> Option<&str> {
    const MAX_DIGITS: usize = 3;
    let separators = |text: &'_ str| text.trim_end_matches([' ', '-', '_', '.', '(', ')']).len();
    let number_end = separators(stem);
    let before = stem.get(..number_end)?.trim_end_matches(|c: char| c.is_ascii_digit());
    let cut = before.get(..separators(before))?;
    let cut = cut.strip_suffix(" of").or_else(|| cut.strip_suffix(" part")).unwrap_or(cut);
    let is_number = (1..=MAX_DIGITS).contains(&(number_end - before.len()));
    (is_number && !cut.is_empty()).then_some(cut)
}

/// The parts of an entry's path. The names of hostile archives may be absolute, contain `..` or be empty.
pub(crate) fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect()
}

/// A name of an archive's entry without characters that would change the terminal or the order of the text.
pub(crate) fn printable(name: &str) -> String {
    let is_unsafe = |c: char| {
        c.is_control()
            || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    name.chars().map(|c| if is_unsafe(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether a folder holds copies that operating systems and file servers make for themselves.
pub(crate) fn is_junk_folder(name: &str) -> bool {
    ["__MACOSX", "@eaDir"].contains(&name)
}

/// Whether a file is of no use in an import: junk of file managers, Apple's lists of edits, and the page that Google adds.
pub(crate) fn is_junk(name: &str) -> bool {
    media::is_junk_file_name(name) || has_extension(name, "aae") || name == "archive_browser.html"
}

/// The folder of an Apple export that holds deleted photos.
pub(crate) fn is_trash_folder(name: &str) -> bool {
    name == "Recently Deleted"
}

pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}

/// The names of Takeout's folders for the photos of a year, without the year, in the languages of Google Photos.
const YEAR_FOLDERS: [&str; 21] = [
    "photos from",
    "fotos von",
    "photos de",
    "fotos de",
    "fotos del",
    "fotos desde",
    "foto del",
    "foto dal",
    "foto da",
    "foto's uit",
    "foton från",
    "bilder från",
    "bilder fra",
    "billeder fra",
    "zdjęcia z",
    "fotky z",
    "fotografie z",
    "фото за",
    "фотографии за",
    "fotoğraflar",
    "valokuvat",
];

/// The year in the name of a folder (`Photos from 2019`, `2019年の写真`).
pub(crate) fn year(folder: &str) -> Option<i16> {
    let numbers = folder.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let [year] = numbers.collect::<Vec<_>>().try_into().ok()?;
    let is_year = year.len() == 4;
    year.parse().ok().filter(|year| is_year && (1826..=2100).contains(year))
}

/// The title without its year, which the folders for the years of one export have in common.
pub(crate) fn without_year(title: &str) -> String {
    composed(title).chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether an album's title is that of a folder for the photos of a year, in a known language.
pub(crate) fn is_year_title(title: &str) -> bool {
    let composed = composed(title).to_lowercase();
    let words = composed.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    year(title).is_some() && YEAR_FOLDERS.contains(&words)
}

/// The name of the original, if this may be the name of an edited photo: `x-word.jpg`, `x(1)-word.jpg`, `x-word(1).jpg`.
/// The word is in the language of the owner.
pub(crate) fn unedited(name: &str) -> Option<String> {
    const MIN_WORD_CHARS: usize = 2;
    let (stem, extension) = name.rfind('.').and_then(|at| name.split_at_checked(at)).unwrap_or((name, ""));
    let before_number = stem.strip_suffix(')').and_then(|stem| stem.rsplit_once('('));
    let before_number = before_number.filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let end = before_number.map_or(stem.len(), |(before, _)| before.len());
    let (stem, number) = stem.split_at_checked(end)?;
    let (original, word) = stem.rsplit_once('-')?;
    let is_of_word = |c: char| c == ' ' || !(c.is_ascii_punctuation() || c.is_numeric() || c.is_control());
    let is_word = word.chars().count() >= MIN_WORD_CHARS && word.chars().all(is_of_word);
    (is_word && !original.is_empty()).then(|| format!("{original}{number}{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_recognised_by_name() {
        let check = |name: &str, expect| assert_eq!(ArchiveKind::of(name), expect, "{name}");
        check("takeout-001.zip", Some(ArchiveKind::Zip));
        check("x.TAR.GZ", Some(ArchiveKind::TarGz));
        check("x.tgz", Some(ArchiveKind::TarGz));
        check("x.tar", Some(ArchiveKind::Tar));
        for other in ["zip", ".zip", "x.gz", "x.zip.part", "x.jpg", "ü"] {
            check(other, None);
        }
    }

    #[test]
    fn parts_of_an_export_share_a_name() {
        let same = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| export_name(Path::new(name))).collect();
            assert!(names.windows(2).all(|pair| pair[0] == pair[1]), "{names:?}");
        };
        same(&["a/takeout-20240101T000000Z-001.zip", "a/takeout-20240101T000000Z-002.zip"]);
        same(&["takeout-20240101T000000Z-1-001.tgz", "takeout-20240101T000000Z-3-010.tgz"]);
        same(&["iCloud Photos Part 1 of 3.zip", "iCloud Photos Part 3 of 3.zip"]);
        same(&["x.zip", "x (1).zip"]);
        let (one, other) = ("takeout-20240101T000000Z-001.zip", "takeout-20240102T000000Z-001.zip");
        assert_ne!(export_name(Path::new(one)), export_name(Path::new(other)));
        assert_ne!(export_name(Path::new("x-2019-1.zip")), export_name(Path::new("x-2020-1.zip")));
        assert_eq!(export_name(Path::new("001.zip")), "001");
    }

    #[test]
    fn names_of_entries_are_harmless() {
        assert_eq!(parts("/a//./b\\..\\c.jpg"), ["a", "b", "..", "c.jpg"]);
        assert_eq!(printable("a\u{1b}[31m\0\u{202e}gpj.exe"), "a\u{fffd}[31m\u{fffd}\u{fffd}gpj.exe");
    }

    #[test]
    fn years_are_read_from_folder_names() {
        let check = |name: &str, expect| assert_eq!(year(name), expect, "{name}");
        check("Photos from 2019", Some(2019));
        check("2019年の写真", Some(2019));
        check("2019", Some(2019));
        for other in ["Photos from 20199", "1-2 May 2019", "Trip", "Route 0066"] {
            check(other, None);
        }
        assert!(is_year_title("Photos from 2019") && is_year_title("Fotos von 2019"));
        assert!(!is_year_title("Italy 2019") && !is_year_title("Photos from Rome"));
        assert_eq!(without_year("2019年の写真"), without_year("2020年の写真"));
    }

    #[test]
    fn a_word_at_the_end_of_a_name_may_mark_an_edited_photo() {
        let check =
            |name: &str, expect: Option<&str>| assert_eq!(unedited(name).as_deref(), expect, "{name}");
        check("IMG_1-szerkesztett.jpg", Some("IMG_1.jpg"));
        check("IMG_1-ha editado.jpg", Some("IMG_1.jpg"));
        check("IMG_1-แก้ไขแล้ว(2).jpg", Some("IMG_1(2).jpg"));
        check("IMG_1(2)-편집됨.jpg", Some("IMG_1(2).jpg"));
        check("a-b-επεξεργασία", Some("a-b"));
        for other in
            ["IMG_1.jpg", "IMG-1.jpg", "IMG-20190704-WA0001.jpg", "IMG_1-A.jpg", "-edit.jpg", "x-(1).jpg"]
        {
            check(other, None);
        }
    }
}
