//! Tests the analysis of pictures: correct results, and invalid responses.

use std::{fs, path::PathBuf, time::Duration};

use bytes::Bytes;
use domain::PixelSize;
use media::Limits;
use sandbox::{
    Analysis, AnalysisTask, DecodeError, FileFault, MAX_ANALYSIS_SIDE_PX, Pool, PoolOptions, TimeKind,
    Urgency,
};

use crate::{honest, hostile, worker};

type Outcome = Result<Analysis, DecodeError<std::convert::Infallible>>;

const SMALL: AnalysisTask = AnalysisTask { max_side_px: Some(224), read_text: false };

async fn analyze(pool: &Pool, file: &[u8], task: &AnalysisTask) -> Outcome {
    pool.analyze(&Bytes::copy_from_slice(file), task, Urgency::Background).await
}

fn fault(outcome: Outcome) -> FileFault {
    match outcome {
        Err(DecodeError::File(fault)) => fault,
        other => panic!("not a fault of the file: {other:?}"),
    }
}

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn pixels_equal_those_of_the_decoder() {
    let pool = Pool::new(honest()).unwrap();
    let limits = Limits::default();
    for path in [fixtures("media"), fixtures("samples")].concat() {
        let file = fs::read(&path).unwrap();
        let analysis = analyze(&pool, &file, &SMALL).await;
        match (analysis, media::decode_rgb(&file, &[224], &limits)) {
            (Ok(Analysis { picture, text }), Ok(mut expected)) => {
                let (picture, expected) = (picture.unwrap(), expected.pictures.remove(0));
                assert_eq!(
                    (picture.size, &picture.rgb, text),
                    (expected.size, &expected.rgb, None),
                    "{path:?}"
                );
                assert_eq!(picture.size, media::probe(&file, &limits).unwrap().upright_size.fit_within(224));
                assert_eq!(u64::try_from(picture.rgb.len()).unwrap(), picture.size.area() * 3);
            }
            (Err(DecodeError::File(fault)), Err(error)) => {
                assert_eq!(fault.to_string(), error.to_string(), "{path:?}");
            }
            (analysis, expected) => panic!("{path:?}: {analysis:?}, not {expected:?}"),
        }
    }
}

#[tokio::test]
async fn renditions_can_be_analyzed() {
    let photo = include_bytes!("../../../../fixtures/samples/wisteria.jpg");
    let pool = Pool::new(honest()).unwrap();
    let decoded = crate::decode(&pool, photo, Urgency::Background).await.unwrap();
    let medium = &decoded.rendered.renditions[0];
    let analysis = analyze(&pool, &medium.webp, &SMALL).await.unwrap();
    assert_eq!(analysis.picture.unwrap().size, medium.size.fit_within(224));
    let all = AnalysisTask { max_side_px: Some(u32::MAX), read_text: false };
    assert_eq!(analyze(&pool, &medium.webp, &all).await.unwrap().picture.unwrap().size, medium.size);
    let large = analyze(&pool, photo, &all).await.unwrap().picture.unwrap();
    assert!(large.size.longest() <= MAX_ANALYSIS_SIDE_PX);
    let nothing = AnalysisTask { max_side_px: None, read_text: false };
    assert_eq!(analyze(&pool, photo, &nothing).await.unwrap(), Analysis { picture: None, text: None });
}

#[tokio::test]
async fn invalid_files_are_refused_with_a_reason() {
    let photo = include_bytes!("../../../../fixtures/samples/wisteria.jpg");
    let pool = Pool::new(PoolOptions { max_pixels: 1_000_000, ..honest() }).unwrap();
    for (file, words) in [
        (&b""[..], "empty"),
        (b"no picture", "this is not a JPEG"),
        (&photo[..200], ""),
        // More pixels than this pool allows.
        (&photo[..], "pixels"),
    ] {
        let fault = fault(analyze(&pool, file, &SMALL).await);
        assert!(matches!(fault, FileFault::Refused { .. }), "{fault:?}");
        assert!(fault.to_string().contains(words), "{fault}");
    }
    let orange = include_bytes!("../../../../fixtures/samples/orange-lossless.webp");
    assert!(analyze(&pool, orange, &SMALL).await.is_ok());
}

/// Hostile workers that claim to read text.
fn hostile_readers() -> PoolOptions {
    PoolOptions { command: worker("hostile_decoder", &["reads"]), ..hostile() }
}

#[tokio::test]
async fn invalid_responses_are_refused() {
    let pool = Pool::new(hostile_readers()).unwrap();
    let both = AnalysisTask { max_side_px: Some(224), read_text: true };
    let crashed = |reason: &str| FileFault::Crashed { how: format!("invalid response: {reason}") };
    for (misbehaviour, task, reason) in [
        ("words", SMALL, "it read text that was not requested"),
        ("too-long-words", both, "a message is too long"),
        ("rendered", both, "it responded to another kind of job"),
    ] {
        let fault = fault(analyze(&pool, format!("hostile:{misbehaviour}").as_bytes(), &task).await);
        assert_eq!(fault, crashed(reason), "{misbehaviour}");
    }
    let few = fault(analyze(&pool, b"hostile:few-pixels", &SMALL).await);
    assert_eq!(few, FileFault::Crashed { how: "exit status: 0".into() });

    let long = analyze(&pool, b"hostile:long-words", &both).await.unwrap().text.unwrap();
    assert!(long.starts_with("a b\né") && long.chars().count() == domain::MAX_TEXT_CHARS);
    // Bytes after the end of a response do not become part of the next one.
    let many = analyze(&pool, b"hostile:many-pixels", &SMALL).await.unwrap();
    assert_eq!(many.picture.unwrap().rgb, [7; 30 * 20 * 3]);
    let honest = analyze(&pool, b"hostile:honest", &both).await.unwrap();
    assert_eq!(honest.text.as_deref(), Some("honest words"));
    assert_eq!(honest.picture.unwrap().size, PixelSize { width: 30, height: 20 });
}

#[tokio::test]
async fn limits_apply_to_analysis() {
    let limit = Duration::from_secs(2);
    let options = PoolOptions { wall_limit: limit, memory_bytes: 400 << 20, ..hostile_readers() };
    let pool = Pool::new(options).unwrap();
    for (misbehaviour, expect) in [
        ("sleep", FileFault::TimedOut { kind: TimeKind::Wall, limit }),
        ("eat", FileFault::OutOfMemory { limit_bytes: 350 << 20 }),
        ("abort", FileFault::Crashed { how: "signal: 6 (SIGABRT)".into() }),
    ] {
        assert_eq!(fault(analyze(&pool, format!("hostile:{misbehaviour}").as_bytes(), &SMALL).await), expect);
    }
    assert!(analyze(&pool, b"hostile:honest", &SMALL).await.is_ok());
}
