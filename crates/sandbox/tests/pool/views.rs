//! Tests views of renditions: correct results, and invalid responses.

use bytes::Bytes;
use domain::Rendition;
use media::{Limits, Photo, ViewOptions};
use sandbox::{DecodeError, FileFault, Pool, Urgency};

use crate::{honest, hostile};

const OPTIONS: ViewOptions = ViewOptions { rendition: Rendition::Thumb, sheet: false, max_bytes: 50_000 };

async fn renditions(pool: &Pool) -> Vec<Bytes> {
    let photo = include_bytes!("../../../../fixtures/samples/wisteria.jpg");
    let decoded = crate::decode(pool, photo, Urgency::Background).await.unwrap();
    decoded.rendered.renditions.into_iter().map(|rendition| rendition.webp.into()).collect()
}

async fn fault(pool: &Pool, files: &[&[u8]]) -> FileFault {
    let files = files.iter().map(|file| Bytes::copy_from_slice(file)).collect();
    match pool.view(&files, OPTIONS, Urgency::Interactive).await {
        Err(DecodeError::File(fault)) => fault,
        other => panic!("not a fault of the file: {other:?}"),
    }
}

#[tokio::test]
async fn views_equal_those_of_the_crate() {
    let pool = Pool::new(honest()).unwrap();
    let files = renditions(&pool).await;
    let photos: Vec<_> = files.iter().map(|file| Photo::open(file).unwrap()).collect();
    for sheet in [false, true] {
        let options = ViewOptions { sheet, ..OPTIONS };
        let views = pool.view(&files, options, Urgency::Interactive).await.unwrap();
        assert_eq!(views, media::views(&photos, &options, &Limits::default()).unwrap());
        assert_eq!(views.len(), if sheet { 1 } else { files.len() });
    }
}

#[tokio::test]
async fn broken_renditions_are_refused_with_a_reason() {
    let pool = Pool::new(honest()).unwrap();
    let files = renditions(&pool).await;
    assert_eq!(fault(&pool, &[]).await.to_string(), "the file is empty");
    assert_eq!(fault(&pool, &[&files[0], b""]).await.to_string(), "the file is empty");
    let reason = fault(&pool, &[&files[0], &files[1][..60]]).await;
    assert!(matches!(reason, FileFault::Refused { .. }), "{reason:?}");
    assert!(pool.view(&files, OPTIONS, Urgency::Interactive).await.is_ok());
}

#[tokio::test]
async fn invalid_responses_are_refused() {
    let pool = Pool::new(hostile()).unwrap();
    for (misbehaviour, how) in [
        ("abort", "signal: 6 (SIGABRT)"),
        ("no-view", "invalid response: it made other views than were requested"),
        ("two-views", "invalid response: it made other views than were requested"),
        ("long-view", "invalid response: it made views that are too long"),
        ("no-jpeg", "invalid response: it is not a JPEG"),
        ("exif", "invalid response: it contains something else than a baseline picture"),
    ] {
        let fault = fault(&pool, &[format!("hostile:{misbehaviour}").as_bytes()]).await;
        assert_eq!(fault, FileFault::Crashed { how: how.into() }, "{misbehaviour}");
    }
}
