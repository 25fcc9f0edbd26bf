//! Measures OCR: the recall of words that people labelled in pictures, and the number of stray words.
//!
//! The list, `tests/judged/ocr.tsv`, has pictures with the words that a person reads in them. The server's OCR process
//! reads one picture after the other. Words are compared as sets, without case and punctuation.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use ::tests::black_box::AnyError;
use bytes::Bytes;
use clap::Args;
use sandbox::{AnalysisTask, Languages, OcrStatus, Pool, PoolOptions, Urgency, WorkerCommand};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder of the pictures in the list
    dir: PathBuf,
    /// OCR languages
    #[arg(long, default_value = "auto")]
    languages: Languages,
    /// List of pictures and words [default: tests/judged/ocr.tsv]
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Show missed and stray words of each picture
    #[arg(long)]
    verbose: bool,
}

/// A picture in the list.
struct LabelledPicture {
    kind: String,
    file: String,
    words: BTreeSet<String>,
}

/// Figures of the pictures of a kind.
#[derive(Default)]
struct OcrFigures {
    pictures: u32,
    /// Number of pictures with words.
    with_words: u32,
    expected: usize,
    found: usize,
    /// Sum of the recall of each picture.
    recall_sum: f64,
    stray: usize,
    seconds: f64,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("judged/ocr.tsv");
    let list = parse_list(&fs::read_to_string(options.list.as_deref().unwrap_or(&own))?)?;
    let program = ::tests::black_box::program()?;
    let args = vec!["decode-photos".into(), format!("--read-text={}", options.languages).into()];
    let environment = std::env::var_os("TESSDATA_PREFIX").map(|value| ("TESSDATA_PREFIX".into(), value));
    let command = WorkerCommand { program, args, environment: environment.into_iter().collect() };
    let pool = Pool::new(PoolOptions::ocr(command))?;
    match pool.ocr_status().await? {
        OcrStatus::Ready { version, languages, .. } => {
            println!("Tesseract {version} reads {}; {}", languages.join("+"), crate::machine());
        }
        other => return Err(format!("OCR is unavailable: {other:?}").into()),
    }

    println!(
        "{:<14} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "kind", "pictures", "recall", "words", "stray", "seconds"
    );
    let mut kinds: Vec<(String, OcrFigures)> = Vec::new();
    let mut all = OcrFigures::default();
    for picture in &list {
        let file = Bytes::from(fs::read(options.dir.join(&picture.file))?);
        let began = Instant::now();
        let analyzed = pool
            .analyze(&file, &AnalysisTask { max_side_px: None, read_text: true }, Urgency::Deferrable)
            .await;
        let seconds = began.elapsed().as_secs_f64();
        let text = analyzed.map_err(|error| format!("{}: {error}", picture.file))?.text.unwrap_or_default();
        let read = words(&text);
        if options.verbose {
            print_words(picture, &read, seconds);
        }
        let place = kinds.iter().position(|(kind, _)| *kind == picture.kind).unwrap_or_else(|| {
            kinds.push((picture.kind.clone(), OcrFigures::default()));
            kinds.len() - 1
        });
        for figures in kinds.get_mut(place).map(|(_, figures)| figures).into_iter().chain([&mut all]) {
            figures.add(&picture.words, &read, seconds);
        }
    }
    for (kind, figures) in &kinds {
        figures.print(kind);
    }
    all.print("all");
    pool.close().await;
    Ok(())
}

impl OcrFigures {
    fn add(&mut self, expected: &BTreeSet<String>, read: &BTreeSet<String>, seconds: f64) {
        let found = expected.intersection(read).count();
        self.pictures += 1;
        self.expected += expected.len();
        self.found += found;
        self.stray += read.len() - found;
        self.seconds += seconds;
        if !expected.is_empty() {
            self.with_words += 1;
            self.recall_sum += ratio(found, expected.len());
        }
    }

    /// Recall is the mean over the pictures with words.
    fn print(&self, kind: &str) {
        println!(
            "{kind:<14} {:>8} {:>7.1}% {:>8} {:>8} {:>8.2}",
            self.pictures,
            100.0 * self.recall_sum / f64::from(self.with_words.max(1)),
            format!("{}/{}", self.found, self.expected),
            self.stray,
            self.seconds / f64::from(self.pictures.max(1)),
        );
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

fn print_words(picture: &LabelledPicture, read: &BTreeSet<String>, seconds: f64) {
    let join = |words: Vec<&String>| words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let (missed, stray) =
        (picture.words.difference(read).collect(), read.difference(&picture.words).collect());
    println!("{} {} {seconds:.2} s", picture.kind, picture.file);
    println!("    missed: {}\n    stray: {}", join(missed), join(stray));
}

/// Parses lines of kind, file and words, separated by tabs. Lines with `#` are comments.
fn parse_list(list: &str) -> Result<Vec<LabelledPicture>, AnyError> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let parse = |line: &str| {
        let mut fields = line.split('\t');
        match (fields.next(), fields.next(), fields.next(), fields.next()) {
            (Some(kind), Some(file), Some(text), None) => {
                Ok(LabelledPicture { kind: kind.to_owned(), file: file.to_owned(), words: words(text) })
            }
            _ => Err(format!("a line of the list does not have three fields: {line}").into()),
        }
    };
    lines.map(parse).collect()
}

/// The runs of letters and digits, in lower case.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_by_letters_and_digits() {
        let set = |words: &[&str]| words.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(
            words("\"The END\", it's 12.5% — für\nJIN_LI the"),
            set(&["the", "end", "it", "s", "12", "5", "für", "jin", "li"])
        );
        let mut figures = OcrFigures::default();
        figures.add(&set(&["a", "b"]), &set(&["b", "c"]), 1.0);
        figures.add(&set(&[]), &set(&["d"]), 3.0);
        assert_eq!((figures.found, figures.expected, figures.stray, figures.with_words), (1, 2, 2, 1));
        assert!((figures.recall_sum - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn the_list_is_well_formed() {
        let list = parse_list(include_str!("../../../judged/ocr.tsv")).unwrap();
        assert!(list.len() >= 40);
        for LabelledPicture { kind, file, words } in &list {
            assert_eq!(kind == "none", words.is_empty(), "{file}");
        }
        assert!(parse_list("page\ta.png").is_err());
    }
}
