//! The description of a photo, without the boilerplate that cameras write into the same tags.

use domain::clean_text;

use super::{Sources, xmp::Xmp};
use crate::tiff::{ByteOrder, Directory, Tags, tag};

/// Boilerplate of cameras and programs, compared without case.
const BOILERPLATE: [&str; 42] = [
    "ASCII",
    "BINARY COMMENT",
    "CHARSET=ASCII",
    "COF",
    "CREATED WITH GIMP",
    "CREATED WITH THE GIMP",
    "DAV",
    "DCIM",
    "DEFAULT",
    "DIGITAL CAMERA",
    "DIGITAL STILL CAMERA",
    "DSC",
    "EDF",
    "EXIF_JPEG_PICTURE",
    "FBT",
    "FBTHDR",
    "HDR",
    "HDRPL",
    "IMAGE",
    "JPEG",
    "KODAK DIGITAL STILL CAMERA",
    "KONICA MINOLTA DIGITAL CAMERA",
    "MDE",
    "MDE_SOFT",
    "MINOLTA DIGITAL CAMERA",
    "NOR",
    "OLYMPUS DIGITAL CAMERA",
    "OZNOR",
    "OZNORWO",
    "PHOTO",
    "PICTURE",
    "QRF",
    "RBT",
    "RHDR",
    "RPT",
    "SAMSUNG",
    "SAMSUNG CAMERA PICTURES",
    "SANYO DIGITAL CAMERA",
    "SDR",
    "SONY DSC",
    "UNTITLED",
    "USER COMMENTS",
];

/// The description from the best source: a sidecar, then XMP and IPTC in the file (photo managers write these, and they
/// can contain any character), then EXIF, then the text chunks of a PNG. Without any of these, a title counts.
///
/// Boilerplate counts as missing in every source, because programs copy it from one to the next.
pub(super) fn description(sources: &Sources<'_>, file_name: Option<&str>) -> Option<String> {
    let Sources { xmp, iptc, png, sidecars, .. } = sources;
    let in_sidecars =
        sidecars.xmp.iter().flat_map(|xmp| xmp.description().into_iter().chain(xmp.exif_descriptions()));
    let in_takeout = sidecars.takeout.iter().filter_map(|takeout| takeout.description.as_deref());
    let in_file = xmp.description().into_iter().chain(iptc.caption.as_deref());
    let in_png = [&png.description, &png.comment].into_iter().flatten().map(String::as_str);
    let titles = sidecars
        .xmp
        .iter()
        .filter_map(Xmp::title)
        .chain(xmp.title())
        .chain(iptc.title.as_deref())
        .chain(png.title.as_deref());

    let models =
        [sources.tags.as_ref().and_then(|tags| tags.text(Directory::Primary, tag::MODEL)), xmp.model()];
    let usable = |text: &str| {
        // Some cameras write their model.
        let is_camera = models.iter().flatten().any(|model| model.trim() == text.trim());
        without_boilerplate(text).filter(|_| !is_camera)
    };
    in_sidecars
        .chain(in_takeout)
        .chain(in_file)
        .find_map(usable)
        .or_else(|| exif_descriptions(sources.tags.as_ref()?).iter().find_map(|text| usable(text)))
        .or_else(|| xmp.exif_descriptions().chain(in_png).find_map(usable))
        .or_else(|| titles.filter(|title| !is_file_name(title, file_name)).find_map(usable))
}

/// `ImageDescription`, then `UserComment`.
fn exif_descriptions(tags: &Tags<'_>) -> Vec<String> {
    let comment = || user_comment(tags.bytes(Directory::Exif, tag::USER_COMMENT)?, tags.byte_order());
    tags.text(Directory::Primary, tag::IMAGE_DESCRIPTION).into_iter().chain(comment()).collect()
}

/// Whether a title is the file's name, with or without its extension. Programs fill that in.
fn is_file_name(title: &str, file_name: Option<&str>) -> bool {
    let Some(name) = file_name.and_then(|name| name.rsplit(['/', '\\']).next()) else { return false };
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    [name, stem].contains(&title.trim())
}

/// The cleaned text, unless it is boilerplate.
fn without_boilerplate(text: &str) -> Option<String> {
    let text = clean_text(text)?;
    let uppercase = text.to_ascii_uppercase();
    let is_boilerplate = BOILERPLATE.contains(&uppercase.as_str())
        // A path on the camera's card, or settings as JSON.
        || uppercase.starts_with("DCIM\\")
        || uppercase.starts_with("DCIM/")
        || (text.starts_with('{') && text.ends_with('}'))
        || !text.chars().any(char::is_alphanumeric);
    (!is_boilerplate).then_some(text)
}

