//! The description of a photo, without the boilerplate that cameras write into the same tags.

use domain::clean_text;

use super::{Sources, boilerplate::is_boilerplate, xmp::Xmp};
use crate::text;
use crate::tiff::{ByteOrder, Directory, Tags, tag};

/// The description from the best source:
///
/// 1. XMP in a sidecar, then a Takeout sidecar
/// 2. XMP and IPTC in the file: photo managers write these, and they can contain any character
/// 3. EXIF: `ImageDescription`, `UserComment`, `XPComment`, `XPSubject`
/// 4. the copies of EXIF in XMP
/// 5. the texts of a PNG, the comments of a JPEG
/// 6. a headline: XMP in a sidecar, XMP, IPTC
/// 7. a title: XMP in a sidecar, XMP, IPTC, `XPTitle`, PNG
///
/// Boilerplate counts as missing in every source, because programs copy it from one to the next.
pub(super) fn description(sources: &Sources<'_>, file_name: Option<&str>) -> Option<String> {
    let Sources { tags, xmp, iptc, png, comments, sidecars } = sources;
    let in_sidecars =
        sidecars.xmp.iter().flat_map(|xmp| xmp.description().into_iter().chain(xmp.exif_descriptions()));
    let in_takeout = sidecars.takeout.iter().filter_map(|takeout| takeout.description.as_deref());
    let in_file = xmp.description().into_iter().chain(iptc.caption.as_deref());
    let of_tags = |texts: fn(&Tags<'_>) -> Vec<String>| tags.iter().flat_map(texts);
    let in_texts = [&png.description, &png.comment].into_iter().flatten().chain(comments).map(String::as_str);
    let all_xmp = || sidecars.xmp.iter().chain([xmp]);
    let headlines = all_xmp().filter_map(Xmp::headline).chain(iptc.headline.as_deref());
    let titles = all_xmp()
        .filter_map(Xmp::title)
        .map(str::to_owned)
        .chain(iptc.title.clone())
        .chain(of_tags(exif_titles))
        .chain(png.title.clone());

    let camera: Vec<String> = of_tags(camera_names).chain(xmp.make()).chain(xmp.model()).collect();
    let usable = |text: &str| clean_text(text).filter(|text| !is_boilerplate(text, &camera));
    in_sidecars
        .chain(in_takeout)
        .chain(in_file)
        .find_map(usable)
        .or_else(|| of_tags(exif_descriptions).find_map(|text| usable(&text)))
        .or_else(|| xmp.exif_descriptions().chain(in_texts).chain(headlines).find_map(usable))
        .or_else(|| {
            let mut titles = titles.filter(|title| !is_file_name(title, file_name));
            titles.find_map(|title| usable(&title))
        })
}

fn exif_descriptions(tags: &Tags<'_>) -> Vec<String> {
    let comment = || user_comment(tags.bytes(Directory::Exif, tag::USER_COMMENT)?, tags.byte_order());
    let windows = [tag::XP_COMMENT, tag::XP_SUBJECT].into_iter().filter_map(|tag| windows_text(tags, tag));
    tags.text(Directory::Primary, tag::IMAGE_DESCRIPTION)
        .into_iter()
        .chain(comment())
        .chain(windows)
        .collect()
}

fn exif_titles(tags: &Tags<'_>) -> Vec<String> {
    windows_text(tags, tag::XP_TITLE).into_iter().collect()
}

fn camera_names(tags: &Tags<'_>) -> Vec<String> {
    [tag::MAKE, tag::MODEL].into_iter().filter_map(|tag| tags.text(Directory::Primary, tag)).collect()
}

/// The text of a Windows tag. It is UTF-16 with the least significant byte first, whatever the byte order of the block.
pub(super) fn windows_text(tags: &Tags<'_>, tag: u16) -> Option<String> {
    utf16(tags.bytes(Directory::Primary, tag)?, ByteOrder::Little)
}

/// Decodes the comments of a JPEG. Binary data that programs keep there is left out.
pub(super) fn jpeg_comments(comments: &[&[u8]]) -> Vec<String> {
    let decoded = comments.iter().map(|comment| text::decode(comment).trim_end_matches('\0').to_owned());
    decoded.filter(|text| !is_binary(text)).collect()
}

fn is_binary(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && !c.is_whitespace())
}

