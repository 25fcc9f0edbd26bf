//! Reading words: the share of the words that a person reads in pictures which the service's reader finds, too, and what
//! it reads where there are none.
//!
//! The list, `tests/judged/ocr.tsv`, names pictures of a folder with the words that a person sees in them. Each picture
//! is looked at by the server's own reading worker, one after the other. Words are compared without regard to case and
//! punctuation, each once.

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
    /// Folder of the pictures that the list names
    dir: PathBuf,
    /// Languages to read
    #[arg(long, default_value = "auto")]
    languages: Languages,
    /// List of pictures and words [default: the one that comes with the source]
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Tell for each picture which words were not found, and which were read that nobody sees
    #[arg(long)]
    verbose: bool,
}

/// A picture of the list.
struct Judged {
    kind: String,
    file: String,
    words: BTreeSet<String>,
}

/// What was read of the pictures of a kind.
#[derive(Default)]
struct Figures {
    pictures: u32,
    /// Those with words.
    with_words: u32,
    expected: usize,
    found: usize,
    /// The sum of each picture's share.
    shares: f64,
    stray: usize,
    seconds: f64,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("judged/ocr.tsv");
    let list = judged(&fs::read_to_string(options.list.as_deref().unwrap_or(&own))?)?;
    let program = ::tests::black_box::program()?;
    let args = vec!["decode-photos".into(), format!("--read-text={}", options.languages).into()];
    let environment = std::env::var_os("TESSDATA_PREFIX").map(|value| ("TESSDATA_PREFIX".into(), value));
    let command = WorkerCommand { program, args, environment: environment.into_iter().collect() };
    let pool = Pool::new(PoolOptions::ocr(command))?;
    match pool.ocr_status().await? {
        OcrStatus::Ready { version, languages, .. } => {
            println!("Tesseract {version} reads {}; {}", languages.join("+"), crate::machine());
        }
        other => return Err(format!("words are not read here: {other:?}").into()),
    }

    println!(
        "{:<14} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "kind", "pictures", "share", "words", "stray", "seconds"
    );
    let mut kinds: Vec<(String, Figures)> = Vec::new();
    let mut all = Figures::default();
    for judged in &list {
        let file = Bytes::from(fs::read(options.dir.join(&judged.file))?);
        let began = Instant::now();
        let looked = pool
            .analyze(&file, &AnalysisTask { max_side_px: None, read_text: true }, Urgency::Background)
            .await;
        let seconds = began.elapsed().as_secs_f64();
        let text = looked.map_err(|error| format!("{}: {error}", judged.file))?.text.unwrap_or_default();
        let read = words(&text);
        if options.verbose {
            tell(judged, &read, seconds);
        }
        let place = kinds.iter().position(|(kind, _)| *kind == judged.kind).unwrap_or_else(|| {
            kinds.push((judged.kind.clone(), Figures::default()));
            kinds.len() - 1
        });
        for figures in kinds.get_mut(place).map(|(_, figures)| figures).into_iter().chain([&mut all]) {
            figures.add(&judged.words, &read, seconds);
        }
    }
    for (kind, figures) in &kinds {
        figures.print(kind);
    }
    all.print("all");
    pool.close().await;
    Ok(())
}

impl Figures {
    fn add(&mut self, expected: &BTreeSet<String>, read: &BTreeSet<String>, seconds: f64) {
        let found = expected.intersection(read).count();
        self.pictures += 1;
        self.expected += expected.len();
        self.found += found;
        self.stray += read.len() - found;
        self.seconds += seconds;
        if !expected.is_empty() {
            self.with_words += 1;
            self.shares += ratio(found, expected.len());
        }
    }

    /// The share is the mean of the pictures' shares, of those with words.
    fn print(&self, kind: &str) {
        println!(
            "{kind:<14} {:>8} {:>7.1}% {:>8} {:>8} {:>8.2}",
            self.pictures,
            100.0 * self.shares / f64::from(self.with_words.max(1)),
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

fn tell(judged: &Judged, read: &BTreeSet<String>, seconds: f64) {
    let join = |words: Vec<&String>| words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let (missed, stray) = (judged.words.difference(read).collect(), read.difference(&judged.words).collect());
    println!("{} {} {seconds:.2} s", judged.kind, judged.file);
    println!("    not found: {}\n    stray: {}", join(missed), join(stray));
}

/// Lines of kind, file and words, with tabs in between; those with `#` are remarks.
fn judged(list: &str) -> Result<Vec<Judged>, AnyError> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let read = |line: &str| {
        let mut fields = line.split('\t');
        match (fields.next(), fields.next(), fields.next(), fields.next()) {
            (Some(kind), Some(file), Some(text), None) => {
                Ok(Judged { kind: kind.to_owned(), file: file.to_owned(), words: words(text) })
            }
            _ => Err(format!("a line of the list has not three fields: {line}").into()),
        }
    };
    lines.map(read).collect()
}

/// Runs of letters and digits, in lower case.
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
        let mut figures = Figures::default();
        figures.add(&set(&["a", "b"]), &set(&["b", "c"]), 1.0);
        figures.add(&set(&[]), &set(&["d"]), 3.0);
        assert_eq!((figures.found, figures.expected, figures.stray, figures.with_words), (1, 2, 2, 1));
        assert!((figures.shares - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn the_list_is_well_formed() {
        let list = judged(include_str!("../../../judged/ocr.tsv")).unwrap();
        assert!(list.len() >= 40);
        for Judged { kind, file, words } in &list {
            assert_eq!(kind == "none", words.is_empty(), "{file}");
        }
        assert!(judged("page\ta.png").is_err());
    }
}
