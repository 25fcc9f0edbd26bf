domain::listed_enum! {
    /// The formats that can be decoded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Format {
        /// JPEG, ITU T.81; also the first picture of an MPO file.
        Jpeg,
        /// PNG; the default picture of an animation.
        Png,
        /// WebP, lossy or lossless; the first frame of an animation.
        WebP,
        /// GIF; the first frame.
        Gif,
        /// TIFF; its first picture.
        Tiff,
        /// HEIF with HEVC pictures (HEIC); its primary picture, also of a live photo.
        Heif,
        /// AVIF; its primary picture.
        Avif,
        /// A camera's RAW file; its embedded preview.
        Raw,
    }
}

/// What is known about a format, besides its signature and its decoder.
struct Facts {
    name: &'static str,
    media_type: &'static str,
    extensions: &'static [&'static str],
}

impl Format {
    /// Detects the format from the first bytes; 64 are enough. Many RAW files start like any TIFF and are reported as TIFF here;
    /// [`probe`](crate::probe()) looks deeper.
    ///
    /// ```
    /// assert_eq!(media::Format::sniff(b"GIF89a\x01\x00\x01\x00"), Some(media::Format::Gif));
    /// assert_eq!(media::Format::sniff(b"%PDF-1.7"), None);
    /// ```
    pub fn sniff(head: &[u8]) -> Option<Self> {
        match head {
            head if is_jpeg(head) => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            head if is_raw(head) => Some(Self::Raw),
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Some(Self::Tiff),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => match BrandKind::of(head)? {
                BrandKind::Heif => Some(Self::Heif),
                BrandKind::Avif => Some(Self::Avif),
                BrandKind::Movie => None,
            },
            _ => None,
        }
    }

    const fn facts(self) -> Facts {
        const fn facts(
            name: &'static str,
            media_type: &'static str,
            extensions: &'static [&'static str],
        ) -> Facts {
            Facts { name, media_type, extensions }
        }
        match self {
            Self::Jpeg => facts("JPEG", "image/jpeg", &["jpg", "jpeg"]),
            Self::Png => facts("PNG", "image/png", &["png"]),
            Self::WebP => facts("WebP", "image/webp", &["webp"]),
            Self::Gif => facts("GIF", "image/gif", &["gif"]),
            Self::Tiff => facts("TIFF", "image/tiff", &["tif", "tiff"]),
            Self::Heif => facts("HEIC", "image/heic", &["heic", "heif"]),
            Self::Avif => facts("AVIF", "image/avif", &["avif"]),
            Self::Raw => facts(
                "RAW",
                "image/x-raw",
                &["raw", "arw", "cr2", "cr3", "dng", "nef", "orf", "pef", "raf", "rw2", "srw"],
            ),
        }
    }

    /// The name in messages and documents.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The names of all formats, for a sentence.
    pub(crate) fn names() -> String {
        let names = Self::ALL.map(Self::name);
        match names.split_last() {
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// The media type, for example `image/jpeg`.
    pub const fn media_type(self) -> &'static str {
        self.facts().media_type
    }

    /// The extensions of its files in lower case, the one for new files first.
    pub const fn extensions(self) -> &'static [&'static str] {
        self.facts().extensions
    }

    pub fn from_media_type(media_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.media_type() == media_type)
    }

    /// The format that a file with this extension should have. The content of a file may be of another one.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let has =
            |format: &Self| format.extensions().iter().any(|known| extension.eq_ignore_ascii_case(known));
        Self::ALL.into_iter().find(has)
    }
}

/// Maximum number of stray bytes before the start-of-image marker of a JPEG, and after it.
const MAX_STRAY_BYTES: usize = 16;

/// A JPEG from its start of image on. Some web servers and programs write a blank line before it.
pub(crate) fn jpeg_start(bytes: &[u8]) -> &[u8] {
    let start = bytes.trim_ascii_start();
    if bytes.len() - start.len() <= MAX_STRAY_BYTES { start } else { bytes }
}

/// Whether a file has a start-of-image marker, and then another marker, perhaps after a few stray bytes.
fn is_jpeg(head: &[u8]) -> bool {
    let Some(rest) = jpeg_start(head).strip_prefix(&[0xFF, 0xD8]) else { return false };
    let near = rest.get(..MAX_STRAY_BYTES).unwrap_or(rest);
    rest.starts_with(&[0xFF]) || near.windows(2).any(|pair| matches!(pair, [0xFF, 0xC0..=0xFE]))
}

