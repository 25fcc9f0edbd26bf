/// The formats that this crate decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JPEG, ITU T.81; also the first picture of an MPO file.
    Jpeg,
    /// PNG; of an animated one, the default picture.
    Png,
    /// WebP, lossy or lossless; of an animated one, the first frame.
    WebP,
    /// GIF; the first frame.
    Gif,
    /// TIFF; its first picture.
    Tiff,
    /// HEIF with HEVC pictures (HEIC); its primary picture, also of a live photo.
    Heif,
    /// AVIF; its primary picture.
    Avif,
    /// A camera's RAW file: its embedded preview.
    Raw,
}

impl Format {
    /// Tells the format by the file's first bytes; 64 of them suffice. Many cameras' RAW files begin like any TIFF,
    /// and are taken for one here; [`probe`](crate::probe()) looks deeper.
    ///
    /// ```
    /// assert_eq!(media::Format::sniff(b"GIF89a\x01\x00\x01\x00"), Some(media::Format::Gif));
    /// assert_eq!(media::Format::sniff(b"%PDF-1.7"), None);
    /// ```
    pub fn sniff(head: &[u8]) -> Option<Self> {
        match head {
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            head if is_raw(head) => Some(Self::Raw),
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Some(Self::Tiff),
            _ => None,
        }
    }

    /// The media type, for example `image/jpeg`.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::WebP => "image/webp",
            Self::Gif => "image/gif",
            Self::Tiff => "image/tiff",
            Self::Heif => "image/heic",
            Self::Avif => "image/avif",
            Self::Raw => "image/x-raw",
        }
    }
}

/// Whether a file begins as only RAW files do.
fn is_raw(head: &[u8]) -> bool {
    match head {
        // Canon's CR2 and Phase One's IIQ are TIFF with a mark behind its header; CR3 is made of boxes as MP4 is.
        [b'I', b'I', 42, 0, _, _, _, _, b'C', b'R', ..]
        | [b'I', b'I', 42, 0, _, _, _, _, b'I', b'I', b'I', b'I', ..]
        | [b'M', b'M', 0, 42, _, _, _, _, b'M', b'M', b'M', b'M', ..]
        | [_, _, _, _, b'f', b't', b'y', b'p', b'c', b'r', b'x', b' ', ..]
        // Panasonic, Olympus.
        | [b'I', b'I', b'U', 0, ..]
        | [b'I', b'I', b'R', b'O' | b'S', ..]
        | [b'M', b'M', b'O', b'R', ..] => true,
        // Fujifilm, Canon's CRW, Minolta, Sigma.
        head => [&b"FUJIFILMCCD-RAW "[..], b"II\x1A\0\0\0HEAPCCDR", b"\0MRM", b"FOVb"]
            .iter()
            .any(|signature| head.starts_with(signature)),
    }
}

/// Whether a file of that name is what an operating system leaves in folders (`.DS_Store`, `._*`, `Thumbs.db`,
/// `desktop.ini`): accepted and dropped, never an error.
///
/// ```
/// assert!(media::is_junk_file_name("Holidays/THUMBS.DB"));
/// assert!(!media::is_junk_file_name("thumbs.jpg"));
/// ```
pub fn is_junk_file_name(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name == ".DS_Store"
        || name.starts_with("._")
        || name.eq_ignore_ascii_case("Thumbs.db")
        || name.eq_ignore_ascii_case("desktop.ini")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        let check = |head: &[u8], expect| assert_eq!(Format::sniff(head), expect, "{head:?}");
        check(b"\xFF\xD8\xFF\xE0", Some(Format::Jpeg));
        check(b"\x89PNG\r\n\x1A\n....", Some(Format::Png));
        check(b"RIFF\0\0\0\0WEBPVP8 ", Some(Format::WebP));
        check(b"GIF87a", Some(Format::Gif));
        check(b"II*\0\x08\0\0\0\x02\0\0\x01", Some(Format::Tiff));
        check(b"MM\0+\0\x08\0\0", Some(Format::Tiff));
        check(b"II*\0\x10\0\0\0CR\x02\0", Some(Format::Raw));
        check(b"II*\0\x24\0\0\0IIIITwaR", Some(Format::Raw));
        check(b"\0\0\0\x18ftypcrx \0\0\0\x01", Some(Format::Raw));
        check(b"FUJIFILMCCD-RAW 0201", Some(Format::Raw));
        for signature in
            [&b"IIU\0\x18\0\0\0"[..], b"IIRO\x08\0\0\0", b"IIRS\x08\0\0\0", b"MMOR\0\0\0\x08", b"\0MRM"]
        {
            check(signature, Some(Format::Raw));
        }
        for other in [&b""[..], b"\xFF\xD8", b"RIFF\0\0\0\0WAVE", b"GIF88a", b"\x89PNG\n\n", b"BM"] {
            check(other, None);
        }
    }

    #[test]
    fn junk_is_told_by_name() {
        for junk in [".DS_Store", "a/b/.DS_Store", "._IMG_1.jpg", "thumbs.db", "a\\Desktop.INI"] {
            assert!(is_junk_file_name(junk), "{junk}");
        }
        for kept in ["IMG_1.jpg", ".ds_store.jpg", "x._", "Thumbs.db.jpg", "_.jpg", "", "._dir/IMG_1.jpg"] {
            assert!(!is_junk_file_name(kept), "{kept}");
        }
    }
}
