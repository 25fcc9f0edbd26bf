//! Checks OCR, and names the packages to install.

use std::path::Path;

use sandbox::{Languages, OcrStatus, Pool, PoolOptions, WorkerCommand};

use super::Findings;

const OCR: &str = "text in photos (OCR)";
const WITHOUT_OCR: &str = "text in photos is not searched";

/// A package manager, which determines the package names of Tesseract and its trained data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PackageManager {
    Apt,
    Dnf,
    Pacman,
    Apk,
    Brew,
}

/// Starts an OCR process, and reports its languages.
pub(super) async fn check(worker: Option<&WorkerCommand>, languages: &Languages, findings: &mut Findings) {
    let Some(worker) = worker else {
        findings.ok(OCR, &format!("disabled by --ocr-languages; {WITHOUT_OCR}"));
        return;
    };
    let status = async {
        let pool = Pool::new(PoolOptions::ocr(worker.clone()))?;
        let status = pool.ocr_status().await;
        pool.close().await;
        status
    };
    match status.await {
        Err(error) => findings.fail(OCR, &format!("cannot start the OCR process: {error}")),
        Ok(status) => report(&status, languages, PackageManager::detect(), findings),
    }
}

fn report(status: &OcrStatus, configured: &Languages, packages: PackageManager, findings: &mut Findings) {
    match status {
        OcrStatus::Off => findings.fail(OCR, "the OCR process was started without languages"),
        OcrStatus::Unavailable { reason, missing } => {
            let (misnamed, missing) = misnamed(missing);
            let install = (misnamed.is_empty() || !missing.is_empty())
                .then(|| format!("To install it, run `{}`", packages.install_command(&missing)));
            let advice: Vec<String> = install.into_iter().chain(correction(&misnamed)).collect();
            findings.warn(OCR, &format!("{reason}; {WITHOUT_OCR}. {}", advice.join(". ")));
        }
        OcrStatus::Ready { version, languages, missing, installed } => {
            let others: Vec<_> = installed.iter().filter(|name| !languages.contains(name)).cloned().collect();
            let also = unread(&others, configured);
            findings.ok(OCR, &format!("Tesseract {version} reads {}{also}", languages.join(", ")));
            let (misnamed, missing) = misnamed(missing);
            if !missing.is_empty() {
                let install = packages.install_command(&missing);
                findings.warn(
                    OCR,
                    &format!(
                        "--ocr-languages names {0}, but Tesseract has no trained data for {0}; to install it, run `{install}`",
                        missing.join(", ")
                    ),
                );
            }
            if let Some(correction) = correction(&misnamed) {
                findings.warn(OCR, &correction);
            }
        }
    }
}

/// The installed languages that are not read, and why; empty if all are read.
fn unread(others: &[String], configured: &Languages) -> String {
    if others.is_empty() {
        return String::new();
    }
    let others = others.join(", ");
    match configured {
        Languages::Named(_) => format!("; also installed, but not named by --ocr-languages: {others}"),
        Languages::Installed => format!(
            "; also installed, but not read by default, because each language takes time: {others}. To read them, name them \
             with --ocr-languages"
        ),
    }
}

/// Separates languages with two-letter names, which Tesseract does not use and for which no package exists, from the
/// others.
fn misnamed(missing: &[String]) -> (Vec<String>, Vec<String>) {
    missing.iter().cloned().partition(|name| name.len() == 2)
}

/// The advice for misnamed languages; `None` if there are none.
fn correction(misnamed: &[String]) -> Option<String> {
    (!misnamed.is_empty()).then(|| {
        format!(
            "--ocr-languages names {}; Tesseract's names have three letters, such as eng and deu. Correct the setting.",
            misnamed.join(", ")
        )
    })
}

