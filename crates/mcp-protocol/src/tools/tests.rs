use super::*;
use serde_json::json;

#[test]
fn a_tool_survives_a_round_trip_with_the_protocols_names() {
    let annotations = ToolAnnotations::titled("T").read_only(false).destructive(false);
    let tool = Tool::new("t", "Does t.", json!({"type": "object"}))
        .with_title("T")
        .with_output_schema(json!({"type": "object"}))
        .with_annotations(annotations.idempotent(true).open_world(false))
        .with_meta(Map::from_iter([("ui".to_owned(), json!({}))]));
    let value = serde_json::to_value(ListToolsResult::new(vec![tool.clone()])).unwrap();
    let expect = json!({"tools": [{
        "name": "t",
        "title": "T",
        "description": "Does t.",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
        "annotations": {
            "title": "T",
            "readOnlyHint": false,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
        "_meta": {"ui": {}},
    }]});
    assert_eq!(value, expect);
    assert_eq!(serde_json::from_value::<ListToolsResult>(value).unwrap().tools, [tool]);
}

#[test]
fn unknown_fields_of_a_tool_are_ignored() {
    let value = json!({"name": "t", "inputSchema": {"type": "object"}, "execution": {}, "icons": []});
    let tool: Tool = serde_json::from_value(value).unwrap();
    assert_eq!((tool.name.as_str(), tool.description), ("t", None));
}

fn check_call(params: &Value, expect: Result<CallToolParams, &str>) {
    let read = CallToolParams::from_params(Some(Params::of(params).unwrap()));
    assert_eq!(read.map_err(|error| error.to_string()), expect.map_err(str::to_owned), "{params}");
}

#[test]
fn a_call_has_a_name_and_an_object_of_arguments() {
    check_call(&json!({"name": "t"}), Ok(CallToolParams::new("t")));
    check_call(&json!({"name": "t", "arguments": {}, "task": {}}), Ok(CallToolParams::new("t")));
    check_call(
        &json!({"name": "t", "arguments": {"a": 1}}),
        Ok(CallToolParams::new("t").with_argument("a", json!(1))),
    );
    let meta = Some(Map::from_iter([("progressToken".to_owned(), json!(1))]));
    check_call(
        &json!({"name": "t", "_meta": {"progressToken": 1}}),
        Ok(CallToolParams { meta, ..CallToolParams::new("t") }),
    );
    check_call(&json!({}), Err("name: is required"));
    check_call(&json!([]), Err("params: expected an object, got an array"));
    check_call(&json!({"name": 7}), Err("name: expected a string, got the number 7"));
    check_call(&json!({"name": null}), Err("name: expected a string, got null"));
    check_call(&json!({"name": "t", "arguments": []}), Err("arguments: expected an object, got an array"));
    check_call(&json!({"name": "t", "arguments": null}), Err("arguments: expected an object, got null"));
    check_call(&json!({"name": "t", "arguments": "{}"}), Err("arguments: expected an object, got a string"));
    check_call(&json!({"name": "t", "_meta": true}), Err("_meta: expected an object, got a boolean"));
    assert_eq!(CallToolParams::from_params(None).unwrap_err().to_string(), "name: is required");
}

#[test]
fn a_call_survives_a_round_trip() {
    let call = CallToolParams::new("t").with_argument("a", json!([1]));
    let value = serde_json::to_value(&call).unwrap();
    assert_eq!(value, json!({"name": "t", "arguments": {"a": [1]}}));
    assert_eq!(serde_json::from_value::<CallToolParams>(value).unwrap(), call);
}

#[test]
fn is_error_is_written_only_when_true() {
    for (result, expect) in [
        (CallToolResult::text("a"), json!({"content": [{"type": "text", "text": "a"}]})),
        (CallToolResult::error("no"), json!({"content": [{"type": "text", "text": "no"}], "isError": true})),
        (
            CallToolResult::structured(json!({"n": 1})),
            json!({"content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1}}),
        ),
        (
            CallToolResult::text("a")
                .with_content(ContentBlock::text("b"))
                .with_structured_content(json!({})),
            json!({
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                "structuredContent": {},
            }),
        ),
    ] {
        let value = serde_json::to_value(&result).unwrap();
        assert_eq!(value, expect);
        assert_eq!(serde_json::from_value::<CallToolResult>(value).unwrap(), result);
    }
}

#[test]
fn the_first_text_is_found() {
    let value = json!({
        "content": [{"type": "image", "data": "", "mimeType": "image/png"}, {"type": "text", "text": "a"}],
        "isError": false,
        "resultType": "complete",
    });
    let result: CallToolResult = serde_json::from_value(value).unwrap();
    assert_eq!((result.first_text(), result.is_error), (Some("a"), false));
    assert_eq!(CallToolResult::default().first_text(), None);
}
