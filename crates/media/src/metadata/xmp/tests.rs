use proptest::prelude::*;

use super::*;
use samples::{packet, packet_of};

fn read(packet: &str) -> Xmp {
    Xmp::read(packet.as_bytes()).unwrap()
}

fn described(nodes: &str) -> Option<String> {
    read(&packet(nodes)).description().map(ToOwned::to_owned)
}

fn shown(time: Option<ParsedTime>) -> Option<String> {
    time.map(|time| format!("{} {:?}", time.wall, time.offset_minutes))
}

#[test]
fn simple_properties_can_be_attributes_or_elements() {
    let attributes =
        "tiff:Make='Canon' tiff:Model=\"EOS &quot;R&quot; &amp; co\" exif:DateTimeOriginal='2019-07-04'";
    let elements = "<tiff:Make> Canon\n</tiff:Make><tiff:Model>EOS \"R\" &amp; co</tiff:Model>\
        <exif:DateTimeOriginal>2019-07-04</exif:DateTimeOriginal>";
    for packet in [
        packet_of(attributes),
        packet(&format!("<rdf:Description>{elements}</rdf:Description>")),
        packet(&format!("<rdf:Description xmp:Rating='1'/><rdf:Description {attributes}></rdf:Description>")),
        packet(&format!("<dc:Image>{elements}</dc:Image>")),
    ] {
        let read = read(&packet);
        assert_eq!(read.make().as_deref(), Some("Canon"), "{packet}");
        assert_eq!(read.model().as_deref(), Some("EOS \"R\" & co"), "{packet}");
        assert_eq!(shown(read.date_time_original()).as_deref(), Some("2019-07-04T00:00:00 None"), "{packet}");
    }
}

#[test]
fn names_are_compared_by_namespace() {
    let check =
        |nodes: &str, expect: Option<&str>| assert_eq!(described(nodes).as_deref(), expect, "{nodes}");
    check(
        "<rdf:Description xmlns:a='http://purl.org/dc/elements/1.1/' a:description='beach'/>",
        Some("beach"),
    );
    check("<rdf:Description xmlns:dc='http://example.org/' dc:description='beach'/>", None);
    check(
        "<rdf:Description><description xmlns='http://purl.org/dc/elements/1.1/'>beach</description></rdf:Description>",
        Some("beach"),
    );
    // A default namespace does not apply to attributes.
    check("<rdf:Description xmlns='http://purl.org/dc/elements/1.1/' description='beach'/>", None);
    check("<rdf:Description unknown:description='beach'/>", None);
    let other = "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:d='http://purl.org/dc/elements/1.1/'>\
        <r:Description><d:description><r:Alt><r:li>beach</r:li></r:Alt></d:description></r:Description></r:RDF>";
    assert_eq!(read(other).description(), Some("beach"));
}

#[test]
fn arrays_give_the_default_language_or_the_first_value() {
    let check = |value: &str, expect: Option<&str>| {
        let nodes = format!("<rdf:Description><dc:description>{value}</dc:description></rdf:Description>");
        assert_eq!(described(&nodes).as_deref(), expect, "{value}");
    };
    let alt = |items: &str| format!("<rdf:Alt>{items}</rdf:Alt>");
    check(
        &alt("<rdf:li xml:lang='x-default'>beach</rdf:li><rdf:li xml:lang='de'>Strand</rdf:li>"),
        Some("beach"),
    );
    check(
        &alt("<rdf:li xml:lang='de'>Strand</rdf:li><rdf:li xml:lang='X-Default'>beach</rdf:li>"),
        Some("beach"),
    );
    check(&alt("<rdf:li xml:lang='de'>Strand</rdf:li><rdf:li>beach</rdf:li>"), Some("Strand"));
    check(
        &alt("<rdf:li xml:lang='x-default'> </rdf:li><rdf:li xml:lang='de'>Strand</rdf:li>"),
        Some("Strand"),
    );
    check("<rdf:Seq>\n <rdf:li>one</rdf:li>\n <rdf:li>two</rdf:li>\n</rdf:Seq>", Some("one"));
    check("<rdf:Bag><rdf:li/><rdf:li>two</rdf:li></rdf:Bag>", Some("two"));
    check("<rdf:Alt/>", None);
    check("", None);
}

