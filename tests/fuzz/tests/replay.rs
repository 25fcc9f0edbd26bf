//! Feeds every target its corpus and mutations of it, without a fuzzer.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Mutations of each file.
const MUTATIONS: u64 = 24;
/// Mutations of each file of a target with a dictionary: such files are short, and words are easily put together.
const MUTATIONS_OF_WORDS: u64 = 1000;
/// Files longer than this are fed as they are and not mutated: they would only repeat what shorter ones show.
const MAX_MUTATED_BYTES: usize = 400_000;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The target's own files, and the photos of its format that ship with the source.
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
    let is_of_it = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extensions.iter().any(|other| extension == *other))
    };
    let fixtures = ["media", "samples"].map(|folder| files(&here().join("../../fixtures").join(folder)));
    let own = files(&here().join("corpus").join(target));
    assert!(!own.is_empty(), "{target} has no corpus");
    own.into_iter().chain(fixtures.concat().into_iter().filter(is_of_it)).collect()
}

/// A generator of numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }
}

/// Cuts the file off, or overwrites up to eight places; most of them near its beginning, where headers are.
fn mutate(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if numbers.below(4) == 0 {
        bytes.truncate(numbers.below(bytes.len()));
        return bytes;
    }
    for _ in 0..=numbers.below(8) {
        let end = if numbers.below(3) > 0 { bytes.len().min(2048) } else { bytes.len() };
        let at = numbers.below(end);
        let value = match numbers.below(4) {
            0 => 0,
            1 => 0xFF,
            _ => numbers.next().to_le_bytes()[0],
        };
        let width = 1 << numbers.below(4);
        bytes.iter_mut().skip(at).take(width).for_each(|byte| *byte = value);
    }
    bytes
}

/// The words that a target's inputs are made of; none for targets without a dictionary.
fn dictionary(target: &str) -> Vec<Vec<u8>> {
    let path = here().join("dictionaries").join(target);
    let text = if path.exists() { fs::read_to_string(&path).unwrap() } else { String::new() };
    text.lines().filter(|line| !line.starts_with('#')).map(|line| word(line).unwrap()).collect()
}

/// A line of a dictionary as fuzzers read it: in quotes, with `\\`, `\"` and `\xAB`.
fn word(line: &str) -> Option<Vec<u8>> {
    let mut quoted = line.strip_prefix('"')?.strip_suffix('"')?.bytes();
    let mut word = Vec::new();
    while let Some(byte) = quoted.next() {
        let escaped = if byte == b'\\' { quoted.next()? } else { byte };
        word.push(if byte == b'\\' && escaped == b'x' {
            let digits = [quoted.next()?, quoted.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            escaped
        });
    }
    Some(word)
}

/// Puts up to four words in, or in the place of as many bytes.
fn mutate_by_words(bytes: &[u8], words: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(4) {
        let word = &words[numbers.below(words.len())];
        let at = numbers.below(bytes.len() + 1);
        let replaced = if numbers.below(2) == 0 { 0 } else { word.len().min(bytes.len() - at) };
        bytes.splice(at..at + replaced, word.iter().copied());
    }
    bytes
}

#[test]
fn every_target_survives_its_corpus_and_mutations_of_it() {
    for (name, target) in fuzz::TARGETS {
        target(b"");
        let words = dictionary(name);
        for path in corpus(name) {
            let bytes = fs::read(&path).unwrap();
            target(&bytes);
            if bytes.len() > MAX_MUTATED_BYTES {
                continue;
            }
            let mut numbers = Numbers(bytes.len() as u64);
            for _ in 0..MUTATIONS {
                target(&mutate(&bytes, &mut numbers));
            }
            for _ in 0..if words.is_empty() { 0 } else { MUTATIONS_OF_WORDS } {
                target(&mutate_by_words(&bytes, &words, &mut numbers));
            }
        }
    }
}

#[test]
fn every_target_has_a_binary_and_a_corpus_and_nothing_else_has() {
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
