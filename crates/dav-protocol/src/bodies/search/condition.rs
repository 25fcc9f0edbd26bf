use domain::composed;

use super::{InvalidSearch, Pattern, property};
use crate::{
    Name,
    bodies::{InvalidBody, xml::Element},
    names::DAV,
};

/// Maximum number of operators of a search, because each is evaluated for many files.
pub const MAX_CONDITIONS: usize = 50;

/// Maximum length of a literal in bytes.
const MAX_LITERAL_BYTES: usize = 1024;

/// What a file must have to be found (RFC 5323 §5.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// All of these, at least one.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// A property compared with a value.
    Compare {
        property: Name,
        /// How it is compared.
        comparison: Comparison,
        /// The value as text, normalised to NFC.
        literal: String,
    },
    /// A property that matches a pattern.
    Like {
        property: Name,
        pattern: Pattern,
    },
    /// A folder.
    IsCollection,
    /// A property that the file has.
    IsDefined(Name),
}

/// How a property is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Whether a value has this relation to a literal.
    pub fn holds<T: PartialOrd>(self, value: &T, literal: &T) -> bool {
        match self {
            Self::Equal => value == literal,
            Self::Less => value < literal,
            Self::LessOrEqual => value <= literal,
            Self::Greater => value > literal,
            Self::GreaterOrEqual => value >= literal,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Equal,
            "lt" => Self::Less,
            "lte" => Self::LessOrEqual,
            "gt" => Self::Greater,
            "gte" => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}

impl Condition {
    /// The condition in a `where` element. The XML reader limits how deeply it is nested.
    pub(super) fn of_where(element: &Element) -> Result<Self, InvalidSearch> {
        let mut left = MAX_CONDITIONS;
        only_child(element, &mut left)
    }

    fn parse(element: &Element, left: &mut usize) -> Result<Self, InvalidSearch> {
        *left = left.checked_sub(1).ok_or(InvalidBody("it has too many operators"))?;
        let (namespace, name) = element.name.parts();
        if namespace != DAV {
            return Err(InvalidSearch::Operator(name.to_owned()));
        }
        Ok(match name {
            "and" => Self::All(children(element, left)?),
            "or" => Self::Any(children(element, left)?),
            "not" => Self::Not(Box::new(only_child(element, left)?)),
            "like" => {
                Self::Like { property: property(element)?, pattern: Pattern::parse(&literal(element)?) }
            }
            "is-collection" => Self::IsCollection,
            "is-defined" => Self::IsDefined(property(element)?),
            name => {
                let comparison = Comparison::named(name);
                let comparison = comparison.ok_or_else(|| InvalidSearch::Operator(name.to_owned()))?;
                Self::Compare { property: property(element)?, comparison, literal: literal(element)? }
            }
        })
    }
}

fn children(element: &Element, left: &mut usize) -> Result<Vec<Condition>, InvalidSearch> {
    let all = element.children().map(|child| Condition::parse(child, left)).collect::<Result<Vec<_>, _>>()?;
    if all.is_empty() {
        return Err(InvalidBody("and and or need an operator").into());
    }
    Ok(all)
}

fn only_child(element: &Element, left: &mut usize) -> Result<Condition, InvalidSearch> {
    let mut children = element.children();
    match (children.next(), children.next()) {
        (Some(child), None) => Condition::parse(child, left),
        _ => Err(InvalidBody("where and not need exactly one operator").into()),
    }
}

/// The value of an operator. The type of a `typed-literal` is not needed: the property decides.
fn literal(element: &Element) -> Result<String, InvalidBody> {
    let found = element.child(DAV, "literal").or_else(|| element.child(DAV, "typed-literal"));
    let text = composed(&found.ok_or(InvalidBody("an operator has no literal"))?.text()).into_owned();
    if text.len() > MAX_LITERAL_BYTES {
        return Err(InvalidBody("a literal is too long"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{XmlWriter, bodies::BasicSearch, names::OWNCLOUD};
    use proptest::prelude::*;

    fn parse(condition: &str) -> Result<Condition, InvalidSearch> {
        let body = format!(
            r#"<searchrequest xmlns="DAV:"><basicsearch><select><allprop/></select><from><scope><href>/</href></scope></from>
            <where>{condition}</where></basicsearch></searchrequest>"#
        );
        BasicSearch::parse(body.as_bytes()).map(|search| search.condition.unwrap())
    }

    fn size(comparison: Comparison, literal: &str) -> Condition {
        Condition::Compare { property: Name::new(OWNCLOUD, "size"), comparison, literal: literal.to_owned() }
    }

    #[test]
    fn operators_are_read() {
        let prop = r#"<prop><o:size xmlns:o="http://owncloud.org/ns"/></prop>"#;
        let name = Name::new(OWNCLOUD, "size");
        let check = |xml: &str, expect: Condition| assert_eq!(parse(xml), Ok(expect), "{xml}");
        for (operator, comparison) in [
            ("eq", Comparison::Equal),
            ("lt", Comparison::Less),
            ("lte", Comparison::LessOrEqual),
            ("gt", Comparison::Greater),
            ("gte", Comparison::GreaterOrEqual),
        ] {
            let xml = format!("<{operator}>{prop}<literal> 1</literal></{operator}>");
            check(&xml, size(comparison, " 1"));
        }
        check(&format!("<eq>{prop}<typed-literal>1</typed-literal></eq>"), size(Comparison::Equal, "1"));
        // NFD becomes NFC.
        check(&format!("<eq>{prop}<literal>a&#x308;</literal></eq>"), size(Comparison::Equal, "ä"));
        check(
            &format!("<like>{prop}<literal>a%</literal></like>"),
            Condition::Like { property: name.clone(), pattern: Pattern::parse("a%") },
        );
        check("<is-collection/>", Condition::IsCollection);
        check(&format!("<is-defined>{prop}</is-defined>"), Condition::IsDefined(name));
        check("<not><is-collection/></not>", Condition::Not(Box::new(Condition::IsCollection)));
        check("<or><is-collection/></or>", Condition::Any(vec![Condition::IsCollection]));
    }

    #[test]
    fn malformed_conditions_are_refused() {
        let many = "<is-collection/>".repeat(MAX_CONDITIONS);
        let long = "x".repeat(MAX_LITERAL_BYTES + 1);
        for (xml, reason) in [
            (String::new(), "where and not need exactly one operator"),
            ("<is-collection/><is-collection/>".to_owned(), "where and not need exactly one operator"),
            ("<not/>".to_owned(), "where and not need exactly one operator"),
            ("<and/>".to_owned(), "and and or need an operator"),
            ("<eq><literal/></eq>".to_owned(), "an operator must have one property"),
            ("<eq><prop><a/><b/></prop><literal/></eq>".to_owned(), "an operator must have one property"),
            ("<eq><prop><a/></prop></eq>".to_owned(), "an operator has no literal"),
            (format!("<eq><prop><a/></prop><literal>{long}</literal></eq>"), "a literal is too long"),
            (format!("<and>{many}</and>"), "it has too many operators"),
        ] {
            assert_eq!(parse(&xml), Err(InvalidBody(reason).into()), "{xml}");
        }
    }

    #[test]
    fn other_operators_are_not_supported() {
        for (xml, name) in [
            ("<contains>x</contains>", "contains"),
            ("<and><language-defined/></and>", "language-defined"),
            (r#"<eq xmlns="urn:x"/>"#, "eq"),
        ] {
            assert_eq!(parse(xml), Err(InvalidSearch::Operator(name.to_owned())), "{xml}");
        }
    }

    fn write(condition: &Condition, xml: &mut XmlWriter) {
        let list = |tag: &str, all: &[Condition], xml: &mut XmlWriter| {
            xml.open(tag);
            all.iter().for_each(|one| write(one, xml));
            xml.close(tag);
        };
        match condition {
            Condition::All(all) => list("d:and", all, xml),
            Condition::Any(any) => list("d:or", any, xml),
            Condition::Not(inner) => list("d:not", std::slice::from_ref(&**inner), xml),
            Condition::Compare { property, comparison, literal } => {
                let tag = match comparison {
                    Comparison::Equal => "d:eq",
                    Comparison::Less => "d:lt",
                    Comparison::LessOrEqual => "d:lte",
                    Comparison::Greater => "d:gt",
                    Comparison::GreaterOrEqual => "d:gte",
                };
                xml.open(tag);
                write_property(property, xml);
                xml.element("d:literal", literal);
                xml.close(tag);
            }
            Condition::IsDefined(property) => {
                xml.open("d:is-defined");
                write_property(property, xml);
                xml.close("d:is-defined");
            }
            Condition::Like { .. } | Condition::IsCollection => xml.empty("d:is-collection"),
        }
    }

    fn write_property(property: &Name, xml: &mut XmlWriter) {
        xml.open("d:prop");
        xml.empty_named(property);
        xml.close("d:prop");
    }

    fn conditions() -> impl Strategy<Value = Condition> {
        let comparisons = prop::sample::select(vec![
            Comparison::Equal,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ]);
        let leaf = prop_oneof![
            Just(Condition::IsCollection),
            Just(Condition::IsDefined(Name::new(DAV, "getetag"))),
            (comparisons, "[ -~]{0,20}").prop_map(|(comparison, literal)| size(comparison, &literal)),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            let several = prop::collection::vec(inner.clone(), 1..4);
            prop_oneof![
                several.clone().prop_map(Condition::All),
                several.prop_map(Condition::Any),
                inner.prop_map(|inner| Condition::Not(Box::new(inner))),
            ]
        })
    }

    fn count(condition: &Condition) -> usize {
        1 + match condition {
            Condition::All(all) | Condition::Any(all) => all.iter().map(count).sum(),
            Condition::Not(inner) => count(inner),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn a_written_condition_is_read_back(condition in conditions()) {
            let mut xml = XmlWriter::document("d:searchrequest");
            xml.raw("<d:basicsearch><d:select><d:allprop/></d:select>");
            xml.raw("<d:from><d:scope><d:href>/</d:href></d:scope></d:from><d:where>");
            write(&condition, &mut xml);
            xml.raw("</d:where></d:basicsearch></d:searchrequest>");
            let read = BasicSearch::parse(xml.take().as_bytes());
            if count(&condition) > MAX_CONDITIONS {
                prop_assert_eq!(read, Err(InvalidBody("it has too many operators").into()));
            } else {
                prop_assert_eq!(read.unwrap().condition, Some(condition));
            }
        }

        #[test]
        fn any_body_is_read_or_refused(body in "\\PC{0,200}") {
            let _ = BasicSearch::parse(body.as_bytes());
        }
    }
}