/// Whether a file is a video, judged by its first bytes; 64 are enough. A picture is not a video, even if its container is also
/// used for videos.
///
/// ```
/// assert!(media::is_movie(b"\0\0\0\x14ftypqt  \0\0\0\0qt  "));
/// assert!(!media::is_movie(b"\0\0\0\x14ftypheic\0\0\0\0mif1"));
/// ```
pub fn is_movie(head: &[u8]) -> bool {
    match head {
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => BrandKind::of(head) == Some(BrandKind::Movie),
        // QuickTime files without a brand.
        [_, _, _, _, name @ ..] if starts_with_any(name, &[b"moov", b"mdat", b"wide", b"pnot"]) => true,
        [b'R', b'I', b'F', b'F', _, _, _, _, name @ ..] => name.starts_with(b"AVI "),
        _ => starts_with_any(head, &[MATROSKA, WINDOWS_MEDIA, FLASH, MPEG_PROGRAM, MPEG_VIDEO]),
    }
}

/// EBML, the container of Matroska and WebM.
const MATROSKA: &[u8] = &[0x1A, 0x45, 0xDF, 0xA3];
const WINDOWS_MEDIA: &[u8] = &[0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11];
const FLASH: &[u8] = b"FLV\x01";
const MPEG_PROGRAM: &[u8] = &[0, 0, 1, 0xBA];
const MPEG_VIDEO: &[u8] = &[0, 0, 1, 0xB3];

fn starts_with_any(bytes: &[u8], prefixes: &[&[u8]]) -> bool {
    prefixes.iter().any(|prefix| bytes.starts_with(prefix))
}

/// The brands in the `ftyp` box at the start of a file (ISO/IEC 14496-12, section 4.3): the major brand, then the
/// compatible ones. Stops where the bytes end.
fn brands(head: &[u8]) -> impl Iterator<Item = &[u8; 4]> {
    /// More than any real file has. The box could declare millions.
    const MAX_BRANDS: usize = 64;
    let announced = head.first_chunk().copied().map(u32::from_be_bytes);
    let end = announced.and_then(|size| usize::try_from(size).ok()).unwrap_or_default().min(head.len());
    let (words, _) = head.get(8..end).unwrap_or_default().as_chunks::<4>();
    // The second word is the version of the major brand.
    words.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, brand)| brand).take(MAX_BRANDS)
}

/// The kind of file that its brands indicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BrandKind {
    Heif,
    Avif,
    Movie,
}

impl BrandKind {
    /// The first known brand decides: a video may also declare brands of pictures, and a picture those of videos.
    fn of(head: &[u8]) -> Option<Self> {
        // Canon's RAW files also declare video brands, but are neither pictures nor videos here.
        if brands(head).next() == Some(b"crx ") {
            return None;
        }
        let mut structure = None;
        for brand in brands(head) {
            match brand {
                b"avif" | b"avis" => return Some(Self::Avif),
                b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"hevm" | b"hevs" | b"heif" => {
                    return Some(Self::Heif);
                }
                // Declares pictures but not their codec, which a later brand may name.
                b"mif1" | b"msf1" | b"miaf" => structure = Some(Self::Heif),
                brand if structure.is_none() && is_movie_brand(brand) => return Some(Self::Movie),
                _ => {}
            }
        }
        structure
    }
}

/// Brands of MP4, QuickTime, 3GPP and related formats.
fn is_movie_brand(brand: &[u8; 4]) -> bool {
    const PREFIXES: [&[u8]; 13] = [
        b"iso", b"mp4", b"mp7", b"avc", b"qt  ", b"M4", b"f4", b"3g", b"mmp4", b"MSNV", b"XAVC", b"dash",
        b"cmf",
    ];
    starts_with_any(brand, &PREFIXES)
}

