//! Reads real pictures with the system's Tesseract and its trained data for English.
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read fails its test")]

use std::path::Path;
use std::time::{Duration, Instant};

use media::{Limits, RgbPicture};
use tesseract::{
    GrayImage, PageLayout, ReadError, ReadOptions, ReaderError, RecognizedText, Tesseract, TextReader,
    Version,
};

const PLENTY: ReadOptions =
    ReadOptions { deadline: Duration::from_secs(600), layout: PageLayout::Auto, min_confidence: 50.0 };

fn reader() -> TextReader<'static> {
    Tesseract::load().unwrap().reader(&["eng"]).unwrap()
}

/// The green channel of a fixture.
fn picture(name: &str) -> (u32, u32, Vec<u8>) {
    let file =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)).unwrap();
    let mut decoded = media::decode_rgb(&file, &[2000], &Limits::default()).unwrap();
    let RgbPicture { size, rgb } = decoded.pictures.pop().unwrap();
    (size.width, size.height, rgb.chunks_exact(3).map(|pixel| pixel[1]).collect())
}

fn read(reader: &mut TextReader<'_>, name: &str, options: &ReadOptions) -> RecognizedText {
    let (width, height, pixels) = picture(name);
    reader.read(&GrayImage { width, height, pixels: &pixels }, options).unwrap()
}

fn lines(text: &RecognizedText) -> Vec<String> {
    let words =
        |line: &tesseract::TextLine| line.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
    text.lines.iter().map(|line| words(line).join(" ")).collect()
}

#[test]
fn library_is_loaded_once_with_its_languages() {
    let library = Tesseract::load().unwrap();
    assert!(std::ptr::eq(library, Tesseract::load().unwrap()));
    assert!(library.version() >= Version { major: 4, minor: 0, patch: 0 });
    let languages = library.available_languages();
    assert!(languages.contains(&"eng".to_owned()), "{languages:?}");
    assert!(!languages.contains(&"osd".to_owned()), "{languages:?}");
    assert_eq!(reader().languages(), ["eng"]);
}

#[test]
fn lines_and_paragraphs_are_read() {
    let mut reader = reader();
    let text = read(&mut reader, "samples/lorem-ipsum.png", &PLENTY);
    assert!(text.complete);
    let read_lines = lines(&text);
    let first = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. Mauris porttitor leo";
    assert!(read_lines[0].starts_with(first), "{read_lines:?}");
    assert!(text.lines[0].begins_paragraph);
    let paragraphs = text.lines.iter().filter(|line| line.begins_paragraph).count();
    assert!((2..read_lines.len()).contains(&paragraphs), "{paragraphs} of {}", read_lines.len());
    for word in text.lines.iter().flat_map(|line| &line.words) {
        assert!((50.0..=100.0).contains(&word.confidence), "{word:?}");
        assert!(!word.text.is_empty() && !word.text.contains(char::is_whitespace), "{word:?}");
    }
    // The first picture does not affect the next one.
    let text = read(&mut reader, "samples/orange-lossless.webp", &PLENTY);
    assert_eq!(lines(&text), ["webp", "lossless", "123"]);
    let sparse = ReadOptions { layout: PageLayout::Sparse, ..PLENTY };
    assert_eq!(
        lines(&read(&mut reader, "samples/orange-lossless.webp", &sparse)),
        ["webp", "lossless", "123"]
    );
}

#[test]
fn words_of_low_confidence_are_left_out() {
    let (mut reader, name) = (reader(), "samples/restaurant-bill.jpg");
    let count = |text: &RecognizedText| text.lines.iter().map(|line| line.words.len()).sum::<usize>();
    let sparse = |min_confidence| ReadOptions { layout: PageLayout::Sparse, min_confidence, ..PLENTY };
    let (all, sure) = (read(&mut reader, name, &sparse(0.0)), read(&mut reader, name, &sparse(80.0)));
    assert!(count(&all) > count(&sure) && count(&sure) > 0, "{:?} {:?}", lines(&all), lines(&sure));
    assert!(lines(&sure).iter().any(|line| line.contains("Tavolo")), "{:?}", lines(&sure));
}

