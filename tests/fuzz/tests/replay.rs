//! Runs every target on its corpus and on mutations of it, without a fuzzer.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use fastrand::Rng;

/// Mutations per file.
const MUTATIONS: u64 = 24;
/// Further mutations per file of a target with a dictionary. Such files are short and quick to read.
const TOKEN_MUTATIONS: u64 = 1000;
/// Longer files are not mutated: they take long and cover the same code as shorter ones.
const MAX_MUTATED_BYTES: usize = 400_000;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The target's corpus, and the fixtures in its format.
fn corpus(target: &str) -> Vec<PathBuf> {
    let extensions: &[&str] = match target {
        "avif" => &["avif"],
        "gif" => &["gif"],
        "heif" => &["heic", "heif"],
        "jpeg" => &["jpg"],
        "photo" => &["avif", "gif", "heic", "heif", "jpg", "png", "tif", "tiff", "webp"],
        "png" => &["png"],
        "tiff" => &["tif", "tiff"],
        "webp" => &["webp"],
        _ => &[],
    };
    let has_extension = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extensions.iter().any(|other| extension == *other))
    };
    let fixtures =
        ["media", "samples", "uncommon"].map(|folder| files(&here().join("../../fixtures").join(folder)));
    let own = files(&here().join("corpus").join(target));
    assert!(!own.is_empty(), "{target} has no corpus");
    own.into_iter().chain(fixtures.concat().into_iter().filter(has_extension)).collect()
}

/// Truncates the file, or overwrites up to eight places. Most places are near the start, where the headers are.
fn mutate(bytes: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.is_empty() || random.usize(..4) == 0 {
        bytes.truncate(random.usize(..=bytes.len()));
        return bytes;
    }
    for _ in 0..=random.usize(..8) {
        let end = if random.usize(..3) > 0 { bytes.len().min(2048) } else { bytes.len() };
        let at = random.usize(..end);
        let value = match random.usize(..4) {
            0 => 0,
            1 => 0xFF,
            _ => random.u8(..),
        };
        let width = 1 << random.usize(..4);
        bytes.iter_mut().skip(at).take(width).for_each(|byte| *byte = value);
    }
    bytes
}

/// The tokens in a target's dictionary; empty if it has none.
fn dictionary(target: &str) -> Vec<Vec<u8>> {
    let path = here().join("dictionaries").join(target);
    let text = if path.exists() { fs::read_to_string(&path).unwrap() } else { String::new() };
    text.lines().filter(|line| !line.starts_with('#')).map(|line| token(line).unwrap()).collect()
}

/// Parses a line of a dictionary in the format of libFuzzer: quoted, with the escapes `\\`, `\"` and `\xAB`.
fn token(line: &str) -> Option<Vec<u8>> {
    let mut quoted = line.strip_prefix('"')?.strip_suffix('"')?.bytes();
    let mut token = Vec::new();
    while let Some(byte) = quoted.next() {
        let escaped = if byte == b'\\' { quoted.next()? } else { byte };
        token.push(if byte == b'\\' && escaped == b'x' {
            let digits = [quoted.next()?, quoted.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            escaped
        });
    }
    Some(token)
}

/// Inserts up to four tokens, or overwrites bytes with them.
fn mutate_by_tokens(bytes: &[u8], tokens: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.usize(..4) {
        let token = &tokens[random.usize(..tokens.len())];
        let at = random.usize(..=bytes.len());
        let replaced = if random.bool() { 0 } else { token.len().min(bytes.len() - at) };
        bytes.splice(at..at + replaced, token.iter().copied());
    }
    bytes
}

#[test]
fn targets_survive_their_corpus_and_mutations_of_it() {
    for (name, target) in fuzz::TARGETS {
        target(b"");
        let tokens = dictionary(name);
        for path in corpus(name) {
            let bytes = fs::read(&path).unwrap();
            target(&bytes);
            if bytes.len() > MAX_MUTATED_BYTES {
                continue;
            }
            let mut random = Rng::with_seed(bytes.len() as u64);
            for _ in 0..MUTATIONS {
                target(&mutate(&bytes, &mut random));
            }
            for _ in 0..if tokens.is_empty() { 0 } else { TOKEN_MUTATIONS } {
                target(&mutate_by_tokens(&bytes, &tokens, &mut random));
            }
        }
    }
}

#[test]
fn each_target_has_a_binary_and_a_corpus_and_no_other_exists() {
    let named: BTreeSet<String> = fuzz::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(named.len(), fuzz::TARGETS.len());
    let stems = |folder: &str| -> BTreeSet<String> {
        files(&here().join(folder))
            .iter()
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(stems("src/bin"), named);
    assert_eq!(stems("corpus"), named);
    assert!(stems("dictionaries").is_subset(&named));
}
