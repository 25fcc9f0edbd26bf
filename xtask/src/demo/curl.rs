//! The curl commands that the demo prints. Each works alone in any POSIX shell, without jq.

use super::preview::Preview;

/// The expected output of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    /// JSON with a non-empty `results` list.
    Results,
    /// JSON with a `result` object.
    Object,
    /// A JSON-RPC response to a successful tool call.
    ToolResult,
    /// A WebP file of this name.
    WebpFile(&'static str),
}

/// A line to paste.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) title: &'static str,
    pub(super) command: String,
    pub(super) expect: Expect,
}

/// The server and the objects that the lines request.
#[derive(Debug)]
pub(super) struct Target {
    /// Without a trailing slash.
    pub(super) base_url: String,
    pub(super) key: String,
    /// `None` if the library has no image yet.
    pub(super) preview: Option<Preview>,
}

const PHOTO_FILE: &str = "photo.webp";

/// All lines, in reading order.
pub(super) fn lines(target: &Target) -> Vec<Line> {
    let library = Line { title: "The library", command: target.get("/library"), expect: Expect::Object };
    let Some(preview) = &target.preview else { return vec![library] };
    let image = format!("/images/{}", preview.image_id);
    vec![
        library,
        Line { title: "The newest images", command: target.get("/images?limit=5"), expect: Expect::Results },
        Line { title: "Search", command: target.get(&search_path(&preview.word)), expect: Expect::Results },
        Line {
            title: "One image with the signed URL of each rendition",
            command: target.get(&image),
            expect: Expect::Object,
        },
        Line {
            title: "Download a photo from its signed URL (valid for 15 minutes)",
            command: target.download(&image),
            expect: Expect::WebpFile(PHOTO_FILE),
        },
        Line {
            title: "Create an album",
            command: target.make_album(&preview.image_id),
            expect: Expect::Object,
        },
        Line {
            title: "Search over MCP",
            command: target.call_tool(&preview.word),
            expect: Expect::ToolResult,
        },
    ]
}

fn search_path(word: &str) -> String {
    format!("/search?query={word}&limit=5")
}

impl Target {
    /// A curl command that fails on an HTTP error and shows no progress.
    fn curl(&self) -> String {
        format!("curl -fsS -H {}", quote(&format!("Authorization: Bearer {}", self.key)))
    }

    fn api(&self, path: &str) -> String {
        quote(&format!("{}/api/ext/v2{path}", self.base_url))
    }

    fn get(&self, path: &str) -> String {
        format!("{} {}", self.curl(), self.api(path))
    }

    fn post(&self, body: &serde_json::Value, headers: &str, url: &str) -> String {
        format!(
            "{} -H 'Content-Type: application/json'{headers} -d {} {url}",
            self.curl(),
            quote(&body.to_string())
        )
    }

    /// An image has only one field whose name is exactly `url`.
    fn download(&self, path: &str) -> String {
        let extract = r#"sed -n 's/.*"url": *"\([^"]*\)".*/\1/p'"#;
        format!(r#"curl -fsS -o {PHOTO_FILE} "$({} | {extract})""#, self.get(path))
    }

    fn make_album(&self, image_id: &str) -> String {
        let body = serde_json::json!({ "title": "Made with curl", "imageIds": [image_id] });
        self.post(&body, "", &self.api("/albums"))
    }

    fn call_tool(&self, word: &str) -> String {
        let call = serde_json::json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": { "name": "search_images", "arguments": { "query": word, "limit": 5 } },
        });
        let url = quote(&format!("{}/api/mcp/v1", self.base_url));
        self.post(&call, " -H 'Accept: application/json, text/event-stream'", &url)
    }
}

/// Quotes any text as one word of a POSIX shell.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    fn target(preview: Option<Preview>) -> Target {
        Target { base_url: "http://127.0.0.1:9000".to_owned(), key: "k3y".to_owned(), preview }
    }

    fn full() -> Target {
        target(Some(Preview { image_id: "im_1-x".to_owned(), word: "harbour".to_owned() }))
    }

    #[test]
    fn the_lines_of_a_full_library() {
        let commands: Vec<_> = lines(&full()).into_iter().map(|line| line.command).collect();
        let authorized = "curl -fsS -H 'Authorization: Bearer k3y'";
        let json = format!("{authorized} -H 'Content-Type: application/json'");
        assert_eq!(
            commands,
            [
                format!("{authorized} 'http://127.0.0.1:9000/api/ext/v2/library'"),
                format!("{authorized} 'http://127.0.0.1:9000/api/ext/v2/images?limit=5'"),
                format!("{authorized} 'http://127.0.0.1:9000/api/ext/v2/search?query=harbour&limit=5'"),
                format!("{authorized} 'http://127.0.0.1:9000/api/ext/v2/images/im_1-x'"),
                format!(
                    "curl -fsS -o photo.webp \"$({authorized} 'http://127.0.0.1:9000/api/ext/v2/images/im_1-x' \
                     | sed -n 's/.*\"url\": *\"\\([^\"]*\\)\".*/\\1/p')\""
                ),
                format!(
                    "{json} -d '{{\"title\":\"Made with curl\",\"imageIds\":[\"im_1-x\"]}}' \
                     'http://127.0.0.1:9000/api/ext/v2/albums'"
                ),
                format!(
                    "{json} -H 'Accept: application/json, text/event-stream' -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\
                     \"method\":\"tools/call\",\"params\":{{\"name\":\"search_images\",\
                     \"arguments\":{{\"query\":\"harbour\",\"limit\":5}}}}}}' 'http://127.0.0.1:9000/api/mcp/v1'"
                ),
            ]
        );
    }

    #[test]
    fn an_empty_library_gets_only_the_library_line() {
        let titles: Vec<_> = lines(&target(None)).iter().map(|line| line.title).collect();
        assert_eq!(titles, ["The library"]);
    }

    /// Tests the part of the download line between the two requests on a response in the format of the server.
    #[test]
    fn the_signed_url_is_extracted_from_the_response() {
        let command = full().download("/images/x");
        let (_, extract) = command.split_once(" | ").unwrap();
        let extract = extract.strip_suffix(")\"").unwrap();
        let response = concat!(
            r#"{"result":{"id":"x","url":"http://h/i/x/webp-medium.webp?exp=1&sig=a_-b","#,
            r#""renditions":{"webp-full":"http://h/full","webp-thumb":"http://h/thumb"},"text":"says \"url\""}}"#
        );
        let script = format!("printf '%s' {} | {extract}", quote(response));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout).trim_end(),
            "http://h/i/x/webp-medium.webp?exp=1&sig=a_-b"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_quoted_word_reaches_the_program_unchanged(word in "[^\0]{0,40}") {
            let output = Command::new("sh").args(["-c", &format!("printf '%s' {}", quote(&word))]).output().unwrap();
            prop_assert_eq!(output.stdout, word.into_bytes());
        }
    }
}