#[test]
fn values_with_qualifiers_are_read() {
    let check = |nodes: &str| assert_eq!(described(nodes).as_deref(), Some("beach"), "{nodes}");
    check(
        "<rdf:Description><dc:description rdf:parseType='Resource'><rdf:value>beach</rdf:value>\
         <xmp:Label>not this</xmp:Label></dc:description></rdf:Description>",
    );
    check(
        "<rdf:Description><dc:description><rdf:Alt><rdf:li><rdf:Description><rdf:value>beach</rdf:value>\
         <dc:title>not this</dc:title></rdf:Description></rdf:li></rdf:Alt></dc:description></rdf:Description>",
    );
}

#[test]
fn nested_resources_are_not_read() {
    let other = "<xmpMM:Pantry><rdf:Bag><rdf:li><rdf:Description dc:description='ingredient'>\
        <dc:description>ingredient</dc:description><xmp:CreateDate>2001-01-01</xmp:CreateDate>\
        </rdf:Description></rdf:li></rdf:Bag></xmpMM:Pantry>";
    let found = read(&packet(&format!("<rdf:Description>{other}</rdf:Description>")));
    assert_eq!((found.description(), found.create_date()), (None, None));
    let nodes = format!("<rdf:Description>{other}<dc:description>photo</dc:description></rdf:Description>");
    assert_eq!(described(&nodes).as_deref(), Some("photo"));
}

#[test]
fn every_form_of_text_is_read() {
    let check = |text: &str, expect: &str| {
        let nodes = format!("<rdf:Description><dc:description>{text}</dc:description></rdf:Description>");
        assert_eq!(described(&nodes).as_deref(), Some(expect), "{text}");
    };
    check("&lt;b&gt; &#x6771;&#20140; &apos;&quot;", "<b> 東京 '\"");
    check("<![CDATA[a <b> & c]]>", "a <b> & c");
    check("one<!-- comment --> two", "one two");
    check("Tom & Jerry", "Tom & Jerry");
    check("one\r\ntwo", "one\ntwo");
    check("a&unknown;b&#0;c", "abc");
}

#[test]
fn entities_of_a_packet_are_never_expanded() {
    let bomb = format!(
        "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>{}",
        packet("<rdf:Description tiff:Make='&c;'><dc:description>x&c;</dc:description></rdf:Description>")
    );
    assert_eq!(read(&bomb).description(), Some("x"));
}

#[test]
fn separate_fractions_and_offsets_complete_times() {
    let check = |attributes: &str, original: Option<&str>, digitized: Option<&str>| {
        let read = read(&packet_of(attributes));
        assert_eq!(shown(read.date_time_original()).as_deref(), original, "{attributes}");
        assert_eq!(shown(read.date_time_digitized()).as_deref(), digitized, "{attributes}");
    };
    let both = "exif:DateTimeOriginal='2019-07-04T18:03:22' exif:DateTimeDigitized='2019-07-05T09:00:00Z'";
    let digitized = Some("2019-07-05T09:00:00 Some(0)");
    check(both, Some("2019-07-04T18:03:22 None"), digitized);
    for offset in ["exif:OffsetTimeOriginal='+02:00'", "exifEX:OffsetTimeOriginal='+02:00'"] {
        check(&format!("{both} {offset}"), Some("2019-07-04T18:03:22 Some(120)"), digitized);
    }
    check(&format!("{both} exif:OffsetTimeDigitized='+02:00'"), Some("2019-07-04T18:03:22 None"), digitized);
    check(&format!("{both} exif:SubSecTimeOriginal='5'"), Some("2019-07-04T18:03:22.5 None"), digitized);
    let own = "exif:DateTimeOriginal='2019-07-04T18:03:22.25+01:00' exif:SubSecTimeOriginal='5' exif:OffsetTimeOriginal='+02:00'";
    check(own, Some("2019-07-04T18:03:22.25 Some(60)"), None);
}