/// Whether the first bytes occur only in RAW files.
fn is_raw(head: &[u8]) -> bool {
    match head {
        // Canon's CR2 and Phase One's IIQ are TIFF with a mark after the header; CR3 consists of boxes like MP4.
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

/// Whether an operating system creates files of that name in folders (`.DS_Store`, `._*`, `Thumbs.db`, `desktop.ini`). Such files
/// are skipped without an error.
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
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn message_about_an_unknown_format_has_all_formats() {
        assert_eq!(
            crate::MediaError::UnknownFormat.to_string(),
            "this is not a JPEG, PNG, WebP, GIF, TIFF, HEIC, AVIF or RAW picture"
        );
    }

    #[test]
    fn formats_are_detected_by_content() {
        let mut found = HashSet::new();
        let mut check = |head: &[u8], expect| {
            assert_eq!(Format::sniff(head), expect, "{head:?}");
            found.extend(expect);
        };
        check(b"\xFF\xD8\xFF\xE0", Some(Format::Jpeg));
        for blank in ["\n", "\r\n", " \t\n\r\n"] {
            check(&[blank.as_bytes(), b"\xFF\xD8\xFF\xE0"].concat(), Some(Format::Jpeg));
        }
        check(b"\xFF\xD8\0\0\0\xFF\xE0", Some(Format::Jpeg));
        check(b"\xFF\xD8\xFF\xD8\xFF\xE0", Some(Format::Jpeg));
        check(&[&b" ".repeat(17)[..], b"\xFF\xD8\xFF\xE0"].concat(), None);
        check(b"\xFF\xD8\0\0\0\xFF", None);
        check(b"\n\n\x89PNG\r\n\x1A\n....", None);
        check(b"\x89PNG\r\n\x1A\n....", Some(Format::Png));
        check(b"RIFF\0\0\0\0WEBPVP8 ", Some(Format::WebP));
        check(b"GIF87a", Some(Format::Gif));
        check(b"\0\0\0\x14ftypheic\0\0\0\0mif1", Some(Format::Heif));
        check(b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", Some(Format::Heif));
        check(b"\0\0\0\x18ftypmsf1\0\0\0\0isomhevc", Some(Format::Heif));
        check(b"\0\0\0\x14ftypavif\0\0\0\0mif1", Some(Format::Avif));
        check(b"\0\0\0\x18ftypmif1\0\0\0\0miafavif", Some(Format::Avif));
        check(b"\0\0\0\x1Cftypnew1\0\0\0\0new2avifheic", Some(Format::Avif));
        check(b"\0\0\0\x18ftypmif1\0\0\0\0heicavif", Some(Format::Heif));
        check(b"\0\0\0\x14ftypmif1\0\0\0\0mif1avif", Some(Format::Heif));
        check(b"\0\0\0\x14ftypjp2 \0\0\0\0jp2 ", None);
        check(b"\0\0\0\x10ftypavi", None);
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
        assert_eq!(found, HashSet::from(Format::ALL), "every format has a signature");
    }

    #[test]
    fn extensions_and_media_types_name_one_format() {
        for format in Format::ALL {
            assert_eq!(Format::from_media_type(format.media_type()), Some(format));
            for extension in format.extensions() {
                assert_eq!(Format::from_extension(extension), Some(format));
                assert_eq!(Format::from_extension(&extension.to_uppercase()), Some(format));
            }
        }
        assert_eq!((Format::from_extension("mov"), Format::from_media_type("video/mp4")), (None, None));
    }

    #[test]
    fn the_manual_has_every_format() {
        let manual = include_str!("../../../docs/photos.md");
        for format in Format::ALL {
            let is_in_table = manual.lines().any(|line| {
                line.strip_prefix("| ").and_then(|row| row.split(" |").next()).is_some_and(|cell| {
                    cell.split(|c: char| !c.is_alphanumeric()).any(|word| word == format.name())
                })
            });
            assert!(is_in_table, "the table of formats in docs/photos.md lacks {}", format.name());
        }
    }

    #[test]
    fn videos_are_detected_by_content() {
        for movie in [
            &b"\0\0\0\x14ftypisom\0\0\x02\0isom"[..],
            b"\0\0\0\x18ftypmp42\0\0\0\0mp42mif1",
            b"\0\0\0\x14ftypqt  \0\0\0\0qt  ",
            b"\0\0\0\x14ftyp3gp5\0\0\0\0isom",
            b"\0\0\0\x14ftypM4V \0\0\0\0isom",
            b"\0\0\0\x18ftypnew1\0\0\0\0new2mp41",
            b"\0\0\0\x08wide\0\0\0\0mdat",
            b"\x1A\x45\xDF\xA3\x01",
            b"RIFF\0\0\0\0AVI LIST",
            b"\0\0\x01\xBA\x44",
        ] {
            assert!(is_movie(movie), "{movie:?}");
            assert_eq!(Format::sniff(movie), None, "{movie:?}");
        }
        for other in [
            &b""[..],
            b"\0\0\0\x18ftypheic\0\0\0\0mif1mp41",
            b"\0\0\0\x18ftypavis\0\0\0\0isomavif",
            b"\0\0\0\x18ftypcrx \0\0\0\x01crx isom",
            b"RIFF\0\0\0\0WEBP",
            b"RIFF\0\0\0\0WAVE",
            b"\xFF\xD8\xFF\xE0",
            b"\0\0\0\x08free",
        ] {
            assert!(!is_movie(other), "{other:?}");
        }
    }

    #[test]
    fn junk_files_are_recognised_by_name() {
        for junk in [".DS_Store", "a/b/.DS_Store", "._IMG_1.jpg", "thumbs.db", "a\\Desktop.INI"] {
            assert!(is_junk_file_name(junk), "{junk}");
        }
        for kept in ["IMG_1.jpg", ".ds_store.jpg", "x._", "Thumbs.db.jpg", "_.jpg", "", "._dir/IMG_1.jpg"] {
            assert!(!is_junk_file_name(kept), "{kept}");
        }
    }
}
