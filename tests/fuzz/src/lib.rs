//! What a fuzzer feeds: one function for each parser that meets the outside world.
//!
//! A function takes any bytes and returns; it may neither panic, hang nor run out of memory, and asserts what must
//! hold whatever the bytes are. `tests/replay.rs` runs every target on its corpus, on mutations of it, and on nothing,
//! in each ordinary test run; `cargo fuzz run --fuzz-dir tests/fuzz TARGET` (nightly) searches for more. What a fuzzer finds
//! is mended and its input kept in `corpus/TARGET`. What a target's inputs are made of, if bytes alone would seldom make
//! it, is in `dictionaries/TARGET`; a fuzzer takes such a file by `-- -dict=tests/fuzz/dictionaries/TARGET`.
//!
//! To add a target, write a function, name it in [`TARGETS`], add a binary of that name of three lines and a corpus
//! folder with at least one file.
#![deny(missing_docs)]

mod access_token;
mod client_documents;
mod oauth;
mod photos;
mod protocol;
mod words;

/// Feeds one parser.
pub type Target = fn(&[u8]);

/// Every target by name.
pub const TARGETS: [(&str, Target); 27] = [
    ("access_token", access_token::access_token),
    ("answer", sandbox::check_worker_output),
    ("authorize", oauth::authorize),
    ("avif", photos::avif),
    ("client_document", client_documents::client_document),
    ("client_metadata", oauth::client_metadata),
    ("client_url", client_documents::client_url),
    ("file_names", words::file_names),
    ("gif", photos::gif),
    ("heif", photos::heif),
    ("iptc", photos::iptc),
    ("jpeg", photos::jpeg),
    ("json", protocol::json),
    ("mcp", protocol::mcp),
    ("mcp_server", protocol::mcp_server),
    ("photo", photos::photo),
    ("png", photos::png),
    ("query", words::query),
    ("raw", photos::raw),
    ("redirect_uri", oauth::redirect_uri),
    ("revocation", oauth::revocation),
    ("takeout", photos::takeout),
    ("texts", words::texts),
    ("tiff", photos::tiff),
    ("token", oauth::token),
    ("webp", photos::webp),
    ("xmp", photos::xmp),
];

/// The target of that name.
///
/// # Panics
/// When there is none.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|(other, _)| *other == name);
    assert!(found.is_some(), "there is no target {name}");
    found.map_or(|_: &[u8]| {}, |(_, target)| *target)
}

/// The body of a target's binary: a fuzzer's entry when it is built for one, and otherwise a program that feeds the
/// files it is given to the target.
#[macro_export]
macro_rules! binary {
    ($name:literal) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::target($name)(data));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            for path in std::env::args_os().skip(1) {
                $crate::target($name)(&std::fs::read(path)?);
            }
            Ok(())
        }
    };
}
