//! Tests decoding.

use std::{fs, io, path::PathBuf, sync::Arc};

use bytes::Bytes;
use domain::{Rendition, Sidecar, SidecarKind};
use futures_util::{Stream, StreamExt as _, stream};
use media::Limits;
use sandbox::{
    DecodeError, DecodeTask, FileFault, FileSource, Pool, RefusalKind, RequestedRenditions, Urgency,
};

use crate::{decode, honest, hostile, identify, refusal_reason, task};

/// Photos of all kinds. Some have positions, which must not be rounded.
fn samples() -> Vec<PathBuf> {
    let folders = ["samples", "media"].map(|name| {
        fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)).unwrap()
    });
    let mut samples: Vec<_> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    samples.sort();
    samples
}

#[tokio::test(flavor = "multi_thread")]
async fn results_equal_those_of_the_decoder() {
    let pool = Arc::new(Pool::new(honest()).unwrap());
    let jobs: Vec<_> = samples()
        .into_iter()
        .enumerate()
        .map(|(index, path)| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let file = Bytes::from(fs::read(&path).unwrap());
                let urgency = [Urgency::Background, Urgency::Interactive][index % 2];
                let decoded = pool.decode(&file, &task(), urgency).await;

                let limits = Limits::default();
                let rendered = media::probe(&file, &limits).and_then(|probe| {
                    media::render(&file, &task().renditions.for_size(probe.upright_size), &limits)
                });
                let (decoded, rendered) = match (decoded, rendered) {
                    (Ok(decoded), Ok(rendered)) => (decoded, rendered),
                    (Err(DecodeError::File(fault)), Err(error)) => {
                        return assert_eq!(fault.to_string(), error.to_string(), "{path:?}");
                    }
                    (decoded, rendered) => panic!("{path:?}: {decoded:?}, not {rendered:?}"),
                };
                assert_eq!(decoded.rendered, rendered, "{path:?}");
                let info = task().read_metadata.unwrap();
                assert_eq!(decoded.metadata.unwrap(), media::metadata(&file, &info), "{path:?}");
            })
        })
        .collect();
    assert!(!jobs.is_empty());
    for job in jobs {
        job.await.unwrap();
    }
    pool.close().await;
}

#[tokio::test]
async fn renditions_are_made_in_the_requested_order() {
    let pool = Pool::new(honest()).unwrap();
    let file = Bytes::from_static(include_bytes!("../../../../fixtures/samples/cyclamen.jpg"));
    let requested = RequestedRenditions::Only(vec![Rendition::Thumb, Rendition::Full, Rendition::Thumb]);
    let task = DecodeTask { renditions: requested, read_metadata: None };
    let decoded = pool.decode(&file, &task, Urgency::Interactive).await.unwrap();
    let kinds: Vec<_> = decoded.rendered.renditions.iter().map(|encoded| encoded.rendition).collect();
    assert_eq!(kinds, [Rendition::Thumb, Rendition::Full]);
    assert_eq!(decoded.metadata, None);
    let nothing = DecodeTask { renditions: RequestedRenditions::Only(vec![]), read_metadata: None };
    let decoded = pool.decode(&file, &nothing, Urgency::Interactive).await.unwrap();
    assert_eq!(decoded.rendered.renditions, []);
}

#[tokio::test]
async fn sidecars_are_sent_with_the_file() {
    let pool = Pool::new(honest()).unwrap();
    let file = Bytes::from_static(include_bytes!("../../../../fixtures/samples/cyclamen.jpg"));
    let packet = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>";
    let mut task = task();
    let info = task.read_metadata.as_mut().unwrap();
    info.sidecars = vec![
        Sidecar { kind: SidecarKind::Xmp, content: packet.to_vec() },
        Sidecar { kind: SidecarKind::Takeout, content: b"{}".to_vec() },
    ];
    let expect = media::metadata(&file, info);
    let decoded = pool.decode(&file, &task, Urgency::Background).await.unwrap();
    assert_eq!(decoded.metadata.unwrap(), expect);
}

