//! Changes that the operating system reports.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::FutureExt as _;
use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode},
};
use tokio::sync::{Notify, mpsc};

/// How many changes wait to be taken. With more, the whole folder is scanned.
const MAX_WAITING: usize = 4096;
/// On Linux, each folder has a watch of its own, which is set before the folder is listed, so that no file is missed. Other
/// systems watch a folder with its subfolders.
const WATCHES_EACH_FOLDER: bool = cfg!(target_os = "linux");

/// A change that the system reports.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Something changed in this folder.
    In(PathBuf),
    /// Changes were lost.
    Lost,
}

/// The folders in which something changed.
pub(super) struct Changes {
    folders: mpsc::Receiver<PathBuf>,
    /// Notified when changes are lost.
    overflow: Arc<Notify>,
}

impl Changes {
    pub(super) fn start(root: &Path) -> (Self, FolderWatcher) {
        let (sender, folders) = mpsc::channel(MAX_WAITING);
        let overflow = Arc::new(Notify::new());
        let handler = Handler { root: root.to_owned(), sender, overflow: Arc::clone(&overflow) };
        (Self { folders, overflow }, FolderWatcher::start(root, handler))
    }

    /// The next change. Pending while nothing changes.
    pub(super) async fn next(&mut self) -> Change {
        tokio::select! {
            Some(folder) = self.folders.recv() => Change::In(folder),
            () = self.overflow.notified() => Change::Lost,
        }
    }

    pub(super) fn try_next(&mut self) -> Option<PathBuf> {
        self.folders.try_recv().ok()
    }

    /// Whether changes were lost since the last call.
    pub(super) fn take_overflow(&self) -> bool {
        self.overflow.notified().now_or_never().is_some()
    }
}

struct Handler {
    root: PathBuf,
    sender: mpsc::Sender<PathBuf>,
    overflow: Arc<Notify>,
}

impl Handler {
    fn handle(&self, event: notify::Result<Event>) {
        match event {
            Ok(event) if !event.need_rescan() => {
                if may_add_files(event.kind) {
                    event.paths.iter().for_each(|path| self.send(path));
                }
            }
            Ok(_) => self.overflow.notify_one(),
            Err(error) => {
                tracing::warn!(%error, "changes of the folder were lost; it is scanned again");
                self.overflow.notify_one();
            }
        }
    }

    /// Reports the folder of a changed file or folder.
    fn send(&self, path: &Path) {
        let Some(folder) = path.parent().filter(|folder| folder.starts_with(&self.root)) else { return };
        if self.sender.try_send(folder.to_owned()).is_err() {
            self.overflow.notify_one();
        }
    }
}

/// Whether an event may add files to import. Opening, reading or deleting a file adds none.
fn may_add_files(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Remove(_) => false,
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Other => true,
    }
}

/// Requests reports of changes from the operating system.
pub(super) struct FolderWatcher {
    /// `None` when the system refused it.
    watcher: Option<RecommendedWatcher>,
    refusal: Refusal,
}

/// Whether the system refused to report changes of a folder.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    None,
    Unreported(String),
    Reported,
}

impl FolderWatcher {
    fn start(root: &Path, handler: Handler) -> Self {
        let started =
            notify::recommended_watcher(move |event| handler.handle(event)).and_then(|mut watcher| {
                if !WATCHES_EACH_FOLDER {
                    watcher.watch(root, RecursiveMode::Recursive)?;
                }
                Ok(watcher)
            });
        match started {
            Ok(watcher) => Self { watcher: Some(watcher), refusal: Refusal::None },
            Err(error) => Self { watcher: None, refusal: Refusal::Unreported(advice(&error)) },
        }
    }

    /// A watcher that the system has refused.
    #[cfg(test)]
    pub(super) fn refused(error: &notify::Error) -> Self {
        Self { watcher: None, refusal: Refusal::Unreported(advice(error)) }
    }

    /// Watches a folder without its subfolders. Blocks.
    pub(super) fn watch(&mut self, folder: &Path) {
        let Some(watcher) = self.watcher.as_mut().filter(|_| WATCHES_EACH_FOLDER) else { return };
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {}
            Err(error) if is_gone(&error) => {}
            Err(error) if self.refusal == Refusal::None => self.refusal = Refusal::Unreported(advice(&error)),
            // A limit refuses all further folders as well.
            Err(_) => {}
        }
    }

    /// Why changes are no longer reported. Returns the reason only once.
    pub(super) fn take_refusal(&mut self) -> Option<String> {
        match std::mem::replace(&mut self.refusal, Refusal::Reported) {
            Refusal::Unreported(reason) => Some(reason),
            earlier => {
                self.refusal = earlier;
                None
            }
        }
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn advice(error: &notify::Error) -> String {
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system's limit on watched folders is reached; raise the setting \
            fs.inotify.max_user_watches with sysctl, or rely on the regular scans"
                .to_owned()
        }
        _ => format!("the system does not report changes: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, Flag, ModifyKind, RemoveKind};

    use super::*;

    fn handler() -> (Handler, Changes) {
        let (sender, folders) = mpsc::channel(2);
        let overflow = Arc::new(Notify::new());
        let handler = Handler { root: "/photos".into(), sender, overflow: Arc::clone(&overflow) };
        (handler, Changes { folders, overflow })
    }

    fn changes_after(events: Vec<notify::Result<Event>>) -> (Vec<PathBuf>, bool) {
        let (handler, mut changes) = handler();
        events.into_iter().for_each(|event| handler.handle(event));
        (std::iter::from_fn(|| changes.try_next()).collect(), changes.take_overflow())
    }

    fn event(kind: EventKind, path: &str) -> notify::Result<Event> {
        Ok(Event::new(kind).add_path(path.into()))
    }

    #[test]
    fn the_folders_of_new_and_changed_files_are_reported() {
        let write = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let events = vec![
            event(EventKind::Create(CreateKind::File), "/photos/a/1.jpg"),
            event(EventKind::Access(AccessKind::Open(AccessMode::Any)), "/photos/b/1.jpg"),
            event(EventKind::Remove(RemoveKind::File), "/photos/c/1.jpg"),
            event(EventKind::Modify(ModifyKind::Any), "/photos"),
            event(write, "/photos/2.jpg"),
        ];
        assert_eq!(changes_after(events), (vec!["/photos/a".into(), "/photos".into()], false));
    }

    #[test]
    fn lost_changes_are_noticed() {
        let many = (0..3).map(|n| event(EventKind::Any, &format!("/photos/{n}/1.jpg"))).collect();
        assert!(changes_after(many).1, "more than the queue holds");
        let flagged = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(changes_after(vec![Ok(flagged)]), (vec![], true));
        assert_eq!(changes_after(vec![Err(notify::Error::generic("broken"))]), (vec![], true));
    }

    #[test]
    fn lost_changes_wake_a_waiting_caller() {
        let (handler, mut changes) = handler();
        assert_eq!(changes.next().now_or_never(), None);
        handler.handle(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        assert_eq!(changes.next().now_or_never(), Some(Change::Lost));
        assert_eq!(changes.next().now_or_never(), None, "once");
        drop(handler);
        assert_eq!(changes.next().now_or_never(), None, "a watcher that ended reports nothing");
    }

    #[test]
    fn the_limit_of_the_system_is_explained() {
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        assert!(advice(&limit).contains("max_user_watches"));
        assert!(is_gone(&notify::Error::path_not_found()) && !is_gone(&limit));
    }
}
