use dav_protocol::{
    Name, XmlWriter,
    bodies::{
        BasicSearch, Condition, LockInfo, MAX_CONDITIONS, Pattern, PropFind, parse_prop_patch, parse_report,
    },
    decode_path, encode_path, epoch_seconds,
    headers::{
        BODY_CHECKSUM_HEADERS, DEFAULT_LOCK_S, Depth, EntityTags, IfHeader, destination_path, is_true,
        lock_timeout_s, lock_token, overwrite,
    },
    parse_http_date, parse_time_clamped,
};

/// Reads the bytes as a body, a header and a path of WebDAV.
pub(crate) fn dav(data: &[u8]) {
    bodies(data);
    if let Ok(text) = std::str::from_utf8(data) {
        headers(text);
        paths(text);
    }
}

/// A body that is written from the parts of a parsed body is valid.
fn bodies(data: &[u8]) {
    if let Ok(PropFind::Prop(names) | PropFind::AllProp { include: names }) = PropFind::parse(data) {
        let written = with_names(&names);
        assert_eq!(PropFind::parse(written.as_bytes()), Ok(PropFind::Prop(names)), "{written}");
    }
    if let Ok(changes) = parse_prop_patch(data) {
        let mut names: Vec<Name> = changes.into_iter().map(|change| change.name).collect();
        names.sort();
        names.dedup();
        assert!(PropFind::parse(with_names(&names).as_bytes()).is_ok());
    }
    if let Ok(LockInfo { owner: Some(owner), .. }) = LockInfo::parse(data) {
        let mut written = XmlWriter::document("d:owner");
        written.raw(&owner);
        written.close("d:owner");
        assert!(parse_report(written.take().as_bytes()).is_ok(), "{owner}");
    }
    let _ = parse_report(data);
    if let Ok(BasicSearch { condition: Some(condition), .. }) = BasicSearch::parse(data) {
        assert!((1..=MAX_CONDITIONS).contains(&operators(&condition)));
    }
}

/// Counts the operators. Also parses the literals as times, and runs the patterns.
fn operators(condition: &Condition) -> usize {
    1 + match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().map(operators).sum(),
        Condition::Not(inner) => operators(inner),
        Condition::Compare { literal, .. } => {
            let _ = parse_time_clamped(literal);
            0
        }
        Condition::Like { pattern, .. } => {
            let _ = pattern.matches("image/jpeg");
            0
        }
        Condition::IsCollection | Condition::IsDefined(_) => 0,
    }
}

fn with_names(names: &[Name]) -> String {
    let mut xml = XmlWriter::document("d:propfind");
    xml.open("d:prop");
    names.iter().for_each(|name| xml.empty_named(name));
    xml.close("d:prop");
    xml.close("d:propfind");
    xml.take()
}

fn headers(text: &str) {
    if let Ok(header) = IfHeader::parse(text) {
        assert!(header.lists.iter().all(|list| !list.conditions.is_empty()));
        let _ = header.is_met(|_, _| true);
        let _ = header.tokens().count();
    }
    let tags = EntityTags::parse(text);
    assert!(tags.is_none_match(None) && !tags.is_match(None));
    assert!((1..=DEFAULT_LOCK_S).contains(&lock_timeout_s(text)));
    assert!(
        destination_path(text).is_ok_and(|path| path.starts_with('/')) || destination_path(text).is_err()
    );
    let _ = (Depth::parse(text), overwrite(text), is_true(text), lock_token(text));
    for (name, read) in BODY_CHECKSUM_HEADERS {
        for checksum in read(text).unwrap_or_default() {
            assert_eq!(checksum.value().len(), checksum.algorithm().bytes(), "{name}: {text:?}");
        }
    }
    let _ = (epoch_seconds(text), parse_http_date(text), parse_time_clamped(text));
    let escaped: String = text.chars().take(300).flat_map(|c| ['\\', c]).collect();
    assert!(Pattern::parse(&escaped).matches(&text.chars().take(300).collect::<String>()));
    let _ = Pattern::parse(text).matches("image/jpeg");
}

/// Encoding a decoded path and decoding it again gives the same path.
fn paths(text: &str) {
    if let Ok(path) = decode_path(text) {
        let mut encoded = String::new();
        encode_path(&path, &mut encoded);
        assert_eq!(decode_path(&encoded), Ok(path), "{encoded}");
    }
}
