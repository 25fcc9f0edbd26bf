//! Finds code, links and headings in Markdown documents.

use std::collections::BTreeSet;

/// The code, links and anchors of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) name: String,
    /// Code spans, and the lines of code blocks.
    pub(super) code: Vec<String>,
    pub(super) links: Vec<String>,
    pub(super) anchors: BTreeSet<String>,
}

impl Document {
    pub(super) fn new(name: &str, text: &str) -> Self {
        let mut document = Self { name: name.to_owned(), ..Self::default() };
        let mut prose = String::new();
        let mut in_block = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                in_block = !in_block;
            } else if in_block {
                document.code.push(line.trim().to_owned());
            } else {
                if let Some(heading) =
                    line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
                {
                    document.anchors.insert(anchor(heading));
                }
                prose.push_str(line);
                prose.push('\n');
            }
        }
        document.read_prose(&prose);
        document
    }

    /// Output of a program: every line counts as code.
    pub(super) fn of_code(name: &str, text: &str) -> Self {
        let code = text.lines().map(|line| line.trim().to_owned()).collect();
        Self { name: name.to_owned(), code, ..Self::default() }
    }

    /// Reads by paragraph: a code span may continue on the next line, but not in the next paragraph.
    fn read_prose(&mut self, prose: &str) {
        for paragraph in prose.split("\n\n") {
            for (number, part) in paragraph.split('`').enumerate() {
                if number % 2 == 1 {
                    self.code.push(part.split_whitespace().collect::<Vec<_>>().join(" "));
                }
            }
            for after in paragraph.split("](").skip(1) {
                if let Some((target, _)) = after.split_once(')') {
                    self.links.push(target.split_whitespace().next().unwrap_or_default().to_owned());
                }
            }
        }
    }
}

/// The anchor of a heading: lower case, spaces as hyphens, without other punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_links_and_headings_are_found() {
        let text = "# The `server` command\n\nSee [a](b.md#c), `server\nserve` and ![d](e.png \"f\").\n\n```sh\n# no heading\nserver \
                    doctor\n```\n## Apps & keys, too\n";
        let document = Document::new("x.md", text);
        assert_eq!(document.code, ["# no heading", "server doctor", "server", "server serve"]);
        assert_eq!(document.links, ["b.md#c", "e.png"]);
        let anchors: Vec<_> = document.anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["apps--keys-too", "the-server-command"]);
    }
}