impl PackageManager {
    /// Detects the package manager of this system; apt-get if none is known.
    fn detect() -> Self {
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
    fn install_command(self, languages: &[String]) -> String {
        let (command, tesseract, language) = match self {
            Self::Apt => ("apt-get install", "tesseract-ocr", "tesseract-ocr-"),
            Self::Dnf => ("dnf install", "tesseract", "tesseract-langpack-"),
            Self::Pacman => ("pacman -S", "tesseract tesseract-data-eng", "tesseract-data-"),
            Self::Apk => ("apk add", "tesseract-ocr tesseract-ocr-data-eng", "tesseract-ocr-data-"),
            // One package contains all languages.
            Self::Brew if languages.is_empty() => return "brew install tesseract".into(),
            Self::Brew => return "brew install tesseract tesseract-lang".into(),
        };
        let mut line = format!("{command} {tesseract}");
        for name in languages {
            // Debian's package for chi_sim is tesseract-ocr-chi-sim.
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
    fn install_commands_use_the_package_names_of_the_system() {
        let check = |packages: PackageManager, languages: &[&str], expect: &str| {
            assert_eq!(packages.install_command(&names(languages)), expect);
        };
        check(PackageManager::Apt, &[], "apt-get install tesseract-ocr");
        check(
            PackageManager::Apt,
            &["deu", "chi_sim", "script/Latin"],
            "apt-get install tesseract-ocr tesseract-ocr-deu tesseract-ocr-chi-sim tesseract-ocr-script-latin",
        );
        check(PackageManager::Dnf, &["deu"], "dnf install tesseract tesseract-langpack-deu");
        check(PackageManager::Pacman, &["eng"], "pacman -S tesseract tesseract-data-eng");
        check(PackageManager::Apk, &["eng"], "apk add tesseract-ocr tesseract-ocr-data-eng");
        check(PackageManager::Brew, &["deu"], "brew install tesseract tesseract-lang");
    }

    #[test]
    fn the_ocr_state_is_reported() {
        let check = |configured: &str, status: OcrStatus, expect: &[&str]| {
            let mut findings = Findings::default();
            report(&status, &configured.parse().unwrap(), PackageManager::Apt, &mut findings);
            let report = findings.report();
            assert!(!report.failed);
            assert_eq!(report.text.lines().collect::<Vec<_>>(), expect);
        };
        check(
            "eng+deu+fra",
            OcrStatus::Ready {
                version: "5.3.0".into(),
                languages: names(&["eng", "deu"]),
                missing: names(&["fra"]),
                installed: names(&["deu", "eng", "spa"]),
            },
            &[
                "ok    text in photos (OCR): Tesseract 5.3.0 reads eng, deu; also installed, but not named by \
                 --ocr-languages: spa",
                "warn  text in photos (OCR): --ocr-languages names fra, but Tesseract has no trained data for fra; to install \
                 it, run `apt-get install tesseract-ocr tesseract-ocr-fra`",
            ],
        );
        check(
            "auto",
            OcrStatus::Ready {
                version: "5.3.0".into(),
                languages: names(&["eng"]),
                missing: Vec::new(),
                installed: names(&["deu", "eng", "fra", "ita", "spa"]),
            },
            &[
                "ok    text in photos (OCR): Tesseract 5.3.0 reads eng; also installed, but not read by default, because each \
                 language takes time: deu, fra, ita, spa. To read them, name them with --ocr-languages",
            ],
        );
        check(
            "en",
            OcrStatus::Unavailable {
                reason: "Tesseract has no trained data for en".into(),
                missing: names(&["en"]),
            },
            &[
                "warn  text in photos (OCR): Tesseract has no trained data for en; text in photos is not searched. \
                 --ocr-languages names en; Tesseract's names have three letters, such as eng and deu. Correct the setting.",
            ],
        );
        check(
            "eng+de+fra",
            OcrStatus::Ready {
                version: "5.3.0".into(),
                languages: names(&["eng"]),
                missing: names(&["de", "fra"]),
                installed: names(&["eng"]),
            },
            &[
                "ok    text in photos (OCR): Tesseract 5.3.0 reads eng",
                "warn  text in photos (OCR): --ocr-languages names fra, but Tesseract has no trained data for fra; to install \
                 it, run `apt-get install tesseract-ocr tesseract-ocr-fra`",
                "warn  text in photos (OCR): --ocr-languages names de; Tesseract's names have three letters, such as eng and \
                 deu. Correct the setting.",
            ],
        );
        check(
            "auto",
            OcrStatus::Unavailable { reason: "Tesseract is not installed".into(), missing: Vec::new() },
            &[
                "warn  text in photos (OCR): Tesseract is not installed; text in photos is not searched. To install it, \
                 run `apt-get install tesseract-ocr`",
            ],
        );
    }
}
