//! The tree of a folder.

use domain::{FileName, FilePath};
use library::{Caller, FileError, FileRefusal};

use crate::process;

fn path(text: &str) -> FilePath {
    FilePath::new(text.split('/').map(|name| FileName::parse(name).unwrap()).collect()).unwrap()
}

#[tokio::test]
async fn a_tree_is_listed_up_to_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    let it = process(dir.path()).await;
    let caller = Caller::operator(it.account("ann").await);
    for folder in ["a", "a/b", "a/b/c", "a/d", "e"] {
        it.library.ingest.create_folder(&caller, &path(folder), false, &[]).await.unwrap();
    }
    let tree = it.library.ingest.file_tree(&caller, &path("a"), 4).await.unwrap().unwrap();
    let listed: Vec<String> = tree.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(listed, ["/a", "/a/b", "/a/d", "/a/b/c"]);
    let refused = it.library.ingest.file_tree(&caller, &path("a"), 3).await;
    assert!(matches!(refused, Err(FileError::Refused(FileRefusal::TooMany))), "{refused:?}");
    assert_eq!(it.library.ingest.file_tree(&caller, &path("f"), 3).await.unwrap(), None);
}
