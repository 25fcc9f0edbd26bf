use dav_protocol::{
    Name,
    bodies::{Comparison, Condition, Pattern, SortKey},
    names::{DAV, NEXTCLOUD, OWNCLOUD},
};
use domain::{FileName, FilePath, Timestamp};
use library::{FileContent, FileEntry, FileId, FileKind, FileTimes, LocatedFile};
use proptest::prelude::*;

use super::{bounds::Bounds, filter::Filter, order::Order};

fn hash() -> domain::ContentHash {
    domain::ContentHash::from_slice(&[7; 32]).unwrap()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn file(name: &str, kind: FileKind, id: i64, modified_ms: i64) -> LocatedFile {
    let name = FileName::parse(name).unwrap();
    let entry = FileEntry {
        id: FileId(id),
        name: Some(name.clone()),
        kind,
        bytes: 10,
        version: 1,
        times: FileTimes { modified_at: Some(at(modified_ms)), created_at: None },
        received_at: at(5500),
        sha1: None,
    };
    LocatedFile { path: FilePath::new(vec![name]).unwrap(), entry }
}

fn photo(id: i64, modified_ms: i64) -> LocatedFile {
    let content = FileContent::Partial { original: hash(), media_type: "image/jpeg".to_owned() };
    file("IMG_1.jpg", FileKind::File(content), id, modified_ms)
}

fn compare(namespace: &'static str, name: &'static str, comparison: Comparison, literal: &str) -> Condition {
    Condition::Compare { property: Name::new(namespace, name), comparison, literal: literal.to_owned() }
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

#[test]
fn properties_compare_as_clients_see_them() {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
    let image = photo(42, 1700);
    let check = |condition: Condition, expect: bool| {
        assert_eq!(Filter::new(&condition).matches(&image), expect, "{condition:?}");
    };
    // Clients see the second 1.
    for (comparison, literal, expect) in [
        (Equal, "1", true),
        (Less, "1", false),
        (Less, "1.5", true),
        (LessOrEqual, "1", true),
        (Greater, "1", false),
        (Greater, "0.9", true),
        (GreaterOrEqual, "1", true),
        (GreaterOrEqual, "1.5", false),
        (Less, "4001-01-01T00:00:00Z", true),
        (Greater, "0001-01-01T00:00:00+01:00", true),
        (Equal, "Thu, 01 Jan 1970 00:00:01 GMT", true),
        (Equal, "yesterday", false),
    ] {
        check(compare(DAV, "getlastmodified", comparison, literal), expect);
    }
    check(compare(DAV, "creationdate", Equal, "5"), true);
    check(compare(NEXTCLOUD, "upload_time", Equal, "5"), true);
    check(compare(NEXTCLOUD, "creation_time", Equal, "0"), true);
    check(compare(OWNCLOUD, "fileid", Equal, "42"), true);
    check(compare(OWNCLOUD, "fileid", Equal, "00000042ocabc"), true);
    check(compare(OWNCLOUD, "fileid", Equal, "oc"), false);
    check(compare(OWNCLOUD, "size", Greater, " 9 "), true);
    check(compare(OWNCLOUD, "size", Greater, "-9"), false);
    check(compare(DAV, "getcontentlength", LessOrEqual, "10"), true);
    check(compare(OWNCLOUD, "favorite", Equal, "yes"), false);
    check(compare(OWNCLOUD, "favorite", Equal, "0"), true);
    check(compare(DAV, "getcontenttype", Equal, "image/jpeg"), true);
    check(compare(DAV, "displayname", Equal, "img_1.jpg"), false);
    check(compare(DAV, "displayname", Equal, "IMG_1.jpg"), true);
}

#[test]
fn neither_a_comparison_with_an_unknown_value_nor_its_opposite_holds() {
    let image = photo(1, 0);
    let unknown = || compare(NEXTCLOUD, "other", Comparison::Equal, "1");
    let (yes, no) = (|| not(Condition::IsCollection), || Condition::IsCollection);
    for (condition, expect) in [
        (unknown(), false),
        (not(unknown()), false),
        (Condition::All(vec![yes(), unknown()]), false),
        (not(Condition::All(vec![no(), unknown()])), true),
        (Condition::Any(vec![yes(), unknown()]), true),
        (not(Condition::Any(vec![no(), unknown()])), false),
        (Condition::IsDefined(Name::new(DAV, "getetag")), true),
        (not(Condition::IsDefined(Name::new(NEXTCLOUD, "other"))), true),
        (Condition::Like { property: Name::new(OWNCLOUD, "size"), pattern: Pattern::parse("%") }, false),
    ] {
        assert_eq!(Filter::new(&condition).matches(&image), expect, "{condition:?}");
    }
}

#[test]
fn a_folder_and_a_file_without_content_have_no_image_type() {
    let like =
        Condition::Like { property: Name::new(DAV, "getcontenttype"), pattern: Pattern::parse("image/%") };
    let is_image = |kind| Filter::new(&like).matches(&file("x.jpg", kind, 1, 0));
    assert!(!is_image(FileKind::Folder));
    assert!(!is_image(FileKind::File(FileContent::Junk)));
    assert!(!is_image(FileKind::File(FileContent::Placeholder)));
    let original = hash();
    assert!(is_image(FileKind::File(FileContent::Photo { original, image: None })));
}

#[test]
fn searches_without_a_possible_result_visit_no_files() {
    let is_empty = |condition: Condition| {
        let bounds = Bounds::of(&condition);
        bounds.since > bounds.until
    };
    assert!(!is_empty(compare(OWNCLOUD, "favorite", Comparison::Equal, "yes")));
    assert!(is_empty(compare(OWNCLOUD, "fileid", Comparison::Equal, "x")));
    assert!(is_empty(compare(NEXTCLOUD, "other", Comparison::Less, "1")));
    assert!(!is_empty(not(compare(NEXTCLOUD, "other", Comparison::Less, "1"))));
}

#[test]
fn equal_files_are_ordered_newest_first() {
    let key = |name, is_descending| SortKey { property: Name::new(DAV, name), is_descending };
    for (keys, expect) in [
        (vec![], true),
        (vec![key("getlastmodified", true), key("displayname", true)], true),
        (vec![key("other", false), key("getlastmodified", true)], true),
        (vec![key("getlastmodified", false)], false),
        (vec![key("displayname", true)], false),
    ] {
        assert_eq!(Order::new(&keys).is_newest_first(), expect, "{keys:?}");
    }
    let order = Order::new(&[key("displayname", false)]);
    let (older, newer) = (photo(1, 0), photo(2, 1));
    assert!(order.compare(&newer, &older).is_lt());
}

fn conditions() -> impl Strategy<Value = Condition> {
    let comparisons = prop::sample::select(vec![
        Comparison::Equal,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ]);
    let literals = prop::sample::select(vec!["0", "1", "1.5", "2", "2.999", "3", "x"]);
    let names = prop::sample::select(vec![
        (DAV, "getlastmodified"),
        (OWNCLOUD, "fileid"),
        (OWNCLOUD, "favorite"),
        (OWNCLOUD, "size"),
        (NEXTCLOUD, "other"),
    ]);
    let leaf = (names, comparisons, literals)
        .prop_map(|((namespace, name), comparison, literal)| compare(namespace, name, comparison, literal));
    leaf.prop_recursive(4, 16, 3, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several.clone().prop_map(Condition::All),
            several.prop_map(Condition::Any),
            inner.prop_map(not),
        ]
    })
}

proptest! {
    #[test]
    fn every_matching_file_is_within_the_bounds(condition in conditions(), id in 0_i64..4, modified_ms in 0_i64..4000) {
        let found = photo(id, modified_ms);
        let bounds = Bounds::of(&condition);
        if Filter::new(&condition).matches(&found) {
            prop_assert!((bounds.since..=bounds.until).contains(&at(modified_ms)), "{bounds:?}");
            prop_assert!(bounds.id.is_none_or(|known| known == FileId(id)), "{bounds:?}");
        }
    }
}