#[tokio::test]
async fn invalid_file_is_refused_with_a_reason() {
    let pool = Pool::new(honest()).unwrap();
    let photo = include_bytes!("../../../../fixtures/samples/cyclamen.jpg");
    for (file, kind) in [
        (&b""[..], RefusalKind::Empty),
        (b"hello, I am a text", RefusalKind::UnknownFormat),
        (b"GIF89a", RefusalKind::Truncated),
        (b"GIF89a\xFF\xFF\xFF\xFF\0\0\0,\0\0\0\0\x01\0\x01\0\0", RefusalKind::TooManyPixels),
        // The headers of this file are valid and its pixels are not, so it is refused while it is rendered.
        (photo.get(..photo.len() / 40).unwrap(), RefusalKind::Corrupt),
    ] {
        let limits = Limits::default();
        let expect = media::render(file, &[Rendition::Medium], &limits).unwrap_err();
        let expect = FileFault::Refused { kind, reason: expect.to_string() };
        match decode(&pool, file, Urgency::Background).await {
            Err(DecodeError::File(fault)) => assert_eq!(fault, expect),
            other => panic!("{other:?}"),
        }
        assert!(decode(&pool, photo, Urgency::Background).await.is_ok());
    }
}

#[tokio::test]
async fn workers_are_reused_up_to_a_limit() {
    let mut options = hostile();
    options.jobs_per_worker = 2;
    let pool = Pool::new(options).unwrap();
    let (first, _) = identify(&pool, Urgency::Background).await;
    assert_eq!(identify(&pool, Urgency::Background).await, (first, 2));
    let (second, jobs) = identify(&pool, Urgency::Background).await;
    assert!(second != first && jobs == 1);
    crate::wait_for_exit(first).await;
}

/// A source that fails after some chunks, or whose length is wrong.
struct FaultySource {
    length: u64,
    chunks: Vec<Result<Bytes, io::ErrorKind>>,
}

impl FileSource for FaultySource {
    type Error = io::Error;

    fn length(&self) -> u64 {
        self.length
    }

    async fn open(&self) -> Result<impl Stream<Item = Result<Bytes, io::Error>> + Send, io::Error> {
        if self.chunks.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(stream::iter(self.chunks.clone()).map(|chunk| chunk.map_err(Into::into)))
    }
}

#[tokio::test]
async fn failing_source_is_no_fault_of_the_file() {
    let pool = Pool::new(hostile()).unwrap();
    let half = Ok(Bytes::from_static(b"hostile:"));
    let check = async |length, chunks: Vec<_>, expect: &str| {
        let (before, _) = identify(&pool, Urgency::Background).await;
        let error =
            pool.decode(&FaultySource { length, chunks }, &task(), Urgency::Background).await.unwrap_err();
        assert_eq!(format!("{error:?}"), expect);
        // A worker that received part of a file must not be reused.
        let (after, _) = identify(&pool, Urgency::Background).await;
        (before, after)
    };
    let (before, after) = check(8, vec![], "Source(Kind(NotFound))").await;
    assert_eq!(before, after);
    for (length, chunks, expect) in [
        (11, vec![half.clone(), Err(io::ErrorKind::ConnectionReset)], "Source(Kind(ConnectionReset))"),
        (11, vec![half.clone()], "SourceLength { expected: 11 }"),
        (7, vec![half.clone(), half.clone()], "SourceLength { expected: 7 }"),
    ] {
        let (before, after) = check(length, chunks, expect).await;
        assert_ne!(before, after);
    }
}

#[tokio::test]
async fn file_in_many_chunks_arrives_whole() {
    let pool = Pool::new(hostile()).unwrap();
    let chunks: Vec<_> = b"hostile:who".chunks(1).map(|byte| Ok(Bytes::from_static(byte))).collect();
    let file = FaultySource { length: 11, chunks };
    match pool.decode(&file, &task(), Urgency::Background).await {
        Err(DecodeError::File(FileFault::Refused { reason, .. })) => {
            assert!(reason.ends_with(" 1"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(refusal_reason(decode(&pool, b"hostile:who", Urgency::Background).await).ends_with(" 2"));
}
