//! Fuzz targets: one function for each parser of untrusted input.
//!
//! A target accepts any bytes. It must not panic, hang or run out of memory, and it asserts properties that hold for
//! every input. In an ordinary test run, `tests/replay.rs` feeds each target its corpus, mutations of the corpus and
//! empty input. `cargo fuzz run --fuzz-dir tests/fuzz --features binaries TARGET` (nightly) searches for new inputs.
//! After a bug is fixed, its input is kept in `corpus/TARGET`. Where random bytes seldom give useful input,
//! `dictionaries/TARGET` lists tokens; pass it to the fuzzer with `-- -dict=tests/fuzz/dictionaries/TARGET`.
//!
//! To add a target, write a function, add it to [`TARGETS`], and add `src/bin/TARGET.rs` (copy another one), its entry
//! in `Cargo.toml`, and a corpus folder with at least one file.

mod access_token;
mod backup;
mod client_documents;
mod dav;
mod exports;
mod oauth;
mod photos;
mod protocol;
mod s3;
mod uploads;
mod words;

/// Feeds bytes to one parser.
pub type Target = fn(&[u8]);

/// All targets, with their names.
pub const TARGETS: [(&str, Target); 36] = [
    ("access_token", access_token::access_token),
    ("albums_and_lists", exports::albums_and_lists),
    ("answer", sandbox::check_worker_output),
    ("archives", exports::archives),
    ("authorize", oauth::authorize),
    ("avif", photos::avif),
    ("backup", backup::backup),
    ("client_assertion", client_documents::client_assertion),
    ("client_document", client_documents::client_document),
    ("client_metadata", oauth::client_metadata),
    ("client_url", client_documents::client_url),
    ("dav", dav::dav),
    ("event_stream", protocol::event_stream),
    ("file_names", words::file_names),
    ("gif", photos::gif),
    ("heif", photos::heif),
    ("iptc", photos::iptc),
    ("jpeg", photos::jpeg),
    ("json", protocol::json),
    ("mcp", protocol::mcp),
    ("mcp_server", protocol::mcp_server),
    ("movie", photos::movie),
    ("photo", photos::photo),
    ("png", photos::png),
    ("query", words::query),
    ("raw", photos::raw),
    ("redirect_uri", oauth::redirect_uri),
    ("revocation", oauth::revocation),
    ("s3_uploads", s3::s3_uploads),
    ("takeout", photos::takeout),
    ("texts", words::texts),
    ("tiff", photos::tiff),
    ("token", oauth::token),
    ("upload_headers", uploads::upload_headers),
    ("webp", photos::webp),
    ("xmp", photos::xmp),
];

/// The target with the given name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|(other, _)| *other == name);
    assert!(found.is_some(), "there is no target {name}");
    found.map_or(|_: &[u8]| {}, |(_, target)| *target)
}

/// The body of a target's binary: the entry point of the fuzzer when built for fuzzing, else a program that runs the
/// target on the files given as arguments.
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
