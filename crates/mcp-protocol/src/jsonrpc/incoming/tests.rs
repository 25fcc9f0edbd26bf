use super::ParseFailureKind::*;
use super::*;
use crate::jsonrpc::Params;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// `id` is the echoed id, `None` for null.
fn check_refused(body: &str, kind: &ParseFailureKind, id: Option<&RequestId>) {
    let failure = Incoming::parse(body.as_bytes()).expect_err(body);
    assert_eq!((&failure.kind, failure.id.as_ref()), (kind, id), "{body}");
    assert_eq!(failure.code(), INVALID_REQUEST, "{body}");
    let answer = serde_json::to_value(failure.into_response()).unwrap();
    assert_eq!(answer["id"], serde_json::to_value(id).unwrap(), "{body}");
    assert_eq!(answer["error"]["code"], json!(-32600), "{body}");
}

#[test]
fn json_that_is_not_a_message_is_an_invalid_request() {
    let one = || Some(RequestId::Integer(1));
    let text = || Some(RequestId::from("x"));
    for (body, kind, id) in [
        ("[]", Batch, None),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Batch, None),
        ("null", NotAnObject, None),
        ("true", NotAnObject, None),
        ("1", NotAnObject, None),
        ("-1", NotAnObject, None),
        ("1.5", NotAnObject, None),
        (r#""ping""#, NotAnObject, None),
        (r#""p\u0069ng""#, NotAnObject, None),
        ("{}", WrongVersion, None),
        (r#"{"id":1,"method":"ping"}"#, WrongVersion, one()),
        (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, WrongVersion, text()),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, WrongVersion, one()),
        (r#"{"jsonrpc":null,"method":"ping"}"#, WrongVersion, None),
        (r#"{"jsonrpc":"2.0"}"#, MissingMethod, None),
        (r#"{"jsonrpc":"2.0","id":1}"#, MissingMethod, one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, MethodNotAString, one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, MethodNotAString, one()),
        (r#"{"jsonrpc":"2.0","method":["a"]}"#, MethodNotAString, None),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, InvalidId, None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, InvalidId, None),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, InvalidId, None),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, InvalidId, None),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, InvalidId, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":1}"#, ParamsNotStructured, one()),
        (r#"{"jsonrpc":"2.0","id":"x","method":"ping","params":"a"}"#, ParamsNotStructured, text()),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping","params":false}"#, ParamsNotStructured, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, RequestAndResponse, one()),
        (r#"{"jsonrpc":"2.0","method":"ping","error":null}"#, RequestAndResponse, None),
    ] {
        check_refused(body, &kind, id.as_ref());
    }
}

#[test]
fn a_duplicate_member_is_an_invalid_request() {
    let one = || Some(RequestId::Integer(1));
    for (body, name, id) in [
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#, "jsonrpc", one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, "method", one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}"#, "method", one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#, "params", one()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"x","name":"y"}}"#, "name", one()),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, "id", None),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}"#, "id", None),
        (r#"{"jsonrpc":"2.0","id":null,"id":1,"method":"a"}"#, "id", None),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"result":1}"#, "result", one()),
    ] {
        check_refused(body, &RepeatedMember { name: name.to_owned() }, id.as_ref());
    }
}

#[test]
fn a_malformed_response_is_an_invalid_request() {
    let one = || Some(RequestId::Integer(1));
    let error = r#"{"code":1,"message":"m"}"#;
    for (body, kind, id) in [
        (format!(r#"{{"jsonrpc":"2.0","id":1,"result":1,"error":{error}}}"#), InvalidResponse, one()),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#.to_owned(), InvalidResponse, one()),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#.to_owned(), InvalidResponse, one()),
        (r#"{"jsonrpc":"2.0","result":{}}"#.to_owned(), InvalidId, None),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#.to_owned(), InvalidId, None),
        (format!(r#"{{"jsonrpc":"2.0","id":1.5,"error":{error}}}"#), InvalidId, None),
        (r#"{"id":1,"result":{}}"#.to_owned(), WrongVersion, one()),
    ] {
        check_refused(&body, &kind, id.as_ref());
    }
}

#[test]
fn bytes_that_are_not_json_are_a_parse_error_without_id() {
    let deep_arrays = "[".repeat(100_000) + &"]".repeat(100_000);
    let deep_params = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{deep_arrays}}}"#);
    let deep_unknown = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","other":{deep_arrays}}}"#);
    let deep_objects = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    let bodies: [&[u8]; 17] = [
        b"",
        b"   ",
        b"{",
        b"[1,",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}",
        b"{} {}",
        b"{'id':1}",
        b"{\"id\":1,}",
        b"\xef\xbb\xbf{}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
        b"NaN",
        deep_arrays.as_bytes(),
        deep_objects.as_bytes(),
        deep_params.as_bytes(),
        deep_unknown.as_bytes(),
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(body.get(..80).unwrap_or(body)).into_owned();
        let failure = Incoming::parse(body).expect_err(&shown);
        assert!(matches!(failure.kind, Malformed { .. }), "{shown}: {failure:?}");
        assert_eq!((failure.code(), failure.id.as_ref()), (PARSE_ERROR, None), "{shown}");
        let answer = serde_json::to_value(failure.into_response()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)), "{shown}");
    }
}

#[test]
fn the_kinds_of_messages_are_distinguished() {
    let object = Params::Object(Map::new());
    for (body, expect) in [
        (r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#, Incoming::Request(Request::new(0, "ping", None))),
        (
            r#"{"params":{},"method":"","id":"","jsonrpc":"2.0","extra":{"a":1}}"#,
            Incoming::Request(Request::new("", "", Some(object))),
        ),
        (
            r#" {"jsonrpc":"2.0","method":"notifications/initialized","params":[1]} "#,
            Incoming::Notification(Notification::new(
                "notifications/initialized",
                Some(Params::Array(vec![json!(1)])),
            )),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            Incoming::Response(Response::success(RequestId::Integer(1), Value::Null)),
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}"#,
            Incoming::Response(Response::failure(None, ErrorObject::new(-1, "m"))),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m","data":1}}"#,
            Incoming::Response(Response::failure(None, ErrorObject::new(-1, "m").with_data(json!(1)))),
        ),
    ] {
        assert_eq!(Incoming::parse(body.as_bytes()).unwrap(), expect, "{body}");
    }
}

#[test]
fn params_that_are_null_or_an_empty_array_are_absent() {
    for params in ["null", "[]", " [ ] "] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
        let expect = Incoming::Request(Request::new(1, "ping", None));
        assert_eq!(Incoming::parse(request.as_bytes()), Ok(expect), "{request}");
        let notification = format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{params}}}"#);
        let expect = Incoming::Notification(Notification::new("notifications/x", None));
        assert_eq!(Incoming::parse(notification.as_bytes()), Ok(expect), "{notification}");
    }
}

#[test]
fn an_id_keeps_its_spelling() {
    let check = |message: &str, id: &str| {
        let Ok(Incoming::Request(request)) = Incoming::parse(message.as_bytes()) else { panic!("{message}") };
        assert_eq!(request.id, RequestId::Verbatim(id.to_owned()), "{message}");
        let answer = Response::success(request.id, json!({"id": 1})).to_json().unwrap();
        let expect = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"id":1}}}}"#);
        assert_eq!(String::from_utf8(answer).unwrap(), expect);
    };
    for id in ["1.0", "-0", "1e3", "18446744073709551615", "123456789012345678901234567890"] {
        check(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), id);
        check(
            &format!(
                r#" {{"\\" : "\\", "a\"id":[{{"id":2}},"}},"],"params":{{"id":3}} ,"\u0069d" :{id}
            ,"method":"ping","jsonrpc":"2.0"}} "#
            ),
            id,
        );
    }
    let failure = Incoming::parse(br#"{"id":1.0,"method":"ping"}"#).unwrap_err();
    assert_eq!(failure.id, Some(RequestId::Verbatim("1.0".to_owned())));
}

