use super::*;
use domain::{SearchTarget, Timestamp};
use proptest::prelude::*;
use serde_json::json;

/// The parsed arguments, or the error message.
fn parsed<T: DeserializeOwned, Q>(
    arguments: Value,
    convert: impl FnOnce(T) -> Result<Q, Invalid>,
) -> Result<Q, String> {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let read: T = read(arguments).map_err(|error| error.to_string())?;
    convert(read).map_err(|invalid| invalid.to_string())
}

fn list(arguments: Value) -> Result<ListQuery, String> {
    parsed(arguments, |arguments: ListImages| arguments.query(Filter::default()))
}

fn search(arguments: Value) -> Result<SearchQuery, String> {
    parsed(arguments, |arguments: SearchImages| arguments.query(Filter::default()))
}

/// Asserts that the message names the argument.
fn assert_rejected<Q: std::fmt::Debug>(outcome: Result<Q, String>, name: &str) {
    let message = outcome.unwrap_err();
    assert!(
        message.starts_with(&format!("{name}: ")) || message.starts_with(&format!("{name}[")),
        "{message}"
    );
}

#[test]
fn absent_null_and_blank_are_the_same() {
    for arguments in [
        json!({}),
        json!({"limit": null, "startDate": null, "latitude": null}),
        json!({"limit": "", "startDate": " ", "endDate": "\t", "radiusMeters": ""}),
        json!({"unknown": [1]}),
    ] {
        assert_eq!(list(arguments.clone()), Ok(ListQuery::default()), "{arguments}");
    }
    let blank = json!({"query": " sea ", "albumId": "", "channels": [], "longitude": null, "limit": null});
    let query = search(blank).unwrap();
    let text = QueryText::parse("sea").unwrap();
    assert_eq!(query.target, SearchTarget::Words { text, channels: None });
    assert_eq!(query.album, None);
}

#[test]
fn lists_are_limited_by_time_and_place() {
    let query = list(json!({
        "limit": 7.0, "startDate": "2024-05-01", "endDate": " 2024-05-02T01:00:00+01:00 ",
        "latitude": 48, "longitude": -11.5, "radiusMeters": 1000,
    }))
    .unwrap();
    assert_eq!(query.limit.get(), 7);
    assert_eq!(query.filter.range.start(), Timestamp::parse_iso("2024-05-01").unwrap());
    assert_eq!(query.filter.range.end(), Timestamp::parse_iso("2024-05-02").unwrap());
    assert_eq!(query.filter.circle, Circle::from_parts(Some(48.0), Some(-11.5), Some(1000.0)).unwrap());
}

#[test]
fn errors_name_the_argument_of_a_list() {
    for (arguments, name) in [
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 101}), "limit"),
        (json!({"limit": -1}), "limit"),
        (json!({"limit": 1e30}), "limit"),
        (json!({"limit": 1.5}), "limit"),
        (json!({"limit": "ten"}), "limit"),
        (json!({"limit": true}), "limit"),
        (json!({"startDate": "yesterday"}), "startDate"),
        (json!({"endDate": 2024}), "endDate"),
        (json!({"startDate": "2024-05-02", "endDate": "2024-05-01"}), "startDate"),
        (json!({"latitude": 1, "longitude": 2}), "radiusMeters"),
        (json!({"radiusMeters": 2}), "latitude"),
        (json!({"latitude": 91, "longitude": 2, "radiusMeters": 3}), "latitude"),
        (json!({"latitude": 1, "longitude": 181, "radiusMeters": 3}), "longitude"),
        (json!({"latitude": 1, "longitude": 2, "radiusMeters": 0}), "radiusMeters"),
        (json!({"latitude": "x", "longitude": 2, "radiusMeters": 1}), "latitude"),
    ] {
        assert_rejected(list(arguments), name);
    }
}

#[test]
fn channels_are_an_array_or_a_text_with_commas() {
    for (channels, text, image) in [
        (json!(["text"]), true, false),
        (json!(["text", "image", "text"]), true, true),
        (json!("image"), false, true),
        (json!(" text , image"), true, true),
    ] {
        let query = search(json!({"query": "sea", "channels": channels})).unwrap();
        let SearchTarget::Words { channels, .. } = query.target else { panic!("{query:?}") };
        assert_eq!(channels, Some(Channels { text, image }));
    }
}

