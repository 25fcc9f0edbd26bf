//! Gives copies of a photo in several folders of an export the same sidecar. An export may have the sidecar of a photo
//! only in the folder of its year or only in that of an album.

use std::{borrow::Cow, collections::HashMap};

use domain::Timestamp;

use super::draft::{Draft, folder_key};
use crate::names::composed;

/// Photos of exports with the same name and content.
pub(super) fn find(draft: &Draft<'_>) -> Vec<Vec<usize>> {
    let mut by_name: HashMap<Cow<'_, str>, Vec<usize>> = HashMap::new();
    for (position, photo) in draft.photos.iter().enumerate().filter(|(_, photo)| photo.folder.is_export) {
        by_name.entry(composed(&photo.item.name)).or_default().push(position);
    }
    let groups = by_name.into_values().filter(|photos| photos.len() > 1);
    groups.flat_map(|group| copies(draft, group)).collect()
}

/// Photos with one name, split into those with the same content, as far as length and CRC-32 tell.
fn copies(draft: &Draft<'_>, photos: Vec<usize>) -> Vec<Vec<usize>> {
    let item = |photo: &usize| draft.photos.get(*photo).map(|photo| photo.item);
    let of_length = split(photos, |photo| item(photo).map(|item| draft.scan.bytes(item)));
    // The checksum is compared last, because files on disk are read for it.
    let of_content = |photos| split(photos, |photo| draft.scan.crc32(item(photo)?));
    of_length.into_iter().flat_map(of_content).collect()
}

/// Splits by a key. Photos without a key or with a unique one are left out.
fn split<K: std::hash::Hash + Eq>(photos: Vec<usize>, key: impl Fn(&usize) -> Option<K>) -> Vec<Vec<usize>> {
    let mut groups: HashMap<K, Vec<usize>> = HashMap::new();
    for photo in photos {
        if let Some(key) = key(&photo) {
            groups.entry(key).or_default().push(photo);
        }
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// Gives all copies of a photo the same sidecar: that of the first copy with a sidecar outside of albums, otherwise that
/// of the first copy with a sidecar.
pub(super) fn share_sidecars(draft: &mut Draft<'_>, copies: &[Vec<usize>]) {
    for copies in copies {
        let Ok(Some(sidecar)) = common_sidecar(draft, copies) else { continue };
        for position in copies {
            if let Some(photo) = draft.photos.get_mut(*position) {
                photo.takeout = Some(sidecar);
            }
        }
    }
}

/// Reports copies that have no sidecar and whose other copies have different ones.
pub(super) fn report_contradictions(draft: &mut Draft<'_>, copies: &[Vec<usize>]) {
    for copies in copies {
        if common_sidecar(draft, copies) != Err(Contradiction) {
            continue;
        }
        for photo in copies.iter().filter_map(|photo| draft.photos.get(*photo)) {
            if photo.takeout.is_none() {
                let reason = "has no sidecar, and those of its copies contradict each other";
                let problem = draft.problem(photo.item, reason);
                draft.ambiguous.push(problem);
            }
        }
    }
}

/// The sidecars of copies contradict each other. Each copy keeps its own.
#[derive(Debug, PartialEq, Eq)]
struct Contradiction;

fn common_sidecar(draft: &Draft<'_>, copies: &[usize]) -> Result<Option<usize>, Contradiction> {
    let mut best: Option<(bool, usize)> = None;
    for photo in copies.iter().filter_map(|photo| draft.photos.get(*photo)) {
        let Some(sidecar) = photo.takeout else { continue };
        let is_in_album = draft.is_album(folder_key(photo.folder));
        if best.is_some_and(|(_, best)| facts(draft, best) != facts(draft, sidecar)) {
            return Err(Contradiction);
        }
        if best.is_none_or(|(best_is_in_album, _)| best_is_in_album && !is_in_album) {
            best = Some((is_in_album, sidecar));
        }
    }
    Ok(best.map(|(_, sidecar)| sidecar))
}

/// Title, capture time, and whether the photo is in the trash.
type Facts<'a> = (Option<&'a str>, Option<Timestamp>, bool);

fn facts<'a>(draft: &'a Draft<'_>, sidecar: usize) -> Option<Facts<'a>> {
    let described = draft.sidecars.get(sidecar)?.described.as_ref()?;
    Some((described.title.as_deref(), described.taken_at, described.is_trashed))
}

/// Gives an unused sidecar to the photo without a sidecar that has the title of the sidecar as its name. Both must be the
/// only ones of this name. If the sidecar is in an album, the photo is added to the album.
pub(super) fn take_by_title(draft: &mut Draft<'_>) {
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
        if let (Some(found), Some(taken)) = (draft.photos.get_mut(*photo), draft.sidecars.get_mut(*sidecar)) {
            found.takeout = Some(*sidecar);
            taken.is_used = true;
            let folder = folder_key(taken.folder);
            draft.members.push((folder, *photo));
        }
    }
}
