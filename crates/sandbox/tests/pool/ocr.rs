//! Tests OCR by the system's Tesseract in sandboxed workers.

use std::{ffi::OsString, fs, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use rustix::process::{Pid, Signal, kill_process};
use sandbox::{AnalysisTask, DecodeError, FileFault, OcrStatus, Pool, PoolOptions, Urgency, WorkerCommand};

use crate::{LONG_TIMEOUT, honest, worker};

const TEXT: AnalysisTask = AnalysisTask { max_side_px: None, read_text: true };

fn ocr_options(languages: &str) -> PoolOptions {
    let command = worker("decoder", &[languages]);
    let reading = PoolOptions::ocr(command);
    PoolOptions {
        wall_limit: LONG_TIMEOUT,
        cpu_limit: LONG_TIMEOUT,
        ocr_limit: LONG_TIMEOUT,
        idle_limit: LONG_TIMEOUT,
        ..reading
    }
}

fn sample(name: &str) -> Bytes {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    Bytes::from(fs::read(path).unwrap())
}

async fn read(pool: &Pool, file: &Bytes) -> Option<String> {
    pool.analyze(file, &TEXT, Urgency::Deferrable).await.unwrap().text
}

#[tokio::test]
async fn text_is_read_in_a_sandboxed_process() {
    let pool = Pool::new(ocr_options("eng")).unwrap();
    let protections = pool.protections().await.unwrap();
    assert!(protections.system_calls && protections.limits);
    let status = pool.ocr_status().await.unwrap();
    let OcrStatus::Ready { languages, missing, .. } = status else { panic!("{status:?}") };
    assert_eq!((languages, missing), (vec!["eng".to_owned()], Vec::new()));

    assert_eq!(
        read(&pool, &sample("samples/orange-lossless.webp")).await.as_deref(),
        Some("webp\nlossless\n123")
    );
    let page = read(&pool, &sample("samples/lorem-ipsum.png")).await.unwrap();
    let lines: Vec<_> = page.lines().collect();
    assert!(lines.len() >= 20 && lines[0].starts_with("Lorem"), "{page}");
    let bill = read(&pool, &sample("samples/restaurant-bill.jpg")).await.unwrap();
    assert!(bill.contains("Tavolo"), "{bill}");
    // One task can both read the text and give the picture.
    let both = AnalysisTask { max_side_px: Some(64), read_text: true };
    let analysis =
        pool.analyze(&sample("samples/orange-lossless.webp"), &both, Urgency::Deferrable).await.unwrap();
    assert_eq!(analysis.text.as_deref(), Some("webp\nlossless\n123"));
    assert_eq!(analysis.picture.unwrap().size.longest(), 64);
}

#[tokio::test]
async fn pictures_without_text_give_none() {
    let pool = Pool::new(ocr_options("eng")).unwrap();
    for name in ["samples/cyclamen.jpg", "samples/sleeping-cat.jpg", "media/grey-grid.heic"] {
        let text = read(&pool, &sample(name)).await.unwrap_or_default();
        assert!(text.split_whitespace().count() <= 1, "{name}: {text}");
    }
}

/// The letters fill from a quarter to all of the picture's height.
#[tokio::test]
async fn large_letters_are_read() {
    let pool = Pool::new(ocr_options("eng")).unwrap();
    for (name, expect) in [
        ("media/lettering-label.png", "Parking"),
        ("media/lettering-banner.png", "Welcome home"),
        ("media/lettering-sign.png", "EXIT"),
        ("media/lettering-poster.png", "STOP"),
    ] {
        assert_eq!(read(&pool, &sample(name)).await.as_deref(), Some(expect), "{name}");
    }
}

#[tokio::test]
async fn missing_ocr_is_reported() {
    let check = async |options: PoolOptions, words: &str| {
        let pool = Pool::new(options).unwrap();
        for _ in 0..3 {
            match pool.analyze(&sample("samples/orange-lossless.webp"), &TEXT, Urgency::Deferrable).await {
                Err(DecodeError::Unavailable(error)) => assert_eq!(error.to_string(), words),
                other => panic!("{other:?}"),
            }
        }
        // The pool still decodes photos.
        let look = AnalysisTask { max_side_px: Some(64), read_text: false };
        pool.analyze(&sample("samples/orange-lossless.webp"), &look, Urgency::Deferrable).await.unwrap();
        pool.ocr_status().await.unwrap()
    };
    let off = check(honest(), "the decoders were started without OCR").await;
    assert_eq!(off, OcrStatus::Off);
    let reason = "Tesseract has no trained data for xyz".to_owned();
    let unavailable = check(ocr_options("xyz"), &format!("text in photos is not read: {reason}")).await;
    assert_eq!(unavailable, OcrStatus::Unavailable { reason, missing: vec!["xyz".into()] });
    // If only some of the languages are installed, these are used.
    let status = Pool::new(ocr_options("xyz+eng")).unwrap().ocr_status().await.unwrap();
    let OcrStatus::Ready { languages, missing, .. } = status else { panic!("{status:?}") };
    assert_eq!((languages, missing), (vec!["eng".to_owned()], vec!["xyz".to_owned()]));
}

/// Workers that get their language from a file when they start.
fn ocr_options_from_file(file: &Path) -> PoolOptions {
    let script = r#"read -r languages < "$1"; exec "$0" "$languages""#;
    let decoder = worker("decoder", &[]).program;
    let args: Vec<OsString> = vec!["-c".into(), script.into(), decoder.into(), file.into()];
    let command = WorkerCommand { program: "/bin/sh".into(), args, environment: Vec::new() };
    PoolOptions { command, ..ocr_options("eng") }
}

#[tokio::test]
async fn languages_installed_later_are_found() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed-later");
    let install = |language: &str| {
        // The file is replaced atomically, so that a starting worker never reads an empty file.
        let next = file.with_extension("next");
        fs::write(&next, format!("{language}\n")).unwrap();
        fs::rename(&next, &file).unwrap();
    };
    let is_ready = async |pool: &Pool| match pool.ocr_status().await.unwrap() {
        OcrStatus::Ready { .. } => true,
        OcrStatus::Unavailable { .. } => false,
        OcrStatus::Off => panic!("OCR was requested"),
    };
    let picture = sample("samples/orange-lossless.webp");
    let finds_text = async |pool: &Pool| match pool.analyze(&picture, &TEXT, Urgency::Deferrable).await {
        Ok(analysis) => analysis.text.is_some(),
        Err(DecodeError::Unavailable(_)) => false,
        Err(other) => panic!("{other:?}"),
    };
    install("xyz");
    let long_idle = Pool::new(ocr_options_from_file(&file)).unwrap();
    let short_idle = PoolOptions { idle_limit: Duration::from_millis(200), ..ocr_options_from_file(&file) };
    let (status_only, working) = (Pool::new(short_idle.clone()).unwrap(), Pool::new(short_idle).unwrap());
    assert!(!is_ready(&long_idle).await && !is_ready(&status_only).await && !finds_text(&working).await);

    install("eng");
    let found = async {
        while !is_ready(&status_only).await || !finds_text(&working).await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, found).await.unwrap();
    // A call does not start a new process while a worker is idle.
    assert!(!is_ready(&long_idle).await);
}