/// Decodes a `UserComment`: eight bytes name the encoding (EXIF 2.32, table 9), then comes the text. JIS and undefined
/// encodings are read only if the text is valid UTF-8.
fn user_comment(value: &[u8], order: ByteOrder) -> Option<String> {
    let (code, text) = value.split_at_checked(8)?;
    if code == b"UNICODE\0" {
        return utf16(text, order);
    }
    let text = text.split(|byte| *byte == 0).next().unwrap_or(text);
    let text = std::str::from_utf8(text).ok()?;
    // Binary data that cameras keep here.
    (!text.chars().any(|c| c.is_control() && !c.is_whitespace())).then(|| text.to_owned())
}

/// Decodes UTF-16. The byte order comes from the byte order mark, else from the letters, else from the block: many
/// programs ignore the order of the block.
fn utf16(text: &[u8], order: ByteOrder) -> Option<String> {
    let (pairs, _) = text.as_chunks::<2>();
    let (pairs, order) = match pairs {
        [[0xFF, 0xFE], rest @ ..] => (rest, ByteOrder::Little),
        [[0xFE, 0xFF], rest @ ..] => (rest, ByteOrder::Big),
        _ => (pairs, likely_order(pairs).unwrap_or(order)),
    };
    let units = pairs.iter().map(|pair| order.u16(*pair)).take_while(|unit| *unit != 0);
    char::decode_utf16(units).collect::<Result<String, _>>().ok()
}

