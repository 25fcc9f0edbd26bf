//! The marks of a photo: favourite, rating, keywords and archived.

use domain::{Keywords, Marks, Rating};

use super::{Sources, description::windows_text, xmp::Xmp};
use crate::tiff::{Directory, Tags, tag};

/// The marks in all sources.
///
/// - The rating is that of the first source that has one: XMP in a sidecar, XMP in the file, EXIF. A source that says that there is no
///   rating counts.
/// - The keywords are those of all sources: XMP in sidecars, XMP, EXIF and IPTC in the file.
/// - A photo is a favourite or archived if a source says so.
pub(super) fn marks(sources: &Sources<'_>) -> Marks {
    let Sources { tags, xmp, iptc, sidecars, .. } = sources;
    let all_xmp = || sidecars.xmp.iter().chain([xmp]);
    let rating = all_xmp().find_map(Xmp::rating);
    let in_exif: Vec<String> = tags.iter().filter_map(|tags| windows_text(tags, tag::XP_KEYWORDS)).collect();
    let keywords = all_xmp()
        .flat_map(Xmp::keywords)
        .chain(in_exif.iter().flat_map(|keywords| keywords.split(';')))
        .chain(iptc.keywords.iter().map(String::as_str));
    Marks {
        favorite: all_xmp().any(Xmp::is_favorite)
            || sidecars.takeout.iter().any(|takeout| takeout.is_favorite),
        rating: rating.or_else(|| tags.iter().find_map(exif_rating)).flatten(),
        keywords: Keywords::of_file(keywords),
        archived: all_xmp().any(Xmp::is_archived)
            || sidecars.takeout.iter().any(|takeout| takeout.is_archived),
    }
}

/// The rating in the tag of Windows, 0 for none.
#[expect(clippy::option_option, reason = "the inner one is the value")]
fn exif_rating(tags: &Tags<'_>) -> Option<Option<Rating>> {
    let stars = tags.short(Directory::Primary, tag::RATING)?;
    (stars <= 5).then(|| Rating::new(u8::try_from(stars).ok()?).ok())
}

#[cfg(test)]
mod tests {
    use domain::{Keyword, SidecarKind};

    use super::*;
    use crate::metadata::{Iptc, Takeout, xmp::samples::packet};
    use crate::samples::{ExifBlock, Number};

    /// The form in which the tests show marks: favourite, rating, keywords, archived.
    fn shown(marks: &Marks) -> String {
        let flag = |is: bool, name: &'static str| if is { name } else { "" };
        let keywords: Vec<&str> = marks.keywords.iter().map(Keyword::as_str).collect();
        let stars = marks.rating.map_or(0, Rating::stars);
        format!(
            "{stars}{}{} {}",
            flag(marks.favorite, " favorite"),
            flag(marks.archived, " archived"),
            keywords.join("; ")
        )
    }

    fn xmp(nodes: &str) -> Xmp {
        Xmp::read(packet(nodes).as_bytes()).unwrap()
    }

    fn in_file(nodes: &str) -> String {
        shown(&marks(&Sources { xmp: xmp(nodes), ..Sources::default() }))
    }

    fn list(items: &[&str]) -> String {
        let items: String = items.iter().map(|item| format!("<rdf:li>{item}</rdf:li>")).collect();
        format!("<rdf:Bag>{items}</rdf:Bag>")
    }

    #[test]
    fn the_forms_of_programs_are_read() {
        let check = |name: &str, nodes: &str, expect: &str| assert_eq!(in_file(nodes), expect, "{name}");
        let people = list(&["People/Anna", "Sea"]);
        check(
            "digiKam",
            &format!(
                "<rdf:Description xmlns:digiKam='http://www.digikam.org/ns/1.0/' \
                 xmlns:MicrosoftPhoto='http://ns.microsoft.com/photo/1.0/' xmlns:lr='http://ns.adobe.com/lightroom/1.0/' \
                 xmp:Rating='4' MicrosoftPhoto:Rating='75' digiKam:PickLabel='0'>\
                 <digiKam:TagsList><rdf:Seq><rdf:li>People/Anna</rdf:li><rdf:li>Sea</rdf:li></rdf:Seq></digiKam:TagsList>\
                 <MicrosoftPhoto:LastKeywordXMP>{people}</MicrosoftPhoto:LastKeywordXMP>\
                 <lr:hierarchicalSubject>{}</lr:hierarchicalSubject><dc:subject>{}</dc:subject></rdf:Description>",
                list(&["People|Anna", "Sea"]),
                list(&["Anna", "Sea"]),
            ),
            "4 Anna; Sea",
        );
        check(
            "digiKam without flat keywords",
            &format!(
                "<rdf:Description xmlns:digiKam='http://www.digikam.org/ns/1.0/'>\
                 <digiKam:TagsList>{people}</digiKam:TagsList></rdf:Description>"
            ),
            "0 Anna; Sea",
        );
        check(
            "Lightroom",
            &format!(
                "<rdf:Description xmlns:lr='http://ns.adobe.com/lightroom/1.0/' xmp:Rating='5' xmp:Label='Red'>\
                 <dc:subject>{}</dc:subject><lr:hierarchicalSubject>{}</lr:hierarchicalSubject></rdf:Description>",
                list(&["Europe", "Lisbon", "Portugal"]),
                list(&["Europe|Portugal|Lisbon"]),
            ),
            "5 Europe; Lisbon; Portugal",
        );
        check(
            "darktable",
            &format!(
                "<rdf:Description xmlns:lr='http://ns.adobe.com/lightroom/1.0/' xmp:Rating='-1'>\
                 <dc:subject>{}</dc:subject><lr:hierarchicalSubject>{}</lr:hierarchicalSubject></rdf:Description>",
                list(&["Green Street", "changed", "nef", "place"]),
                list(&["darktable|changed", "darktable|format|nef", "place|Green Street"]),
            ),
            "0 Green Street; place",
        );
        check(
            "Windows",
            &format!(
                "<rdf:Description xmlns:MicrosoftPhoto='http://ns.microsoft.com/photo/1.0'>\
                 <MicrosoftPhoto:Rating>75</MicrosoftPhoto:Rating><MicrosoftPhoto:LastKeywordXMP>{0}\
                 </MicrosoftPhoto:LastKeywordXMP><dc:subject>{0}</dc:subject></rdf:Description>",
                list(&["AC/DC", "Concert"]),
            ),
            "4 AC/DC; Concert",
        );
        check("a single keyword", "<rdf:Description dc:subject='Sea' xmp:Rating='3.0'/>", "3 Sea");
        check(
            "this library",
            "<rdf:Description xmlns:export='urn:photo-library:export:1.0' export:Favorite='True' export:Archived='True'/>",
            "0 favorite archived ",
        );
    }

