use super::InvalidHeader;

/// The longest time for which a lock is granted, in seconds. Clients refresh their locks, so a short time only matters
/// after a client has disappeared.
pub const DEFAULT_LOCK_S: u32 = 600;

/// `Depth` (RFC 4918 §10.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Only the resource.
    Zero,
    /// The resource and its members.
    One,
    /// Everything below.
    Infinity,
}

impl Depth {
    pub fn parse(value: &str) -> Result<Self, InvalidHeader> {
        match value.trim() {
            "0" => Ok(Self::Zero),
            "1" => Ok(Self::One),
            value if value.eq_ignore_ascii_case("infinity") => Ok(Self::Infinity),
            _ => Err(InvalidHeader("Depth")),
        }
    }
}

/// `Overwrite` (RFC 4918 §10.6): whether an entry at the destination may be replaced.
pub fn overwrite(value: &str) -> Result<bool, InvalidHeader> {
    match value.trim() {
        value if value.eq_ignore_ascii_case("t") => Ok(true),
        value if value.eq_ignore_ascii_case("f") => Ok(false),
        // The app for iOS sends words.
        value if value.eq_ignore_ascii_case("true") => Ok(true),
        value if value.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(InvalidHeader("Overwrite")),
    }
}

/// A header that Nextcloud's apps set to `1` or `true`.
pub fn is_true(value: &str) -> bool {
    value.trim() == "1" || value.trim().eq_ignore_ascii_case("true")
}

/// `Timeout` (RFC 4918 §10.7) in seconds, from 1 to [`DEFAULT_LOCK_S`]. The first readable time counts. Without a
/// readable time, the longest is used, because the server may choose any time.
pub fn lock_timeout_s(value: &str) -> u32 {
    let seconds = |part: &str| {
        let digits = part.trim().strip_prefix("Second-")?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let requested = value.split(',').find_map(|part| {
        if part.trim().eq_ignore_ascii_case("infinite") { Some(u32::MAX) } else { seconds(part) }
    });
    requested.unwrap_or(u32::MAX).clamp(1, DEFAULT_LOCK_S)
}

/// `Lock-Token` (RFC 4918 §10.5): the token between the angle brackets.
pub fn lock_token(value: &str) -> Result<&str, InvalidHeader> {
    let token = value.trim().strip_prefix('<').and_then(|value| value.strip_suffix('>'));
    token.filter(|token| !token.is_empty() && !token.contains(['<', '>'])).ok_or(InvalidHeader("Lock-Token"))
}

/// The encoded path of `Destination` (RFC 4918 §10.3), which is a URL or an absolute path. Scheme and host are ignored,
/// because they are wrong behind many reverse proxies.
pub fn destination_path(value: &str) -> Result<&str, InvalidHeader> {
    let value = value.trim();
    let path = match value.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => rest.find('/').and_then(|start| rest.get(start..)),
        _ => Some(value),
    };
    let path = path.filter(|path| path.starts_with('/')).ok_or(InvalidHeader("Destination"))?;
    if path.contains(['?', '#']) { Err(InvalidHeader("Destination")) } else { Ok(path) }
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_0_1_and_infinity() {
        for (text, expect) in [
            ("0", Some(Depth::Zero)),
            (" 1 ", Some(Depth::One)),
            ("Infinity", Some(Depth::Infinity)),
            ("2", None),
            ("", None),
            ("1,noroot", None),
        ] {
            assert_eq!(Depth::parse(text).ok(), expect, "{text:?}");
        }
    }

    #[test]
    fn overwrite_is_a_letter_or_a_word() {
        for (text, expect) in [
            ("T", Some(true)),
            ("f", Some(false)),
            ("true", Some(true)),
            ("False", Some(false)),
            ("", None),
            ("1", None),
        ] {
            assert_eq!(overwrite(text).ok(), expect, "{text:?}");
        }
    }

    #[test]
    fn lock_times_are_limited() {
        for (text, expect) in [
            ("Second-60", 60),
            ("Second-3600", DEFAULT_LOCK_S),
            ("Second-0", 1),
            ("Infinite", DEFAULT_LOCK_S),
            ("Infinite, Second-4100000000", DEFAULT_LOCK_S),
            ("Extend, Second-30", 30),
            ("Second-99999999999999999999", DEFAULT_LOCK_S),
            ("Second--1", DEFAULT_LOCK_S),
            ("", DEFAULT_LOCK_S),
        ] {
            assert_eq!(lock_timeout_s(text), expect, "{text:?}");
        }
    }

    #[test]
    fn destinations_are_urls_or_paths() {
        for (text, expect) in [
            ("http://a/dav/x", Some("/dav/x")),
            ("HTTPS://a:1/dav/x%20y", Some("/dav/x%20y")),
            ("/dav/x", Some("/dav/x")),
            ("/dav/a://b", Some("/dav/a://b")),
            ("dav/x", None),
            ("http://a", None),
            ("//", Some("//")),
            ("/dav/x?y", None),
            ("", None),
        ] {
            assert_eq!(destination_path(text).ok(), expect, "{text:?}");
        }
    }

    #[test]
    fn lock_tokens_are_in_angle_brackets() {
        for (text, expect) in
            [("<urn:a>", Some("urn:a")), (" <a> ", Some("a")), ("<>", None), ("a", None), ("<a><b>", None)]
        {
            assert_eq!(lock_token(text).ok(), expect, "{text:?}");
        }
    }
}