#[test]
fn positions_are_read() {
    let check = |attributes: &str, expect: Option<(f64, f64)>| {
        let found = read(&packet_of(attributes)).position();
        let rounded = |degrees: f64| (degrees * 1e6).round() / 1e6;
        assert_eq!(found.map(|at| (rounded(at.latitude()), rounded(at.longitude()))), expect, "{attributes}");
    };
    check(
        "exif:GPSLatitude='53,7.9535400N' exif:GPSLongitude='8,43.1517600W'",
        Some((53.132_559, -8.719_196)),
    );
    check("exif:GPSLatitude='-53.5' exif:GPSLongitude='8.25'", Some((-53.5, 8.25)));
    check(
        "exif:GPSLatitude='53.5' exif:GPSLatitudeRef='S' exif:GPSLongitude='8.25' exif:GPSLongitudeRef='W'",
        Some((-53.5, -8.25)),
    );
    check("exif:GPSLatitude='53,7.9535400N'", None);
    check("exif:GPSLatitude='0,0N' exif:GPSLongitude='0,0E'", None);
    check("exif:GPSLatitude='0,0N' exif:GPSLongitude='0,0E' exif:GPSStatus='A'", Some((0.0, 0.0)));
    check("exif:GPSLatitude='91,0N' exif:GPSLongitude='8,0E'", None);
}

#[test]
fn other_files_are_refused() {
    for other in
        ["", "photo", "<html><body/></html>", "<rdf:RDF><rdf:Description/></rdf:RDF>", "{\"a\": 1}", "<<<"]
    {
        assert_eq!(Xmp::read(other.as_bytes()), None, "{other}");
    }
    assert_eq!(Xmp::read(b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"), Some(Xmp::default()));
}

#[test]
fn truncated_packet_gives_its_readable_part() {
    let whole = packet(
        "<rdf:Description tiff:Make='Canon'><dc:description>beach</dc:description>\
         <dc:title>title</dc:title></rdf:Description>",
    );
    for (end, description, title) in
        [("</dc:description>", Some("beach"), None), ("</dc:tit", Some("beach"), Some("title"))]
    {
        let cut = read(&whole[..whole.find(end).unwrap() + end.len()]);
        assert_eq!((cut.description(), cut.title()), (description, title), "{end}");
        assert_eq!(cut.make().as_deref(), Some("Canon"));
    }
    let mismatched =
        packet("<rdf:Description tiff:Make='Canon'><dc:title>title</dc:description></rdf:Description>");
    assert_eq!(read(&mismatched).make().as_deref(), Some("Canon"));
}

#[test]
fn hostile_packets_are_bounded() {
    let started = std::time::Instant::now();
    let deep = packet(&format!("<rdf:Description tiff:Make='Canon'>{}", "<dc:description>".repeat(200_000)));
    assert_eq!(read(&deep).make().as_deref(), Some("Canon"));
    let wide = packet(&"<rdf:Description tiff:Make='Canon'/>".repeat(120_000));
    assert_eq!(read(&wide).make().as_deref(), Some("Canon"));
    let attributes: String =
        (0..150_000).map(|number| format!("tiff:Make{number}='' tiff:Make=''")).collect();
    assert_eq!(read(&packet_of(&attributes)).make(), None);
    let prefixes: String =
        (0..100_000).map(|number| format!("xmlns:p{number}='http://example.org/' ")).collect();
    let _ = Xmp::read(packet_of(&format!("{prefixes} {}", "p0:Make='' ".repeat(100_000))).as_bytes());
    let long = packet(&format!(
        "<rdf:Description><dc:description>{}</dc:description></rdf:Description>",
        "é".repeat(1_000_000)
    ));
    assert_eq!(read(&long).description().map(|text| text.chars().count()), Some(32 << 10));
    let references = packet(&format!("<rdf:Description><dc:title>{}", "&#x41;".repeat(600_000)));
    assert_eq!(read(&references).title().map(str::len), Some(64 << 10));
    // A second or so, on a slow machine without optimisation.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Xmp::read(&bytes);
    }

    #[test]
    fn broken_packets_never_panic(
        parts in prop::collection::vec(prop_oneof![
            Just("<rdf:Description "), Just("<dc:description>"), Just("</dc:description>"), Just("<rdf:Alt>"), Just("<rdf:li xml:lang='x-default'>"),
            Just("/>"), Just(">"), Just("</rdf:Description>"), Just("&amp;"), Just("&#99"), Just("exif:GPSLatitude='1,2N'"),
            Just("exif:DateTimeOriginal="), Just("'2019-07-04T"), Just("'"), Just("<![CDATA["), Just("]]>"), Just("<!--"), Just("xmlns:x=''"),
        ], 0..30),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = packet(&parts.concat()).into_bytes();
        let read = Xmp::read(&whole[..cut.index(whole.len())]).unwrap_or_default();
        let _ = (read.date_time_original(), read.position(), read.gps_time());
    }
}
