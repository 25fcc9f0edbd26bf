use std::{io, pin::pin};

use accounts::Caller;
use bytes::Bytes;
use domain::{FilePath, Sidecar, SidecarKind};
use exports::MAX_SIDECAR_BYTES;
use futures_util::Stream;
use media::MediaError;
use storage::{
    FileContent, FileEntry, FileId, FileImage, FileKind, FileWritten, NewFileContent, PairedKind,
    StorageError,
};

use super::{
    FileError, PutFile,
    put::{check_checksums, check_length, next_bytes},
};
use crate::{ImportError, Ingest};

/// Maximum number of files that are considered when a sidecar and its photo are matched.
const MAX_SIDECAR_CANDIDATES: u32 = 1000;

impl Ingest {
    pub(super) async fn sidecars_beside(
        &self,
        caller: &Caller,
        path: &FilePath,
    ) -> Result<Vec<Sidecar>, StorageError> {
        let (Some(name), Some(folder)) = (path.name(), path.parent()) else { return Ok(Vec::new()) };
        let prefix = media::sidecar_prefix(name.as_str());
        let beside = self.beside(caller, &folder, PairedKind::Sidecar, prefix).await?;
        let candidates: Vec<(&str, FileId, SidecarKind)> = beside
            .iter()
            .filter_map(|entry| match (&entry.name, &entry.kind) {
                (Some(name), FileKind::File(FileContent::Sidecar(kind))) => {
                    Some((name.as_str(), entry.id, *kind))
                }
                _ => None,
            })
            .collect();
        let names: Vec<&str> = candidates.iter().map(|(name, ..)| *name).collect();
        let matches = media::match_sidecars(&[name.as_str()], &names);
        let mut sidecars = Vec::new();
        for index in matches.by_photo.first().map_or([None; 2], |found| [found.xmp, found.takeout]) {
            let Some((_, id, kind)) = index.and_then(|index| candidates.get(index)) else { continue };
            if let Some(content) = self.parts.store.sidecar_content(caller.account.id, *id).await? {
                sidecars.push(Sidecar { kind: *kind, content });
            }
        }
        Ok(sidecars)
    }

    async fn beside(
        &self,
        caller: &Caller,
        folder: &FilePath,
        kind: PairedKind,
        prefix: &str,
    ) -> Result<Vec<FileEntry>, StorageError> {
        let store = &self.parts.store;
        store.files_with_prefix(caller.account.id, folder, kind, prefix, MAX_SIDECAR_CANDIDATES).await
    }

    /// Applies the sidecars beside a photo at its new path, unless they are the sidecars in `present`.
    pub(super) async fn apply_sidecars_beside(
        &self,
        caller: &Caller,
        path: &FilePath,
        photo: &FileEntry,
        present: &[Sidecar],
    ) -> Result<(), StorageError> {
        let FileKind::File(FileContent::Photo { image: Some(image), .. }) = &photo.kind else {
            return Ok(());
        };
        let sidecars = self.sidecars_beside(caller, path).await?;
        if sidecars != present {
            let at = self.parts.clock.now();
            self.parts.store.add_sidecars(caller.account.id, &image.id, sidecars, at).await?;
            self.parts.indexer.queue_changed();
        }
        Ok(())
    }

    /// Matches a file at its new path with the files beside it.
    pub(super) async fn pair_moved(
        &self,
        caller: &Caller,
        path: &FilePath,
        entry: &FileEntry,
    ) -> Result<(), StorageError> {
        let FileKind::File(FileContent::Sidecar(kind)) = entry.kind else {
            return self.apply_sidecars_beside(caller, path, entry, &[]).await;
        };
        match self.parts.store.sidecar_content(caller.account.id, entry.id).await? {
            Some(content) => self.apply_sidecar(caller, path, Sidecar { kind, content }).await,
            None => Ok(()),
        }
    }

    pub(super) async fn put_sidecar(
        &self,
        caller: &Caller,
        file: PutFile,
        kind: SidecarKind,
        content: Vec<u8>,
    ) -> Result<FileWritten, FileError> {
        let mut verifier = file.verifier();
        verifier.update(&content);
        check_checksums(verifier)?;
        if !media::is_sidecar_content(kind, &content) {
            // The name is that of a sidecar, but the content is something else.
            return Err(ImportError::Refused(MediaError::UnknownFormat).into());
        }
        let bytes = content.len() as u64;
        let stored = NewFileContent::Sidecar(kind, content.clone());
        let written = self.put_content(caller, &file, stored, bytes).await?;
        self.apply_sidecar(caller, &file.path, Sidecar { kind, content }).await?;
        Ok(written)
    }

    /// Applies a sidecar to the photos beside it that it describes.
    async fn apply_sidecar(
        &self,
        caller: &Caller,
        path: &FilePath,
        sidecar: Sidecar,
    ) -> Result<(), StorageError> {
        let (Some(name), Some(folder)) = (path.name(), path.parent()) else { return Ok(()) };
        let prefix = media::photo_prefix(name.as_str());
        let beside = self.beside(caller, &folder, PairedKind::Photo, prefix).await?;
        let photos: Vec<(&str, &FileImage)> = beside
            .iter()
            .filter_map(|entry| match (&entry.name, &entry.kind) {
                (Some(name), FileKind::File(FileContent::Photo { image: Some(image), .. })) => {
                    Some((name.as_str(), image))
                }
                _ => None,
            })
            .collect();
        let names: Vec<&str> = photos.iter().map(|(name, _)| *name).collect();
        let matches = media::match_sidecars(&names, &[name.as_str()]);
        for ((_, image), found) in photos.iter().zip(&matches.by_photo) {
            if found.xmp.or(found.takeout).is_some() {
                let at = self.parts.clock.now();
                let sidecars = vec![sidecar.clone()];
                self.parts.store.add_sidecars(caller.account.id, &image.id, sidecars, at).await?;
            }
        }
        self.parts.indexer.queue_changed();
        Ok(())
    }
}

/// Reads a sidecar into memory.
pub(super) async fn collect(
    file: &PutFile,
    stream: impl Stream<Item = io::Result<Bytes>> + Send,
) -> Result<Vec<u8>, ImportError> {
    let mut stream = pin!(stream);
    let mut content = Vec::new();
    while let Some(chunk) = next_bytes(&mut stream).await? {
        if content.len() as u64 + chunk.len() as u64 > MAX_SIDECAR_BYTES {
            return Err(ImportError::TooLarge { max_bytes: MAX_SIDECAR_BYTES });
        }
        content.extend_from_slice(&chunk);
    }
    check_length(file, content.len() as u64)?;
    Ok(content)
}
