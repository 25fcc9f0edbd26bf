use domain::{AccountId, Plan};
use storage::FileVersion;

use crate::{NOW, Seed, queries::second};

const A: FileVersion = FileVersion([1; 16]);
const B: FileVersion = FileVersion([2; 16]);

async fn known(seed: &Seed, account: AccountId) -> Vec<FileVersion> {
    let found = seed.store().watched_files(account, &[A, B]).await.unwrap();
    let mut versions: Vec<_> = found.into_iter().map(|file| file.version).collect();
    versions.sort();
    versions
}

pub(crate) async fn imported_versions_are_known_by_account(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await.account, seed.account(Plan::Paid).await.account);
    seed.store().remember_watched_files(ann, &[A, B], second(1)).await.unwrap();
    seed.store().remember_watched_files(ben, &[B], second(1)).await.unwrap();
    assert_eq!((known(seed, ann).await, known(seed, ben).await), (vec![A, B], vec![B]));
    assert_eq!(seed.store().watched_files(ann, &[]).await.unwrap(), []);
}

pub(crate) async fn remembering_a_version_again_updates_its_time(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    seed.store().remember_watched_files(ann, &[A, B], second(1)).await.unwrap();
    seed.store().remember_watched_files(ann, &[B], second(3)).await.unwrap();
    let found = seed.store().watched_files(ann, &[B]).await.unwrap();
    assert_eq!(found.iter().map(|file| file.seen_at).collect::<Vec<_>>(), [second(3)]);
    assert_eq!(seed.store().sweep_watched_files(second(3), 10).await.unwrap(), 1);
    assert_eq!(known(seed, ann).await, [B]);
}

pub(crate) async fn old_versions_and_those_of_deleted_accounts_are_swept_in_batches(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await.account, seed.account(Plan::Paid).await.account);
    seed.store().remember_watched_files(ann, &[A], second(1)).await.unwrap();
    for account in [ann, ben] {
        seed.store().remember_watched_files(account, &[B], second(2)).await.unwrap();
    }
    seed.store().delete_account(ben, NOW).await.unwrap();
    let mut swept = Vec::new();
    while swept.last() != Some(&0) {
        swept.push(seed.store().sweep_watched_files(second(2), 1).await.unwrap());
    }
    assert_eq!(swept, [1, 1, 0]);
    assert_eq!((known(seed, ann).await, known(seed, ben).await), (vec![B], vec![]));
}
