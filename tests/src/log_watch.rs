use std::{
    io,
    sync::{Mutex, Once, PoisonError},
};

use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::oauth::PASSWORD;

/// The crates whose log is the service's.
const OURS: [&str; 12] = [
    "web",
    "library",
    "security",
    "server",
    "oauth_core",
    "client_documents",
    "storage",
    "storage_sqlite",
    "blobs",
    "keys",
    "sandbox",
    "media",
];

/// Lines of the log that hold what looks like a secret.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Has every line that a service under test logs, at all levels, searched for secrets from now on.
pub(crate) fn begin() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let ours = Targets::new().with_targets(OURS.map(|target| (target, tracing::Level::TRACE)));
        let lines = fmt::layer().with_ansi(false).with_writer(|| Line);
        tracing_subscriber::registry().with(lines).with(ours).init();
    });
}

/// The lines so far that hold what looks like a secret.
pub(crate) fn told() -> Vec<String> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Takes one line of the log.
struct Line;

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        if holds_a_secret(&line) {
            TOLD.lock().unwrap_or_else(PoisonError::into_inner).push(line.into_owned());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a line has the password of the tests, or something in the shape of a key, a signed URL, a JWT, or any of the
/// secrets of 256 random bits and more that are written as base64url: codes, tokens, cookies, fields of forms.
fn holds_a_secret(line: &str) -> bool {
    let is_secret = |word: &str| {
        let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
        let is_random = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
        let is_key = word.strip_prefix("photos_").is_some_and(|rest| rest.len() >= 20);
        is_key || (word.len() >= 43 && is_random)
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    line.contains(PASSWORD)
        || line.contains("sig=")
        || line.contains("token=")
        || line.split(|c| !is_part(c)).any(is_secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_shape() {
        let check = |line: &str, expect| assert_eq!(holds_a_secret(line), expect, "{line}");
        check("signed in address=127.0.0.1 account=1", false);
        check("hash=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", false);
        check("client_id=2whoyehpazsbp223hy5pdmi3am", false);
        check(&format!("password={PASSWORD}"), true);
        check("key=photos_abcdefghijklmnopqrstuvwxyz234567", true);
        check("path=/i/x/webp-thumb.webp?exp=1&sig=abc", true);
        check("code=\"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\"", true);
        check("eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJodHRwOi8vMTI3LjAuMC4xL2FwaSJ9MTIzNDU2Nzg5.x", true);
    }

    #[test]
    fn what_a_service_logs_is_searched() {
        begin();
        tracing::debug!(target: "library", "photos_2024 was imported");
        assert!(told().is_empty());
        tracing::trace!(target: "web", "photos_abcdefghijklmnopqrstuvwxyz234567");
        assert_eq!(told().len(), 1);
    }
}
