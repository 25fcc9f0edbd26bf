//! The marks of a moving library: what they close, and which targets they refuse.

use domain::Plan;
use library_copy::{CopyError, CopyOptions, ReopenError, Reopened, copy, reopen};
use storage::{LibraryState, StorageError, StoreRule};
use storage_conformance::{NOW, Photo, Seed};

use crate::places::{Side, small_pages};

fn options(transfer: &str) -> CopyOptions {
    CopyOptions { skip_lost: true, ..small_pages(transfer) }
}

async fn fill(side: &Side, tag: &str) -> Seed {
    let seed = Seed::tagged(side.place.store.clone(), tag);
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, (0..5).map(Photo::at_second).collect()).await;
    seed
}

/// Starts a copy that fails after the first page was written.
async fn begin(from: &Side, to: &Side, transfer: &str) {
    let (from, to, options) = (from.place.clone(), to.place.clone(), options(transfer));
    let copying = tokio::spawn(async move {
        copy(&from, &to, &options, |progress| assert_eq!(progress.done, 0, "the copy is killed")).await
    });
    assert!(copying.await.unwrap_err().is_panic());
}

async fn is_closed(side: &Side) -> bool {
    let written = side.place.store.create_setup_link([9; 32], NOW).await;
    match written {
        Ok(_) => false,
        Err(StorageError::Unavailable(reason)) => reason.contains("being moved or was moved"),
        Err(error) => panic!("{error}"),
    }
}

async fn check_marks(from: Side, to: Side) {
    fill(&from, "a").await;
    assert!(!is_closed(&from).await);
    begin(&from, &to, "first").await;
    assert!(matches!(from.place.store.library_state().await.unwrap(), LibraryState::Moving(_)));
    assert!(matches!(to.place.store.library_state().await.unwrap(), LibraryState::Receiving(_)));
    assert!(is_closed(&from).await && is_closed(&to).await);
    let repair = from.place.store.repair_rule(StoreRule::ImageCount, &[], NOW).await;
    assert!(repair.is_err(), "repairs write, too");

    copy(&from.place, &to.place, &options("second"), |_| ()).await.unwrap();
    let LibraryState::Moved(transfer) = from.place.store.library_state().await.unwrap() else { panic!() };
    assert_eq!((transfer.id.as_str(), transfer.peer.as_str()), ("first", "to"), "the first run began it");
    assert!(is_closed(&from).await && !is_closed(&to).await);
    let again = copy(&from.place, &to.place, &options("third"), |_| ()).await.unwrap();
    assert_eq!(again, None);

    assert!(
        matches!(reopen(&from.place.store).await.unwrap(), Reopened::WasMoved(known) if known == transfer)
    );
    assert!(!is_closed(&from).await);
    assert_eq!(reopen(&from.place.store).await.unwrap(), Reopened::WasOpen);
    let refused = copy(&from.place, &to.place, &options("fourth"), |_| ()).await;
    assert!(matches!(refused, Err(CopyError::NotEmpty { .. })), "the target is in use");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moving_library_is_closed_on_sqlite() {
    check_marks(Side::sqlite("from").await, Side::postgres("to").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moving_library_is_closed_on_postgres() {
    check_marks(Side::postgres("from").await, Side::sqlite("to").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_with_another_library_is_refused_before_anything_is_marked() {
    let from = Side::sqlite("from").await;
    fill(&from, "a").await;
    let with_rows = Side::postgres("to").await;
    fill(&with_rows, "b").await;
    let with_files = Side::sqlite("to").await;
    with_files
        .place
        .blobs
        .content
        .put_bytes(domain::BlobKind::Original, bytes::Bytes::from_static(b"other"))
        .await
        .unwrap();
    for to in [&with_rows, &with_files] {
        let before = to.tables().await;
        let refused = copy(&from.place, &to.place, &options("transfer"), |_| ()).await;
        assert!(matches!(refused, Err(CopyError::NotEmpty { .. })));
        assert_eq!(to.tables().await, before);
        for side in [&from, to] {
            assert_eq!(side.place.store.library_state().await.unwrap(), LibraryState::Open);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_copy_continues_only_with_its_target() {
    let (from, to, other) =
        (Side::sqlite("from").await, Side::sqlite("to").await, Side::sqlite("other").await);
    fill(&from, "a").await;
    begin(&from, &to, "first").await;
    let elsewhere = copy(&from.place, &other.place, &options("second"), |_| ()).await;
    assert!(matches!(elsewhere, Err(CopyError::MovesElsewhere { .. })));
    assert_eq!(other.place.store.library_state().await.unwrap(), LibraryState::Open);
    let onward = copy(&to.place, &other.place, &options("second"), |_| ()).await;
    assert!(matches!(onward, Err(CopyError::Incomplete { .. })), "an incomplete copy is no library");
    assert!(matches!(reopen(&to.place.store).await, Err(ReopenError::Incomplete(_))));

    // After a change of the source, the copied rows are outdated.
    assert!(matches!(reopen(&from.place.store).await.unwrap(), Reopened::WasMoving(_)));
    fill(&from, "b").await;
    let refused = copy(&from.place, &to.place, &options("third"), |_| ()).await;
    assert!(matches!(refused, Err(CopyError::ReceivesOther { .. })));
    copy(&from.place, &other.place, &options("fourth"), |_| ()).await.unwrap();
    assert_eq!(other.tables().await, from.tables().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_source_that_was_reopened_meanwhile_is_not_completed() {
    let (from, to) = (Side::sqlite("from").await, Side::sqlite("to").await);
    fill(&from, "a").await;
    let store = from.place.store.clone();
    let runtime = tokio::runtime::Handle::current();
    let mut reopened = false;
    let copied = copy(&from.place, &to.place, &options("transfer"), |progress| {
        if progress.step == "checking files" && !reopened {
            reopened = true;
            let store = store.clone();
            tokio::task::block_in_place(|| runtime.block_on(reopen(&store)).unwrap());
        }
    })
    .await;
    assert!(matches!(copied, Err(CopyError::MarkChanged(name)) if name == "from"));
    assert!(is_closed(&to).await && !is_closed(&from).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_differs_is_named() {
    let (from, to) = (Side::sqlite("from").await, Side::sqlite("to").await);
    fill(&from, "a").await;
    let store = to.place.store.clone();
    let runtime = tokio::runtime::Handle::current();
    let mut spoilt = false;
    let copied = copy(&from.place, &to.place, &options("transfer"), |progress| {
        if progress.step == "indexing words" && !spoilt {
            spoilt = true;
            let row = storage::CopiedRow {
                key_columns: 1,
                values: vec![storage::Value::Bytes(vec![1; 32]), storage::Value::Integer(1)],
            };
            let spoil = store.add_copied_rows(storage::CopiedTable::SetupLinks, vec![row]);
            tokio::task::block_in_place(|| runtime.block_on(spoil).unwrap());
        }
    })
    .await;
    assert!(matches!(copied, Err(CopyError::Differs { tables }) if tables == ["setup_links"]));
    assert!(is_closed(&to).await);
}
