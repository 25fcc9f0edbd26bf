use super::{EntityTag, InvalidHeader};

/// Maximum number of conditions.
const MAX_CONDITIONS: usize = 100;
const INVALID: InvalidHeader = InvalidHeader("If");

/// `If` (RFC 4918 §10.4): it is met when all conditions of one list are met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfHeader {
    /// The lists, at least one.
    pub lists: Vec<IfList>,
}

/// A list of conditions on one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfList {
    /// The URL of the resource; `None` for that of the request.
    pub resource: Option<String>,
    /// The conditions, at least one.
    pub conditions: Vec<IfCondition>,
}

/// A condition on the state of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfCondition {
    /// Whether the resource must not have the state.
    pub is_negated: bool,
    pub state: IfState,
}

/// A state of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfState {
    /// A lock with this token applies to it.
    Token(String),
    Tag(EntityTag),
}

impl IfHeader {
    pub fn parse(value: &str) -> Result<Self, InvalidHeader> {
        let mut lists = Vec::new();
        let mut resource = None;
        let mut count = 0;
        let mut rest = value.trim();
        while !rest.is_empty() {
            if let Some(text) = rest.strip_prefix('<') {
                let (url, after) = text.split_once('>').ok_or(INVALID)?;
                resource = Some(url.to_owned());
                rest = after.trim_start();
                if !rest.starts_with('(') {
                    return Err(INVALID);
                }
            }
            let (conditions, after) = list(rest.strip_prefix('(').ok_or(INVALID)?)?;
            count += conditions.len();
            if count > MAX_CONDITIONS {
                return Err(INVALID);
            }
            lists.push(IfList { resource: resource.clone(), conditions });
            rest = after.trim_start();
        }
        if lists.is_empty() { Err(INVALID) } else { Ok(Self { lists }) }
    }

    /// Whether the header is met. `is_state` returns whether a resource has a state.
    pub fn is_met(&self, is_state: impl Fn(Option<&str>, &IfState) -> bool) -> bool {
        self.lists.iter().any(|list| {
            let resource = list.resource.as_deref();
            list.conditions
                .iter()
                .all(|condition| is_state(resource, &condition.state) != condition.is_negated)
        })
    }

    /// All tokens. A token is submitted by appearing anywhere in the header (RFC 4918 §10.4.1).
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.lists.iter().flat_map(|list| &list.conditions).filter_map(|condition| match &condition.state {
            IfState::Token(token) => Some(token.as_str()),
            IfState::Tag(_) => None,
        })
    }
}

/// Reads the conditions of a list after its opening parenthesis; returns what follows the closing one.
fn list(text: &str) -> Result<(Vec<IfCondition>, &str), InvalidHeader> {
    let mut conditions = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix(')') {
            return if conditions.is_empty() { Err(INVALID) } else { Ok((conditions, after)) };
        }
        let is_negated = rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("not"));
        let text = if is_negated { rest.get(3..).unwrap_or_default().trim_start() } else { rest };
        let (state, after) = state(text)?;
        conditions.push(IfCondition { is_negated, state });
        rest = after.trim_start();
    }
}

fn state(text: &str) -> Result<(IfState, &str), InvalidHeader> {
    if let Some(text) = text.strip_prefix('<') {
        let (token, after) = text.split_once('>').ok_or(INVALID)?;
        return Ok((IfState::Token(token.to_owned()), after));
    }
    let (tag, after) = text.strip_prefix('[').and_then(|text| text.split_once(']')).ok_or(INVALID)?;
    Ok((IfState::Tag(EntityTag::parse(tag).ok_or(INVALID)?), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a header is met when `/a` has the lock `t1` and the tag `e1`, `/b` has the tag `e2`, and the request is
    /// for `/a`.
    fn is_met(value: &str) -> Option<bool> {
        let parsed = IfHeader::parse(value).ok()?;
        Some(parsed.is_met(|resource, state| {
            matches!(
                (resource.unwrap_or("/a"), state),
                ("/a", IfState::Token(token)) if token == "t1"
            ) || matches!(
                (resource.unwrap_or("/a"), state),
                ("/a", IfState::Tag(tag)) if tag.is_strong_match("e1")
            ) || matches!(
                (resource.unwrap_or("/a"), state),
                ("/b", IfState::Tag(tag)) if tag.is_strong_match("e2")
            )
        }))
    }

    #[test]
    fn one_list_must_be_met_as_a_whole() {
        for (value, expect) in [
            ("(<t1>)", Some(true)),
            ("(<t2>)", Some(false)),
            ("(<t1> [\"e1\"])", Some(true)),
            ("(<t1>[\"e2\"])", Some(false)),
            ("(<t2>) (Not <t2>)", Some(true)),
            ("(<t1>) (not <DAV:no-lock>)", Some(true)),
            ("(<DAV:no-lock>)", Some(false)),
            ("(Not <t1>)", Some(false)),
            ("</b> ([\"e2\"])", Some(true)),
            ("</b> ([\"e1\"])", Some(false)),
            ("</b> (<t1>) </a> (<t1>)", Some(true)),
            ("</b> (<t9>) ([\"e2\"])", Some(true)),
            ("([W/\"e1\"])", Some(false)),
        ] {
            assert_eq!(is_met(value), expect, "{value}");
        }
    }

    #[test]
    fn malformed_headers_are_refused() {
        for value in [
            "",
            "()",
            "(",
            "(<t1>",
            "<t1>",
            "(t1)",
            "([\"e1\")",
            "([])",
            "(<a>) x",
            "</a> </b> (<t1>)",
            "(Not)",
        ] {
            assert_eq!(is_met(value), None, "{value}");
        }
        assert_eq!(is_met(&"(<t>)".repeat(MAX_CONDITIONS + 1)), None);
    }

    #[test]
    fn every_token_counts_as_submitted() {
        let header = IfHeader::parse("</a> (<t1> [\"e\"]) (Not <t2>) </b> (<t3>)").unwrap();
        assert_eq!(header.tokens().collect::<Vec<_>>(), ["t1", "t2", "t3"]);
    }
}
