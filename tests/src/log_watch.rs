use std::{
    io,
    sync::{Mutex, Once, PoisonError},
};

use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::account::PASSWORD;

/// Prefixes of the log targets of the service; `web` includes `web_api` and the like.
const TARGETS: [&str; 14] = [
    "web",
    "http_server",
    "library",
    "security",
    "server",
    "oauth_core",
    "client_documents",
    "storage",
    "storage_sqlite",
    "storage_postgres",
    "blobs",
    "keys",
    "sandbox",
    "media",
];

/// Log lines that contain what looks like a secret.
static LEAKS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts searching every log line of the service for secrets, at all levels.
pub(crate) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let filter = Targets::new().with_targets(TARGETS.map(|target| (target, tracing::Level::TRACE)));
        let layer = fmt::layer().with_ansi(false).with_writer(|| LineWriter);
        tracing_subscriber::registry().with(layer).with(filter).init();
    });
}

/// The log lines so far that contain what looks like a secret.
pub(crate) fn leaks() -> Vec<String> {
    LEAKS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Receives the log line by line.
struct LineWriter;

impl io::Write for LineWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        if contains_secret(&line) {
            LEAKS.lock().unwrap_or_else(PoisonError::into_inner).push(line.into_owned());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a line contains the password of the tests or text that looks like a key, a signed URL, a JWT or another secret
/// of at least 256 random bits in base64url: codes, tokens, cookies, form fields.
fn contains_secret(line: &str) -> bool {
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
    fn secrets_are_recognised_by_their_format() {
        let check = |line: &str, expect| assert_eq!(contains_secret(line), expect, "{line}");
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
    fn the_log_of_the_service_is_searched() {
        start();
        tracing::debug!(target: "library", "photos_2024 was imported");
        assert!(leaks().is_empty());
        tracing::trace!(target: "web", "photos_abcdefghijklmnopqrstuvwxyz234567");
        assert_eq!(leaks().len(), 1);
    }
}