/// The byte order in which more of the text is Latin.
fn likely_order(pairs: &[[u8; 2]]) -> Option<ByteOrder> {
    let big = pairs.iter().filter(|[first, second]| *first == 0 && *second != 0).count();
    let little = pairs.iter().filter(|[first, second]| *first != 0 && *second == 0).count();
    match big.cmp(&little) {
        std::cmp::Ordering::Greater => Some(ByteOrder::Big),
        std::cmp::Ordering::Less => Some(ByteOrder::Little),
        std::cmp::Ordering::Equal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::takeout::Takeout;
    use crate::metadata::xmp::samples::packet_of;
    use crate::samples::ExifBlock;
    use proptest::prelude::*;

    fn in_exif(block: &[u8]) -> Option<String> {
        description(&Sources { tags: Tags::read(block), ..Sources::default() }, None)
    }

    fn check(title: Option<&[u8]>, comment: Option<&[u8]>, expect: Option<&str>) {
        for big_endian in [false, true] {
            let mut block = ExifBlock::in_order(big_endian);
            if let Some(title) = title {
                block = block.bytes(Directory::Primary, tag::IMAGE_DESCRIPTION, 2, title);
            }
            if let Some(comment) = comment {
                block = block.bytes(Directory::Exif, tag::USER_COMMENT, 7, comment);
            }
            let found = in_exif(&block.build());
            assert_eq!(found.as_deref(), expect, "{title:?} {comment:?}");
        }
    }

    fn unicode(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        b"UNICODE\0".iter().copied().chain(text.encode_utf16().flat_map(to_bytes)).collect()
    }

    #[test]
    fn image_description_comes_before_user_comment() {
        check(Some(b"On the beach\0"), Some(b"ASCII\0\0\0a comment"), Some("On the beach"));
        check(Some(b"  spaced  \0"), None, Some("spaced"));
        check(Some("Zürich".as_bytes()), None, Some("Zürich"));
        check(Some(b"Z\xFCrich\0"), None, Some("Zürich"));
        check(Some(b"OLYMPUS DIGITAL CAMERA         \0"), Some(b"ASCII\0\0\0a comment"), Some("a comment"));
    }

    #[test]
    fn boilerplate_is_dropped() {
        for boilerplate in [
            &b"OLYMPUS DIGITAL CAMERA         \0"[..],
            b"SAMSUNG\0",
            b"DCIM\\100MEDIA\\DJI_0001.JPG\0",
            b"DCIM\0",
            b"          \0",
            b"\0\0\0\0\0",
            b"default",
            b"...",
            b"{\"filter\":0}",
        ] {
            check(Some(boilerplate), None, None);
        }
    }

    #[test]
    fn comments_in_every_encoding() {
        check(None, Some(b"ASCII\0\0\0a comment\0\0\0\0"), Some("a comment"));
        check(None, Some("\0\0\0\0\0\0\0\0Zürich".as_bytes()), Some("Zürich"));
        check(None, Some(&unicode("Zürich", u16::to_le_bytes)), Some("Zürich"));
        check(None, Some(&unicode("Zürich", u16::to_be_bytes)), Some("Zürich"));
        check(None, Some(&unicode("\u{FEFF}東京", u16::to_le_bytes)), Some("東京"));
        check(None, Some(&unicode("\u{FEFF}東京", u16::to_be_bytes)), Some("東京"));
    }

    #[test]
    fn unreadable_comments_are_dropped() {
        check(None, Some(b"ASCII\0\0\0                    "), None);
        check(None, Some(b"ASCII\0\0\0ab\x01\x02"), None);
        check(None, Some(b"JIS\0\0\0\0\0\x93\xFA\x96\x7B"), None);
        check(None, Some(b"\0\0\0\0\0\0\0\0\xFF\xFE\xFA"), None);
        check(None, Some(b"ASCII"), None);
        check(None, Some(b"UNICODE\0\xFF\xFE\x00\xD8\x00\xD8"), None);
        check(None, None, None);
    }

    #[test]
    fn utf16_without_mark_uses_the_byte_order_of_the_block() {
        let block = ExifBlock::in_order(true)
            .bytes(Directory::Exif, tag::USER_COMMENT, 7, &unicode("東京", u16::to_be_bytes))
            .build();
        assert_eq!(in_exif(&block).as_deref(), Some("東京"));
    }

    /// A source of a description.
    #[derive(Clone, Copy)]
    enum Source {
        SidecarXmp,
        SidecarExif,
        Takeout,
        Xmp,
        Iptc,
        Exif,
        XmpExif,
        Png,
        PngComment,
        SidecarTitle,
        XmpTitle,
        IptcTitle,
        PngTitle,
    }

    const BEST_FIRST: [Source; 13] = [
        Source::SidecarXmp,
        Source::SidecarExif,
        Source::Takeout,
        Source::Xmp,
        Source::Iptc,
        Source::Exif,
        Source::XmpExif,
        Source::Png,
        Source::PngComment,
        Source::SidecarTitle,
        Source::XmpTitle,
        Source::IptcTitle,
        Source::PngTitle,
    ];

    fn found(texts: &[(Source, &str)], file_name: Option<&str>) -> Option<String> {
        let mut exif = ExifBlock::default();
        let (mut sidecar, mut packet) = (String::new(), String::new());
        let mut sources = Sources::default();
        for (source, text) in texts {
            match source {
                Source::SidecarXmp => sidecar += &format!("dc:description='{text}' "),
                Source::SidecarExif => sidecar += &format!("exif:UserComment='{text}' "),
                Source::SidecarTitle => sidecar += &format!("dc:title='{text}' "),
                Source::Xmp => packet += &format!("dc:description='{text}' "),
                Source::XmpExif => packet += &format!("tiff:ImageDescription='{text}' "),
                Source::XmpTitle => packet += &format!("dc:title='{text}' "),
                Source::Takeout => {
                    let file = format!(r#"{{"photoTakenTime":{{}},"description":"{text}"}}"#);
                    sources.sidecars.takeout.extend(Takeout::read(file.as_bytes()));
                }
                Source::Iptc => sources.iptc.caption = Some((*text).into()),
                Source::IptcTitle => sources.iptc.title = Some((*text).into()),
                Source::Png => sources.png.description = Some((*text).into()),
                Source::PngComment => sources.png.comment = Some((*text).into()),
                Source::PngTitle => sources.png.title = Some((*text).into()),
                Source::Exif => exif = exif.text(Directory::Primary, tag::IMAGE_DESCRIPTION, text),
            }
        }
        let exif = exif.text(Directory::Primary, tag::MODEL, "X-1").build();
        sources.tags = Tags::read(&exif);
        sources.xmp = Xmp::read(packet_of(&packet).as_bytes()).unwrap();
        sources.sidecars.xmp.extend(Xmp::read(packet_of(&sidecar).as_bytes()));
        description(&sources, file_name)
    }

    #[test]
    fn sources_in_their_order() {
        for rank in 0..BEST_FIRST.len() {
            let texts: Vec<_> = BEST_FIRST[rank..].iter().map(|source| (*source, "worse")).collect();
            let best = [(BEST_FIRST[rank], "best")];
            assert_eq!(found(&[&best, &texts[1..]].concat(), None).as_deref(), Some("best"), "{rank}");
            for blank in ["", " ", "OLYMPUS DIGITAL CAMERA", "X-1"] {
                let blank = [(BEST_FIRST[rank], blank)];
                let expect = (!texts[1..].is_empty()).then_some("worse");
                assert_eq!(found(&[&blank, &texts[1..]].concat(), None).as_deref(), expect, "{rank}");
            }
        }
    }

    #[test]
    fn title_equal_to_the_file_name_is_dropped() {
        let check = |title: &str, name, expect| {
            assert_eq!(found(&[(Source::XmpTitle, title)], name), expect, "{title}");
        };
        check("DSC_0001", Some("a/DSC_0001.jpg"), None);
        check("DSC_0001.jpg", Some("DSC_0001.jpg"), None);
        check("DSC_0001", Some("DSC_0002.jpg"), Some("DSC_0001".into()));
        check("Beach", Some("DSC_0002.jpg"), Some("Beach".into()));
        check("Beach", None, Some("Beach".into()));
    }

    proptest! {
        #[test]
        fn nothing_panics(comment in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = user_comment(&comment, ByteOrder::Big);
            let _ = user_comment(&[b"UNICODE\0", &comment[..]].concat(), ByteOrder::Little);
        }
    }
}
