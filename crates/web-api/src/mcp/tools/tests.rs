use super::*;
use mcp_wire::Tool;
use serde_json::{Value, json};

fn names(resource: McpResource) -> Vec<String> {
    of(resource).map(|(_, tool)| tool.name).collect()
}

fn tool(resource: McpResource, name: &str) -> Tool {
    of(resource).map(|(_, tool)| tool).find(|tool| tool.name == name).unwrap()
}

#[test]
fn each_resource_has_its_tools_in_a_fixed_order() {
    let current = [
        "get_info",
        "list_images",
        "search_images",
        "get_image",
        "view_images",
        "show_images",
        "list_albums",
        "create_album",
        "update_album",
        "update_images",
        "undo_changes",
    ];
    assert_eq!(names(McpResource::V1), current);
    assert_eq!(names(McpResource::V2), current);
    assert_eq!(
        names(McpResource::Legacy),
        ["get_info", "list_images", "search_images", "get_image", "show_images"]
    );
}

#[test]
fn only_resources_with_albums_mention_them() {
    for resource in McpResource::ALL {
        let (_, show) = of(resource).find(|(operation, _)| *operation == Operation::ShowImages).unwrap();
        assert_eq!(show.description.unwrap().contains("album of"), resource.has_albums());
    }
    for (_, tool) in of(McpResource::Legacy) {
        assert!(!tool.description.unwrap().contains("update_album"), "{}", tool.name);
    }
}

#[test]
fn every_tool_has_a_description_and_annotations() {
    for resource in McpResource::ALL {
        for (_, tool) in of(resource) {
            assert!(tool.title.is_some() && tool.description.is_some(), "{}", tool.name);
            let hints = tool.annotations.clone().unwrap();
            assert_eq!(hints.title, tool.title);
            let all = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint);
            let expect = match tool.name.as_str() {
                "create_album" => (Some(false), Some(false), Some(false)),
                "update_album" | "update_images" | "undo_changes" => (Some(false), Some(true), Some(true)),
                _ => (Some(true), Some(false), Some(true)),
            };
            assert_eq!(all, expect, "{}", tool.name);
            assert_eq!(hints.open_world_hint, Some(false));
        }
    }
}

#[test]
fn only_v2_declares_structured_content() {
    for resource in McpResource::ALL {
        for (_, tool) in of(resource) {
            assert_eq!(tool.output_schema.is_some(), resource == McpResource::V2, "{}", tool.name);
            if let Some(schema) = &tool.output_schema {
                check_schema(schema);
                assert_eq!(schema["properties"]["source"]["const"], "photo-library");
            }
        }
    }
}

/// Checks that a schema uses only these keywords of draft 2020-12.
fn check_schema(schema: &Value) {
    const KEYWORDS: [&str; 20] = [
        "type",
        "properties",
        "required",
        "description",
        "default",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "items",
        "enum",
        "const",
        "additionalProperties",
        "pattern",
        "format",
        "oneOf",
        "anyOf",
    ];
    let Value::Object(members) = schema else { panic!("{schema}") };
    for name in members.keys() {
        assert!(KEYWORDS.contains(&name.as_str()), "{name} in {schema}");
    }
    let kinds = ["object", "array", "string", "integer", "number", "boolean", "null"];
    match &members["type"] {
        Value::Array(all) => assert!(all.iter().all(|kind| kinds.contains(&kind.as_str().unwrap()))),
        kind => assert!(kinds.contains(&kind.as_str().unwrap()), "{schema}"),
    }
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        for required in members.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(properties.contains_key(required.as_str().unwrap()), "{required}");
        }
        properties.values().for_each(check_schema);
    }
    if let Some(items) = members.get("items") {
        check_schema(items);
    }
}

#[test]
fn argument_schemas_are_simple_and_described() {
    for resource in McpResource::ALL {
        for (_, tool) in of(resource) {
            check_schema(&tool.input_schema);
            assert_eq!(tool.input_schema["type"], "object");
            // Some model providers reject these keywords at the root.
            for keyword in ["oneOf", "anyOf", "allOf"] {
                assert!(tool.input_schema.get(keyword).is_none());
            }
            for (name, property) in tool.input_schema["properties"].as_object().unwrap() {
                assert!(property["type"].is_string(), "{name}: {property}");
                assert!(property["description"].is_string(), "{name}: {property}");
            }
        }
    }
}

fn check(name: &str, property: &str, expect: &Value) {
    let mut property = tool(McpResource::V1, name).input_schema["properties"][property].clone();
    property.as_object_mut().unwrap().remove("description");
    assert_eq!(&property, expect, "{name}");
}

#[test]
fn schemas_contain_the_limits() {
    for name in ["list_images", "search_images", "show_images", "list_albums"] {
        check(name, "limit", &json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 50}));
    }
    for name in ["list_images", "search_images", "show_images"] {
        check(name, "startDate", &json!({"type": "string"}));
        check(name, "endDate", &json!({"type": "string"}));
        check(name, "latitude", &json!({"type": "number", "minimum": -90, "maximum": 90}));
        check(name, "longitude", &json!({"type": "number", "minimum": -180, "maximum": 180}));
        check(name, "radiusMeters", &json!({"type": "number", "exclusiveMinimum": 0, "maximum": 20_037_508}));
    }
    let ids = json!({"type": "array", "maxItems": 100, "items": {"type": "string"}});
    let id = json!({"type": "string", "minLength": 1, "maxLength": 128});
    let title = json!({"type": "string", "minLength": 1, "maxLength": 100});
    check("search_images", "query", &json!({"type": "string", "maxLength": 2000}));
    check("search_images", "albumId", &json!({"type": "string", "maxLength": 128}));
    let channel = json!({"type": "string", "enum": ["text", "image"]});
    check("search_images", "channels", &json!({"type": "array", "items": channel}));
    check("show_images", "imageIds", &ids);
    let viewed = json!({"type": "array", "minItems": 1, "maxItems": 16, "items": {"type": "string"}});
    check("view_images", "imageIds", &viewed);
    let sizes = json!({"type": "string", "enum": ["small", "medium"], "default": "small"});
    check("view_images", "size", &sizes);
    check("view_images", "sheet", &json!({"type": "boolean", "default": false}));
    check("get_image", "id", &id);
    check("list_albums", "offset", &json!({"type": "integer", "minimum": 0, "maximum": 500, "default": 0}));
    check("create_album", "title", &title);
    check("create_album", "imageIds", &ids);
    check("update_album", "albumId", &id);
    check("update_album", "title", &title);
    check("update_album", "addImageIds", &ids);
    check("update_album", "removeImageIds", &ids);
}

#[test]
fn required_arguments_are_declared() {
    for (name, expect) in [
        ("get_info", Value::Null),
        ("list_images", Value::Null),
        ("search_images", Value::Null),
        ("get_image", json!(["id"])),
        ("view_images", json!(["imageIds"])),
        ("show_images", Value::Null),
        ("list_albums", Value::Null),
        ("create_album", json!(["title"])),
        ("update_album", json!(["albumId"])),
        ("update_images", json!(["imageIds"])),
        ("undo_changes", json!(["changeId"])),
    ] {
        assert_eq!(tool(McpResource::V1, name).input_schema["required"], expect, "{name}");
    }
}
