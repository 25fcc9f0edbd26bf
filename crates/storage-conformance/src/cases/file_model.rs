use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::ContentHash;
use fastrand::Rng;
use storage::{FileContent, FileEntry, FileId, FileKind, FileRefusal, Lookup};

use crate::{
    ORIGINAL_BYTES, Seed,
    file_tree::{Files, etag, junk_file, overwrite, transfer},
    queries::second,
};

const STEPS: i64 = 400;

/// A fixed seed, so that failures are reproducible.
const SEED: u64 = 31;

/// What the model expects at a path.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Node {
    Folder,
    Photo(usize),
    Partial(usize),
    Junk(u64),
}

/// What the model expects of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ImageModel {
    None,
    Live,
    DeletedWithFiles,
    DeletedByOwner,
}

struct ModelTest {
    files: Files,
    random: Rng,
    /// Every path with its entry; the root is left out.
    tree: BTreeMap<String, Node>,
    originals: Vec<ContentHash>,
    images: Vec<ImageModel>,
    versions: HashMap<FileId, u64>,
    states: HashMap<(FileId, u64), FileEntry>,
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Whether `path` is `top` or below it.
fn is_within(path: &str, top: &str) -> bool {
    path == top || path.strip_prefix(top).is_some_and(|rest| rest.starts_with('/'))
}

impl ModelTest {
    /// A path of up to three levels, whether there is something or not.
    fn any_path(&mut self) -> String {
        let depth = self.random.usize(1..4);
        let names: Vec<&str> = (0..depth).filter_map(|_| self.random.choice(["a", "b", "c"])).collect();
        names.join("/")
    }

    fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.tree.get(path) == Some(&Node::Folder)
    }

    /// The photos in the tree.
    fn held(&self) -> BTreeSet<usize> {
        let held = self.tree.values().filter_map(|node| match node {
            Node::Photo(number) => Some(*number),
            _ => None,
        });
        held.collect()
    }

    async fn step(&mut self) {
        match self.random.u32(0..20) {
            0..=5 => self.put().await,
            6 | 7 => self.put_junk().await,
            8..=10 => self.create_folder().await,
            11..=13 => self.transfer(true).await,
            14 => self.transfer(false).await,
            15 | 16 => self.delete().await,
            17 => self.delete_image().await,
            18 => self.restore_image().await,
            _ => self.sweep_and_purge().await,
        }
    }

    fn refusal_of_put(&self, at: &str) -> Option<FileRefusal> {
        if !self.is_folder(parent(at)) {
            return Some(FileRefusal::NoParent);
        }
        self.is_folder(at).then_some(FileRefusal::IsFolder)
    }

    async fn put(&mut self) {
        let at = self.any_path();
        let number = self.random.usize(0..self.originals.len());
        let (original, partial) = (self.originals[number], self.random.u32(0..4) == 0);
        let outcome = if partial {
            self.files.put_partial(&at, original).await
        } else {
            self.files.put_photo(&at, original).await
        };
        let refusal = self.refusal_of_put(&at);
        assert_eq!(outcome.as_ref().err(), refusal.as_ref(), "put {at}");
        if refusal.is_some() {
            return;
        }
        assert_eq!(outcome.is_ok_and(|written| written.is_new), !self.tree.contains_key(&at));
        if partial {
            return self.replace(&at, Node::Partial(number));
        }
        if matches!(self.images[number], ImageModel::None | ImageModel::DeletedWithFiles) {
            self.images[number] = ImageModel::Live;
        }
        self.replace(&at, Node::Photo(number));
    }

    /// Puts a file into the model, in place of the entry that was there.
    fn replace(&mut self, at: &str, node: Node) {
        let before = self.held();
        self.tree.insert(at.to_owned(), node);
        self.delete_images(&before);
    }

    /// Deletes the images that have lost their last file.
    fn delete_images(&mut self, before: &BTreeSet<usize>) {
        for lost in before.difference(&self.held()) {
            if self.images[*lost] == ImageModel::Live {
                self.images[*lost] = ImageModel::DeletedWithFiles;
            }
        }
    }

    async fn put_junk(&mut self) {
        let (at, bytes) = (self.any_path(), self.random.u64(0..1000));
        let outcome = self.files.put(junk_file(&at, bytes)).await;
        let refusal = self.refusal_of_put(&at);
        assert_eq!(outcome.err(), refusal, "put {at}");
        if refusal.is_none() {
            self.replace(&at, Node::Junk(bytes));
        }
    }

