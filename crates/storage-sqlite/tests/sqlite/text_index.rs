use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use domain::Plan;
use storage::{ImageStore, IndexQueue, Indexed};
use storage_conformance::{DECODERS, NOW, Seed, indexed, random_photos};

use crate::fresh_store;

/// The index holds no text of its own: it is right only as long as every word that it forgets is the one that it
/// had learnt.
#[tokio::test(flavor = "multi_thread")]
async fn the_text_index_agrees_with_the_images_whatever_happened_to_them() {
    let (store, folder) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, random_photos(60, NOW, 1)).await;
    for id in &ids[..20] {
        store.delete_image(ann, id, NOW).await.unwrap();
    }
    assert_eq!(store.requeue_outdated(DECODERS + 1, NOW, 100).await.unwrap(), 40);
    assert_eq!(store.purge_images(NOW.plus_millis(1), 100).await.unwrap(), 20);
    let anew = random_photos(40, NOW, 2);
    for (job, photo) in seed.lease("w", NOW).await.into_iter().zip(anew) {
        let found = Indexed { renditions: vec![], ..indexed(&photo) };
        assert!(store.complete_job(job.id, "w", found).await.unwrap());
    }
    let path = folder.path().join("library.sqlite");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    // With rank 1 it compares the index with the images, and fails if they differ.
    connection
        .batch_execute("INSERT INTO image_text (image_text, rank) VALUES ('integrity-check', 1)")
        .unwrap();
}