#[test]
fn an_unexpected_response_is_an_invalid_request() {
    let failure = ParseFailure::unexpected_response();
    assert_eq!((failure.code(), failure.id.as_ref()), (INVALID_REQUEST, None));
    assert_eq!(failure.to_string(), "the message is not a request or notification");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_id() -> impl Strategy<Value = RequestId> {
    let beyond_i64 = (1_u64 << 63)..=u64::MAX;
    prop_oneof![
        any::<i64>().prop_map(RequestId::from),
        beyond_i64.prop_map(|id| RequestId::Verbatim(id.to_string())),
        any::<String>().prop_map(RequestId::from),
    ]
}

fn any_params() -> impl Strategy<Value = Option<Params>> {
    any_json()
        .prop_map(|value| Params::try_from(value).ok().filter(|params| *params != Params::Array(Vec::new())))
}

fn any_message() -> impl Strategy<Value = Incoming> {
    let request = (any_id(), any::<String>(), any_params());
    let notification = (any::<String>(), any_params());
    let success = (any_id(), any_json());
    let failure = (prop::option::of(any_id()), any::<i64>(), any::<String>(), prop::option::of(any_json()));
    prop_oneof![
        request.prop_map(|(id, method, params)| Incoming::Request(Request { id, method, params })),
        notification.prop_map(|(method, params)| Incoming::Notification(Notification { method, params })),
        success.prop_map(|(id, result)| Incoming::Response(Response::Success { id, result })),
        failure.prop_map(|(id, code, message, data)| {
            Incoming::Response(Response::failure(id, ErrorObject { code, message, data }))
        }),
    ]
}

fn write(message: &Incoming) -> Vec<u8> {
    match message {
        Incoming::Request(request) => serde_json::to_vec(request),
        Incoming::Notification(notification) => serde_json::to_vec(notification),
        Incoming::Response(response) => serde_json::to_vec(response),
    }
    .unwrap()
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let _ = Incoming::parse(&bytes);
    }

    #[test]
    fn errors_for_arbitrary_members_contain_a_valid_id(
        id in any_json(), method in any_json(), params in any_json(), result in prop::option::of(any_json()),
    ) {
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if let Some(result) = result {
            message["result"] = result;
        }
        if let Err(failure) = Incoming::parse(message.to_string().as_bytes()) {
            prop_assert_eq!(failure.code(), INVALID_REQUEST);
            prop_assert_eq!(failure.id, RequestId::try_from(id).ok());
        }
    }

    #[test]
    fn the_id_is_found_in_any_object(
        members in prop::collection::vec(("\\PC{0,6}", any_json()), 0..6), id in prop_oneof!["1\\.0", "[1-9][0-9]{19,60}"],
    ) {
        let own = ["jsonrpc", "id", "method", "params", "result", "error"];
        let mut message = String::from("{");
        for (name, value) in members.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
            message += &format!("{}:{value},", Value::from(name.as_str()));
        }
        message += &format!(r#""id":{id},"jsonrpc":"2.0","method":"a"}}"#);
        match Incoming::parse(message.as_bytes()) {
            Ok(Incoming::Request(request)) => prop_assert_eq!(request.id.to_json().unwrap(), id),
            other => prop_assert!(false, "{}: {:?}", message, other),
        }
    }

    #[test]
    fn a_truncated_message_is_a_parse_error(message in any_message(), cut: prop::sample::Index) {
        let bytes = write(&message);
        let kept = bytes.get(..cut.index(bytes.len())).unwrap();
        prop_assert_eq!(Incoming::parse(kept).unwrap_err().code(), PARSE_ERROR);
    }

    #[test]
    fn messages_survive_a_round_trip(message in any_message()) {
        let bytes = write(&message);
        prop_assert_eq!(&Incoming::parse(&bytes).unwrap(), &message);
        match message {
            Incoming::Request(request) => {
                prop_assert_eq!(serde_json::from_slice::<Request>(&bytes).unwrap(), request);
            }
            Incoming::Notification(notification) => {
                prop_assert_eq!(serde_json::from_slice::<Notification>(&bytes).unwrap(), notification);
            }
            Incoming::Response(response) => {
                prop_assert_eq!(serde_json::from_slice::<Response>(&bytes).unwrap(), response);
            }
        }
    }
}
