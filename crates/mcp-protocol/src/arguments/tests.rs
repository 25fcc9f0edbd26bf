use super::*;
use crate::jsonrpc::ErrorObject;
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashMap;

#[derive(Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Search {
    query: Option<String>,
    limit: Option<u32>,
    offset: i64,
    page: u64,
    small: i8,
    radius_m: Option<f64>,
    channels: Vec<Channel>,
    circle: Option<Circle>,
    image_ids: Option<Vec<String>>,
    strict: bool,
    tags: HashMap<String, u8>,
    pair: (u8, u8),
    shape: Option<Shape>,
    id: Option<Id>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Channel {
    Text,
    Image,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Circle {
    latitude: f64,
    longitude: f64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Square(u8),
    Box { width: u8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Id {
    Number(u8),
    Name(String),
}

#[derive(Debug, Deserialize)]
struct Required {
    #[serde(rename = "id")]
    _id: String,
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    parse_arguments(value.as_object().unwrap()).map_err(|error| error.to_string())
}

#[test]
fn errors_name_the_argument_and_what_it_should_be() {
    for (arguments, message) in [
        (json!({"limit": "10"}), "limit: expected an integer, got a string"),
        (json!({"limit": 1.5}), "limit: expected an integer, got the number 1.5"),
        (json!({"limit": [1]}), "limit: expected an integer, got an array"),
        (json!({"limit": {}}), "limit: expected an integer, got an object"),
        (json!({"limit": true}), "limit: expected an integer, got a boolean"),
        (json!({"limit": -1}), "limit: expected an integer from 0 to 4294967295, got the number -1"),
        (
            json!({"limit": 5_000_000_000_u64}),
            "limit: expected an integer from 0 to 4294967295, got the number 5000000000",
        ),
        (json!({"page": -1}), "page: expected an integer of 0 or more, got the number -1"),
        (json!({"page": null}), "page: expected an integer, got null"),
        (json!({"small": 128.0}), "small: expected an integer from -128 to 127, got the number 128"),
        (json!({"offset": 1e300}), "offset: expected an integer, got the number 1e300"),
        (json!({"radiusM": "far"}), "radiusM: expected a number, got a string"),
        (json!({"query": 1}), "query: expected a string, got the number 1"),
        (json!({"strict": "yes"}), "strict: expected a boolean, got a string"),
        (json!({"channels": "text"}), "channels: expected an array, got a string"),
        (
            json!({"channels": ["text", "ocr"]}),
            "channels[1]: \"ocr\" is not accepted; use one of: text, image",
        ),
        (json!({"channels": [1]}), "channels[0]: expected one of the accepted names, got the number 1"),
        (json!({"imageIds": ["a", 2]}), "imageIds[1]: expected a string, got the number 2"),
        (json!({"circle": 1}), "circle: expected an object, got the number 1"),
        (json!({"circle": {"latitude": 1}}), "circle.longitude: is required"),
        (
            json!({"circle": {"latitude": "x", "longitude": 0}}),
            "circle.latitude: expected a number, got a string",
        ),
        (
            json!({"circle": {"latitude": 1, "longitude": 2, "radius": 3}}),
            "circle.radius: is not known; known names: latitude, longitude",
        ),
        (json!({"tags": {"a": 256}}), "tags.a: expected an integer from 0 to 255, got the number 256"),
        (json!({"pair": [1]}), "pair: expected an array, got 1 items"),
        (json!({"pair": [1, 2, 3]}), "pair: expected 2 items, got 3"),
        (json!({"shape": {"Square": "x"}}), "shape.Square: expected an integer, got a string"),
        (json!({"shape": {"Box": {"width": "x"}}}), "shape.Box.width: expected an integer, got a string"),
        (
            json!({"shape": {"Point": null, "Box": 1}}),
            "shape: expected one of the accepted names, got an object",
        ),
        (json!({"id": 300}), "id: does not have one of the accepted forms"),
    ] {
        let error = read::<Search>(&arguments).unwrap_err();
        assert_eq!(error, message, "{arguments}");
    }
    assert_eq!(read::<Required>(&json!({})).unwrap_err(), "id: is required");
    assert_eq!(read::<u32>(&json!({})).unwrap_err(), "expected an integer, got an object");
}

#[test]
fn valid_arguments_are_read() {
    for (arguments, expect) in [
        (json!({}), Search::default()),
        (json!({"unknown": [1], "limit": null}), Search::default()),
        (json!({"limit": 10}), Search { limit: Some(10), ..Search::default() }),
        (json!({"limit": 10.0, "small": -3.0}), Search { limit: Some(10), small: -3, ..Search::default() }),
        (json!({"page": u64::MAX}), Search { page: u64::MAX, ..Search::default() }),
        (json!({"offset": i64::MIN}), Search { offset: i64::MIN, ..Search::default() }),
        (json!({"radiusM": 10}), Search { radius_m: Some(10.0), ..Search::default() }),
        (
            json!({"channels": ["image"], "shape": "Point", "pair": [1, 2.0]}),
            Search {
                channels: vec![Channel::Image],
                shape: Some(Shape::Point),
                pair: (1, 2),
                ..Search::default()
            },
        ),
        (
            json!({"shape": {"Box": {"width": 2}}, "id": "a"}),
            Search {
                shape: Some(Shape::Box { width: 2 }),
                id: Some(Id::Name("a".into())),
                ..Search::default()
            },
        ),
    ] {
        assert_eq!(read::<Search>(&arguments), Ok(expect), "{arguments}");
    }
    assert_eq!(read::<NoArguments>(&json!({"a": 1})), Ok(NoArguments {}));
    assert_eq!(read::<Value>(&json!({"a": [1, {"b": null}]})), Ok(json!({"a": [1, {"b": null}]})));
}

#[test]
fn long_texts_are_shortened_in_errors() {
    let error = read::<Search>(&json!({"channels": ["é".repeat(10_000)]})).unwrap_err();
    assert!(error.chars().count() < 120, "{error}");
    let error = read::<Search>(&json!({"tags": {"é".repeat(10_000): "x"}})).unwrap_err();
    assert!(error.chars().count() < 120, "{error}");
}

#[test]
fn a_tool_can_create_errors() {
    let error = ArgumentError::new("limit", "must be at most 200");
    assert_eq!((error.field(), error.problem()), ("limit", "must be at most 200"));
    assert_eq!(ErrorObject::from(error), ErrorObject::invalid_params("limit: must be at most 200"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("latitude|longitude|Square|Box|width|[a-z]{1,3}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

const NAMES: &str =
    "query|limit|offset|page|small|radiusM|channels|circle|imageIds|strict|tags|pair|shape|id";

proptest! {
    #[test]
    fn errors_name_the_wrong_argument(name in NAMES, value in any_value()) {
        let arguments = Map::from_iter([(name.clone(), value)]);
        if let Err(error) = parse_arguments::<Search>(&arguments) {
            prop_assert!(error.field().starts_with(&name), "{}", error);
            prop_assert!(!error.problem().is_empty());
        }
    }

    #[test]
    fn agrees_with_serde_json(name in NAMES, value in any_value()) {
        let arguments = Map::from_iter([(name, value)]);
        if let Ok(expect) = serde_json::from_value::<Search>(Value::Object(arguments.clone())) {
            prop_assert_eq!(parse_arguments::<Search>(&arguments), Ok(expect));
        }
    }

    #[test]
    fn arguments_survive_a_round_trip(
        query: Option<String>, limit: Option<u32>, offset: i64, page: u64, small: i8, strict: bool, pair: (u8, u8),
    ) {
        let search = Search { query, limit, offset, page, small, strict, pair, ..Search::default() };
        let Value::Object(arguments) = serde_json::to_value(&search).unwrap() else { unreachable!() };
        prop_assert_eq!(parse_arguments::<Search>(&arguments), Ok(search));
    }
}
