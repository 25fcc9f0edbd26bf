//! Photos of albums in Google Takeout exports whose album folder has only their sidecars. The photos are in the folders of
//! their years.

use std::collections::HashMap;

use domain::Timestamp;
use media::TakeoutPhoto;

use super::{
    draft::{Draft, folder_key},
    pairing::are_of_one_export,
};
use crate::names::composed;

/// Title, capture time and position.
type Facts = (String, Option<Timestamp>, Option<[u64; 2]>);

/// How many copies and versions of one photo are compared. This bounds the work for a hostile export.
const MAX_COMPARED: usize = 100;

/// The facts of a sidecar. `None` for a sidecar without a time, which could be that of any photo with its title.
fn facts(described: &TakeoutPhoto) -> Option<Facts> {
    let title = composed(described.title.as_deref()?).into_owned();
    described.taken_at.or(described.uploaded_at)?;
    let position = described.position.map(|at| [at.latitude().to_bits(), at.longitude().to_bits()]);
    Some((title, described.taken_at, position))
}

/// Adds photos to the albums that have only sidecars with the same facts as those of the photos.
pub(super) fn add(draft: &mut Draft<'_>) {
    let mut photos: HashMap<Facts, Vec<usize>> = HashMap::new();
    for (position, photo) in draft.photos.iter().enumerate().filter(|(_, photo)| photo.folder.is_export) {
        if let Some(facts) = photo.takeout.and_then(|sidecar| facts(described(draft, sidecar)?)) {
            photos.entry(facts).or_default().push(position);
        }
    }
    for sidecar in 0..draft.sidecars.len() {
        let in_album = draft
            .sidecars
            .get(sidecar)
            .filter(|found| !found.is_used && draft.is_album(folder_key(found.folder)));
        let Some((item, folder)) = in_album.map(|found| (found.item, folder_key(found.folder))) else {
            continue;
        };
        let facts = described(draft, sidecar).and_then(facts);
        let Some(found) = facts.and_then(|facts| photos.get(&facts)) else { continue };
        match one_photo(draft, sidecar, found) {
            Some(photos) => draft.members.extend(photos.into_iter().map(|photo| (folder, photo))),
            None => {
                let reason = "describes several photos, so none of them is added to its album";
                draft.ambiguous.push(draft.problem(item, reason));
            }
        }
        if let Some(sidecar) = draft.sidecars.get_mut(sidecar) {
            sidecar.is_used = true;
        }
    }
}

fn described<'a>(draft: &'a Draft<'_>, sidecar: usize) -> Option<&'a TakeoutPhoto> {
    draft.sidecars.get(sidecar)?.described.as_ref()
}

/// The copies and versions of the photo that a sidecar describes; `None` if it may describe several photos. Photos of the
/// sidecar's own export are preferred. If these are several photos, only those that were uploaded at the sidecar's time
/// of upload count.
fn one_photo(draft: &Draft<'_>, sidecar: usize, photos: &[usize]) -> Option<Vec<usize>> {
    let own = draft.sidecars.get(sidecar)?;
    let folder = |photo: &usize| draft.photos.get(*photo).map(|photo| photo.folder);
    let is_near = |photo: &&usize| {
        folder(photo).is_some_and(|folder| are_of_one_export(draft.scan, folder, own.folder))
    };
    let mut near: Vec<usize> = photos.iter().filter(is_near).copied().collect();
    if near.is_empty() {
        near = photos.to_vec();
    }
    if near.len() > MAX_COMPARED {
        return None;
    }
    if is_one_photo(draft, &near) {
        return Some(near);
    }
    let uploaded_at = own.described.as_ref().and_then(|described| described.uploaded_at);
    near.retain(|photo| {
        let sidecar = draft.photos.get(*photo).and_then(|photo| photo.takeout);
        sidecar.and_then(|sidecar| described(draft, sidecar)?.uploaded_at) == uploaded_at
    });
    (!near.is_empty() && is_one_photo(draft, &near)).then_some(near)
}

/// Whether photos have one sidecar, like edited versions, or the same content.
fn is_one_photo(draft: &Draft<'_>, photos: &[usize]) -> bool {
    let photos: Vec<_> = photos.iter().filter_map(|photo| draft.photos.get(*photo)).collect();
    photos.windows(2).all(|pair| match pair {
        [one, other] => one.takeout == other.takeout || draft.scan.are_equal(one.item, other.item),
        _ => true,
    })
}