    #[test]
    fn ratings_are_stars() {
        let check = |attribute: &str, expect: Option<Option<u8>>| {
            let nodes =
                format!("<rdf:Description xmlns:m='http://ns.microsoft.com/photo/1.0/' {attribute}/>");
            let stars = xmp(&nodes).rating().map(|rating| rating.map(Rating::stars));
            assert_eq!(stars, expect, "{attribute}");
        };
        for (text, stars) in [("1", 1), ("5", 5), (" 4.0 ", 4), ("2.5", 3)] {
            check(&format!("xmp:Rating='{text}'"), Some(Some(stars)));
        }
        for none in ["0", "-1", "0.0", "-1.0"] {
            check(&format!("xmp:Rating='{none}'"), Some(None));
        }
        for bad in ["6", "-2", "five", "NaN", "inf", "1e300", ""] {
            check(&format!("xmp:Rating='{bad}'"), None);
        }
        for (percent, stars) in
            [(1, 1), (12, 1), (13, 2), (25, 2), (50, 3), (62, 3), (75, 4), (87, 4), (88, 5), (99, 5)]
        {
            check(&format!("m:Rating='{percent}'"), Some(Some(stars)));
        }
        check("m:Rating='0'", Some(None));
        check("m:Rating='-1'", None);
        check("xmp:Rating='2' m:Rating='99'", Some(Some(2)));
    }

    #[test]
    fn tags_of_windows_are_read() {
        for big_endian in [false, true] {
            let utf16: Vec<u8> = "Straße; 東京;Sea\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
            let block = ExifBlock::in_order(big_endian)
                .number(Directory::Primary, tag::RATING, Number::Short(3))
                .bytes(Directory::Primary, tag::XP_KEYWORDS, 1, &utf16)
                .build();
            let sources = Sources { tags: Tags::read(&block).into_iter().collect(), ..Sources::default() };
            assert_eq!(shown(&marks(&sources)), "3 Straße; 東京; Sea");
        }
    }

    #[test]
    fn the_strongest_source_rates_and_every_source_has_keywords() {
        let block = ExifBlock::default().number(Directory::Primary, tag::RATING, Number::Short(1)).build();
        let mut sources = Sources { tags: Tags::read(&block).into_iter().collect(), ..Sources::default() };
        sources.iptc = Iptc { keywords: vec!["iptc".into(), "FILE".into()], ..Iptc::default() };
        assert_eq!(shown(&marks(&sources)), "1 iptc; FILE");
        sources.xmp = xmp("<rdf:Description xmp:Rating='2' dc:subject='file'/>");
        assert_eq!(shown(&marks(&sources)), "2 file; iptc");
        sources.sidecars.xmp.push(xmp("<rdf:Description dc:subject='sidecar'/>"));
        assert_eq!(shown(&marks(&sources)), "2 sidecar; file; iptc");
        sources.sidecars.xmp.push(xmp("<rdf:Description xmp:Rating='0'/>"));
        let takeout = br#"{"photoTakenTime": {}, "favorited": true, "archived": true}"#;
        sources.sidecars.takeout.extend(Takeout::read(takeout));
        assert_eq!(shown(&marks(&sources)), "0 favorite archived sidecar; file; iptc");
    }

    #[test]
    fn sidecars_and_files_of_hostile_lengths_are_bounded() {
        let many: Vec<String> = (0..50_000).map(|number| format!("tag {number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let nodes = format!("<rdf:Description><dc:subject>{}</dc:subject></rdf:Description>", list(&many));
        let content = packet(&nodes).into_bytes();
        assert!(crate::is_sidecar_content(SidecarKind::Xmp, &content));
        let sources = Sources { xmp: Xmp::read(&content).unwrap(), ..Sources::default() };
        assert_eq!(marks(&sources).keywords.iter().len(), domain::MAX_KEYWORDS);
    }
}