#[test]
fn a_search_needs_words_an_album_or_a_circle() {
    assert_eq!(search(json!({"albumId": "a"})).unwrap().album.as_deref(), Some("a"));
    let circle = json!({"latitude": 1, "longitude": 2, "radiusMeters": 3});
    assert_eq!(search(circle).unwrap().target, SearchTarget::Everything);
    for (arguments, name) in [
        (json!({}), "query"),
        (json!({"query": " "}), "query"),
        (json!({"query": "é".repeat(2001)}), "query"),
        (json!({"query": 7}), "query"),
        (json!({"query": "a", "channels": ["video"]}), "channels"),
        (json!({"query": "a", "channels": "text,"}), "channels"),
        (json!({"query": "a", "channels": 1}), "channels"),
        (json!({"query": "a", "channels": ["text"], "albumId": "b"}), "channels"),
        (json!({"albumId": "b", "channels": ["text"]}), "channels"),
        (json!({"query": "a", "limit": 101}), "limit"),
        (json!({"query": "a", "latitude": 1}), "longitude"),
    ] {
        assert_rejected(search(arguments), name);
    }
}

#[test]
fn album_pages_are_parsed() {
    let page = |arguments| {
        let page = parsed(arguments, |arguments: ListAlbums| arguments.page());
        page.map(|(limit, offset)| (limit.get(), offset.get()))
    };
    assert_eq!(page(json!({})), Ok((50, 0)));
    assert_eq!(page(json!({"limit": 100, "offset": 500})), Ok((100, 500)));
    for (arguments, name) in [
        (json!({"offset": 501}), "offset"),
        (json!({"offset": -1}), "offset"),
        (json!({"limit": 0}), "limit"),
    ] {
        assert_rejected(page(arguments), name);
    }
}

#[test]
fn new_albums_and_changes_are_parsed() {
    let create = |arguments| parsed(arguments, CreateAlbum::album);
    let (title, images) = create(json!({"title": " T ", "imageIds": ["a", "b", "a"]})).unwrap();
    assert_eq!((title.as_str(), images), ("T", vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(create(json!({"title": "T", "imageIds": null})).unwrap().1, Vec::<String>::new());
    for (arguments, name) in [
        (json!({}), "title"),
        (json!({"title": "  "}), "title"),
        (json!({"title": "x".repeat(101)}), "title"),
        (json!({"title": "T", "imageIds": vec!["a"; 101]}), "imageIds"),
        (json!({"title": "T", "imageIds": [1]}), "imageIds"),
        (json!({"title": "T", "imageIds": "a"}), "imageIds"),
    ] {
        assert_rejected(create(arguments), name);
    }
    let change = |arguments| parsed(arguments, UpdateAlbum::change);
    let changed = change(json!({"albumId": "x", "title": "", "removeImageIds": ["a"]})).unwrap();
    assert_eq!((changed.title, changed.remove), (None, vec!["a".to_owned()]));
    for (arguments, name) in [
        (json!({"title": "T"}), "albumId"),
        (json!({"albumId": "x", "addImageIds": ["a"], "removeImageIds": ["a"]}), "addImageIds"),
        (json!({"albumId": "x", "removeImageIds": vec!["a"; 101]}), "removeImageIds"),
    ] {
        assert_rejected(change(arguments), name);
    }
    assert_eq!(
        change(json!({"albumId": "x"})),
        Err("title: is missing; give it, or addImageIds, or removeImageIds".to_owned())
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        prop::collection::vec(".*", 0..3).prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn any_arguments_are_parsed_or_rejected(values in prop::collection::vec(any_value(), 9)) {
        let names = [
            "query", "albumId", "channels", "latitude", "longitude", "radiusMeters", "limit", "startDate", "endDate",
        ];
        let arguments: Value = names.into_iter().map(str::to_owned).zip(values).collect::<Map<_, _>>().into();
        if let Err(message) = search(arguments) {
            prop_assert!(names.iter().any(|name| message.starts_with(name)), "{}", message);
        }
    }
}

#[test]
fn views_have_one_to_sixteen_images() {
    let views = |arguments| parsed(arguments, ViewImages::views);
    let ids = |count: usize| (0..count).map(|id| id.to_string()).collect::<Vec<_>>();
    for (arguments, ids, size, sheet) in [
        (json!({"imageIds": ["a", "b", "a"]}), vec!["a".to_owned(), "b".to_owned()], ViewSize::Small, false),
        (json!({"imageIds": ids(16), "size": "medium", "sheet": true}), ids(16), ViewSize::Medium, true),
        (json!({"imageIds": ["0"], "size": "", "sheet": null}), ids(1), ViewSize::Small, false),
    ] {
        assert_eq!(views(arguments), Ok(Views { ids, size, sheet }));
    }
    for (arguments, name) in [
        (json!({}), "imageIds"),
        (json!({"imageIds": []}), "imageIds"),
        (json!({"imageIds": ids(17)}), "imageIds"),
        (json!({"imageIds": "a"}), "imageIds"),
        (json!({"imageIds": ["a"], "size": "large"}), "size"),
        (json!({"imageIds": ["a"], "sheet": "yes"}), "sheet"),
    ] {
        assert_rejected(views(arguments), name);
    }
}
