//! Names of exported files.

use crate::names::{self, ArchiveKind, composed};

/// Maximum length of a name in bytes. File systems allow 255, and a sidecar or a temporary file has a longer name.
const MAX_BYTES: usize = 200;
/// The longest ending that is kept as an extension.
const MAX_EXTENSION_CHARS: usize = 5;
/// Names that Windows gives to devices, with any extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// A name that every file system accepts and an import reads as a photo, as similar to the given one as possible.
/// `extension` is that of the photo's format, without a dot; it is added if the name has none or a misleading one. `suffix`
/// is put before the extension, to tell photos of the same name apart.
///
/// ```
/// assert_eq!(exports::safe_file_name("a/b: c?.jpg", "", "jpg"), "a_b_ c_.jpg");
/// assert_eq!(exports::safe_file_name("notes.txt.xmp", "-1", "png"), "notes.txt.xmp-1.png");
/// ```
pub fn safe_file_name(name: &str, suffix: &str, extension: &str) -> String {
    let cleaned: String = composed(&names::printable(name)).chars().map(safe_char).collect();
    let cleaned = cleaned.trim_matches(|c: char| c == '.' || c.is_whitespace());
    let (stem, own) = match cleaned.rsplit_once('.') {
        Some((stem, own)) if is_photo_extension(own) && !stem.is_empty() => (stem, own),
        _ => (cleaned, extension),
    };
    let stem = stem.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    let room = MAX_BYTES.saturating_sub(suffix.len() + own.len() + 1);
    let stem = stem.get(..stem.floor_char_boundary(room)).unwrap_or_default();
    let stem = if stem.is_empty() { "photo" } else { stem };
    let device = stem.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let mark = if DEVICES.contains(&device.as_str()) { "_" } else { "" };
    format!("{mark}{stem}{suffix}.{own}")
}

/// Replaces invisible characters, and characters that have a meaning to Windows or to a shell.
fn safe_char(c: char) -> char {
    match c {
        '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*' | char::REPLACEMENT_CHARACTER => '_',
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => '_',
        c => c,
    }
}

/// Whether a file with this extension is imported as a photo, if its content is one.
fn is_photo_extension(extension: &str) -> bool {
    let other = ["json", "xmp", "csv", "aae", "html", "ini", "db", "partial"];
    (1..=MAX_EXTENSION_CHARS).contains(&extension.chars().count())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !other.iter().any(|other| extension.eq_ignore_ascii_case(other))
        && ArchiveKind::of(&format!("x.{extension}")).is_none()
        && !extension.eq_ignore_ascii_case("gz")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn safe_file_names_stay_similar() {
        let check =
            |name: &str, expect: &str| assert_eq!(safe_file_name(name, "", "jpg"), expect, "{name:?}");
        check("IMG_1.JPG", "IMG_1.JPG");
        check("Zürich (2).heic", "Zürich (2).heic");
        check("no extension", "no extension.jpg");
        check("v1.2 final", "v1.2 final.jpg");
        check("", "photo.jpg");
        check("..", "photo.jpg");
        check(".hidden.png", "hidden.png");
        check("../../etc/passwd", "_.._etc_passwd.jpg");
        check("con.jpg", "_con.jpg");
        check("Com1.tar.png", "_Com1.tar.png");
        check("CON", "_CON.jpg");
        check("x.zip", "x.zip.jpg");
        check("x.json", "x.json.jpg");
        check("x. .jpg", "x.jpg");
        check("a\u{202e}gpj.exe\n", "a_gpj.exe_.jpg");
        check("e\u{301}.jpg", "é.jpg");
    }

    proptest! {
        #[test]
        fn all_names_are_safe(name in "\\PC{0,300}|.{0,20}|[a-z. /:]{0,20}", suffix in "(-[0-9a-f]{8})?") {
            let safe = safe_file_name(&name, &suffix, "jpg");
            prop_assert!(safe.len() <= MAX_BYTES + 1);
            prop_assert!(!safe.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']));
            prop_assert!(!safe.chars().any(char::is_control));
            prop_assert!(!safe.starts_with('.') && !safe.ends_with(['.', ' ']));
            prop_assert!(media::sidecar_kind(&safe).is_none());
            prop_assert!(!names::is_junk(&safe), "{}", safe);
            prop_assert!(ArchiveKind::of(&safe).is_none());
            prop_assert_eq!(composed(&safe), safe.as_str());
            let stem_end = safe.rfind('.').unwrap();
            prop_assert!(safe[..stem_end].ends_with(&suffix));
        }
    }
}
