use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use vectors::{Cache, Index, IndexKey, RowFilter, ScanOptions};

use crate::row;

const DIMENSIONS: usize = 32;

fn key(account: i64) -> IndexKey {
    IndexKey { account, encoder: 1 }
}

async fn put(cache: &Cache, account: i64, rows: usize) -> Index {
    let mut filling = cache.fill(key(account), DIMENSIONS).await;
    for number in filling.len()..rows {
        filling.push(row(number), &[1.0; DIMENSIONS]).unwrap();
    }
    filling.publish()
}

/// How many rows are here, which counts as a use.
async fn rows(cache: &Cache, account: i64) -> usize {
    cache.fill(key(account), DIMENSIONS).await.len()
}

#[tokio::test]
async fn the_budget_is_kept_by_what_was_not_used_for_longest() {
    let one = put(&Cache::new(usize::MAX), 1, 2048).await.bytes();
    let cache = Cache::new(one * 3 + 5000);
    for account in 1..=3 {
        put(&cache, account, 2048).await;
    }
    assert_eq!((cache.len(), rows(&cache, 1).await), (3, 2048));
    put(&cache, 4, 2048).await;
    assert_eq!(cache.len(), 3);
    assert!(cache.bytes() <= one * 3 + 5000);
    for (account, expect) in [(1, 2048), (3, 2048), (4, 2048), (2, 0)] {
        assert_eq!(rows(&cache, account).await, expect, "{account}");
    }
}

#[tokio::test]
async fn empty_indexes_take_room_as_well() {
    let cache = Cache::new(100_000);
    for account in 0..10_000 {
        rows(&cache, account).await;
    }
    assert!(cache.len() <= 200, "{}", cache.len());
}

#[tokio::test]
async fn one_beyond_the_budget_is_kept_alone() {
    let cache = Cache::new(100_000);
    put(&cache, 1, 100).await;
    let snapshot = put(&cache, 2, 5000).await;
    assert_eq!((cache.len(), rows(&cache, 2).await), (1, 5000));
    assert!(cache.bytes() > 100_000);
    put(&cache, 1, 100).await;
    assert_eq!((cache.len(), rows(&cache, 1).await), (1, 100));
    // Whoever reads it still can.
    let wanted = ScanOptions { best: 1, threads: 1 };
    let scan = snapshot.scan(&[1.0; DIMENSIONS], &RowFilter::default(), wanted).unwrap();
    assert_eq!(scan.summary.rows, 5000);
}

#[tokio::test]
async fn what_is_being_filled_stays_and_goes_later() {
    let cache = Cache::new(1000);
    let mut filling = cache.fill(key(1), DIMENSIONS).await;
    filling.push(row(0), &[1.0; DIMENSIONS]).unwrap();
    put(&cache, 2, 5000).await;
    assert_eq!(cache.len(), 2);
    filling.push(row(1), &[1.0; DIMENSIONS]).unwrap();
    assert_eq!(filling.publish().len(), 2);
    assert_eq!(cache.len(), 1);
    assert_eq!(rows(&cache, 1).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_searches_fill_once_and_see_what_was_there_before() {
    let cache = Cache::new(usize::MAX);
    let stored = Arc::new(AtomicUsize::new(3000));
    let read = Arc::new(Mutex::new(0));
    let searches: Vec<_> = (0..50)
        .map(|_| {
            let (cache, stored, read) = (cache.clone(), stored.clone(), read.clone());
            tokio::spawn(async move {
                let at_least = stored.fetch_add(10, Ordering::SeqCst) + 10;
                let mut filling = cache.fill(key(1), DIMENSIONS).await;
                loop {
                    let (first, end) = (filling.len(), stored.load(Ordering::SeqCst));
                    if first == end {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    for number in first..end.min(first + 1000) {
                        filling.push(row(number), &[1.0; DIMENSIONS]).unwrap();
                        *read.lock().unwrap() += 1;
                    }
                }
                let index = filling.publish();
                assert!(index.len() >= at_least);
            })
        })
        .collect();
    for search in searches {
        search.await.unwrap();
    }
    assert_eq!(*read.lock().unwrap(), 3500);
}

#[tokio::test]
async fn a_search_that_is_given_up_leaves_what_it_read() {
    let cache = Cache::new(usize::MAX);
    let search = async {
        let mut filling = cache.fill(key(1), DIMENSIONS).await;
        for number in 0..100 {
            filling.push(row(number), &[1.0; DIMENSIONS]).unwrap();
        }
        std::future::pending::<()>().await;
    };
    tokio::time::timeout(Duration::from_millis(5), search).await.unwrap_err();
    assert_eq!(rows(&cache, 1).await, 100);
    // One that waits and is given up leaves the place to others.
    let filling = cache.fill(key(1), DIMENSIONS).await;
    tokio::time::timeout(Duration::from_millis(5), rows(&cache, 1)).await.unwrap_err();
    drop(filling);
    assert_eq!(rows(&cache, 1).await, 100);
}

#[tokio::test]
async fn it_is_cleared_and_begun_anew() {
    let cache = Cache::new(usize::MAX);
    put(&cache, 1, 100).await;
    put(&cache, 2, 100).await;
    let mut filling = cache.fill(key(1), DIMENSIONS).await;
    cache.clear(key(1));
    cache.clear(key(7));
    filling.push(row(100), &[1.0; DIMENSIONS]).unwrap();
    assert_eq!(filling.publish().len(), 101);
    assert_eq!(rows(&cache, 1).await, 0);

    let before = cache.bytes();
    let mut filling = cache.fill(key(2), DIMENSIONS).await;
    filling.restart();
    assert!(filling.is_empty() && filling.last().is_none() && cache.bytes() < before);
    filling.push(row(0), &[1.0; DIMENSIONS]).unwrap();
    drop(filling);
    assert_eq!(rows(&cache, 2).await, 1);

    // Another encoder of the same number, as a store that was put back can have it.
    assert_eq!(cache.fill(key(2), DIMENSIONS + 1).await.len(), 0);
    for account in [1, 2] {
        cache.clear(key(account));
    }
    assert!(cache.is_empty());
    assert_eq!(cache.bytes(), 0);
}
