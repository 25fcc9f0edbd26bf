//! Matches sidecars to the photos in the same folder. The folders of all parts of an export count as one.

use std::{borrow::Cow, collections::HashMap};

use super::draft::{Draft, FolderKey, Photo, folder_key};
use crate::{folder::Folder, names, scan::Scan};

/// The files of one folder, by name. Several files may have the same name: in several parts of an export, or in several
/// exports.
#[derive(Default)]
struct Group<'a> {
    photos: Names<'a>,
    sidecars: Names<'a>,
}

/// Names in a fixed order, with the positions of their files in the draft.
#[derive(Default)]
struct Names<'a> {
    names: Vec<Cow<'a, str>>,
    files: Vec<Vec<usize>>,
    numbers: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Names<'a> {
    fn add(&mut self, name: Cow<'a, str>, file: usize) {
        let next = self.names.len();
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
            self.files.push(Vec::new());
        }
        if let Some(files) = self.files.get_mut(number) {
            files.push(file);
        }
    }

    fn files(&self, number: usize) -> &[usize] {
        self.files.get(number).map_or(&[], Vec::as_slice)
    }

    fn texts(&self) -> Vec<&str> {
        self.names.iter().map(AsRef::as_ref).collect()
    }
}

/// Gives photos the sidecars in their folders.
pub(super) fn pair(draft: &mut Draft<'_>) {
    for group in groups(draft, |_| true, |photo| Cow::Borrowed(&*photo.item.name)) {
        pair_group(&group, draft);
    }
}

/// Gives photos of a Takeout export that have no sidecar, but the name of an edited version, the sidecar of the original.
pub(super) fn pair_edited(draft: &mut Draft<'_>) {
    let original = |photo: &Photo<'_>| match photo.takeout {
        None => names::unedited(&photo.item.name),
        Some(_) => None,
    };
    let groups = groups(
        draft,
        |folder| folder.is_takeout,
        |photo| original(photo).map_or(Cow::Borrowed(&*photo.item.name), Cow::Owned),
    );
    for group in groups {
        let matches = media::match_sidecars(&group.photos.texts(), &group.sidecars.texts());
        for (photos, found) in group.photos.files.iter().zip(&matches.by_photo) {
            for photo in photos {
                let is_edited = draft.photos.get(*photo).is_some_and(|photo| original(photo).is_some());
                let sidecars = found.takeout.map_or(&[][..], |number| group.sidecars.files(number));
                let picked = pick(draft, *photo, photos, sidecars).filter(|_| is_edited);
                set_used(draft, picked.iter(), true);
                if let (Some(photo), Some(_)) = (draft.photos.get_mut(*photo), picked) {
                    photo.takeout = picked;
                }
            }
        }
    }
}

/// The folders with sidecars. `name` gives the name under which a photo is matched.
fn groups<'a>(
    draft: &Draft<'a>,
    is_wanted: impl Fn(&Folder) -> bool,
    name: impl Fn(&Photo<'a>) -> Cow<'a, str>,
) -> Vec<Group<'a>> {
    let mut groups: HashMap<FolderKey<'a>, Group<'a>> = HashMap::new();
    for (position, photo) in draft.photos.iter().enumerate().filter(|(_, photo)| is_wanted(photo.folder)) {
        groups.entry(folder_key(photo.folder)).or_default().photos.add(name(photo), position);
    }
    for (position, sidecar) in
        draft.sidecars.iter().enumerate().filter(|(_, sidecar)| is_wanted(sidecar.folder))
    {
        let name = Cow::Borrowed(&*sidecar.item.name);
        groups.entry(folder_key(sidecar.folder)).or_default().sidecars.add(name, position);
    }
    groups.into_values().filter(|group| !group.sidecars.names.is_empty()).collect()
}

fn pair_group(group: &Group<'_>, draft: &mut Draft<'_>) {
    let matches = media::match_sidecars(&group.photos.texts(), &group.sidecars.texts());
    // A sidecar is not reported if its photo has a better one.
    let found = matches.by_photo.iter().flat_map(|found| found.xmp.into_iter().chain(found.takeout));
    let chosen: Vec<usize> = found.chain(matches.unmatched.iter().copied()).collect();
    set_used(draft, group.sidecars.files.iter().flatten(), true);
    set_used(draft, chosen.iter().flat_map(|number| group.sidecars.files(*number)), false);
    for (photos, found) in group.photos.files.iter().zip(&matches.by_photo) {
        for photo in photos {
            let pick = |number: Option<usize>| pick(draft, *photo, photos, group.sidecars.files(number?));
            let (xmp, takeout) = (pick(found.xmp), pick(found.takeout));
            set_used(draft, xmp.iter().chain(&takeout), true);
            if let Some(photo) = draft.photos.get_mut(*photo) {
                (photo.xmp, photo.takeout) = (xmp, takeout);
            }
        }
    }
}

fn set_used<'a>(draft: &mut Draft<'_>, sidecars: impl Iterator<Item = &'a usize>, is_used: bool) {
    for sidecar in sidecars {
        if let Some(sidecar) = draft.sidecars.get_mut(*sidecar) {
            sidecar.is_used = is_used;
        }
    }
}

/// Chooses among sidecars of the same name: one from the photo's archive, otherwise one from its export, otherwise the
/// only one, unless another photo of the same name is in the archive of that sidecar.
fn pick(draft: &Draft<'_>, photo: usize, namesakes: &[usize], sidecars: &[usize]) -> Option<usize> {
    let folder_of = |photo: usize| draft.photos.get(photo).map(|photo| photo.folder);
    let own = folder_of(photo)?;
    let folder = |sidecar: usize| draft.sidecars.get(sidecar).map(|sidecar| sidecar.folder);
    let find = |is_near: &dyn Fn(&Folder) -> bool| {
        sidecars.iter().copied().find(|sidecar| folder(*sidecar).is_some_and(is_near))
    };
    let same_archive = find(&|other| other.source == own.source);
    same_archive.or_else(|| find(&|other| are_of_one_export(draft.scan, other, own))).or_else(|| {
        let [only] = sidecars else { return None };
        let source = folder(*only)?.source;
        let is_taken =
            namesakes.iter().any(|other| folder_of(*other).is_some_and(|other| other.source == source));
        (!is_taken).then_some(*only)
    })
}

/// Whether folders are in parts of one export.
pub(super) fn are_of_one_export(scan: &Scan, one: &Folder, other: &Folder) -> bool {
    let export = |folder: &Folder| scan.sources.get(folder.source).map(|source| &source.export);
    export(one) == export(other)
}
