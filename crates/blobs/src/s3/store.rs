use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream, stream::BoxStream};
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
    path::Path as Key,
};
use tokio::time::timeout;

use crate::s3_failure::{S3Failure, classified};

/// The objects of a bucket. Every error is a [`S3Failure`], every wait is bounded, and a truncated response is an
/// error.
#[derive(Debug)]
pub(super) struct S3Store<S> {
    client: Arc<S>,
    answer: Duration,
}

impl<S> S3Store<S> {
    pub(super) fn new(client: S, answer: Duration) -> Self {
        Self { client: Arc::new(client), answer }
    }
}

impl<S> fmt::Display for S3Store<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("S3")
    }
}

fn classify<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| classified(&error))
}

#[async_trait]
impl<S: ObjectStore> ObjectStore for S3Store<S> {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        classify(self.client.put_opts(key, payload, options).await)
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let upload = classify(self.client.put_multipart_opts(key, options).await)?;
        Ok(Box::new(ClassifiedUpload(upload)))
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        let has_body = !options.head;
        let answer = timeout(self.answer, self.client.get_opts(key, options)).await;
        let mut result = classify(answer.map_err(|_| S3Failure::TimedOut)?)?;
        if has_body && let GetResultPayload::Stream(body) = result.payload {
            let bytes = result.range.end.saturating_sub(result.range.start);
            result.payload = GetResultPayload::Stream(whole(body, bytes).boxed());
        }
        Ok(result)
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Key>>) -> BoxStream<'static, Result<Key>> {
        self.client.delete_stream(keys).map(classify).boxed()
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.client.list(prefix).map(classify).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        classify(self.client.list_with_delimiter(prefix).await)
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        classify(self.client.copy_opts(from, to, options).await)
    }
}

/// A body that fails if it has fewer bytes than announced.
fn whole(
    body: BoxStream<'static, Result<Bytes>>,
    bytes: u64,
) -> impl Stream<Item = Result<Bytes>> + Send + 'static {
    stream::try_unfold((body, bytes), |(mut body, left)| async move {
        match body.try_next().await {
            Ok(Some(chunk)) => {
                let left = left.saturating_sub(chunk.len() as u64);
                Ok(Some((chunk, (body, left))))
            }
            Ok(None) if left > 0 => Err(S3Failure::Shortened.into()),
            Ok(None) => Ok(None),
            Err(error) => Err(classified(&error)),
        }
    })
}

#[derive(Debug)]
struct ClassifiedUpload(Box<dyn MultipartUpload>);

#[async_trait]
impl MultipartUpload for ClassifiedUpload {
    fn put_part(&mut self, part: PutPayload) -> UploadPart {
        let sent = self.0.put_part(part);
        Box::pin(async move { classify(sent.await) })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        classify(self.0.complete().await)
    }

    async fn abort(&mut self) -> Result<()> {
        classify(self.0.abort().await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_ends_early_is_an_error() {
        let body = |chunks: &[&'static [u8]]| {
            stream::iter(chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk))).collect::<Vec<_>>()).boxed()
        };
        let complete: Vec<_> = whole(body(&[b"hel", b"lo"]), 5).try_collect().await.unwrap();
        assert_eq!(complete.concat(), b"hello");
        let mut short = whole(body(&[b"hel"]), 5).boxed();
        assert_eq!(short.try_next().await.unwrap().unwrap(), "hel");
        let error = short.try_next().await.unwrap_err();
        assert_eq!(S3Failure::of(&error), Some(&S3Failure::Shortened));
    }
}