    async fn create_folder(&mut self) {
        let at = self.any_path();
        let refusal = match () {
            () if !self.is_folder(parent(&at)) => Some(FileRefusal::NoParent),
            () if self.tree.contains_key(&at) => Some(FileRefusal::Exists),
            () => None,
        };
        assert_eq!(self.files.folder(&at).await.err(), refusal, "create {at}");
        if refusal.is_none() {
            self.tree.insert(at, Node::Folder);
        }
    }

    async fn transfer(&mut self, is_move: bool) {
        let (from, to) = (self.any_path(), self.any_path());
        let request = if self.random.bool() { overwrite(&from, &to) } else { transfer(&from, &to) };
        let refusal = match () {
            () if !self.tree.contains_key(&from) => Some(FileRefusal::NotFound),
            () if is_within(&to, &from) || is_within(&from, &to) => Some(FileRefusal::IntoItself),
            () if !self.is_folder(parent(&to)) => Some(FileRefusal::NoParent),
            () if self.tree.contains_key(&to) && !request.overwrite => Some(FileRefusal::Exists),
            () => None,
        };
        let outcome = if is_move { self.files.rename(request).await } else { self.files.copy(request).await };
        assert_eq!(outcome.err(), refusal, "{from} to {to}");
        if refusal.is_none() {
            self.transfer_in_model(&from, &to, is_move);
            // The model has no files that wait to be swept.
            self.files.sweep().await;
        }
    }

    fn transfer_in_model(&mut self, from: &str, to: &str, is_move: bool) {
        let before = self.held();
        self.tree.retain(|path, _| !is_within(path, to));
        let moved: Vec<(String, Node)> = self
            .tree
            .iter()
            .filter_map(|(path, node)| {
                let below = is_within(path, from).then(|| path.strip_prefix(from)).flatten()?;
                Some((format!("{to}{below}"), *node))
            })
            .collect();
        if is_move {
            self.tree.retain(|path, _| !is_within(path, from));
        }
        self.tree.extend(moved);
        self.delete_images(&before);
    }

    async fn delete(&mut self) {
        let at = self.any_path();
        let refusal = (!self.tree.contains_key(&at)).then_some(FileRefusal::NotFound);
        assert_eq!(self.files.delete(&at).await.err(), refusal, "delete {at}");
        let before = self.held();
        self.tree.retain(|path, _| !is_within(path, &at));
        self.delete_images(&before);
        self.files.sweep().await;
    }

    /// The id of an image that exists, with its number.
    async fn any_image(&mut self) -> Option<(usize, domain::ImageId)> {
        let number = self.random.usize(0..self.originals.len());
        let account = self.files.account();
        let known = self.files.store().image_by_original(account, &self.originals[number]).await.unwrap();
        known.map(|image| (number, image.id))
    }

    async fn delete_image(&mut self) {
        self.files.index().await;
        let Some((number, id)) = self.any_image().await else { return };
        let outcome = self.files.store().delete_image(self.files.viewer, &id, self.files.at).await.unwrap();
        let is_live = self.images[number] == ImageModel::Live;
        assert_eq!(outcome, if is_live { Lookup::Found(()) } else { Lookup::Missing });
        if is_live {
            self.images[number] = ImageModel::DeletedByOwner;
        }
    }

    async fn restore_image(&mut self) {
        let Some((number, id)) = self.any_image().await else { return };
        let restored = self.files.store().restore_image(self.files.account(), &id).await.unwrap();
        assert_eq!(restored, self.images[number] != ImageModel::Live);
        self.images[number] = ImageModel::Live;
    }

    /// Purges all deleted images; a photo whose image is purged keeps its file.
    async fn sweep_and_purge(&mut self) {
        while self.files.store().purge_images(self.files.at.plus_millis(1), 5).await.unwrap() > 0 {}
        let held = self.held();
        for (number, image) in self.images.iter_mut().enumerate() {
            if *image != ImageModel::Live {
                *image = ImageModel::None;
            }
            if *image == ImageModel::None && held.contains(&number) {
                // The image is not added again while the file exists. The model does not represent this, so the file is
                // removed.
                self.tree.retain(|_, node| *node != Node::Photo(number));
            }
        }
        self.remove_untracked().await;
    }