#[test]
fn reading_stops_at_the_deadline() {
    let (width, height, pixels) = picture("samples/lorem-ipsum.png");
    let mut reader = reader();
    let picture = GrayImage { width, height, pixels: &pixels };
    let began = Instant::now();
    let all = reader.read(&picture, &PLENTY).unwrap();
    let whole = began.elapsed();
    let options = ReadOptions { deadline: Duration::ZERO, ..PLENTY };
    let began = Instant::now();
    let cut = reader.read(&picture, &options).unwrap();
    assert!(began.elapsed() < whole, "{:?} {whole:?}", began.elapsed());
    assert!(!cut.complete && cut.lines.len() < all.lines.len(), "{:?}", lines(&cut));
    // An interrupted picture does not affect the next one.
    assert_eq!(reader.read(&picture, &PLENTY).unwrap(), all);
}

#[test]
fn pictures_of_invalid_size_are_refused() {
    let mut reader = reader();
    let mut check = |width, height, bytes: usize, expect: bool| {
        let pixels = vec![200; bytes];
        let outcome = reader.read(&GrayImage { width, height, pixels: &pixels }, &PLENTY);
        let refused = Err(ReadError::Size { width, height, bytes });
        assert_eq!(outcome == refused, !expect, "{width} x {height}: {outcome:?}");
    };
    check(0, 5, 0, false);
    check(5, 0, 0, false);
    check(5, 5, 24, false);
    check(5, 5, 26, false);
    check(u32::MAX, u32::MAX, 1, false);
    check(32_768, 1, 32_768, false);
    check(100, 100, 10_000, true);
    for (width, height) in [(1, 1), (2, 2), (3, 200), (200, 3), (32_767, 1), (1, 32_767)] {
        let pixels = vec![0; usize::try_from(width * height).unwrap()];
        match reader.read(&GrayImage { width, height, pixels: &pixels }, &PLENTY) {
            Ok(text) => assert_eq!(text.lines, []),
            Err(error) => assert_eq!(error, ReadError::Refused),
        }
    }
}

#[test]
fn noise_does_not_crash() {
    let mut reader = reader();
    let mut random = fastrand::Rng::with_seed(1);
    for (width, height) in [(64, 64), (300, 40), (40, 300), (257, 131)] {
        for bits in [1, 4, 8] {
            let pixels: Vec<u8> =
                (0..width * height).map(|_| random.u8(..) >> (8 - bits) << (8 - bits)).collect();
            for layout in [PageLayout::Auto, PageLayout::Sparse] {
                let options = ReadOptions { layout, min_confidence: 0.0, ..PLENTY };
                let _ = reader.read(&GrayImage { width, height, pixels: &pixels }, &options);
            }
        }
    }
}

#[test]
fn missing_language_is_named() {
    let library = Tesseract::load().unwrap();
    let check = |languages: &[&str], expect| assert_eq!(library.reader(languages).map(drop), Err(expect));
    check(&[], ReaderError::NoLanguage);
    let missing = |language: &str| ReaderError::Missing { language: language.into() };
    check(&["eng", "xyz"], missing("xyz"));
    check(&["osd"], missing("osd"));
    check(&["eng+eng"], missing("eng+eng"));
    check(&["../eng"], missing("../eng"));
    check(&["e\0"], missing("e\0"));
    assert_eq!(missing("xyz").to_string(), "Tesseract has no trained data for the language `xyz`");
}

#[test]
fn readers_on_several_threads_are_independent() {
    let expect = read(&mut reader(), "samples/orange-lossless.webp", &PLENTY);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                assert_eq!(read(&mut reader(), "samples/orange-lossless.webp", &PLENTY), expect);
            });
        }
    });
}
