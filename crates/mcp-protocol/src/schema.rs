//! JSON Schemas (draft 2020-12) of a tool's arguments and results, derived from their types.
//!
//! The schemas are self-contained (only a recursive type has a reference). They have no `$schema`, because 2020-12 is
//! the protocol's default dialect and some clients refuse the keyword, and no `format` that draft 2020-12 does not
//! define.

use schemars::generate::SchemaSettings;
use schemars::transform::RestrictFormats;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The schema of a tool's arguments, an object with `properties`.
///
/// For a type that is not deserialized from an object, it is the schema of an object without properties.
///
/// ```
/// use mcp_wire::schema::input_schema_of;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Search {
///     /// Words to look for.
///     query: String,
/// }
///
/// let schema = input_schema_of::<Search>();
/// assert_eq!(schema["type"], "object");
/// assert_eq!(schema["properties"]["query"]["description"], "Words to look for.");
/// ```
pub fn input_schema_of<T: JsonSchema>() -> Value {
    object_schema::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of a tool's structured content, an object with `properties`: like [`input_schema_of`], but for the
/// serialised form of `T`.
pub fn output_schema_of<T: JsonSchema>() -> Value {
    object_schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Like [`input_schema_of`], but a type that is not an object keeps its own schema, which is invalid for a tool.
pub(crate) fn strict_input_schema_of<T: JsonSchema>() -> Value {
    strict_object_schema::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Like [`strict_input_schema_of`], for the serialised form.
pub(crate) fn strict_output_schema_of<T: JsonSchema>() -> Value {
    strict_object_schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn object_schema<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = schema_of::<T>(settings);
    let members = schema.ensure_object();
    if !describes_objects(members) {
        members.clear();
    }
    require_object(members);
    schema.to_value()
}

fn strict_object_schema<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = schema_of::<T>(settings);
    let members = schema.ensure_object();
    if describes_objects(members) {
        require_object(members);
    }
    schema.to_value()
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let settings = settings
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(RestrictFormats::default());
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let members = schema.ensure_object();
    // The transform above needs `$schema`, so it is removed only now.
    members.remove("$schema");
    members.remove("title");
    schema
}

fn describes_objects(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.contains(&json!("object")),
        Some(kind) => kind == "object",
    }
}

/// Adds `"type": "object"` and `properties`, which some clients require.
fn require_object(schema: &mut Map<String, Value>) {
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoArguments;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Search {
        /// Words to look for.
        query: Option<String>,
        /// How many.
        #[serde(default = "fifty")]
        #[schemars(range(min = 1, max = 200))]
        limit: u32,
        circle: Option<Circle>,
        #[serde(default)]
        sort_order: Order,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("format" = "date-time"))]
        start_date: Option<String>,
        score: f64,
    }

    fn fifty() -> u32 {
        50
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Circle {
        latitude: f64,
        longitude: f64,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Default)]
    #[serde(rename_all = "lowercase")]
    enum Order {
        #[default]
        Newest,
        Best,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "by")]
    enum Choice {
        Ids { ids: Vec<String> },
        Query { query: String },
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Tree {
        children: Vec<Tree>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Forest {
        tree: Tree,
    }

    #[test]
    fn a_schema_is_self_contained_and_complete() {
        let schema = input_schema_of::<Search>();
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "query": {"type": ["string", "null"], "description": "Words to look for."},
                    "limit": {
                        "type": "integer", "description": "How many.", "default": 50, "minimum": 1, "maximum": 200,
                    },
                    "circle": {
                        "type": ["object", "null"],
                        "properties": {"latitude": {"type": "number"}, "longitude": {"type": "number"}},
                        "required": ["latitude", "longitude"],
                        "additionalProperties": false,
                    },
                    "sortOrder": {"type": "string", "enum": ["newest", "best"], "default": "newest"},
                    "startDate": {"type": ["string", "null"], "format": "date-time"},
                    "score": {"type": "number"},
                },
                "required": ["score"],
            })
        );
    }

    #[test]
    fn an_output_schema_requires_members_that_are_always_written() {
        let schema = output_schema_of::<Search>();
        assert_eq!(schema["required"], json!(["query", "limit", "circle", "sortOrder", "score"]));
    }

    #[test]
    fn every_schema_describes_an_object() {
        for schema in [
            input_schema_of::<NoArguments>(),
            input_schema_of::<()>(),
            input_schema_of::<u32>(),
            input_schema_of::<Vec<String>>(),
            input_schema_of::<Option<Circle>>(),
            input_schema_of::<Choice>(),
            input_schema_of::<Tree>(),
            input_schema_of::<Value>(),
            input_schema_of::<Map<String, Value>>(),
            output_schema_of::<NoArguments>(),
            output_schema_of::<Forest>(),
        ] {
            assert_eq!(schema["type"], "object", "{schema}");
            assert!(schema["properties"].is_object(), "{schema}");
            assert!(schema.get("title").is_none() && schema.get("$schema").is_none(), "{schema}");
        }
        assert_eq!(input_schema_of::<NoArguments>(), json!({"type": "object", "properties": {}}));
        assert_eq!(input_schema_of::<u32>(), json!({"type": "object", "properties": {}}));
        assert!(input_schema_of::<Choice>()["oneOf"].is_array());
    }

    #[test]
    fn a_recursive_type_refers_only_to_itself() {
        assert_eq!(input_schema_of::<Tree>()["properties"]["children"]["items"], json!({"$ref": "#"}));
        let forest = input_schema_of::<Forest>();
        assert_eq!(
            forest["properties"]["tree"]["properties"]["children"]["items"],
            json!({"$ref": "#/$defs/Tree"})
        );
        assert!(forest["$defs"]["Tree"].is_object());
    }
}