    /// Deletes the files that the model no longer has.
    async fn remove_untracked(&mut self) {
        for path in self.listed().await.into_keys() {
            if !self.tree.contains_key(&path) {
                self.files.delete(&path).await.unwrap();
            }
        }
    }

    /// Everything that is listed, by path.
    async fn listed(&self) -> BTreeMap<String, FileEntry> {
        let mut listed = BTreeMap::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for member in self.files.list(&folder).await.members {
                let name = member.name.as_ref().unwrap().as_str();
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                folders.extend((member.kind == FileKind::Folder).then(|| path.clone()));
                listed.insert(path, member);
            }
        }
        listed
    }

    fn bytes_below(&self, folder: &str) -> u64 {
        let below = self.tree.iter().filter(|(path, _)| folder.is_empty() || is_within(path, folder));
        let bytes = below.map(|(_, node)| match node {
            Node::Folder => 0,
            Node::Photo(_) | Node::Partial(_) => ORIGINAL_BYTES,
            Node::Junk(bytes) => *bytes,
        });
        bytes.sum()
    }

    async fn check(&mut self) {
        let listed = self.listed().await;
        assert_eq!(listed.keys().collect::<Vec<_>>(), self.tree.keys().collect::<Vec<_>>());
        for (path, entry) in &listed {
            self.check_kind(path, entry);
            assert_eq!(entry.bytes, self.bytes_below(path), "{path}");
        }
        let root = self.files.entry("").await;
        assert_eq!(root.bytes, self.bytes_below(""));
        for entry in listed.into_values().chain([root]) {
            self.check_version(entry);
        }
        for (original, image) in self.originals.iter().zip(&self.images) {
            let expected = match image {
                ImageModel::None => None,
                ImageModel::Live => Some(false),
                ImageModel::DeletedWithFiles | ImageModel::DeletedByOwner => Some(true),
            };
            assert_eq!(self.files.is_deleted(original).await, expected);
        }
        self.check_stored_bytes().await;
    }

    fn check_kind(&self, path: &str, entry: &FileEntry) {
        let agrees = match (&entry.kind, self.tree[path]) {
            (FileKind::Folder, Node::Folder) | (FileKind::File(FileContent::Junk), Node::Junk(_)) => true,
            (FileKind::File(FileContent::Photo { original, image }), Node::Photo(number)) => {
                *original == self.originals[number] && image.is_some()
            }
            (FileKind::File(FileContent::Partial { original, .. }), Node::Partial(number)) => {
                *original == self.originals[number]
            }
            _ => false,
        };
        assert!(agrees, "{entry:?} is at {path}");
    }

    /// Versions never decrease, and an etag always names the same state.
    fn check_version(&mut self, entry: FileEntry) {
        let (id, version) = etag(&entry);
        let last = self.versions.insert(id, version);
        assert!(last.is_none_or(|last| last <= version), "{entry:?}");
        // Moves and the state of its image do not change an entry.
        let kind = match entry.kind {
            FileKind::File(FileContent::Photo { original, .. }) => {
                FileKind::File(FileContent::Photo { original, image: None })
            }
            other => other,
        };
        let state = FileEntry { name: None, kind, ..entry };
        let known = self.states.entry((id, version)).or_insert_with(|| state.clone());
        assert_eq!(*known, state);
    }

    /// The account stores each original once while an image or a partial file has it.
    async fn check_stored_bytes(&self) {
        let has_partial = |number| self.tree.values().any(|node| *node == Node::Partial(number));
        let images = self.images.iter().enumerate();
        let stored = images.filter(|(number, image)| **image != ImageModel::None || has_partial(*number));
        let expected = u64::try_from(stored.count()).unwrap() * ORIGINAL_BYTES;
        assert_eq!(self.files.stored_bytes().await, expected);
    }
}

pub(crate) async fn random_file_operations_agree_with_a_model(seed: &Seed) {
    let originals: Vec<ContentHash> = (0..6).map(|_| seed.hash()).collect();
    let mut test = ModelTest {
        files: Files::new(seed).await,
        random: Rng::with_seed(SEED),
        tree: BTreeMap::new(),
        images: vec![ImageModel::None; originals.len()],
        originals,
        versions: HashMap::new(),
        states: HashMap::new(),
    };
    for step in 0..STEPS {
        test.files.at = second(step);
        test.step().await;
        test.check().await;
    }
}
