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
    let mut writer = cache.fill(key(account), DIMENSIONS).await;
    for number in writer.len()..rows {
        writer.push(row(number), &[1.0; DIMENSIONS]).unwrap();
    }
    writer.publish()
}

/// The number of cached rows. Reading it counts as a use.
async fn rows(cache: &Cache, account: i64) -> usize {
    cache.fill(key(account), DIMENSIONS).await.len()
}

#[tokio::test]
async fn least_recently_used_index_is_evicted() {
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
async fn empty_indexes_count_towards_the_budget() {
    let cache = Cache::new(100_000);
    for account in 0..10_000 {
        rows(&cache, account).await;
    }
    assert!(cache.len() <= 200, "{}", cache.len());
}

#[tokio::test]
async fn index_above_the_budget_is_cached_alone() {
    let cache = Cache::new(100_000);
    put(&cache, 1, 100).await;
    let snapshot = put(&cache, 2, 5000).await;
    assert_eq!((cache.len(), rows(&cache, 2).await), (1, 5000));
    assert!(cache.bytes() > 100_000);
    put(&cache, 1, 100).await;
    assert_eq!((cache.len(), rows(&cache, 1).await), (1, 100));
    // A snapshot of an evicted index can still be searched.
    let options = ScanOptions { best: 1, threads: 1 };
    let scan = snapshot.scan(&[1.0; DIMENSIONS], &RowFilter::default(), options).unwrap();
    assert_eq!(scan.rows, 5000);
}

#[tokio::test]
async fn index_with_a_writer_is_not_evicted() {
    let cache = Cache::new(1000);
    let mut writer = cache.fill(key(1), DIMENSIONS).await;
    writer.push(row(0), &[1.0; DIMENSIONS]).unwrap();
    put(&cache, 2, 5000).await;
    assert_eq!(cache.len(), 2);
    writer.push(row(1), &[1.0; DIMENSIONS]).unwrap();
    assert_eq!(writer.publish().len(), 2);
    assert_eq!(cache.len(), 1);
    assert_eq!(rows(&cache, 1).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_searches_read_each_row_once_and_see_all_earlier_rows() {
    let cache = Cache::new(usize::MAX);
    let stored = Arc::new(AtomicUsize::new(3000));
    let read = Arc::new(Mutex::new(0));
    let searches: Vec<_> = (0..50)
        .map(|_| {
            let (cache, stored, read) = (cache.clone(), stored.clone(), read.clone());
            tokio::spawn(async move {
                let at_least = stored.fetch_add(10, Ordering::SeqCst) + 10;
                let mut writer = cache.fill(key(1), DIMENSIONS).await;
                loop {
                    let (first, end) = (writer.len(), stored.load(Ordering::SeqCst));
                    if first == end {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    for number in first..end.min(first + 1000) {
                        writer.push(row(number), &[1.0; DIMENSIONS]).unwrap();
                        *read.lock().unwrap() += 1;
                    }
                }
                let index = writer.publish();
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
async fn rows_read_by_a_cancelled_search_stay_cached() {
    let cache = Cache::new(usize::MAX);
    let search = async {
        let mut writer = cache.fill(key(1), DIMENSIONS).await;
        for number in 0..100 {
            writer.push(row(number), &[1.0; DIMENSIONS]).unwrap();
        }
        std::future::pending::<()>().await;
    };
    tokio::time::timeout(Duration::from_millis(5), search).await.unwrap_err();
    assert_eq!(rows(&cache, 1).await, 100);
    // A search that was cancelled while it waited does not block others.
    let writer = cache.fill(key(1), DIMENSIONS).await;
    tokio::time::timeout(Duration::from_millis(5), rows(&cache, 1)).await.unwrap_err();
    drop(writer);
    assert_eq!(rows(&cache, 1).await, 100);
}

#[tokio::test]
async fn restarted_index_is_empty() {
    let cache = Cache::new(usize::MAX);
    put(&cache, 1, 100).await;
    let before = cache.bytes();
    let mut writer = cache.fill(key(1), DIMENSIONS).await;
    writer.restart();
    assert!(writer.is_empty() && writer.last().is_none() && cache.bytes() < before);
    writer.push(row(0), &[1.0; DIMENSIONS]).unwrap();
    drop(writer);
    assert_eq!(rows(&cache, 1).await, 1);

    // Vectors of another length: another encoder has the same id, as after a restored backup.
    assert_eq!(cache.fill(key(1), DIMENSIONS + 1).await.len(), 0);
}
