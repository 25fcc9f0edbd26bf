//! Checks `tests/trace.toml`, which lists for every rule of the service the tests that prove it, or the part of the
//! service that is not built yet.
//!
//! ```toml
//! [[rule]]
//! id = "paging-images-end-date-inclusive"
//! rule = "`endDate` is inclusive: the last image of a page is the first of the next."
//! tests = ["api::paging::walks_every_burst"]
//!
//! [[rule]]
//! id = "oauth-code-single-use"
//! rule = "An authorization code can be redeemed once."
//! pending = "oauth"
//! ```
//!
//! A name in `tests` matches a test whose path, as `cargo test -- --list` prints it, is that name or ends with
//! `::` and that name. Ignored tests do not match.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;

use crate::process::{ProcessError, Runner};
use crate::workspace;

const FILE: &str = "tests/trace.toml";

/// Why the check of the trace failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot read {FILE}: {0}")]
    Read(#[from] std::io::Error),
    #[error("{FILE} is invalid: {0}")]
    Invalid(#[from] toml::de::Error),
    #[error("{FILE} has problems:\n{}", lines(.0))]
    Problems(Vec<Problem>),
}

/// A problem with a rule.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("{id}: the id is used twice")]
    DuplicateId { id: String },
    #[error("{id}: the id or the text of the rule is empty")]
    Empty { id: String },
    #[error("{id}: needs either tests or pending, and not both")]
    Proof { id: String },
    #[error("{id}: there is no test {test}")]
    NoSuchTest { id: String, test: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    #[serde(default)]
    rule: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    rule: String,
    #[serde(default)]
    tests: Vec<String>,
    pending: Option<Part>,
}

/// A part of the service that is not built yet.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
enum Part {
    Oauth,
    Mcp,
    Search,
    Sync,
    Media,
    Pages,
}

/// How many rules have tests; displayed as `12 rules proven, 3 pending (oauth 2, mcp 1)`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Proven {
    proven: usize,
    pending: BTreeMap<Part, usize>,
}

/// Checks the file against the existing tests, and prints how many rules are proven and pending.
pub(super) fn run(runner: &Runner) -> Result<(), TraceError> {
    let trace: Trace = toml::from_str(&std::fs::read_to_string(workspace::path(FILE))?)?;
    let listed = list(runner, &["--list"])?;
    let ignored = list(runner, &["--list", "--ignored"])?;
    let tests: BTreeSet<_> = listed.difference(&ignored).cloned().collect();
    println!("{}", check(&trace, &tests).map_err(TraceError::Problems)?);
    Ok(())
}

fn list(runner: &Runner, flags: &[&str]) -> Result<BTreeSet<String>, ProcessError> {
    let mut command = workspace::compile("test", ["--quiet", "--workspace", "--tests", "--"]);
    let output = runner.output(command.args(flags), "")?;
    Ok(output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn check(trace: &Trace, tests: &BTreeSet<String>) -> Result<Proven, Vec<Problem>> {
    let mut proven = Proven::default();
    let mut problems = Vec::new();
    let mut ids = BTreeSet::new();
    for rule in &trace.rule {
        let id = rule.id.clone();
        if !ids.insert(&rule.id) {
            problems.push(Problem::DuplicateId { id: id.clone() });
        }
        if rule.rule.trim().is_empty() || id.trim().is_empty() {
            problems.push(Problem::Empty { id: id.clone() });
        }
        match (rule.tests.as_slice(), rule.pending) {
            ([], Some(part)) => *proven.pending.entry(part).or_default() += 1,
            ([_, ..], None) => {
                proven.proven += 1;
                problems.extend(missing(rule, tests));
            }
            _ => problems.push(Problem::Proof { id }),
        }
    }
    if problems.is_empty() { Ok(proven) } else { Err(problems) }
}

fn missing(rule: &Rule, tests: &BTreeSet<String>) -> impl Iterator<Item = Problem> {
    let absent = rule.tests.iter().filter(|name| !tests.iter().any(|path| matches(path, name)));
    absent.map(|test| Problem::NoSuchTest { id: rule.id.clone(), test: test.clone() })
}

fn matches(path: &str, name: &str) -> bool {
    !name.is_empty() && path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n")
}

impl fmt::Display for Proven {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending: usize = self.pending.values().sum();
        write!(formatter, "{} rules proven, {pending} pending", self.proven)?;
        if pending > 0 {
            let parts = self.pending.iter().map(|(part, count)| format!("{part} {count}"));
            write!(formatter, " ({})", parts.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Oauth => "oauth",
            Self::Mcp => "mcp",
            Self::Search => "search",
            Self::Sync => "sync",
            Self::Media => "media",
            Self::Pages => "pages",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TESTS: [&str; 3] =
        ["api::paging::walks_every_burst", "walks_alone", "api::albums::title::is_trimmed"];

    fn judge(toml: &str) -> Result<String, String> {
        let trace: Trace = toml::from_str(toml).map_err(|error| error.message().to_owned())?;
        let tests = TESTS.map(str::to_owned).into();
        check(&trace, &tests).map(|proven| proven.to_string()).map_err(|problems| lines(&problems))
    }

    #[test]
    fn rules_of_a_valid_trace_are_counted() {
        let toml = r#"
            [[rule]]
            id = "a"
            rule = "words"
            tests = ["api::paging::walks_every_burst", "title::is_trimmed", "walks_alone"]
            [[rule]]
            id = "b"
            rule = "words"
            pending = "mcp"
            [[rule]]
            id = "c"
            rule = "words"
            pending = "oauth"
            [[rule]]
            id = "d"
            rule = "words"
            pending = "mcp"
        "#;
        assert_eq!(judge(toml).unwrap(), "1 rules proven, 3 pending (oauth 1, mcp 2)");
        assert_eq!(judge("").unwrap(), "0 rules proven, 0 pending");
    }

    #[test]
    fn problems_are_reported() {
        let rule = |rest: &str| format!("[[rule]]\nid = \"a\"\nrule = \"words\"\n{rest}\n");
        let good = rule("pending = \"sync\"");
        let cases = [
            (format!("{good}{good}"), "a: the id is used twice"),
            (rule(""), "a: needs either tests or pending"),
            (rule("tests = []"), "a: needs either tests or pending"),
            (rule("tests = [\"walks_alone\"]\npending = \"sync\""), "a: needs either tests or pending"),
            (rule("tests = [\"api::gone\"]"), "a: there is no test api::gone"),
            (rule("tests = [\"every_burst\"]"), "a: there is no test every_burst"),
            (rule("tests = [\"\"]"), "a: there is no test "),
            (rule("pending = \"later\""), "unknown variant `later`"),
            (rule("pending = \"sync\"\nnote = \"x\""), "unknown field `note`"),
            (
                "[[rule]]\nid = \"a\"\nrule = \" \"\npending = \"sync\"".to_owned(),
                "a: the id or the text of the rule is empty",
            ),
        ];
        for (toml, expect) in cases {
            let error = judge(&toml).unwrap_err();
            assert!(error.contains(expect), "{toml}\n{error}");
        }
    }

    proptest! {
        #[test]
        fn a_test_is_found_by_any_suffix_of_its_path(cut in 0_usize..4) {
            let path = "a::bb::cc::dd";
            let parts: Vec<_> = path.split("::").skip(cut).collect();
            prop_assert!(matches(path, &parts.join("::")));
        }

        #[test]
        fn matching_never_panics(path in "\\PC{0,20}", name in "\\PC{0,20}") {
            let _ = matches(&path, &name);
        }
    }
}
