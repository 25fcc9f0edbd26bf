use std::sync::{Arc, mpsc};

use domain::{ListQuery, Plan};
use futures_util::FutureExt as _;
use storage::{AccountStore, GrantHolderStore, ImageStore, KeyHash};
use storage_conformance::{Photo, Seed};
use tokio::{runtime::Builder, task::spawn_blocking};

use crate::fresh_store;

#[test]
fn frequent_look_ups_run_on_the_calling_thread() {
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (store, _folder) = fresh_store().await;
        let seed = Seed::new(Arc::new(store.clone()));
        let ann = seed.account(Plan::Paid).await;
        seed.image(ann.account, Photo::at_second(1)).await;
        let (release, released) = mpsc::channel::<()>();
        let occupied = spawn_blocking(move || released.recv().is_err());
        assert_eq!(store.count_images(ann).now_or_never().map(Result::unwrap), Some(1));
        let holder = store.key_holder(&KeyHash([7; 32])).now_or_never();
        assert_eq!(holder.map(Result::unwrap), Some(None));
        let holder = store.grant_holder("none").now_or_never();
        assert_eq!(holder.map(Result::unwrap), Some(None));
        // Longer operations need the blocking thread, which is occupied.
        assert!(store.page_images(ann, &ListQuery::default()).now_or_never().is_none());
        drop(release);
        assert!(occupied.await.unwrap());
    });
}