/// Whether a title is the file's name, with or without its extension. Programs fill that in.
fn is_file_name(title: &str, file_name: Option<&str>) -> bool {
    let Some(name) = file_name.and_then(|name| name.rsplit(['/', '\\']).next()) else { return false };
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    [name, stem].contains(&title.trim())
}

/// Decodes a `UserComment`: eight bytes name the encoding (EXIF 2.32, table 9), and the text follows. Some programs leave out the
/// eight bytes. Text that is not declared as ASCII or UTF-16 is read only if it is valid UTF-8, because cameras keep binary data
/// there.
fn user_comment(value: &[u8], order: ByteOrder) -> Option<String> {
    let (code, after_code) = value.split_at_checked(8).unwrap_or((value, &[]));
    let end = code.iter().rposition(|byte| !matches!(byte, 0 | b' ')).map_or(0, |last| last + 1);
    let name = code.get(..end)?.to_ascii_uppercase();
    let text = match name.as_slice() {
        b"UNICODE" => return utf16(after_code, order),
        b"ASCII" | b"JIS" | b"" => after_code,
        _ => value,
    };
    let text = text.split(|byte| *byte == 0).next().unwrap_or(text);
    let is_readable = name == b"ASCII" || std::str::from_utf8(text).is_ok();
    Some(text::decode(text)).filter(|text| is_readable && !is_binary(text))
}

