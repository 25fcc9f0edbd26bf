use std::sync::Arc;

use domain::{ListQuery, Plan};
use futures_util::FutureExt as _;
use storage::{AccountStore, GrantStore, ImageStore, KeyHash};
use storage_conformance::{Photo, Seed};

use crate::fresh_store;

#[tokio::test]
async fn frequent_look_ups_run_on_the_calling_thread() {
    let (store, _folder) = fresh_store().await;
    let seed = Seed::new(Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.image(ann.account, Photo::at_second(1)).await;
    assert_eq!(store.count_images(ann).now_or_never().map(Result::unwrap), Some(1));
    let holder = store.key_holder(&KeyHash([7; 32])).now_or_never();
    assert_eq!(holder.map(Result::unwrap), Some(None));
    let holder = store.grant_holder("none").now_or_never();
    assert_eq!(holder.map(Result::unwrap), Some(None));
    // Longer operations run on another thread.
    assert!(store.page_images(ann, &ListQuery::default()).now_or_never().is_none());
}
