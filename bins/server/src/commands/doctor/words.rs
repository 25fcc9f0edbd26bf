//! Whether words in photos can be read, and what to install when not.

use std::path::Path;

use sandbox::{OcrStatus, Pool, PoolOptions, WorkerCommand};

use super::Findings;

const WORDS: &str = "words in photos (OCR)";
const INSTEAD: &str = "photos are found by description and file name";

/// A system's package manager, and what Tesseract and its trained data are called there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packages {
    Apt,
    Dnf,
    Pacman,
    Apk,
    Brew,
}

/// Starts a worker that reads words, and tells what it says.
pub(super) async fn check(reader: Option<&WorkerCommand>, findings: &mut Findings) {
    let Some(reader) = reader else {
        findings.ok(WORDS, &format!("not read, as --ocr-languages says; {INSTEAD}"));
        return;
    };
    let reading = async {
        let pool = Pool::new(PoolOptions::ocr(reader.clone()))?;
        let reading = pool.ocr_status().await;
        pool.close().await;
        reading
    };
    match reading.await {
        Err(error) => findings.fail(WORDS, &format!("no reader can be started: {error}")),
        Ok(reading) => tell(&reading, Packages::found(), findings),
    }
}

fn tell(reading: &OcrStatus, packages: Packages, findings: &mut Findings) {
    match reading {
        OcrStatus::Off => findings.fail(WORDS, "the reader was not started to read"),
        OcrStatus::Unavailable { reason, missing } => {
            let install = packages.install(missing);
            findings.warn(WORDS, &format!("not read: {reason}; {INSTEAD}; to read them: {install}"));
        }
        OcrStatus::Ready { version, languages, missing, installed } => {
            let languages = languages.join(", ");
            let others: Vec<_> =
                installed.iter().filter(|name| !languages.contains(name.as_str())).cloned().collect();
            let also = if others.is_empty() {
                String::new()
            } else {
                format!("; installed, too, and read when --ocr-languages names them: {}", others.join(", "))
            };
            findings.ok(WORDS, &format!("Tesseract {version} reads {languages}{also}"));
            if !missing.is_empty() {
                let install = packages.install(missing);
                findings.warn(
                    WORDS,
                    &format!("no trained data for {}; to read them: {install}", missing.join(", ")),
                );
            }
        }
    }
}

impl Packages {
    /// That of this system; Debian's names where there is none that is known.
    fn found() -> Self {
        let programs = [
            ("/usr/bin/apt-get", Self::Apt),
            ("/usr/bin/dnf", Self::Dnf),
            ("/usr/bin/pacman", Self::Pacman),
            ("/sbin/apk", Self::Apk),
            ("/opt/homebrew/bin/brew", Self::Brew),
            ("/usr/local/bin/brew", Self::Brew),
        ];
        let found = programs.into_iter().find(|(program, _)| Path::new(program).exists());
        found.map_or(Self::Apt, |(_, packages)| packages)
    }

    /// The command that installs Tesseract with English and these languages.
    fn install(self, languages: &[String]) -> String {
        let (command, tesseract, language) = match self {
            Self::Apt => ("apt-get install", "tesseract-ocr", "tesseract-ocr-"),
            Self::Dnf => ("dnf install", "tesseract", "tesseract-langpack-"),
            Self::Pacman => ("pacman -S", "tesseract tesseract-data-eng", "tesseract-data-"),
            Self::Apk => ("apk add", "tesseract-ocr tesseract-ocr-data-eng", "tesseract-ocr-data-"),
            // One package holds all languages.
            Self::Brew if languages.is_empty() => return "brew install tesseract".into(),
            Self::Brew => return "brew install tesseract tesseract-lang".into(),
        };
        let mut line = format!("{command} {tesseract}");
        for name in languages {
            // Packages of Debian are called tesseract-ocr-chi-sim.
            let name = if self == Self::Apt { name.replace('_', "-") } else { name.clone() };
            let package = format!("{language}{}", name.replace('/', "-").to_lowercase());
            if !line.split(' ').any(|word| word == package) {
                line.push_str(&format!(" {package}"));
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_command_that_installs_is_told() {
        let check = |packages: Packages, languages: &[&str], expect: &str| {
            assert_eq!(packages.install(&names(languages)), expect);
        };
        check(Packages::Apt, &[], "apt-get install tesseract-ocr");
        check(
            Packages::Apt,
            &["deu", "chi_sim", "script/Latin"],
            "apt-get install tesseract-ocr tesseract-ocr-deu tesseract-ocr-chi-sim tesseract-ocr-script-latin",
        );
        check(Packages::Dnf, &["deu"], "dnf install tesseract tesseract-langpack-deu");
        check(Packages::Pacman, &["eng"], "pacman -S tesseract tesseract-data-eng");
        check(Packages::Apk, &["eng"], "apk add tesseract-ocr tesseract-ocr-data-eng");
        check(Packages::Brew, &["deu"], "brew install tesseract tesseract-lang");
    }

    #[test]
    fn what_the_reader_says_is_told() {
        let check = |reading: OcrStatus, expect: &[&str]| {
            let mut findings = Findings::default();
            tell(&reading, Packages::Apt, &mut findings);
            let report = findings.report();
            assert!(!report.something_failed);
            assert_eq!(report.text.lines().collect::<Vec<_>>(), expect);
        };
        check(
            OcrStatus::Ready {
                version: "5.3.0".into(),
                languages: names(&["eng", "deu"]),
                missing: names(&["fra"]),
                installed: names(&["deu", "eng", "spa"]),
            },
            &[
                "ok    words in photos (OCR): Tesseract 5.3.0 reads eng, deu; installed, too, and read when \
                 --ocr-languages names them: spa",
                "warn  words in photos (OCR): no trained data for fra; to read them: apt-get install tesseract-ocr \
                 tesseract-ocr-fra",
            ],
        );
        check(
            OcrStatus::Unavailable { reason: "Tesseract is not installed".into(), missing: Vec::new() },
            &[
                "warn  words in photos (OCR): not read: Tesseract is not installed; photos are found by description \
               and file name; to read them: apt-get install tesseract-ocr",
            ],
        );
    }
}
