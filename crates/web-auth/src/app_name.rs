use oauth_core::{ClientUrl, visible_name};

/// The label of an app in lists: its own name, and the host of its client ID metadata document if it has one.
pub fn app_name(client_id: &str, name: &str) -> String {
    let name = display_name(name);
    match ClientUrl::parse(client_id) {
        Ok(url) => format!("{name} ({})", url.host()),
        Err(_) => name,
    }
}

/// A name that an app chose for itself, without invisible characters.
pub fn display_name(name: &str) -> String {
    let shown = visible_name(name);
    if shown.trim().is_empty() { "Unnamed app".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed_from_names() {
        assert_eq!(display_name("a\u{202e}b"), "ab");
        assert_eq!(display_name("\u{200b} \u{feff}"), "Unnamed app");
    }
}