/// Decodes UTF-16. The byte order is that of the byte order mark, else the likely one for the letters, else that of the block. Many
/// programs ignore the byte order of the block.
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
        description(&Sources { tags: Tags::read(block).into_iter().collect(), ..Sources::default() }, None)
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
    fn comments_in_every_encoding_are_read() {
        check(None, Some(b"ASCII\0\0\0a comment\0\0\0\0"), Some("a comment"));
        check(None, Some("\0\0\0\0\0\0\0\0Zürich".as_bytes()), Some("Zürich"));
        check(None, Some("        Zürich".as_bytes()), Some("Zürich"));
        check(None, Some(b"ascii   Z\xFCrich"), Some("Zürich"));
        check(None, Some(b"JIS\0\0\0\0\0a comment"), Some("a comment"));
        check(None, Some(b"Unicode \0Z\0\xFC\0r"), Some("Zür"));
        check(None, Some(&unicode("Zürich", u16::to_le_bytes)), Some("Zürich"));
        check(None, Some(&unicode("Zürich", u16::to_be_bytes)), Some("Zürich"));
        check(None, Some(&unicode("\u{FEFF}東京", u16::to_le_bytes)), Some("東京"));
        check(None, Some(&unicode("\u{FEFF}東京", u16::to_be_bytes)), Some("東京"));
    }

    #[test]
    fn readable_comments_without_an_encoding_are_read() {
        check(None, Some(b"Grandma at the lake"), Some("Grandma at the lake"));
        check(None, Some("Großmutter am See\0\0".as_bytes()), Some("Großmutter am See"));
        check(None, Some(b"the lake"), Some("the lake"));
        check(None, Some(b"beach"), Some("beach"));
        check(None, Some(b"Z\xFCrich by night"), None);
        check(None, Some(b"binary\x01\x02 data"), None);
        check(None, Some(b"ASCII\0\x01\x02\0\0"), None);
    }

    #[test]
    fn text_that_is_not_utf_8_is_windows_1252() {
        check(Some(b"Grandma\x92s house \x96 10 \x80\0"), None, Some("Grandma’s house – 10 €"));
        check(None, Some(b"ASCII\0\0\0Z\xFCrich \x96 See"), Some("Zürich – See"));
    }

    #[test]
    fn windows_tags_are_read() {
        let check = |texts: &[(u16, &str)], expect: Option<&str>| {
            for big_endian in [false, true] {
                let block = texts.iter().fold(ExifBlock::in_order(big_endian), |block, (tag, text)| {
                    let utf16: Vec<u8> = text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
                    block.bytes(Directory::Primary, *tag, 1, &utf16)
                });
                assert_eq!(in_exif(&block.build()).as_deref(), expect, "{texts:?}");
            }
        };
        let (comment, subject, title) =
            ((tag::XP_COMMENT, "Zürich"), (tag::XP_SUBJECT, "東京"), (tag::XP_TITLE, "A title"));
        check(&[comment], Some("Zürich"));
        check(&[title, subject], Some("東京"));
        check(&[title, subject, comment], Some("Zürich"));
        check(&[title], Some("A title"));
        check(&[(tag::XP_COMMENT, "Digital camera"), title], Some("A title"));
    }

    #[test]
    fn jpeg_comments_are_read() {
        let check = |comments: &[&[u8]], expect: Option<&str>| {
            let sources = Sources { comments: jpeg_comments(comments), ..Sources::default() };
            assert_eq!(description(&sources, None).as_deref(), expect, "{comments:?}");
        };
        check(&[b"Grandmother baking plum cake in Lindau"], Some("Grandmother baking plum cake in Lindau"));
        check(&[b"Z\xFCrich\0"], Some("Zürich"));
        check(
            &[b"CREATOR: gd-jpeg v1.0 (using IJG JPEG v62), quality = 90\n", b"the lake"],
            Some("the lake"),
        );
        check(&[b"\x01\x02binary"], None);
        check(&[b"", b"  "], None);
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
        JpegComment,
        SidecarHeadline,
        XmpHeadline,
        IptcHeadline,
        SidecarTitle,
        XmpTitle,
        IptcTitle,
        PngTitle,
    }

    const BEST_FIRST: [Source; 17] = [
        Source::SidecarXmp,
        Source::SidecarExif,
        Source::Takeout,
        Source::Xmp,
        Source::Iptc,
        Source::Exif,
        Source::XmpExif,
        Source::Png,
        Source::PngComment,
        Source::JpegComment,
        Source::SidecarHeadline,
        Source::XmpHeadline,
        Source::IptcHeadline,
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
                Source::SidecarHeadline => sidecar += &format!("photoshop:Headline='{text}' "),
                Source::XmpHeadline => packet += &format!("photoshop:Headline='{text}' "),
                Source::IptcHeadline => sources.iptc.headline = Some((*text).into()),
                Source::JpegComment => sources.comments.push((*text).into()),
                Source::IptcTitle => sources.iptc.title = Some((*text).into()),
                Source::Png => sources.png.description = Some((*text).into()),
                Source::PngComment => sources.png.comment = Some((*text).into()),
                Source::PngTitle => sources.png.title = Some((*text).into()),
                Source::Exif => exif = exif.text(Directory::Primary, tag::IMAGE_DESCRIPTION, text),
            }
        }
        let exif = exif.text(Directory::Primary, tag::MODEL, "X-1").build();
        sources.tags.extend(Tags::read(&exif));
        sources.xmp = Xmp::read(packet_of(&packet).as_bytes()).unwrap();
        sources.sidecars.xmp.extend(Xmp::read(packet_of(&sidecar).as_bytes()));
        description(&sources, file_name)
    }

    #[test]
    fn sources_are_used_in_their_order() {
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
        fn arbitrary_comments_never_panic(comment in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = user_comment(&comment, ByteOrder::Big);
            let _ = user_comment(&[b"UNICODE\0", &comment[..]].concat(), ByteOrder::Little);
        }
    }
}
