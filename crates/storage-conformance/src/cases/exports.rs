use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex},
};

use domain::{ContentHash, Plan};
use storage::{CopiedRow, CopiedTable, PageLimit, SnapshotPart};

use crate::{NOW, Photo, Seed};

pub(crate) async fn images_are_exported_oldest_first_whatever_the_plan(seed: &Seed) {
    let (ann, bob) = (seed.account(Plan::Free).await, seed.account(Plan::Paid).await);
    let original = ContentHash::new([7; 32]);
    let photos = [Photo::at_second(3).original(original), Photo::at_second(1), Photo::at_second(2)];
    let ids = seed.images(ann.account, photos.to_vec()).await;
    seed.images(bob.account, vec![Photo::at_second(1)]).await;
    seed.waiting(ann.account, 1).await;
    let store = seed.store();
    let deleted = seed.image(ann.account, Photo::at_second(5)).await;
    store.delete_image(ann, &deleted, NOW).await.unwrap();
    let mut exported = Vec::new();
    loop {
        let after = exported.last().map(|it: &storage::ExportedImage| it.image.captured_at);
        let page = store.exported_images(ann.account, after, 2).await.unwrap();
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        exported.extend(page);
    }
    let found: Vec<_> = exported.iter().map(|it| it.image.id.clone()).collect();
    assert_eq!(found, [1, 2, 0].map(|at: usize| ids[at].clone()));
    assert_eq!(exported[2].original, original);
    assert!(exported.iter().all(|it| !it.media_type.is_empty() && it.original_bytes > 0));
}

/// The tables of a snapshot with their rows, and how many pages they came in.
type Received = (Vec<(CopiedTable, Vec<CopiedRow>)>, usize);

pub(crate) async fn a_snapshot_has_the_rows_of_all_tables(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (0..40).map(Photo::at_second).collect()).await;
    seed.album(ann, "Trip", &ids).await;
    let store = seed.store();
    let received: Arc<Mutex<Received>> = Arc::default();
    let receiver = received.clone();
    let limit = PageLimit { rows: 7, bytes: 1 << 20 };
    let receive = move |part: SnapshotPart| {
        let mut received = receiver.lock().unwrap();
        match part {
            SnapshotPart::Begin => *received = Received::default(),
            SnapshotPart::Table { table, .. } => received.0.push((table, Vec::new())),
            SnapshotPart::Rows(rows) => {
                assert!((1..=7).contains(&rows.len()));
                received.1 += 1;
                received.0.last_mut().unwrap().1.extend(rows);
            }
        }
        ControlFlow::Continue(())
    };
    store.read_snapshot(limit, Arc::new(receive)).await.unwrap();
    let (tables, pages) = std::mem::take(&mut *received.lock().unwrap());
    assert!(pages > 20);
    assert_eq!(tables.iter().map(|(table, _)| *table).collect::<Vec<_>>(), CopiedTable::ALL);
    for (table, rows) in tables {
        let columns = store.copied_columns(table);
        assert!(
            rows.iter().all(|row| row.values.len() == columns.names.len() && row.key_columns == columns.key)
        );
        let all = PageLimit { rows: 10_000, bytes: 1 << 30 };
        assert_eq!(store.copied_rows(table, None, all).await.unwrap(), rows, "{}", table.name());
    }
}

pub(crate) async fn a_snapshot_ends_when_its_receiver_has_enough(seed: &Seed) {
    let parts: Arc<Mutex<usize>> = Arc::default();
    let counted = parts.clone();
    let receive = move |_| {
        *counted.lock().unwrap() += 1;
        ControlFlow::Break(())
    };
    let limit = PageLimit { rows: 7, bytes: 1 << 20 };
    seed.store().read_snapshot(limit, Arc::new(receive)).await.unwrap();
    assert_eq!(*parts.lock().unwrap(), 1);
}