#[tokio::test]
async fn text_is_partial_after_the_time_limit() {
    let options = PoolOptions { ocr_limit: Duration::from_millis(1), ..ocr_options("eng") };
    let (cut, whole) = (Pool::new(options).unwrap(), Pool::new(ocr_options("eng")).unwrap());
    let page = sample("samples/lorem-ipsum.png");
    let (cut, whole) = (read(&cut, &page).await, read(&whole, &page).await.unwrap());
    assert!(cut.unwrap_or_default().len() < whole.len() / 2);
}

#[tokio::test]
async fn malicious_files_are_refused() {
    let pool = Pool::new(PoolOptions { max_pixels: 20_000_000, ..ocr_options("eng") }).unwrap();
    let page = sample("samples/lorem-ipsum.png");
    let half = page.slice(..page.len() / 2);
    // A truncated file may be read in part or refused. In both cases, the worker continues.
    let _ = pool.analyze(&half, &TEXT, Urgency::Deferrable).await;
    for file in [page.slice(..40), bomb(), Bytes::from_static(b"GIF89a")] {
        match pool.analyze(&file, &TEXT, Urgency::Deferrable).await {
            Err(DecodeError::File(FileFault::Refused { .. })) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(read(&pool, &page).await.is_some());
}

/// A small PNG whose header declares 100,000 x 100,000 pixels.
fn bomb() -> Bytes {
    let mut png = sample("samples/lorem-ipsum.png").to_vec();
    png[16..24].copy_from_slice(&[0, 1, 0x86, 0xA0, 0, 1, 0x86, 0xA0]);
    Bytes::from(png)
}

/// The workers with this environment variable.
#[cfg(target_os = "linux")]
fn workers_with(variable: &str) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let id = entry.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let ours = environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(variable.as_bytes()));
        if ours { Pid::from_raw(id) } else { None }
    });
    processes.collect()
}

/// The processor time that a process has used, in hundredths of a second.
#[cfg(target_os = "linux")]
fn used_ticks(process: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap();
    let (_, fields) = status.rsplit_once(") ").unwrap();
    fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn worker_killed_during_ocr_is_replaced() {
    const MARK: &str = "KILLED_MIDWAY";
    let mut options = ocr_options("eng");
    options.command.environment.push((MARK.into(), "1".into()));
    let pool = Arc::new(Pool::new(options).unwrap());
    let page = sample("samples/lorem-ipsum.png");
    read(&pool, &sample("samples/orange-lossless.webp")).await.unwrap();
    let [killed] = workers_with(MARK)[..] else { panic!("one worker has started") };
    let before = used_ticks(killed);
    let reading = tokio::spawn({
        let (pool, page) = (Arc::clone(&pool), page.clone());
        async move { pool.analyze(&page, &TEXT, Urgency::Deferrable).await }
    });
    while used_ticks(killed) < before + 10 && !reading.is_finished() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    kill_process(killed, Signal::KILL).unwrap();
    let text = reading.await.unwrap().unwrap().text.unwrap();
    assert!(text.starts_with("Lorem"), "{text}");
    assert!(read(&pool, &page).await.is_some());
    assert!(workers_with(MARK).iter().all(|worker| *worker != killed));
}
