//! Gives copies of a photo in several folders of an export the same sidecar. An export may have the sidecar of a photo
//! only in the folder of its year or only in that of an album.

use std::{borrow::Cow, collections::HashMap};

use media::TakeoutPhoto;

use super::draft::{Draft, folder_key};
use crate::names::composed;

pub(super) fn share_sidecars(draft: &mut Draft<'_>) {
    let mut by_name: HashMap<Cow<'_, str>, Vec<usize>> = HashMap::new();
    for (position, photo) in draft.photos.iter().enumerate().filter(|(_, photo)| photo.folder.is_export) {
        by_name.entry(composed(&photo.item.name)).or_default().push(position);
    }
    let groups: Vec<Vec<usize>> = by_name.into_values().filter(|photos| photos.len() > 1).collect();
    for group in groups {
        for copies in copies(draft, group) {
            share(draft, &copies);
        }
    }
    take_by_title(draft);
}

/// Photos with one name, split into those with the same length and, where the archives have it, the same checksum.
fn copies(draft: &Draft<'_>, photos: Vec<usize>) -> Vec<Vec<usize>> {
    let mut groups: HashMap<u64, Vec<usize>> = HashMap::new();
    for photo in photos {
        if let Some(item) = draft.photos.get(photo).map(|photo| photo.item) {
            groups.entry(draft.scan.bytes(item)).or_default().push(photo);
        }
    }
    let equal = |group: &Vec<usize>| {
        let items: Vec<_> = group.iter().filter_map(|photo| draft.photos.get(*photo)).collect();
        items
            .windows(2)
            .all(|pair| matches!(pair, [one, other] if draft.scan.are_equal(one.item, other.item)))
    };
    groups.into_values().filter(|group| group.len() > 1 && equal(group)).collect()
}

/// Gives all copies the sidecar of the first copy that has one and is in no album. If the sidecars contradict each other,
/// each copy keeps its own.
fn share(draft: &mut Draft<'_>, copies: &[usize]) {
    let mut best: Option<(bool, usize)> = None;
    let mut is_consistent = true;
    for photo in copies.iter().filter_map(|photo| draft.photos.get(*photo)) {
        let Some(sidecar) = photo.takeout else { continue };
        let is_in_album = draft.album_titles.contains_key(&folder_key(photo.folder));
        is_consistent &= best.is_none_or(|(_, best)| facts(draft, best) == facts(draft, sidecar));
        if best.is_none_or(|(best_is_in_album, _)| best_is_in_album && !is_in_album) {
            best = Some((is_in_album, sidecar));
        }
    }
    let Some((_, sidecar)) = best else { return };
    for position in copies {
        let Some(photo) = draft.photos.get_mut(*position) else { continue };
        let item = photo.item;
        if is_consistent {
            photo.takeout = Some(sidecar);
        } else if photo.takeout.is_none() {
            let reason = "has no sidecar, and those of its copies contradict each other";
            draft.ambiguous.push(draft.problem(item, reason));
        }
    }
}

fn facts<'a>(draft: &'a Draft<'_>, sidecar: usize) -> Option<&'a TakeoutPhoto> {
    draft.sidecars.get(sidecar)?.described.as_ref()
}

/// Gives a sidecar that is left to the only photo without one that has the name in the sidecar.
fn take_by_title(draft: &mut Draft<'_>) {
    let mut photos: HashMap<String, Vec<usize>> = HashMap::new();
    for (position, photo) in draft.photos.iter().enumerate() {
        if photo.folder.is_export && photo.takeout.is_none() {
            photos.entry(composed(&photo.item.name).into_owned()).or_default().push(position);
        }
    }
    let mut sidecars: HashMap<String, Vec<usize>> = HashMap::new();
    for (position, sidecar) in draft.sidecars.iter().enumerate() {
        let title = sidecar.described.as_ref().and_then(|described| described.title.as_deref());
        if let Some(title) = title.filter(|_| sidecar.folder.is_export && !sidecar.is_used) {
            sidecars.entry(composed(title).into_owned()).or_default().push(position);
        }
    }
    for (title, sidecars) in sidecars {
        let ([sidecar], Some([photo])) = (sidecars.as_slice(), photos.get(&title).map(Vec::as_slice)) else {
            continue;
        };
        if let (Some(photo), Some(found)) = (draft.photos.get_mut(*photo), draft.sidecars.get_mut(*sidecar)) {
            photo.takeout = Some(*sidecar);
            found.is_used = true;
        }
    }
}
