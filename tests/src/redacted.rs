//! Responses for snapshots.

use serde_json::Value;

/// Replaces values that differ between runs: those in `names`, and one signature in each text.
#[must_use]
pub fn redacted(mut value: Value, names: &[(&str, &str)]) -> Value {
    redact(&mut value, names);
    value
}

fn redact(value: &mut Value, names: &[(&str, &str)]) {
    match value {
        Value::String(text) => {
            for (shown, name) in names {
                *text = text.replace(shown, name);
            }
            if let Some((before, signed)) = text.split_once("&sig=") {
                let after =
                    signed.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_".contains(c));
                *text = format!("{before}&sig=[signature]{after}");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| redact(value, names)),
        Value::Object(values) => values.values_mut().for_each(|value| redact(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
